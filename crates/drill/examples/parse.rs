//! Reads every script below the folders that are named and says what is wrong with each: `cargo run -p tcplab-drill
//! --example parse -- [-D NAME=VALUE]... DIR...`.

use std::path::Path;
use std::process::ExitCode;

use tcplab_drill::{Defines, parse};

fn main() -> ExitCode {
    let mut counts = (0, 0);
    let mut defines = Defines::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg != "-D" {
            visit(Path::new(&arg), &defines, &mut counts);
        } else if let Err(error) = defines.define(&args.next().unwrap_or_default()) {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    }
    println!("{} read, {} not", counts.0, counts.1);
    match counts.1 {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn visit(path: &Path, defines: &Defines, counts: &mut (usize, usize)) {
    if path.is_dir() {
        let mut inside: Vec<_> = match std::fs::read_dir(path) {
            Ok(entries) => entries.flatten().map(|e| e.path()).collect(),
            Err(_) => return,
        };
        inside.sort();
        for path in inside {
            visit(&path, defines, counts);
        }
    } else if path.extension().is_some_and(|e| e == "pkt") {
        let text = std::fs::read(path).unwrap_or_default();
        match parse(&String::from_utf8_lossy(&text), defines) {
            Ok(_) => counts.0 += 1,
            Err(error) => {
                counts.1 += 1;
                println!("{}:{error}", path.display());
            }
        }
    }
}

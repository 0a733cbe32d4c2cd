//! Reads every script below the folders that are named and says what is wrong with each, and which of its words, shell
//! lines and blocks of code are not understood: `cargo run -p tcplab-drill --example parse -- [-D NAME=VALUE]... DIR...`.

use std::path::Path;
use std::process::ExitCode;

use tcplab_drill::script::{Action, At, Expr, Script};
use tcplab_drill::{Defines, IpMode, Settings, parse, python, shell, symbols};

fn main() -> ExitCode {
    let mut defines = Defines::new();
    let mut counts = (0, 0);
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
            Ok(script) => {
                counts.0 += 1;
                for what in not_understood(&script) {
                    println!("{}: {what}", path.display());
                }
            }
            Err(error) => {
                counts.1 += 1;
                println!("{}:{error}", path.display());
            }
        }
    }
}

fn not_understood(script: &Script) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(script.lacks.iter().map(|lack| lack.value.clone()));
    let settings = Settings::of(script, IpMode::Ipv4, &[]);
    out.extend(settings.err().map(|e| e.to_string()));
    for line in script.init.iter().chain(&script.cleanup) {
        out.extend(shell::interpret(&line.value, None).err());
    }
    for event in &script.events {
        match &event.action {
            Action::Shell(line) => out.extend(shell::interpret(&line.value, None).err()),
            Action::Code(code) => {
                out.extend(python::check(&code.value).err().map(|e| e.to_string()))
            }
            Action::Call(call) => {
                call.args
                    .iter()
                    .chain([&call.result])
                    .for_each(|arg| words(arg, &mut out));
                let errno = call.errno.as_ref();
                out.extend(errno.and_then(|e| symbols::number_or_hint(&e.value).err()));
            }
            Action::Packet(_) => {}
        }
    }
    out
}

fn words(expr: &At<Expr>, out: &mut Vec<String>) {
    match &expr.value {
        Expr::Word(word) => out.extend(symbols::number_or_hint(word).err()),
        Expr::Or(a, b) => [a, b].into_iter().for_each(|e| words(e, out)),
        Expr::Assign(_, value) => words(value, out),
        Expr::List(items) | Expr::Group(items) => items.iter().for_each(|e| words(e, out)),
        Expr::PollFd(parts) | Expr::Cmsg(parts) => parts.iter().for_each(|e| words(e, out)),
        Expr::ExtendedErr(parts) => parts.iter().for_each(|e| words(e, out)),
        Expr::EpollEvent { events, data, .. } => {
            [events, data].into_iter().for_each(|e| words(e, out))
        }
        Expr::MsgHdr(msg) => [&msg.iov, &msg.flags, &msg.control]
            .into_iter()
            .for_each(|e| words(e, out)),
        _ => {}
    }
}

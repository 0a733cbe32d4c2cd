//! Runs one point by hand: `point KERNEL|host POINT.json FOLDER` prints the outcome as JSON.

use std::path::PathBuf;
use std::process::ExitCode;

use tcplab_guest::boot::{Initramfs, Limits, Uml, run_on_host};
use tcplab_kernel::stage;
use tcplab_os::Stop;
use tcplab_plan::Point;

fn main() -> ExitCode {
    if let Some(code) = stage(&[]) {
        return code;
    }
    let words: Vec<String> = std::env::args().collect();
    let [_, kernel, point, folder] = words.as_slice() else {
        eprintln!("usage: point KERNEL|host POINT.json FOLDER");
        return ExitCode::from(2);
    };
    match run(kernel, point, folder) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn run(kernel: &str, point: &str, folder: &str) -> Result<String, Box<dyn std::error::Error>> {
    let point = Point::from_json(&std::fs::read(point)?)?;
    let out = PathBuf::from(folder);
    std::fs::create_dir_all(&out)?;
    let stop = Stop::on_signals()?;
    let (outcome, cost) = if kernel == "host" {
        run_on_host(&point, &out, &stop)?
    } else {
        let uml = Uml {
            kernel: kernel.into(),
            initramfs: &Initramfs::of_this_program()?,
            limits: Limits::default(),
            cpu: Some(0),
        };
        uml.run(&point, &out, &stop)?
    };
    eprintln!("{cost:?}");
    Ok(serde_json::to_string(&outcome)?)
}

//! `cargo xtask`: the development commands of this repository, in Rust so that
//! they need nothing but cargo.
//!
//! One file (or folder) for each command. A new command is a module, a variant
//! of [`Command`] and one arm in `main`. These commands stand outside the map of
//! the crates: they may use any crate, and no crate may use them.

mod documents;
mod fidelity;
mod releases;
mod tidy;
mod tshark;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Development commands of tcplab")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the rules that the compiler does not: layers, sizes, forbidden calls
    Tidy(tidy::Args),
    /// Run the commands that the documents print, and compare what they print
    Documents(documents::Args),
    /// Compare the model with a real kernel, packet by packet
    Fidelity(Box<fidelity::Args>),
    /// Say which scenario shows each change from one release of Linux to the next
    Releases(releases::Args),
    /// Compare our Wireshark verdicts with the installed tshark, frame by frame
    Tshark(tshark::Args),
}

fn main() -> ExitCode {
    // A guest of `fidelity` runs this executable.
    if let Some(code) = tcplab_kernel::stage(&[]) {
        return code;
    }
    // Without this their folders stay until the next command.
    if let Err(error) = tcplab_os::Scratch::remove_on_signals() {
        eprintln!("xtask: signals: {error}");
    }
    let result = match Cli::parse().command {
        Command::Tidy(args) => tidy::run(&repository_root(), &args),
        Command::Documents(args) => documents::run(&repository_root(), &args),
        Command::Fidelity(args) => fidelity::run(&repository_root(), &args),
        Command::Releases(args) => releases::run(&repository_root(), &args),
        Command::Tshark(args) => tshark::run(&repository_root(), &args),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The folder of the workspace that this is called in; called elsewhere, that of this crate. A copied program must not
/// check the tree that it was built in.
fn repository_root() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let is_root = |folder: &&Path| folder.join("xtask/Cargo.toml").is_file();
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    let called = here.ancestors().find(is_root);
    called
        .unwrap_or(built.parent().unwrap_or(built))
        .to_path_buf()
}

//! `tcplab new` and `tcplab examples`: experiment files out of the program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueHint};
use tcplab_examples::{EXAMPLES, File, STARTERS};
use tcplab_os::output::write_own;
use tcplab_os::say;
use tcplab_report::terminal::table::{Align, Table};

use crate::args::Color;
use crate::failure::Failure;
use crate::{screen, terminal};

/// `tcplab new`.
#[derive(Args, Debug)]
#[command(after_help = "\
Kinds:
  two-hosts    one sender, one receiver, one link
  dumbbell     two flows through one bottleneck
  home-line    a slow home line, with and without CAKE
  incast       many servers answer one client at once
  web          the objects of a page over a lossy line
  population   thousands of random connections, each through several TCP variants

Exit codes: 0 success; 2 the file exists or cannot be written.")]
pub struct NewArgs {
    /// Kind of experiment
    #[arg(value_parser = names(STARTERS))]
    pub kind: String,
    /// Output file; `-` is standard output [default: KIND.toml]
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
}

/// `tcplab examples`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tcplab examples                        list all examples
  tcplab examples delayed-ack            write ./delayed-ack.toml
  tcplab examples delayed-ack --out - | tcplab run -

Exit codes: 0 success; 2 a file exists or cannot be written.")]
pub struct ExamplesArgs {
    /// Examples to write [default: list all examples]
    #[arg(value_parser = names(EXAMPLES), hide_possible_values = true)]
    pub names: Vec<String>,
    /// Write into this folder; `-` is standard output
    #[arg(long, value_name = "FOLDER", default_value = ".", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

fn names(of: &'static [File]) -> clap::builder::PossibleValuesParser {
    of.iter().map(|file| file.name).collect::<Vec<_>>().into()
}

/// Writes a starter.
pub fn new(args: &NewArgs) -> Result<ExitCode, Failure> {
    let file = find(STARTERS, &args.kind)?;
    let path = match &args.file {
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{}.toml", file.name)),
    };
    if !write(file, &path)? {
        return Ok(ExitCode::SUCCESS);
    }
    let path = path.display();
    say(&format!(
        "{path} written. Edit it, then:\n  tcplab run {path}\n  tcplab run {path} --dry-run    (shows what would run)"
    ));
    Ok(ExitCode::SUCCESS)
}

/// Lists the examples, or writes some.
pub fn examples(args: &ExamplesArgs, color: Color) -> Result<ExitCode, Failure> {
    let theme = terminal::theme(color, false);
    if args.names.is_empty() {
        let mut table = Table::new(&[("example", Align::Left), ("question", Align::Left)]);
        for file in EXAMPLES {
            table.row(vec![file.name.into(), file.title().into()]);
        }
        let mut out = screen::painted(&theme);
        write!(out, "{}", table.render(&theme))?;
        writeln!(
            out,
            "\n`tcplab examples NAME` writes an example to NAME.toml"
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    for name in &args.names {
        let file = find(EXAMPLES, name)?;
        let path = match args.out.as_os_str() == "-" {
            true => args.out.clone(),
            false => args.out.join(format!("{name}.toml")),
        };
        if write(file, &path)? {
            say(&format!("{} written", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find(files: &'static [File], name: &str) -> Result<&'static File, Failure> {
    let found = files.iter().find(|file| file.name == name);
    found.ok_or_else(|| Failure::usage(format!("unknown name `{name}`")))
}

/// Writes a file that is not there yet, or to standard output; whether a file was written.
fn write(file: &File, path: &Path) -> Result<bool, Failure> {
    if path.as_os_str() == "-" {
        screen::plain().write_all(file.text.as_bytes())?;
        return Ok(false);
    }
    let shown = path.display();
    if path.symlink_metadata().is_ok() {
        return Err(Failure::input(format!(
            "{shown} already exists: choose another name or remove it"
        )));
    }
    let done = write_own(path, file.text);
    done.map_err(|e| Failure::input(format!("{shown}: {e}")))?;
    Ok(true)
}

//! The `tcplab` command: thin; every subcommand is a function of the library crates.
//!
//! Results go to standard output, progress and warnings to standard error. Exit codes: 0 done,
//! 1 the answer is no (`--fail-on`), 2 usage or bad input, 3 inconclusive, 4 cannot run here.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod analyze;
mod args;
#[cfg(target_os = "linux")]
mod bench;
mod compare;
#[cfg(target_os = "linux")]
mod doctor;
mod drill;
mod exit;
mod explain;
mod failure;
mod files;
mod generate;
mod groups;
mod inject;
mod json;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod link;
mod markdown;
mod population;
#[cfg(target_os = "linux")]
mod probe;
mod progress;
#[cfg(target_os = "linux")]
mod qa;
mod reproduce;
mod run;
mod screen;
#[cfg(target_os = "linux")]
mod ssh;
mod stacks;
mod starters;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use tcplab_base::safe_lines;
use tcplab_kernel::say;

use crate::args::{Cli, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    {
        let other = tcplab_kernel::guest::stage(&[tcplab_lab::inject::ERRAND])
            .or_else(tcplab_kernel::bench::end)
            .or_else(tcplab_kernel::ssh::remote);
        if let Some(code) = other {
            return code;
        }
    }
    let raw: Vec<OsString> = std::env::args_os().collect();
    let matches = exit::command().try_get_matches_from(&raw);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(e) => return usage(&raw, &e),
    };
    if cli.check_usage {
        return ExitCode::SUCCESS;
    }
    let done = match cli.command {
        Command::Analyze(args) => analyze::main(&args, cli.color),
        Command::Explain(args) => Ok(explain::main(&args, cli.color)),
        Command::Run(args) => Ok(run::main(&args, cli.color)),
        Command::Population { command } => Ok(population::main(&command, cli.color)),
        Command::Merge(args) => Ok(population::merge(&args, cli.color)),
        Command::Report(args) => Ok(population::report(&args)),
        Command::Drill(args) => Ok(drill::main(&args, cli.color)),
        Command::Compare(args) => Ok(compare::main(&args, cli.color)),
        Command::Bisect(args) => Ok(run::bisect(&args)),
        Command::Reproduce(args) => Ok(reproduce::main(&args, cli.color)),
        #[cfg(target_os = "linux")]
        Command::Kernel { command } => Ok(kernel::main(&command)),
        Command::Stacks(args) => Ok(stacks::main(&args, cli.color)),
        #[cfg(target_os = "linux")]
        Command::Doctor(args) => Ok(doctor::main(&args)),
        #[cfg(target_os = "linux")]
        Command::Link(args) => Ok(link::main(&args, cli.color)),
        Command::Inject(args) => Ok(inject::main(&args, cli.color)),
        #[cfg(target_os = "linux")]
        Command::Bench(args) => Ok(bench::main(&args, cli.color)),
        #[cfg(target_os = "linux")]
        Command::Qa(args) => Ok(qa::main(&args, cli.color)),
        #[cfg(target_os = "linux")]
        Command::Probe(args) => Ok(probe::main(&args, &raw)),
        Command::New(args) => starters::new(&args),
        Command::Examples(args) => starters::examples(&args, cli.color),
        Command::Schema { name } => generate::schema(name),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { out } => generate::man(out.as_deref()),
    };
    match done.and_then(printed) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// The code of a command whose result is out; a failure when standard output took only the begin of it.
fn printed(code: ExitCode) -> Result<ExitCode, Failure> {
    match screen::finish() {
        Err(e) if code == ExitCode::SUCCESS => Err(e.into()),
        _ => Ok(code),
    }
}

/// A wrong command line, or `--help` and `--version`. With `--json` the error is a document.
fn usage(raw: &[OsString], e: &clap::Error) -> ExitCode {
    let json = raw.iter().any(|a| a == "--json");
    if e.use_stderr() && json {
        let text = e.render().to_string();
        let message = text.trim_start_matches("error: ").trim_end();
        let failure = Failure::usage(message);
        let cli = exit::command();
        let mut words = raw.iter().skip(1);
        let sub = words.find_map(|word| cli.find_subcommand(word));
        match sub.map(clap::Command::get_name) {
            #[cfg(target_os = "linux")]
            Some("probe") => probe::json::empty_document(failure),
            Some("analyze") | None => analyze::json::empty_document(&failure),
            Some(_) => json::print_failure(None, &failure),
        }
    }
    if e.use_stderr() {
        let text = e.render().to_string();
        match safe_lines(&text) == text {
            // In clap's colours; whether it could be written changes nothing any more.
            true => drop(e.print()),
            false => say(text.trim_end()),
        }
        return ExitCode::from(2);
    }
    let shown = e.print().map_err(Failure::from);
    let done = shown.and_then(|()| printed(ExitCode::SUCCESS));
    done.unwrap_or_else(|failure| failure.report())
}

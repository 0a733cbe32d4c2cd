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
mod diff;
#[cfg(target_os = "linux")]
mod doctor;
mod drill;
mod exit;
mod explain;
mod failure;
mod fields;
mod files;
mod generate;
mod groups;
mod help;
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
mod submit;
mod terminal;
mod usage;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{FromArgMatches, Subcommand, ValueHint};

use crate::args::{Cli, Color};
use crate::failure::Failure;

/// The commands, each in its group of the help.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Analyse packet captures: streams, delayed ACKs, losses, findings
    #[command(display_order = groups::ANALYSE)]
    Analyze(args::AnalyzeArgs),
    /// Identify the TCP stack that sent the ACKs of a capture
    #[command(display_order = groups::ANALYSE)]
    Explain(explain::ExplainArgs),
    /// Write a commented experiment file as a starting point
    #[command(display_order = groups::RUN)]
    New(starters::NewArgs),
    /// List the built-in examples, or write them to files
    #[command(display_order = groups::RUN)]
    Examples(starters::ExamplesArgs),
    /// Run an experiment on the model, on kernels or on real machines
    #[command(display_order = groups::RUN)]
    Run(run::args::RunArgs),
    /// Write a result as an HTML page
    #[command(display_order = groups::RUN)]
    Report(population::args::ReportArgs),
    /// Find the first bad stack in an ordered list
    #[command(display_order = groups::RUN)]
    Bisect(run::args::BisectArgs),
    /// Inspect a population of random connections
    #[command(display_order = groups::RUN)]
    Population {
        /// Action to perform
        #[command(subcommand)]
        command: population::args::PopulationCommand,
    },
    /// Merge the shards of a run into one result
    #[command(display_order = groups::RUN)]
    Merge(population::args::MergeArgs),
    /// Print a cluster's script that runs an experiment in shards
    #[command(display_order = groups::RUN)]
    Submit(submit::SubmitArgs),
    /// Measure published claims about TCP again
    #[command(display_order = groups::RUN)]
    Reproduce(reproduce::ReproduceArgs),
    /// Compare results before and after a change; one verdict per row
    #[command(display_order = groups::TEST)]
    Compare(compare::args::CompareArgs),
    /// Benchmark TCP, or two commands, in arms that run in turn
    #[cfg(target_os = "linux")]
    #[command(display_order = groups::TEST)]
    Bench(bench::args::BenchArgs),
    /// Test a kernel patch: experiments, benchmarks, scripts, frames
    #[cfg(target_os = "linux")]
    #[command(display_order = groups::TEST)]
    Qa(qa::args::QaArgs),
    /// Find what one stack does and the other does not, packet by packet
    #[cfg(target_os = "linux")]
    #[command(display_order = groups::TEST)]
    Diff(diff::args::DiffArgs),
    /// Run packetdrill scripts on the model or on a kernel
    #[command(display_order = groups::TEST)]
    Drill(drill::DrillArgs),
    /// Send malformed frames to tcplab's own code or to a kernel
    #[command(display_order = groups::TEST)]
    Inject(inject::args::InjectArgs),
    /// Run test applications on real sockets; log the kernel's state
    #[cfg(target_os = "linux")]
    #[command(display_order = groups::TEST)]
    Probe(probe::args::ProbeArgs),
    /// Emulate a link between interfaces or namespaces, in real time
    #[cfg(target_os = "linux")]
    #[command(display_order = groups::TEST)]
    Link(link::args::LinkArgs),
    /// Check what works on this machine, and how to get the rest
    #[cfg(target_os = "linux")]
    #[command(display_order = groups::PREPARE)]
    Doctor(args::DoctorArgs),
    /// List stacks (values of --on), profiles and experiment keys
    #[command(display_order = groups::PREPARE)]
    Stacks(args::StacksArgs),
    /// Build, list or remove Linux kernels for `uml:` stacks
    #[cfg(target_os = "linux")]
    #[command(display_order = groups::PREPARE)]
    Kernel {
        /// Action to perform
        #[command(subcommand)]
        command: kernel::args::KernelCommand,
    },
    /// Print the JSON Schema of a document, or list its fields
    #[command(display_order = groups::GENERATE)]
    Schema(args::SchemaArgs),
    /// Print a completion script for a shell
    #[command(display_order = groups::GENERATE)]
    Completions {
        /// Shell to complete for
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff), or write one page per command
    #[command(display_order = groups::GENERATE)]
    Man {
        /// Write tcplab.1, tcplab-run.1 and so on into this folder [default: print one page of all commands]
        #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
    /// Explain a command, a term, a finding, a key; or show a page
    #[command(display_order = groups::LEARN)]
    Help {
        /// Command, term, finding, key, sysctl, qdisc, profile, behaviour, measure, exit code, page or heading; `words`
        /// lists terms and pages
        #[arg(value_name = "WORD")]
        words: Vec<String>,
    },
}

impl Command {
    fn run(self, color: Color) -> Result<ExitCode, Failure> {
        match self {
            Self::Analyze(args) => analyze::main(&args, color),
            Self::Explain(args) => Ok(explain::main(&args, color)),
            Self::Run(args) => Ok(run::main(&args, color)),
            Self::Population { command } => Ok(population::main(&command, color)),
            Self::Merge(args) => Ok(population::merge(&args, color)),
            Self::Submit(args) => submit::main(&args),
            Self::Report(args) => Ok(population::report(&args)),
            Self::Drill(args) => Ok(drill::main(&args, color)),
            Self::Compare(args) => Ok(compare::main(&args, color)),
            Self::Bisect(args) => Ok(run::bisect(&args)),
            Self::Reproduce(args) => Ok(reproduce::main(&args, color)),
            #[cfg(target_os = "linux")]
            Self::Kernel { command } => Ok(kernel::main(&command)),
            Self::Stacks(args) => Ok(stacks::main(&args, color)),
            #[cfg(target_os = "linux")]
            Self::Doctor(args) => Ok(doctor::main(&args)),
            #[cfg(target_os = "linux")]
            Self::Link(args) => Ok(link::main(&args, color)),
            Self::Inject(args) => Ok(inject::main(&args, color)),
            #[cfg(target_os = "linux")]
            Self::Bench(args) => Ok(bench::main(&args, color)),
            #[cfg(target_os = "linux")]
            Self::Qa(args) => Ok(qa::main(&args, color)),
            #[cfg(target_os = "linux")]
            Self::Diff(args) => Ok(diff::main(&args)),
            #[cfg(target_os = "linux")]
            Self::Probe(args) => Ok(probe::main(&args)),
            Self::New(args) => starters::new(&args),
            Self::Examples(args) => starters::examples(&args, color),
            Self::Schema(args) => generate::schema(&args, color),
            Self::Completions { shell } => generate::completions(shell),
            Self::Man { out } => generate::man(out.as_deref()),
            Self::Help { words } => help::main(&words, color),
        }
    }
}

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    {
        let other = tcplab_kernel::stage(&[tcplab_inject::ERRAND])
            .or_else(tcplab_bench::ends::end)
            .or_else(|| tcplab_kernel::ssh::remote(tcplab_bench::ends::ERRANDS));
        if let Some(code) = other {
            return code;
        }
    }
    let raw: Vec<OsString> = std::env::args_os().collect();
    let matches = exit::command().try_get_matches_from(&raw);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(e) => return usage::report(&raw, &e),
    };
    if cli.check_usage {
        return ExitCode::SUCCESS;
    }
    progress::set(cli.progress);
    #[cfg(target_os = "linux")]
    if let Some(parent) = cli.parent
        && let Err(e) = tcplab_os::end_with_parent(parent)
    {
        return Failure::cannot_run(format!("--parent {parent}: {e}")).report();
    }
    match cli.command.run(cli.color).and_then(printed) {
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

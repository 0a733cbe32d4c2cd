//! The command line of `tcplab diff`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::failure::Failure;

/// `tcplab diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Both stacks run in virtual time (model:PROFILE, uml:NAME). Without EXPERIMENT the list of built-in scenarios runs: loss, \
reordering, timers, windows, MTU, ECN, opening and closing, and more. Results of kernels are kept \
(~/.cache/tcplab/diff) and read again the next time.

A class is the field that differs first and the kind of packet: `window of ack`. `A | B` are the values of the first and the \
second stack.

Exit codes: 0 success; 1 a scenario differs (--fail-on-difference); 2 wrong usage or bad input; 3 a scenario had no run \
on one of the stacks, or no TCP packet (--fail-on-difference); 4 a stack cannot run here; 130 interrupted (Ctrl-C or SIGTERM).

Examples:
  tcplab diff uml:6.1 uml:6.12                          the built-in scenarios
  tcplab diff uml:6.1 uml:6.12 --only 'loss/*' --each   one line per scenario
  tcplab diff uml:6.1 uml:6.12 --show loss/first/data-3
  tcplab diff uml:6.1 uml:6.1+my-patch --random 2000 --shrink small
  tcplab diff model:linux-6.1 model:linux-6.12 mine.toml")]
pub struct DiffArgs {
    /// First stack: uml:6.1
    #[arg(value_name = "A")]
    pub a: String,
    /// Second stack: uml:6.12
    #[arg(value_name = "B")]
    pub b: String,
    /// Experiments or manifests whose points are compared, in place of the list
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiments: Vec<PathBuf>,
    /// Draw N random scenarios, in place of the list
    #[arg(long, value_name = "N", conflicts_with = "experiments")]
    pub random: Option<u64>,
    /// Seed of the random scenarios
    #[arg(long, value_name = "N", default_value_t = 1, requires = "random")]
    pub seed: u64,
    /// Only scenarios with such a name; `*` matches anything
    #[arg(long, value_name = "GLOB")]
    pub only: Option<String>,
    /// Print the names of the scenarios, and run none
    #[arg(long)]
    pub list: bool,
    /// Print one line per scenario that differs
    #[arg(long)]
    pub each: bool,
    /// Print one scenario side by side, around the first difference
    #[arg(long, value_name = "NAME", conflicts_with_all = ["each", "only", "json"])]
    pub show: Option<String>,
    /// With --show: all packets
    #[arg(long, requires = "show")]
    pub whole: bool,
    /// Write a small scenario of each class into this new folder
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with = "show")]
    pub shrink: Option<PathBuf>,
    /// Exit with 1 if a scenario differs
    #[arg(long)]
    pub fail_on_difference: bool,
    /// Run kernels again, even if their result is kept
    #[arg(long)]
    pub fresh: bool,
    /// Run N scenarios in parallel [default: number of CPUs]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

impl DiffArgs {
    /// What the rules of the parser cannot say: they drop `requires` where it meets a conflict.
    pub fn check(&self) -> Result<(), Failure> {
        if self.whole && self.show.is_none() {
            return Err(Failure::usage(
                "--whole prints all packets of one scenario: name it with --show NAME",
            ));
        }
        Ok(())
    }
}

//! The command line of `tcplab qa`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::compare::args::{JudgeArgs, OutputArgs};

/// `tcplab qa`.
#[derive(Args, Debug)]
#[command(after_help = "\
Sections: each EXPERIMENT, the counters of all of them, a suite of nine small experiments (tcplab bench), packetdrill scripts
(--drill), malformed frames (on the model and this machine's kernel). In virtual time values are exact: they are equal, or they differ.

Exit codes: 0 done; 1 something is worse, or has a verdict of --fail-on; 2 bad input; 3 a point failed, or a row is open and
--require-verdict; 4 a stack cannot run here; 130 Ctrl-C or SIGTERM came first.

Examples:
  tcplab qa examples/delayed-ack.toml --before uml:6.1 --after uml:6.1+mss-boundary --html qa.html
  tcplab qa --before uml:6.1 --after uml:6.1+quickack-count --drill gtests/net/tcp --markdown qa.md")]
pub struct QaArgs {
    /// Experiment files that matter to you
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiments: Vec<PathBuf>,
    /// The stack before: uml:6.1
    #[arg(long, value_name = "STACK")]
    pub before: String,
    /// The stack after: uml:6.1+EDIT
    #[arg(long, value_name = "STACK")]
    pub after: String,
    /// packetdrill scripts, or folders of them
    #[arg(long, value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub drill: Vec<PathBuf>,
    /// Malformed frames into each stack
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub frames: u64,
    /// Leave the suite of workloads out
    #[arg(long)]
    pub no_suite: bool,
    /// Points and scripts at once
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,

    #[command(flatten)]
    pub judge: JudgeArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

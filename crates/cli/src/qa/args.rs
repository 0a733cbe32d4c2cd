//! The command line of `tcplab qa`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::compare::args::{JudgeArgs, OutputArgs};

/// `tcplab qa`.
#[derive(Args, Debug)]
#[command(after_help = "\
Sections of the report: each EXPERIMENT; the counters of all experiments; a suite of nine small experiments \
(as in `tcplab bench`); packetdrill scripts (--drill); malformed frames, on the model, this machine's kernel \
and `uml:` kernels. Virtual-time values are exact: they are equal or they differ.

Exit codes: 0 success; 1 a row is worse or has a --fail-on verdict; 2 bad input; 3 a point failed, or a row is \
undecided or nothing was run (--require-verdict); 4 a stack cannot run here; 130 interrupted (Ctrl-C or SIGTERM).

Examples:
  tcplab qa examples/delayed-ack.toml --before uml:6.1 --after uml:6.1+mss-boundary --html qa.html
  tcplab qa --before uml:6.1 --after uml:6.1+quickack-count --drill gtests/net/tcp --markdown qa.md")]
pub struct QaArgs {
    /// Experiment files to run on both stacks
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiments: Vec<PathBuf>,
    /// Stack before the change: uml:6.1
    #[arg(long, value_name = "STACK")]
    pub before: String,
    /// Stack after the change: uml:6.1+EDIT
    #[arg(long, value_name = "STACK")]
    pub after: String,
    /// Also run these packetdrill scripts, or all scripts in these folders
    #[arg(long, value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub drill: Vec<PathBuf>,
    /// Send N malformed frames to each stack
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub frames: u64,
    /// Skip the suite of small experiments
    #[arg(long)]
    pub no_suite: bool,
    /// Run N points or scripts in parallel [default: number of CPUs]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,

    #[command(flatten)]
    pub judge: JudgeArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

//! The command lines of `run` and `bisect`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::failure::Failure;
use crate::files::check_outputs;
use crate::run::csv::is_file;
use crate::run::input::Changes;
use crate::ssh::SshArgs;

/// `tcplab run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tcplab run examples/delayed-ack.toml                      the stacks that the file names, or the model
  tcplab run delayed-ack.toml --on uml:6.1,host             others
  tcplab run delayed-ack.toml --out results --json | jq ... keep captures and results
  tcplab run examples/ack-filter-rrul.toml --repeat 5 --set link.isp-home.a_to_b.rate=1mbit,2mbit
  tcplab run results/manifest.json                          the same run again
  tcplab run examples/rto-web.toml --connections 100000     a population, through every arm
  tcplab run examples/rto-sensitivity.toml                  a population and what changes of it do to every row
  git bisect run tcplab run EXP.toml --on uml:mine --bad 'client.TcpExtDelayedACKs > 0' --bisect-exit")]
pub struct RunArgs {
    /// Experiment file (docs/experiment.md), or the manifest.json of a result
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiment: PathBuf,
    /// Stacks to run on, in place of those of the file: model:PROFILE, uml:NAME, host [default: model]; ssh:A,B are two machines (docs/ssh.md)
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    pub on: Vec<String>,
    /// Keep results and captures in this folder; a run that was interrupted goes on there
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Points at once; stacks in real time always run alone [default: the processors]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Seed of all random streams, in place of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a value of the file: link.isp-home.a_to_b.rate=1mbit; several values (=1mbit,2mbit) make an axis
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Runs of each point, in place of the file's; each has its own seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: Option<u32>,
    /// Show every run of a repeated point, not only means
    #[arg(long)]
    pub all: bool,
    /// Of a population: connections of each arm, in place of the file's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub connections: Option<u64>,
    /// Of a population: only part I of N; `tcplab merge` makes one result of all parts
    #[arg(long, value_name = "I/N", value_parser = crate::population::args::parse_shard)]
    pub shard: Option<tcplab_lab::population::Shard>,
    /// Of a population: only these of the file's variants
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub variant: Vec<String>,
    /// Of a population: keep a row for each connection and arm as Parquet, in rows.parquet of --out, or in this file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath)]
    pub rows: Option<Option<PathBuf>>,
    /// Write the result as one self-contained HTML page (`tcplab report` does it later)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Write the points to FILE.csv, or points and series to a folder, a table each
    #[arg(long, value_name = "FILE.csv|FOLDER", value_hint = ValueHint::AnyPath)]
    pub csv: Option<PathBuf>,
    /// Show what would be run, and run nothing; with --json every value of every point
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON document (see `tcplab schema run`)
    #[arg(long)]
    pub json: bool,
    /// Of `ssh:` hosts: set the experiment's sysctls there for the run, and put them back
    #[arg(long)]
    pub ssh_sysctl: bool,
    #[command(flatten)]
    pub ssh: SshArgs,
    /// Exit with 1 when this expression over measures is true at any point
    #[arg(long, value_name = "EXPRESSION")]
    pub bad: Option<String>,
    /// Exit codes for `git bisect run`: 0 good, 1 bad, 125 cannot say
    #[arg(long, requires = "bad")]
    pub bisect_exit: bool,
}

impl RunArgs {
    /// What it changes of the file.
    pub fn changes(&self) -> Changes<'_> {
        Changes {
            set: &self.set,
            repeat: self.repeat,
            seed: self.seed,
        }
    }

    /// Checks what clap cannot.
    pub fn check(&self) -> Result<(), Failure> {
        let rows = self.rows.iter().flatten().next();
        let outputs = [
            ("--html", self.html.as_deref()),
            ("--csv", self.csv.as_deref().filter(|place| is_file(place))),
            ("--rows", rows.map(PathBuf::as_path)),
        ];
        check_outputs([&self.experiment], &outputs)
    }
}

/// `tcplab bisect`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  tcplab bisect examples/delayed-ack.toml --over uml:6.1,uml:a,uml:b --bad 'client.TcpExtDelayedACKs > 0'")]
pub struct BisectArgs {
    /// Experiment file (docs/experiment.md)
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiment: PathBuf,
    /// The stacks in their order, good ones first; neither end is presumed
    #[arg(long, value_name = "STACK", value_delimiter = ',', required = true)]
    pub over: Vec<String>,
    /// What makes a stack bad: an expression over measures, true at any point
    #[arg(long, value_name = "EXPRESSION")]
    pub bad: String,
    /// Seed of all random streams, in place of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

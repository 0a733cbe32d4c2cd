//! The command lines of `run` and `bisect`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::failure::Failure;
use crate::files::check_outputs;
use crate::run::csv::is_file;
use crate::run::input::Changes;
use crate::run::part::Points;
#[cfg(target_os = "linux")]
use crate::ssh::SshArgs;

/// `tcplab run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tcplab run examples/delayed-ack.toml                    the file's stacks, or the model
  tcplab run delayed-ack.toml --on uml:6.1,host           other stacks
  tcplab run delayed-ack.toml --out results               keep captures and results
  tcplab run examples/ack-filter-rrul.toml --repeat 5 --set link.isp-home.a_to_b.rate=1mbit,2mbit
  tcplab run results/manifest.json                        repeat an earlier run
  tcplab run examples/rto-web.toml --connections 100000   a population, through every arm
  tcplab run examples/rto-sensitivity.toml                a population with variants
  git bisect run tcplab run EXP.toml --on uml:mine --bad 'client.TcpExtDelayedACKs > 0' --bisect-exit

`tcplab stacks --keys` lists the keys of --set with range, default and meaning. docs/experiment.md lists \
the measures of --bad.")]
pub struct RunArgs {
    /// Experiment file (docs/experiment.md), or the manifest.json of an earlier result
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiment: PathBuf,
    /// Run on these stacks instead of the file's: model:PROFILE, uml:NAME, host, or ssh:A,B for two machines (docs/ssh.md)
    /// [default: model]
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    pub on: Vec<String>,
    /// Keep results and captures in this folder; the same command resumes an interrupted run
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Run N points in parallel; real-time stacks always run one by one [default: number of CPUs]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Seed of all random streams [default: the file's]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a value of the file: link.isp-home.a_to_b.rate=1mbit; several values (=1mbit,2mbit) make an axis.
    /// `tcplab stacks --keys` and docs/experiment.md list the keys
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Run each point N times, each with its own seed [default: the file's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: Option<u32>,
    /// Show every run of a repeated point [default: means only]
    #[arg(long)]
    pub all: bool,
    /// Population: simulate N connections per arm [default: the file's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub connections: Option<u64>,
    /// Run only part I of N; `tcplab merge` combines the parts, `tcplab submit` prints a cluster's script for them
    #[arg(long, value_name = "I/N", conflicts_with = "points")]
    pub shard: Option<tcplab_lab::Shard>,
    /// Population: keep the groups of the shard without a table of them, which takes a second
    #[arg(long, requires = "shard", requires = "out")]
    pub no_table: bool,
    /// Run only these points, by their number in the result folder: 0,4,7-12
    #[arg(long, value_name = "LIST")]
    pub points: Option<Points>,
    /// Run on the workers of a Dask cluster with this scheduler, tcp://HOST:PORT; needs --out (docs/cluster.md)
    #[arg(long, value_name = "ADDRESS", requires = "out",
          conflicts_with_all = ["shard", "points", "pending", "dry_run"])]
    pub dask: Option<String>,
    /// Begin or resume the folder of --out, print as JSON what is left to run, and run nothing
    #[arg(long, requires = "out", conflicts_with_all = ["points", "dry_run"], hide_short_help = true)]
    pub pending: bool,
    /// Population: run only these variants of the file
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub variant: Vec<String>,
    /// Population: write one Parquet row per connection and arm to FILE [default: rows.parquet in --out]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath)]
    pub rows: Option<Option<PathBuf>>,
    /// Write the result as a self-contained HTML page (later: `tcplab report`)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Write the points to FILE.csv, or all points and series to a folder of CSV files
    #[arg(long, value_name = "FILE.csv|FOLDER", value_hint = ValueHint::AnyPath)]
    pub csv: Option<PathBuf>,
    /// Show the points without running them; with --json, every value of every point
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON document (see `tcplab schema run`)
    #[arg(long)]
    pub json: bool,
    #[cfg(target_os = "linux")]
    /// ssh: set the experiment's sysctls on the hosts for the run, then restore them
    #[arg(long)]
    pub ssh_sysctl: bool,
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    pub ssh: SshArgs,
    /// Exit with 1 if this expression over measures is true at one or more points of the experiment
    #[arg(long, value_name = "EXPRESSION")]
    pub bad: Option<String>,
    /// Exit for `git bisect run`: 0 good, 1 bad, 125 undecided
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
    /// Test these stacks, in order from good to bad: the last one first, then the first one
    #[arg(long, value_name = "STACK", value_delimiter = ',', required = true)]
    pub over: Vec<String>,
    /// Call a stack bad if this expression over measures is true at one or more points of the experiment
    #[arg(long, value_name = "EXPRESSION")]
    pub bad: String,
    /// Seed of all random streams [default: the file's]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

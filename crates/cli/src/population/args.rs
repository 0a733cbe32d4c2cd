//! The command lines of `population` and `merge`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// `tcplab population`.
#[derive(Subcommand, Debug)]
pub enum PopulationCommand {
    /// Show the distributions of a population: definition, mean, percentiles, histogram
    Show(ShowArgs),
    /// Run one connection alone, in every arm, with captures and a log
    Connection(ConnectionArgs),
    /// Run a sample of the connections on a real kernel and on the model
    Sample(SampleArgs),
    /// Check the statistics: count false decisions of A/A tests, and detections of a planted 5 % effect
    SelfTest(SelfTestArgs),
}

/// `tcplab population sample`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  tcplab kernel build 6.1 --hz 1000 --edit recovlat --edit rto-choice --edit tlp-2016
  tcplab population sample examples/rto-p4.toml --on uml:6.1+recovlat+rto-choice+tlp-2016@1000")]
pub struct SampleArgs {
    /// Experiment file with a [population] table
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiment: PathBuf,
    /// Use this variant of the file [default: the file without variants]
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Kernel: uml:NAME, built with the edits that the arms need
    #[arg(long, value_name = "STACK")]
    pub on: String,
    /// Model to compare the kernel with
    #[arg(long, value_name = "STACK", default_value = "model:linux-6.1")]
    pub model: String,
    /// Run N connections per arm; connections whose client is not plain Linux are skipped
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// Run N connections per guest, 1 to 100; with 1, differences are shown per connection
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub together: u16,
    /// Run only these arms, separated by commas; the baseline must be one of them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// Seed of the population [default: the file's]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run N guests in parallel [default: number of CPUs]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `tcplab population self-test`.
#[derive(Args, Debug)]
pub struct SelfTestArgs {
    /// Experiment file with a [population] table; only its first arm runs
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiment: PathBuf,
    /// Use this variant of the file [default: the file without variants]
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// Connections per seed
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub connections: u64,
    /// First seed [default: the file's]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Stack to run on
    #[arg(long, value_name = "STACK", default_value = "model")]
    pub on: String,
    /// Run N threads [default: number of CPUs]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `tcplab population show`.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// Experiment file with a [population] table
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiment: PathBuf,
    /// Use this variant of the file [default: the file without variants]
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Draw N connections, without simulating them
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub draws: u64,
    /// Write the distributions as a self-contained HTML page
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `tcplab population connection`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  tcplab population connection examples/rto-web.toml 4711 --out look
  tcplab analyze look/D/server.eth0.pcapng")]
pub struct ConnectionArgs {
    /// Experiment file with a [population] table, or its result folder
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::AnyPath)]
    pub experiment: PathBuf,
    /// Use this variant of the file [default: the file without variants]
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Number of the connection, as in results
    #[arg(value_name = "NUMBER")]
    pub number: u64,
    /// Run only this arm
    #[arg(long, value_name = "NAME")]
    pub arm: Option<String>,
    /// Seed of the population [default: the file's]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run on these stacks; if one is a kernel, all run the connection as `population sample` does
    #[arg(
        long,
        value_name = "STACK",
        value_delimiter = ',',
        default_value = "model"
    )]
    pub on: Vec<String>,
    /// Keep captures and logs in this folder, one subfolder per arm
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `tcplab report`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  tcplab run examples/rto-web.toml --connections 100000 --out results
  tcplab report results --html rto.html

The page of a population shows the table, a forest plot and the distributions of latency and recovery time. \
tcplab runs up to 12 outliers again and shows their time-sequence graphs in two arms.")]
pub struct ReportArgs {
    /// Result folder of `tcplab run`
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// Write the page to FILE [default: FOLDER/report.html]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
}

/// `tcplab merge`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Example:
  tcplab run examples/rto-web.toml --shard 1/2 --out one     on one machine
  tcplab run examples/rto-web.toml --shard 2/2 --out two     on another
  tcplab merge one two --out all")]
pub struct MergeArgs {
    /// Result folders of all shards of a run, or a folder that contains them
    #[arg(value_name = "FOLDER", required = true, value_hint = ValueHint::DirPath)]
    pub shards: Vec<PathBuf>,
    /// Keep the merged result in this folder
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Population: merge neighbouring shards into one part, which merges further
    #[arg(long, requires = "out")]
    pub partial: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

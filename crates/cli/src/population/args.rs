//! The command lines of `population` and `merge`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use tcplab_lab::population::Shard;

/// `tcplab population`.
#[derive(Subcommand, Debug)]
pub enum PopulationCommand {
    /// The distributions of a population as they are drawn: text, mean, percentiles, histogram
    Show(ShowArgs),
    /// One connection by its number, alone, in every arm, with captures and the log of its steps
    Connection(ConnectionArgs),
    /// Some connections on a real kernel, and the same on the model
    Sample(SampleArgs),
    /// Does the table decide what is not there? A/A halves over many seeds, and a planted effect of 5 %
    SelfTest(SelfTestArgs),
}

/// `tcplab population sample`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  tcplab kernel build 6.1 --hz 1000 --edit recovlat --edit rto-choice --edit tlp-2016
  tcplab population sample examples/rto-p4.toml --on uml:6.1+recovlat+rto-choice+tlp-2016@1000")]
pub struct SampleArgs {
    /// Experiment file with a table [population]
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiment: PathBuf,
    /// A variant of the file, in place of the file as it is written
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// The kernel: uml:NAME, built with the edits that the arms need
    #[arg(long, value_name = "STACK")]
    pub on: String,
    /// The model beside it
    #[arg(long, value_name = "STACK", default_value = "model:linux-6.1")]
    pub model: String,
    /// Connections of each arm; those whose client is no plain Linux are passed over
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub connections: usize,
    /// Connections of one guest; with 1, differences of each connection's counters are told
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub together: u16,
    /// Only these arms, the baseline among them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// Seed of the population, in place of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Guests at once [default: the processors]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `tcplab population self-test`.
#[derive(Args, Debug)]
pub struct SelfTestArgs {
    /// Experiment file with a table [population]; only its first arm is run
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiment: PathBuf,
    /// A variant of the file, in place of the file as it is written
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Seeds
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub seeds: u64,
    /// Connections of each seed
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub connections: u64,
    /// First seed, in place of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Stack, in place of model:linux-6.1
    #[arg(long, value_name = "STACK", default_value = "model")]
    pub on: String,
    /// Threads [default: the processors]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `tcplab population show`.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// Experiment file with a table [population]
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiment: PathBuf,
    /// A variant of the file, in place of the file as it is written
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Connections to draw; nothing is simulated
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub draws: u64,
    /// Write the distributions as one self-contained HTML page
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
  tcplab population connection examples/rto-web.toml 4711 --out look    then: tcplab analyze look/D/server.eth0.pcapng")]
pub struct ConnectionArgs {
    /// Experiment file with a table [population], or the folder of its result
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::AnyPath)]
    pub experiment: PathBuf,
    /// A variant of the file, in place of the file as it is written
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Its number, as results name it
    #[arg(value_name = "NUMBER")]
    pub number: u64,
    /// Only this arm
    #[arg(long, value_name = "NAME")]
    pub arm: Option<String>,
    /// Seed of the population, in place of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Stacks; with a kernel among them, all run it as `population sample` does
    #[arg(
        long,
        value_name = "STACK",
        value_delimiter = ',',
        default_value = "model"
    )]
    pub on: Vec<String>,
    /// Keep captures and logs, in a folder for each arm
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

The page holds the table, a forest plot, distributions of latency and recovery time, and the time-sequence graphs of up to
12 outliers in two arms, which are run again for it. Only results of populations have a page so far.")]
pub struct ReportArgs {
    /// Result folder of a population
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// Write the page to this file [default: FOLDER/report.html]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
}

/// `tcplab merge`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  tcplab run examples/rto-web.toml --shard 1/2 --out one     on one machine
  tcplab run examples/rto-web.toml --shard 2/2 --out two     on another
  tcplab merge one two --out all")]
pub struct MergeArgs {
    /// Result folders of all shards of one population
    #[arg(value_name = "FOLDER", required = true, value_hint = ValueHint::DirPath)]
    pub shards: Vec<PathBuf>,
    /// Keep the result in this folder
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `I/N`.
pub fn parse_shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/');
    let numbers = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((number, of)) if number >= 1 && number <= of && of <= 2048 => Ok(Shard { number, of }),
        _ => Err("write I/N with I from 1 to N, and N at most 2048, such as 1/7".to_owned()),
    }
}

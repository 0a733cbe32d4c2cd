//! The command line of `submit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// `tcplab submit`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tcplab submit --print slurm rto.toml --shards 64 -- --connections 10000000 > rto.sh
  tcplab submit --print k8s rto.toml --shards 64 --image registry/tcplab:1 --claim work > rto.yaml
  tcplab submit --print parallel rto.toml --shards 8 | sh

Nothing is submitted: the script says how. docs/cluster.md compares these with `tcplab run --dask`.")]
pub struct SubmitArgs {
    /// Print for SLURM (a job array), Kubernetes (an indexed Job) or GNU parallel
    #[arg(long, value_enum, value_name = "FOR")]
    pub print: Scheduler,
    /// Experiment file, by its path on the cluster
    #[arg(value_name = "EXPERIMENT", value_hint = ValueHint::FilePath)]
    pub experiment: PathBuf,
    /// Number of shards: a population has 2048 groups, so a power of two divides them evenly
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2048))]
    pub shards: u32,
    /// Folder of the shards; the merged result is in FOLDER-all; all machines must see both [default: the experiment's
    /// name and -shards]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// CPUs of a shard
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub cpus: u32,
    /// SLURM: time limit of a shard, as sbatch takes it
    #[arg(long, value_name = "TIME", default_value = "01:00:00")]
    pub time: String,
    /// Memory of a shard in MB
    #[arg(long, value_name = "MB", default_value_t = 1024)]
    pub memory: u32,
    /// Kubernetes: image with tcplab as its entry point (`make dist` makes one)
    #[arg(long, value_name = "IMAGE", default_value = concat!("tcplab:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// Kubernetes: PersistentVolumeClaim that all pods mount as /work; paths are below it
    #[arg(long, value_name = "CLAIM", default_value = "tcplab")]
    pub claim: String,
    /// Options of `tcplab run` for every shard
    #[arg(last = true, value_name = "RUN OPTIONS")]
    pub options: Vec<String>,
}

/// What starts the shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scheduler {
    /// A job array for sbatch
    Slurm,
    /// An indexed Job, and a Job that merges
    K8s,
    /// A line for GNU parallel
    Parallel,
}

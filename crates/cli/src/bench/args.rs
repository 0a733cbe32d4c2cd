//! The command line of `tcplab bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use tcplab_bench::Setting;

use crate::compare::args::{JudgeArgs, OutputArgs};
use crate::failure::Failure;
use crate::probe::number::positive;
use crate::ssh::SshArgs;

/// `tcplab bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
Workloads (docs/bench.md): TCP_STREAM:BYTES, UDP_STREAM:BYTES, TCP_RR, TCP_CRR and UDP_RR as in netperf; AF_UNIX_STREAM:BYTES,
AF_UNIX_RR, PIPE_STREAM:BYTES and PIPE_RR as in lmbench. Without a workload, bench runs a suite of 15.

An arm is one of:
  as-it-is               this machine, unchanged
  sysctl:NAME=VALUE,...  a network namespace with these sysctls
  ssh:A,B                the client on host A, the server on host B
  setup:COMMAND          this machine, after COMMAND ran in a shell; it runs before each run, with TCPLAB_ARM and TCPLAB_RUN set
  COMMAND                without a workload: measures the command itself: time, CPU, memory, counters, and the figures that it
                         prints if `tcplab compare` reads them (iperf3 -J, netperf, wrk, ab, fortio ...)
  uml:6.1, model, qemu:NAME
                         stacks: both arms run nine small experiments in virtual time; workloads name them (stream, rr, web ...)

Examples:
  tcplab bench                                             measure this machine
  tcplab bench TCP_STREAM:65536 TCP_RR --repeat 10 --out before      keep the runs, and later
  tcplab compare before after                              compare them with a second folder
  tcplab bench --before as-it-is --after sysctl:net.ipv4.tcp_sack=0 TCP_STREAM:65536
  tcplab bench --self-test 20 TCP_RR TCP_STREAM:65536      test the bench on this machine: missed changes, false alarms
  tcplab bench --before uml:6.1 --after uml:6.1+mss-boundary
  tcplab bench --on ssh:a,b TCP_STREAM TCP_RR              client on a, server on b
  tcplab bench --before ssh:a,b --after ssh:a,c            compare two servers
  tcplab bench --before 'setup:tc qdisc del dev lo root; true' --after 'setup:tc qdisc add dev lo root fq' TCP_RR
  tcplab bench --before 'iperf3 -c host -J' --after 'iperf3 -c host -J -C bbr' --repeat 20
  tcplab bench --command 'wrk -d2 http://host/'            measure one command")]
pub struct BenchArgs {
    /// Workloads to run [default: a suite of 15]
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,
    /// First arm
    #[arg(long, value_name = "ARM", requires = "after", help_heading = "Arms")]
    pub before: Option<Setting>,
    /// Second arm; runs of both arms alternate
    #[arg(long, value_name = "ARM", requires = "before", help_heading = "Arms")]
    pub after: Option<Setting>,
    /// Measure one command
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["before", "after", "on", "self_test"], help_heading = "Arms")]
    pub command: Option<String>,
    /// Run the client on host A and the server on host B in every arm that names no hosts (docs/ssh.md)
    #[arg(long, value_name = "ssh:A,B", help_heading = "Arms")]
    pub on: Option<String>,
    #[command(flatten)]
    pub ssh: SshArgs,

    /// Run each workload N times in each arm [default: two arms: enough runs to detect --find, 30 to --most-runs;
    /// one arm: 30; between hosts: 10]
    #[arg(long, alias = "runs", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Runs")]
    pub repeat: Option<u32>,
    /// Measure each run for this long [default: 100ms; between hosts: 1s]
    #[arg(long = "for", alias = "time", value_name = "TIME", value_parser = positive, help_heading = "Runs")]
    pub run_for: Option<Duration>,
    /// Warm each run up for this long before it is measured [default: 50ms; between hosts: 500ms]
    #[arg(long, value_name = "TIME", value_parser = positive, help_heading = "Runs")]
    pub warm: Option<Duration>,
    /// Run each command N times before its measured runs [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000), help_heading = "Runs")]
    pub warm_runs: Option<u32>,
    /// Choose the CPUs of client and server; with several values, run once with each [default: steady; between hosts: free]
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "CPUS",
        help_heading = "Runs"
    )]
    pub cpus: Vec<Cpus>,
    /// Set TCP_CONGESTION on both ends of the suite's TCP workloads, or of those named
    #[arg(long, value_name = "NAME", help_heading = "Runs")]
    pub congestion: Option<String>,

    /// Test the bench itself: make N tables of two equal arms, slow one workload by 10 % and by 5 % in each, and
    /// report false alarms and missed changes
    #[arg(long, value_name = "TABLES", value_parser = clap::value_parser!(u32).range(1..=1_000), conflicts_with_all = ["before", "on", "out", "html", "junit", "csv", "markdown", "fail_on", "require_verdict"], help_heading = "Runs")]
    pub self_test: Option<u32>,

    /// Write the runs to this folder (runs.jsonl, metrics.json)
    #[arg(long, value_name = "DIR", help_heading = "Output", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Between hosts: capture each run at both ends into the --out folder (headers only; slows the run)
    #[arg(long, requires = "out", help_heading = "Output")]
    pub captures: bool,
    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl BenchArgs {
    /// Refuses options that would have no effect.
    pub fn check(&self) -> Result<(), Failure> {
        let has_two_arms = self.before.is_some() || self.self_test.is_some();
        if let Some(option) = self.judge.given()
            && !has_two_arms
        {
            return Err(Failure::usage(format!(
                "{option} judges a comparison, which needs two arms: give them with --before and --after, or keep the runs with \
                 --out and run `tcplab compare` on two folders"
            )));
        }
        let settings = || [&self.before, &self.after].into_iter().flatten();
        let has_commands = self.command.is_some()
            || settings().any(|setting| matches!(setting, Setting::Command(_)));
        if self.warm_runs.is_some() && !has_commands {
            return Err(Failure::usage(
                "--warm-runs applies to commands; workloads warm up for a time (--warm)",
            ));
        }
        let has_hosts =
            self.on.is_some() || settings().any(|setting| matches!(setting, Setting::Hosts(_)));
        let has_ways = self.ssh.ssh_config.is_some() || self.ssh.ssh_program.is_some();
        if has_ways && !has_hosts {
            return Err(Failure::usage(
                "--ssh-config and --ssh-program are for other hosts: name them with --on ssh:A,B, or in an arm",
            ));
        }
        Ok(())
    }
}

/// Where client and server run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Cpus {
    /// The steadiest: TCP and UDP streams like `pinned`, everything else like `one`
    Steady,
    /// Client and server on a CPU each
    Pinned,
    /// Both on one CPU: no wake-up between CPUs
    One,
    /// Wherever the kernel schedules them
    Free,
}

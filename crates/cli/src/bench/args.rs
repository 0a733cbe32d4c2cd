//! The command line of `tcplab bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use tcplab_lab::bench::Setting;

use crate::compare::args::{JudgeArgs, OutputArgs};
use crate::probe::number::positive;
use crate::ssh::SshArgs;

/// `tcplab bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
Workloads: TCP_STREAM:BYTES, UDP_STREAM:BYTES, TCP_RR, TCP_CRR, UDP_RR as netperf has them, AF_UNIX_STREAM:BYTES, AF_UNIX_RR,
PIPE_STREAM:BYTES, PIPE_RR as lmbench has them, HTTP_RR:BYTES and HTTPS_RR:BYTES on connections that stay, HTTP_CRR:BYTES and
HTTPS_CRR:BYTES on one for each request; without any the suite of 19 (docs/bench.md).
An arm is `sysctl:NAME=VALUE,...` (a network namespace of its own), `as-it-is`, two hosts `ssh:A,B`, or `setup:COMMAND`, which is run
before each run of the arm, with its name in TCPLAB_ARM and its number in TCPLAB_RUN. Two commands of a shell, without a workload, are measured
themselves: time, CPU, memory, counters, and what their output says in a form that `tcplab compare` reads (iperf3 -J, netperf, wrk ...). Two stacks (uml:6.1, model, qemu:NAME) run a suite of nine small experiments
instead, in virtual time; workloads are their names then (stream, rr, web ...).

Examples:
  tcplab bench                                             what this machine does
  tcplab bench TCP_STREAM:65536 TCP_RR --runs 10 --out before      keep it; later
  tcplab compare before after                              with a second folder
  tcplab bench --before as-it-is --after sysctl:net.ipv4.tcp_sack=0 TCP_STREAM:65536
  tcplab bench --self-test 20 TCP_RR TCP_STREAM:65536      what it finds on this machine, and what it makes up
  tcplab bench HTTP_RR:1024 HTTPS_CRR --connections 64     against nginx where it is installed
  tcplab bench --before uml:6.1 --after uml:6.1+mss-boundary
  tcplab bench --on ssh:a,b TCP_STREAM TCP_RR              client on a, server on b
  tcplab bench --before ssh:a,b --after ssh:a,c            two servers
  tcplab bench --before 'setup:tc qdisc del dev lo root; true' --after 'setup:tc qdisc add dev lo root fq' TCP_RR
  tcplab bench --before 'iperf3 -c host -J' --after 'iperf3 -c host -J -C bbr' --runs 20
  tcplab bench --command 'curl -so /dev/null http://host/' how long it takes")]
pub struct BenchArgs {
    /// What to run
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,
    /// The arm before
    #[arg(long, value_name = "ARM", requires = "after", help_heading = "Arms")]
    pub before: Option<Setting>,
    /// The arm after; both take turns
    #[arg(long, value_name = "ARM", requires = "before", help_heading = "Arms")]
    pub after: Option<Setting>,
    /// Measure this command alone
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["before", "after", "on", "self_test"], help_heading = "Arms")]
    pub command: Option<String>,
    /// Client and server are on two hosts, ssh:A,B, in arms that name none (docs/ssh.md)
    #[arg(long, value_name = "ssh:A,B", help_heading = "Arms")]
    pub on: Option<String>,
    #[command(flatten)]
    pub ssh: SshArgs,

    /// Runs of each workload in each arm [default: of two arms as many as find a change of --find per cent, 30 to --most-runs;
    /// of one 30; between hosts 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Runs")]
    pub runs: Option<u32>,
    /// Time in which a run counts [default: 100ms; between hosts 1s]
    #[arg(long, value_name = "TIME", value_parser = positive, help_heading = "Runs")]
    pub time: Option<Duration>,
    /// Time of a run before it counts [default: 50ms; between hosts 500ms]
    #[arg(long, value_name = "TIME", value_parser = positive, help_heading = "Runs")]
    pub warm: Option<Duration>,
    /// Runs of each command before those that count
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=1_000), help_heading = "Runs")]
    pub warm_runs: u32,
    /// Where client and server run; several one after the other [default: steady; between hosts free]
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "CPUS",
        help_heading = "Runs"
    )]
    pub cpus: Vec<Cpus>,
    /// TCP_CONGESTION of both ends
    #[arg(long, value_name = "NAME", help_heading = "Runs")]
    pub congestion: Option<String>,

    /// Does a bench on this machine see what is not there, and what is: so many tables of two like arms, with a
    /// workload slowed by 10 % and by 5 % in each
    #[arg(long, value_name = "TABLES", value_parser = clap::value_parser!(u32).range(1..=1_000), conflicts_with_all = ["before", "on", "out", "html", "junit", "markdown"], help_heading = "Runs")]
    pub self_test: Option<u32>,

    #[command(flatten)]
    pub http: HttpArgs,

    /// Keep the runs in this folder (runs.jsonl, metrics.json)
    #[arg(long, value_name = "DIR", help_heading = "Output", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Between hosts: capture each run at both ends, into the folder of --out (headers only; it costs speed)
    #[arg(long, requires = "out", help_heading = "Output")]
    pub captures: bool,
    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What HTTP and HTTPS are run with.
#[derive(Args, Debug)]
pub struct HttpArgs {
    /// Connections at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=20_000), help_heading = "HTTP")]
    pub connections: u32,
    /// Who serves: nginx when it is installed, else tcplab itself
    #[arg(long, value_enum, default_value = "auto", help_heading = "HTTP")]
    pub http_server: HttpServer,
    /// Resume TLS sessions; otherwise each connection makes a full handshake
    #[arg(long, help_heading = "HTTP")]
    pub tls_resume: bool,
}

/// Who serves HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HttpServer {
    /// nginx when it is installed, else tcplab itself
    Auto,
    /// An nginx of the bench's own
    Nginx,
    /// tcplab itself
    Own,
}

/// Where client and server run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Cpus {
    /// Where runs differ least: streams and HTTP as with `pinned`, the others as with `one`
    Steady,
    /// On a processor each
    Pinned,
    /// Both on one: no processor is woken by another
    One,
    /// Where the kernel puts them
    Free,
}

//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use tcplab_analyze::trace::Rows;
use tcplab_base::quantity::{Quantity, TIME};
use tcplab_lab::prove;
use tcplab_report::page;
use tcplab_wire::{CaqmUnits, caqm_ethertype};

use crate::analyze::fail_on::FailOn;
use crate::bench::args::BenchArgs;
use crate::compare::args::CompareArgs;
use crate::drill::DrillArgs;
use crate::explain::ExplainArgs;
use crate::failure::Failure;
use crate::inject::args::InjectArgs;
use crate::kernel::args::KernelCommand;
use crate::link::args::LinkArgs;
use crate::population::args::{MergeArgs, PopulationCommand, ReportArgs};
use crate::probe::args::ProbeArgs;
use crate::qa::args::QaArgs;
use crate::reproduce::ReproduceArgs;
use crate::run::args::{BisectArgs, RunArgs};
use crate::ssh::SshArgs;
use crate::starters::{ExamplesArgs, NewArgs};

/// A TCP laboratory: what did TCP do, and why.
#[derive(Parser, Debug)]
#[command(name = "tcplab", version, max_term_width = 100)]
#[command(after_help = "\
Exit codes: 0 done; 1 the answer is no (--fail-on); 2 wrong usage or bad input;
3 inconclusive; 4 cannot run here, with the reason and what to install; 130 Ctrl-C or SIGTERM came first.")]
pub struct Cli {
    /// When to use colours; NO_COLOR and CLICOLOR_FORCE are kept when this is `auto`
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
    /// Read the command line and end: `cargo xtask documents` asks so about commands that it cannot run
    #[arg(long, hide = true)]
    pub check_usage: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// What TCP did in these captures: streams, ACK delays, losses, findings
    Analyze(AnalyzeArgs),
    /// Which stack sent these ACKs: each receiver of a capture, played to every profile
    Explain(ExplainArgs),
    /// Run an experiment on stacks: the model, real kernels in virtual time, this machine's kernel
    Run(RunArgs),
    /// Write a commented experiment file to start from
    New(NewArgs),
    /// List the built-in examples, or write some of them to files
    Examples(ExamplesArgs),
    /// Populations of connections: what they are drawn from, one of them alone
    Population {
        /// What to do with one
        #[command(subcommand)]
        command: PopulationCommand,
    },
    /// The shards of a population's run as one result
    Merge(MergeArgs),
    /// The result of a population as one self-contained HTML page
    Report(ReportArgs),
    /// packetdrill scripts: what must TCP do here, on the model in virtual time or on a kernel
    Drill(DrillArgs),
    /// Before and after: a table of what changed, with intervals, verdicts and the runs that are missing
    Compare(CompareArgs),
    /// The first bad one of an ordered list of stacks
    Bisect(BisectArgs),
    /// Published claims, measured again: expected, measured, verdict
    Reproduce(ReproduceArgs),
    /// Real kernels for `uml:` stacks: build, list, remove
    Kernel {
        /// What to do with them
        #[command(subcommand)]
        command: KernelCommand,
    },
    /// What `--on` can name on this machine, and the model's profiles
    Stacks(StacksArgs),
    /// What this machine can do for tcplab, by trying it, and how to get the rest
    Doctor(DoctorArgs),
    /// Workloads between two processes, in two arms that take turns: what changed?
    Bench(BenchArgs),
    /// A report before and after: experiments, counters, a suite, scripts, malformed frames; a verdict each
    Qa(QaArgs),
    /// The lab's applications live, on real sockets, with what the kernel knows about its ACKs
    Probe(ProbeArgs),
    /// A shaped link in real time: between namespaces, TAP devices or interfaces, with any qdisc
    Link(LinkArgs),
    /// Malformed frames at the parser, the analyser, our endpoint and a kernel: do they do harm?
    Inject(InjectArgs),
    /// Print the JSON Schema of a result or of an experiment file
    Schema {
        /// Which one
        #[arg(value_enum)]
        name: SchemaName,
    },
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff), or write one for each command
    Man {
        /// Folder for tcplab.1, tcplab-run.1 and so on; without it, one page of all commands is printed
        #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

/// `tcplab doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Far hosts in place of this machine: ssh:A,B (docs/ssh.md)
    #[arg(long, value_name = "HOSTS")]
    pub on: Option<String>,
    #[command(flatten)]
    pub ssh: SshArgs,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `tcplab stacks`.
#[derive(Args, Debug)]
pub struct StacksArgs {
    /// What the model does under each profile, side by side
    #[arg(long)]
    pub profiles: bool,
    /// Every key of experiments and every sysctl: range, default, meaning, and which stacks refuse it
    #[arg(long, conflicts_with = "profiles")]
    pub keys: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// What has a published schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// `tcplab analyze --json`
    Analyze,
    /// `tcplab analyze --pair A B --json`
    Pair,
    /// `tcplab explain --json`
    Explain,
    /// An experiment file (TOML)
    Experiment,
    /// An experiment file with a population (TOML)
    PopulationFile,
    /// `tcplab run POPULATION --json`
    Population,
    /// The same of a population with variants
    PopulationVariants,
    /// `tcplab run --json`
    Run,
    /// `tcplab reproduce --json`
    Reproduce,
    /// `tcplab drill --json`
    Drill,
    /// A line of `tcplab link --json`
    Link,
    /// `tcplab inject --json`
    Inject,
    /// `tcplab probe ... --json`
    Probe,
    /// `tcplab compare --json`
    Compare,
    /// `tcplab qa --json`
    Qa,
    /// What `tcplab compare` reads and `--metrics` writes
    Metrics,
}

/// `tcplab analyze`.
#[derive(Args, Debug, Default)]
#[command(after_help = "\
Examples:
  tcplab analyze slow.pcapng                     report for a person
  tcplab analyze --explain quick-ACK             what does a word of the report mean?
  tcplab analyze --json *.pcap.gz | jq ...       all figures, one document
  tcplab analyze --acks --stream 0 slow.pcapng   one row for each ACK
  tcplab analyze --prove slow.pcapng             does the cure help? asked from the model
  tcplab analyze --annotate out.pcapng in.pcap   then in Wireshark: frame.comment contains \"tcplab\"
  ssh host tcpdump -U -w - port 80 | tcplab analyze -
  sudo tcplab analyze -i eth0 --for 10s")]
pub struct AnalyzeArgs {
    /// Captures: pcap, pcapng, the text of `tcpdump -n`, each also as gzip or zstd; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present_any = ["interface", "pair", "explain"])]
    pub files: Vec<PathBuf>,

    /// Capture live from this interface (needs root or CAP_NET_RAW), until Ctrl-C or --for
    #[arg(short, long, value_name = "INTERFACE", conflicts_with_all = ["files", "pair", "annotate"])]
    pub interface: Option<String>,
    /// End a live capture after this time: 10s, 500ms, 2m
    #[arg(long = "for", value_name = "TIME", requires = "interface", value_parser = parse_duration)]
    pub duration: Option<Duration>,
    /// Compare two captures of the same connections, taken at both ends
    #[arg(long, num_args = 2, value_names = ["A", "B"], value_hint = ValueHint::FilePath,
          conflicts_with_all = ["files", "acks", "tshark_compat", "html", "annotate", "flows"])]
    pub pair: Vec<PathBuf>,
    /// Explain a word of a report, such as rcv_mss, TLP or the id of a finding; without WORD list all words
    #[arg(long, value_name = "WORD", num_args = 0..=1, default_missing_value = "",
          conflicts_with_all = ["files", "interface", "pair", "json", "acks", "tshark_compat", "html", "annotate", "flows",
                                "output"])]
    pub explain: Option<String>,

    /// Print one JSON document (see `tcplab schema analyze`); with --acks one JSON line for each ACK
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print one row for each ACK of new data: what it acknowledges, its trigger, wait and class
    #[arg(long, help_heading = "Output", conflicts_with = "tshark_compat")]
    pub acks: bool,
    /// Print the verdicts in Wireshark's terms: `FRAME STREAM tcp.analysis....` for each frame that has one
    #[arg(long, help_heading = "Output")]
    pub tshark_compat: bool,
    /// Write the report as one self-contained HTML page
    #[arg(long, help_heading = "Output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Write the same packets as pcapng with the verdicts as packet comments
    #[arg(long, help_heading = "Output", value_name = "FILE.pcapng", value_hint = ValueHint::FilePath)]
    pub annotate: Option<PathBuf>,
    /// Write one row for each stream as Parquet
    #[arg(long, help_heading = "Output", value_name = "FILE.parquet", value_hint = ValueHint::FilePath)]
    pub flows: Option<PathBuf>,
    /// Prove findings: repeat their conversation on the model, with and without each cure
    #[arg(long, help_heading = "Output", conflicts_with_all = ["pair", "acks", "tshark_compat"])]
    pub prove: bool,
    /// Prove findings, and write each experiment into this folder as a file for `tcplab run`
    #[arg(long, help_heading = "Output", value_name = "DIR", value_hint = ValueHint::DirPath,
          conflicts_with_all = ["pair", "acks", "tshark_compat"])]
    pub prove_out: Option<PathBuf>,
    /// Write to FILE what would go to standard output; a link is followed, a device or FIFO is written as it is
    #[arg(short, long, help_heading = "Output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Show every stream in the report, not only the most interesting ones
    #[arg(long, help_heading = "Output")]
    pub all: bool,
    /// Only these streams (numbers as Wireshark's tcp.stream)
    #[arg(long, help_heading = "Output", value_name = "N", value_delimiter = ',')]
    pub stream: Vec<u32>,
    /// Exit with 1 when there is a finding with one of these ids, or at least this severe (info, medium, high)
    #[arg(
        long,
        help_heading = "Output",
        value_name = "ID|SEVERITY",
        value_delimiter = ','
    )]
    pub fail_on: Vec<FailOn>,

    /// Hold at most N connections at once, and remember N ended ones; the least recently active one is written out
    /// early and counted. `none`: no limit
    #[arg(long, help_heading = "Analysis", value_name = "N", default_value = "1000000", value_parser = parse_bound)]
    pub max_streams: Bound,
    /// Hold at most N packets at once for --acks, --annotate, --html, --pair, --prove or --tshark-compat; those beyond
    /// are counted. `none`: no limit
    #[arg(long, help_heading = "Analysis", value_name = "N", default_value = "1000000", value_parser = parse_bound)]
    pub max_packets: Bound,
    /// EtherType of the CAQM tag, from 0x0600 on
    #[arg(long, help_heading = "Analysis", value_name = "NUMBER", default_value = "0x8200", value_parser = parse_ethertype)]
    pub caqm_ethertype: u16,
    /// Bytes of window of a unit of a CAQM hint in data, of one in feedback, and of a mark
    #[arg(long, help_heading = "Analysis", value_name = "DATA/ACK/BETA", default_value = "8/64/512", value_parser = parse_units)]
    pub caqm_units: CaqmUnits,
    /// Type of congestion control (cc_type) whose CAQM tags count
    #[arg(long, help_heading = "Analysis", value_name = "0-7", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=7))]
    pub caqm_type: u8,
    /// Look for TCP inside GRE (the default)
    #[arg(long, help_heading = "Analysis", overrides_with = "no_gre")]
    pub gre: bool,
    /// Do not look for TCP inside GRE
    #[arg(long, help_heading = "Analysis")]
    pub no_gre: bool,
}

impl AnalyzeArgs {
    /// What the rules of the parser cannot say: they drop `requires` where it meets a conflict.
    pub fn check(&self) -> Result<(), Failure> {
        if self.duration.is_some() && self.interface.is_none() {
            return Err(Failure::usage(
                "--for ends a live capture: it needs --interface",
            ));
        }
        Ok(())
    }

    /// What CAQM's hints stand for.
    pub fn caqm(&self) -> CaqmUnits {
        CaqmUnits {
            cc_type: self.caqm_type,
            ..self.caqm_units
        }
    }

    /// Whether `stream` was asked for.
    pub fn wants(&self, stream: u32) -> bool {
        self.stream.is_empty() || self.stream.contains(&stream)
    }

    /// Whether findings shall be proved.
    pub fn proves(&self) -> bool {
        self.prove || self.prove_out.is_some()
    }

    /// The packets that the outputs need, beside the sums.
    pub fn rows(&self) -> Rows {
        let page = match self.html {
            Some(_) => page::Options::default().packets_per_stream,
            None => 0,
        };
        let proof = if self.proves() { prove::MOST_ROWS } else { 0 };
        Rows {
            first: page.max(proof),
            marked: self.acks || self.tshark_compat || self.annotate.is_some(),
        }
    }
}

/// How much of something is held: `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound(pub Option<usize>);

/// A count of at least one, or `none`.
fn parse_bound(text: &str) -> Result<Bound, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(Bound(Some(n))),
        _ if text == "none" => Ok(Bound(None)),
        _ => Err("write a whole number from 1 on, or none".into()),
    }
}

/// A length of time on the command line; a number alone means seconds.
const LENGTH: Quantity = Quantity {
    write: "write 10s, 500ms or 2m",
    bare: Some(1_000_000_000),
    max: u64::MAX,
    max_text: "584 years",
    ..TIME
};

/// `10s`, `500ms`, `2m`, `1h`; a number alone means seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    match LENGTH.parse(text)? {
        0 => Err(format!("`{text}` is no time above 0: {}", LENGTH.write)),
        ns => Ok(Duration::from_nanos(ns)),
    }
}

/// The EtherType of a CAQM tag.
fn parse_ethertype(text: &str) -> Result<u16, String> {
    caqm_ethertype(parse_u16(text)?).map_err(|e| e.to_string())
}

/// Bytes of CAQM's units, with the ranges of the kernel's sysctls: both units to 1,024 bytes, a mark as it likes.
fn parse_units(text: &str) -> Result<CaqmUnits, String> {
    let bad = || {
        "write three numbers of bytes: a unit in data and one in feedback (1 to 1024), a mark (from 1 on), like 8/64/512"
            .to_owned()
    };
    let numbers: Result<Vec<u32>, _> = text.split('/').map(str::parse).collect();
    match numbers.as_deref() {
        Ok(&[data @ 1..=1024, ack @ 1..=1024, beta @ 1..=0x7fff_ffff]) => Ok(CaqmUnits {
            data_hint_unit: data,
            ack_hint_unit: ack,
            beta,
            ..CaqmUnits::default()
        }),
        _ => Err(bad()),
    }
}

/// A 16 bit number, decimal or with `0x`.
fn parse_u16(text: &str) -> Result<u16, String> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u16::from_str_radix(hex, 16),
        None => text.parse(),
    }
    .map_err(|e| format!("{e}; write a number from 0 to 65535, or 0x0000 to 0xffff"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_duration("3"), Ok(Duration::from_secs(3)));
        assert_eq!(parse_duration("1.5 s"), Ok(Duration::from_millis(1_500)));
        for bad in [
            "",
            "s",
            "0s",
            "-1s",
            "99999999999999999999s",
            "99999999999999999h",
        ] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ethertypes() {
        assert_eq!(parse_u16("0x8200"), Ok(0x8200));
        assert_eq!(parse_u16("33280"), Ok(0x8200));
        assert!(parse_u16("0x18200").is_err() && parse_u16("x").is_err());
    }
}

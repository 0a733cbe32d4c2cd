//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum, ValueHint};
use tcplab_analyze::trace::Rows;
use tcplab_base::quantity::{Quantity, TIME};
use tcplab_lab::prove;
use tcplab_report::page;
use tcplab_wire::{CaqmUnits, caqm_ethertype};

use crate::Command;
use crate::analyze::fail_on::FailOn;
use crate::failure::Failure;
use crate::progress::Form;
#[cfg(target_os = "linux")]
use crate::ssh::SshArgs;

/// A TCP laboratory: find out what TCP did, and why.
#[derive(Parser, Debug)]
#[command(
    name = "tcplab",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
#[command(after_help = "\
Exit codes: 0 success; 1 a check failed (such as --fail-on); 2 wrong usage or bad input; 3 inconclusive; \
4 cannot run here (the message says why and what to install); 130 interrupted (Ctrl-C or SIGTERM).")]
pub struct Cli {
    /// Colour the output; `auto` honours NO_COLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
    /// Show progress on standard error: bars on a terminal (`auto`), or a JSON object on a line (`json`)
    #[arg(long, global = true, value_enum, default_value_t = Form::Auto, value_name = "FORM", hide_short_help = true)]
    pub progress: Form,
    /// End, as SIGTERM ends it, when the process with this id, which started it, is gone
    #[arg(long, global = true, hide = true, value_name = "PID")]
    pub parent: Option<u32>,
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
    /// Colour only on a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[cfg(target_os = "linux")]
/// `tcplab doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Check remote hosts instead of this machine: ssh:A,B (docs/ssh.md)
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
    /// Compare the model's profiles side by side
    #[arg(long)]
    pub profiles: bool,
    /// List every experiment key and sysctl: range, default, meaning, and the stacks that refuse it
    #[arg(long, conflicts_with = "profiles")]
    pub keys: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `tcplab schema`.
#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// Schema to print
    #[arg(value_enum)]
    pub name: SchemaName,
    /// List the fields with their types and meanings instead: all, or those of a type, or the types with a field of this name
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub fields: Option<String>,
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
    /// `tcplab run POPULATION --json`, if the file has variants
    PopulationVariants,
    /// `tcplab run --json`
    Run,
    /// `tcplab reproduce --json`
    Reproduce,
    /// `tcplab drill --json`
    Drill,
    #[cfg(target_os = "linux")]
    /// A line of `tcplab link --json`
    Link,
    /// `tcplab inject --json`
    Inject,
    #[cfg(target_os = "linux")]
    /// `tcplab probe ... --json`
    Probe,
    /// `tcplab compare --json`
    Compare,
    #[cfg(target_os = "linux")]
    /// `tcplab diff --json`
    Diff,
    /// `tcplab qa --json`
    Qa,
    /// Measurements: input of `tcplab compare`, output of its `--metrics`
    Metrics,
}

/// `tcplab analyze`.
#[derive(Args, Debug, Default)]
#[command(after_help = "\
Examples:
  tcplab analyze slow.pcapng                     print a report
  tcplab help quick-ACK                          explain a term of the report
  tcplab analyze --json *.pcap.gz | jq ...       print all figures as JSON
  tcplab analyze --acks --stream 0 slow.pcapng   print one row per ACK
  tcplab analyze --prove slow.pcapng             test on the model whether each cure helps
  tcplab analyze --annotate out.pcapng in.pcap   in Wireshark: frame.comment contains \"tcplab\"
  mergecap -w all.pcapng ring.pcap* && tcplab analyze all.pcapng   a ring buffer (docs/capture.md)
  ssh host tcpdump -U -w - port 80 | tcplab analyze -
  sudo tcplab analyze -i eth0 --for 10s")]
pub struct AnalyzeArgs {
    /// Captures: pcap, pcapng or `tcpdump -n` text, optionally compressed (gzip, zstd); `-` reads standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present_any = ["interface", "pair", "explain"])]
    pub files: Vec<PathBuf>,

    /// Capture live from this interface until Ctrl-C or --for (needs root or CAP_NET_RAW)
    #[arg(short, long, value_name = "INTERFACE", conflicts_with_all = ["files", "pair", "annotate"])]
    pub interface: Option<String>,
    /// Stop the live capture after this time: 10s, 500ms, 2m [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", requires = "interface", value_parser = parse_duration)]
    pub duration: Option<Duration>,
    /// Compare two captures of the same connections, one from each end
    #[arg(long, num_args = 2, value_names = ["A", "B"], value_hint = ValueHint::FilePath,
          conflicts_with_all = ["files", "acks", "tshark_compat", "html", "annotate", "flows", "fail_on"])]
    pub pair: Vec<PathBuf>,
    /// Explain a term of the report, such as rcv_mss, TLP or a finding's id; without WORD, list all terms
    #[arg(long, value_name = "WORD", num_args = 0..=1, default_missing_value = "",
          conflicts_with_all = ["files", "interface", "pair", "json", "acks", "tshark_compat", "html", "annotate", "flows",
                                "output"])]
    pub explain: Option<String>,

    /// Print one JSON document (see `tcplab schema analyze`); with --acks, one JSON line per ACK
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print one row per ACK of new data: bytes acknowledged, trigger, delay and class
    #[arg(long, help_heading = "Output", conflicts_with = "tshark_compat")]
    pub acks: bool,
    /// Print Wireshark's tcp.analysis verdicts, one per line: FRAME STREAM VERDICT
    #[arg(long, help_heading = "Output")]
    pub tshark_compat: bool,
    /// Write the report as one self-contained HTML page
    #[arg(long, help_heading = "Output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Copy the capture to this pcapng file, with each verdict as a packet comment
    #[arg(long, help_heading = "Output", value_name = "FILE.pcapng", value_hint = ValueHint::FilePath)]
    pub annotate: Option<PathBuf>,
    /// Write one Parquet row per stream
    #[arg(long, help_heading = "Output", value_name = "FILE.parquet", value_hint = ValueHint::FilePath)]
    pub flows: Option<PathBuf>,
    /// Prove findings: replay each conversation on the model, with and without the cure
    #[arg(long, help_heading = "Output", conflicts_with_all = ["pair", "acks", "tshark_compat"])]
    pub prove: bool,
    /// Like --prove, and write each experiment to this folder as a file for `tcplab run`
    #[arg(long, help_heading = "Output", value_name = "DIR", value_hint = ValueHint::DirPath,
          conflicts_with_all = ["pair", "acks", "tshark_compat"])]
    pub prove_out: Option<PathBuf>,
    /// Write the output to FILE instead of standard output; FILE may be a symbolic link, device or FIFO
    #[arg(short, long, help_heading = "Output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Show every stream in the report [default: the most interesting ones]
    #[arg(long, help_heading = "Output")]
    pub all: bool,
    /// Report only these streams (Wireshark's tcp.stream numbers), separated by commas
    #[arg(long, help_heading = "Output", value_name = "N", value_delimiter = ',')]
    pub stream: Vec<u32>,
    /// Exit with 1 if a finding has one of these ids or at least this severity (info, medium, high), with 3 if no
    /// stream could be checked for it
    #[arg(
        long,
        help_heading = "Output",
        value_name = "ID|SEVERITY",
        value_delimiter = ','
    )]
    pub fail_on: Vec<FailOn>,

    /// Keep at most N open and N closed connections in memory (`none`: no limit). Beyond that, report the least
    /// recently active one early and count it
    #[arg(long, help_heading = "Analysis", value_name = "N", default_value = "1000000", value_parser = parse_bound)]
    pub max_streams: Bound,
    /// Keep at most N packets in memory for --acks, --annotate, --html, --pair, --prove and --tshark-compat (`none`: no
    /// limit). Count the rest
    #[arg(long, help_heading = "Analysis", value_name = "N", default_value = "1000000", value_parser = parse_bound)]
    pub max_packets: Bound,
    /// EtherType of the CAQM tag, 0x0600 or higher
    #[arg(long, help_heading = "Analysis", value_name = "NUMBER", default_value = "0x8200", value_parser = parse_ethertype)]
    pub caqm_ethertype: u16,
    /// Window bytes per CAQM unit, three values: a hint unit in data, a hint unit in feedback, a mark
    #[arg(long, help_heading = "Analysis", value_name = "DATA/ACK/BETA", default_value = "8/64/512", value_parser = parse_units)]
    pub caqm_units: CaqmUnits,
    /// Read CAQM tags of this congestion control type (cc_type) only
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
                "--for limits a live capture: add --interface",
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
        _ => Err("write a whole number of 1 or more, or none".into()),
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
        0 => Err(format!("`{text}` is not a time above 0: {}", LENGTH.write)),
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
        "write three byte counts DATA/ACK/BETA, such as 8/64/512: DATA and ACK from 1 to 1024, BETA 1 or more"
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

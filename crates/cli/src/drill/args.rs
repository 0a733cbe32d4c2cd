//! The command line of `drill`: our words, and those of Google's runner.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum, ValueHint};
use tcplab_drill::IpMode;

/// `tcplab drill`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 all scripts pass (skipped scripts and known failures do not count); 1 a script fails; 2 a script or \
path cannot be read; 4 cannot run here.

Examples:
  tcplab drill tests/pkt                             run tcplab's own scripts on the model
  tcplab drill gtests/net/tcp -v                     run packetdrill's suite, one line per case
  tcplab drill fast_retransmit.pkt --pcap out        write the packets for Wireshark
  tcplab drill gtests/net/tcp --on uml:mine --json   test a patched kernel (`tcplab kernel build`)
  tcplab drill gtests/net/tcp | grep ^FAIL > known   record today's failures,
  tcplab drill gtests/net/tcp --expect known         then show only new failures
  sudo tcplab drill gtests/net/tcp --on host         test this machine's kernel, in namespaces

These flags of packetdrill's run_all.py work here: -S -v -l -L -4 -6 --ipv4mappedv6 -P N -t DIR -c DIR --dry_run.")]
pub struct DrillArgs {
    /// Scripts, or folders to search for *.pkt
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Stack under test: model:PROFILE, uml:NAME, host
    #[arg(long, value_name = "STACK", default_value = "model")]
    pub on: String,
    /// Run each script in these IP modes; *v4.pkt never runs in ipv6, *v6.pkt runs only in ipv6 [default: all]
    #[arg(long, value_name = "MODE", value_enum, value_delimiter = ',')]
    pub ip: Vec<Mode>,
    /// Run in mode ipv4 only; -4, -6 and --ipv4mappedv6 can be combined
    #[arg(short = '4', long)]
    pub ipv4: bool,
    /// Run in mode ipv6 only
    #[arg(short = '6', long)]
    pub ipv6: bool,
    /// Run in mode mapped only
    #[arg(long)]
    pub ipv4mappedv6: bool,
    /// Run N cases in parallel [default: number of CPUs]
    #[arg(
        short,
        long,
        value_name = "N",
        visible_alias = "max_in_parallel",
        visible_short_alias = 'P'
    )]
    pub jobs: Option<usize>,
    /// Run one case at a time (same as -j 1)
    #[arg(short = 'S', long, conflicts_with = "jobs")]
    pub serialized: bool,
    /// Accept events up to N microseconds early or late, or 12.5 % of the time since the event before if that is more
    /// [default: the script's tolerance]
    #[arg(long, value_name = "N", visible_alias = "tolerance_usecs", value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    pub tolerance_us: Option<u64>,
    /// Ignore the known failures in FILE (lines `FAIL SCRIPT (MODE)`, as printed)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub expect: Option<PathBuf>,
    /// Define a symbol for all scripts (repeatable)
    #[arg(short = 'D', long, value_name = "NAME=VALUE")]
    pub define: Vec<String>,

    /// Test how strict the scripts are: rerun each passing script N times, each time with one expected number changed
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub mutants: u64,

    /// Print one line per case; twice: also print its events
    #[arg(short, long, action = ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    /// Print the events of each failed case (with -v)
    #[arg(
        short = 'l',
        long = "log_on_error",
        visible_alias = "log-on-error",
        help_heading = "Output"
    )]
    pub log_on_error: bool,
    /// Print the events of each passed case (with -v)
    #[arg(
        short = 'L',
        long = "log_on_success",
        visible_alias = "log-on-success",
        help_heading = "Output"
    )]
    pub log_on_success: bool,
    /// Print one JSON document (see `tcplab schema drill`)
    #[arg(long, help_heading = "Output", conflicts_with = "tap")]
    pub json: bool,
    /// Print KTAP, the format of the kernel's own tests
    #[arg(long, help_heading = "Output")]
    pub tap: bool,
    /// Write JUnit XML to this file, with one test case per script and mode
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
    /// Write TAP version 13 to this folder, one file per PATH
    #[arg(short = 't', long, value_name = "DIR", help_heading = "Output", value_hint = ValueHint::DirPath)]
    pub tap_dir: Option<PathBuf>,
    /// Write the packets of each case to this folder as pcapng
    #[arg(short = 'c', long, value_name = "DIR", help_heading = "Output", visible_alias = "capture", value_hint = ValueHint::DirPath)]
    pub pcap: Option<PathBuf>,
    /// Show a table of results per folder
    #[arg(long, help_heading = "Output", conflicts_with = "tap")]
    pub folders: bool,
    /// List the cases without running them
    #[arg(long, visible_alias = "dry_run", help_heading = "Output", conflicts_with_all = ["json", "tap", "junit"])]
    pub dry_run: bool,
}

/// A word of `--ip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// IPv4
    Ipv4,
    /// IPv6
    Ipv6,
    /// IPv6 sockets that carry IPv4 packets
    #[value(alias = "ipv4-mapped-v6", alias = "ipv4-mapped-ipv6")]
    Mapped,
}

impl DrillArgs {
    /// The modes that are wanted.
    pub fn modes(&self) -> Vec<IpMode> {
        let flags = [
            (self.ipv4, Mode::Ipv4),
            (self.ipv6, Mode::Ipv6),
            (self.ipv4mappedv6, Mode::Mapped),
        ];
        let mut wanted: Vec<Mode> = self.ip.clone();
        wanted.extend(flags.iter().filter(|f| f.0).map(|f| f.1));
        if wanted.is_empty() {
            wanted.extend([Mode::Ipv4, Mode::Mapped, Mode::Ipv6]);
        }
        let mode = |mode: &Mode| match mode {
            Mode::Ipv4 => IpMode::Ipv4,
            Mode::Ipv6 => IpMode::Ipv6,
            Mode::Mapped => IpMode::Mapped,
        };
        wanted.iter().map(mode).collect()
    }
}

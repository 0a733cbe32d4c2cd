//! The command line of `drill`: our words, and those of Google's runner.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum, ValueHint};
use tcplab_drill::IpMode;

/// `tcplab drill`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 all scripts pass (skipped ones and known failures do not count); 1 one or more fail; 2 a script or path that cannot be
read; 4 nothing could be run here.

Examples:
  tcplab drill tests/pkt                              our own scripts on the model, in virtual time
  tcplab drill gtests/net/tcp -v                      packetdrill's public suite, one line for each case
  tcplab drill fast_retransmit.pkt --pcap out         the packets of the run, for Wireshark
  tcplab drill gtests/net/tcp --on uml:mine --json    a patched kernel (tcplab kernel build), in virtual time
  tcplab drill gtests/net/tcp | grep ^FAIL > known    record what fails today ...
  tcplab drill gtests/net/tcp --expect known          ... and show what fails besides
  sudo tcplab drill gtests/net/tcp --on host          this machine's kernel, in namespaces

Flags of packetdrill's run_all.py that work here: -S -v -l -L -4 -6 --ipv4mappedv6 -P N -t DIR -c DIR --dry_run.")]
pub struct DrillArgs {
    /// Scripts, or folders that are searched for *.pkt
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// The stack under test: model:PROFILE, uml:NAME, host
    #[arg(long, value_name = "STACK", default_value = "model")]
    pub on: String,
    /// IP modes; a script whose name ends in v4.pkt has no ipv6, one that ends in v6.pkt only that [default: all]
    #[arg(long, value_name = "MODE", value_enum, value_delimiter = ',')]
    pub ip: Vec<Mode>,
    /// Only IPv4 (with -6 or --ipv4mappedv6: also)
    #[arg(short = '4', long)]
    pub ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long)]
    pub ipv6: bool,
    /// Only IPv6 sockets with IPv4 packets
    #[arg(long)]
    pub ipv4mappedv6: bool,
    /// Cases at once [default: the processors]
    #[arg(
        short,
        long,
        value_name = "N",
        visible_alias = "max_in_parallel",
        visible_short_alias = 'P'
    )]
    pub jobs: Option<usize>,
    /// One case after the other: -j 1
    #[arg(short = 'S', long, conflicts_with = "jobs")]
    pub serialized: bool,
    /// How late or early something may be, in microseconds, in place of the scripts' and the default
    #[arg(long, value_name = "N", visible_alias = "tolerance_usecs")]
    pub tolerance_us: Option<u64>,
    /// Read known failures from FILE (lines `FAIL SCRIPT (MODE)`, as printed): only other failures count
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "tap")]
    pub expect: Option<PathBuf>,
    /// Define a symbol for all scripts
    #[arg(short = 'D', long, value_name = "NAME=VALUE")]
    pub define: Vec<String>,

    /// How strict are the scripts? Run each that passes N times more, each time with one number that it expects changed
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub mutants: u64,

    /// One line for each case; twice: what happened in it as well
    #[arg(short, long, action = ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    /// What happened in each case that failed (with -v)
    #[arg(
        short = 'l',
        long = "log_on_error",
        visible_alias = "log-on-error",
        help_heading = "Output"
    )]
    pub log_on_error: bool,
    /// What happened in each case that passed (with -v)
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
    /// Print KTAP, as the kernel's own tests do
    #[arg(long, help_heading = "Output")]
    pub tap: bool,
    /// Write TAP version 13 into this folder, a file for each path
    #[arg(short = 't', long, value_name = "DIR", help_heading = "Output", value_hint = ValueHint::DirPath)]
    pub tap_dir: Option<PathBuf>,
    /// Write the packets of each case into this folder as pcapng
    #[arg(short = 'c', long, value_name = "DIR", help_heading = "Output", visible_alias = "capture", value_hint = ValueHint::DirPath)]
    pub pcap: Option<PathBuf>,
    /// Show a table of counts for each folder
    #[arg(long, help_heading = "Output", conflicts_with = "tap")]
    pub folders: bool,
    /// List the cases and run nothing
    #[arg(long, visible_alias = "dry_run", help_heading = "Output")]
    pub dry_run: bool,
}

/// A word of `--ip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// IPv4
    Ipv4,
    /// IPv6
    Ipv6,
    /// IPv6 sockets, IPv4 packets
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

//! The command line of `tcplab kernel`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use tcplab_guest::stack::{DEFAULT_HZ, HZ_CHOICES};

/// `tcplab kernel`.
#[derive(Subcommand, Debug)]
pub enum KernelCommand {
    /// Build a Linux kernel for `uml:` from Debian's source package or from a source tree
    Build(BuildArgs),
    /// List the kernels built here and the prebuilt kernels found
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Remove kernels, or their sources and build folders
    Rm(RmArgs),
}

/// `tcplab kernel build`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tcplab kernel build 6.1                          use it with --on uml:6.1
  tcplab kernel build 6.1 --edit mss-boundary      use it with --on uml:6.1+mss-boundary
  tcplab kernel build 6.1 --hz 1000                use it with --on uml:6.1@1000
  tcplab kernel build --all --hz 1000              build 5.10, 6.1, 6.12 and 7.2, one after another
  tcplab kernel build --source ~/linux --name my-patch    use it with --on uml:my-patch
  tcplab kernel build 6.1 --edit ./mine.toml       apply your own edit (docs/kernels.md)

Edits that ship with tcplab:
  el8-receiver      receive as Linux 4.18 of Enterprise Linux 8 does
  mss-boundary      revert 4720852ed9af: delay the ACK of exactly one MSS
  quickack-6.1.56   revert both delayed-ACK changes of 6.1.57
  quickack-count    undo commit 059217c18be6: segments sent use up quick-ACK credits again, not ACKs of new data
  recovlat          add counters of recovery time: TCPRecovLat, TCPRecovCnt, TCPRecovLat2, TCPRecovCnt2
  rto-D rto-R rto-Y rto-Y4    use one of four RTO rules (RFC 6298 with different floors) on all hosts
  rto-choice        add a sysctl, net.ipv4.tcp_rto_rule, that chooses the RTO rule of a network namespace
  tlp-2016          send tail loss probes by the rule of 2016

The first build takes about 6 CPU minutes and 3 GB of temporary disk space; each edit takes seconds more.")]
pub struct BuildArgs {
    /// Version of Debian's linux-source package: a series (5.10, 6.1, 6.12, 7.2) or a release (6.1.176)
    #[arg(value_name = "VERSION", required_unless_present_any = ["source", "all"])]
    pub version: Option<String>,
    /// Build a copy of this source tree instead of Debian's package; the tree itself is not modified
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "version")]
    pub source: Option<PathBuf>,
    /// Build every series that Debian has (5.10, 6.1, 6.12, 7.2), one after another
    #[arg(long, conflicts_with_all = ["version", "source", "name"])]
    pub all: bool,
    /// Apply an edit: the name of one that ships with tcplab, or a file (repeatable)
    #[arg(long, value_name = "NAME|FILE")]
    pub edit: Vec<String>,
    /// Timer frequency: 100, 250, 300 or 1000 Hz
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HZ, value_parser = parse_hz)]
    pub hz: u32,
    /// Name the kernel `uml:NAME` [default: version, edits and timer frequency]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Run N compilers in parallel [default: number of CPUs]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Install missing build tools with apt (as root or through sudo)
    #[arg(long)]
    pub install: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `tcplab kernel rm`.
#[derive(Args, Debug)]
pub struct RmArgs {
    /// Names from `kernel list`; a kernel is deleted with its last name
    #[arg(value_name = "NAME", required_unless_present = "sources")]
    pub names: Vec<String>,
    /// Remove sources, build folders and logs; the next build takes minutes again
    #[arg(long)]
    pub sources: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

fn parse_hz(text: &str) -> Result<u32, String> {
    let hz = text.parse().ok().filter(|hz| HZ_CHOICES.contains(hz));
    hz.ok_or_else(|| "write 100, 250, 300 or 1000".into())
}

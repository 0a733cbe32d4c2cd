//! The command line of `tcplab kernel`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use tcplab_kernel::stack::{DEFAULT_HZ, HZ_CHOICES};

/// `tcplab kernel`.
#[derive(Subcommand, Debug)]
pub enum KernelCommand {
    /// Build a Linux for `uml:`, from Debian's source package or from a tree
    Build(BuildArgs),
    /// The kernels that are built, and prebuilt ones that were found
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Remove kernels, or the sources and build folders they were made in
    Rm(RmArgs),
}

/// `tcplab kernel build`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tcplab kernel build 6.1                          then: --on uml:6.1
  tcplab kernel build 6.1 --edit mss-boundary      then: --on uml:6.1+mss-boundary
  tcplab kernel build 6.1 --hz 1000                then: --on uml:6.1@1000
  tcplab kernel build --source ~/linux --name my-patch    then: --on uml:my-patch
  tcplab kernel build 6.1 --edit ./mine.toml       an edit of your own (docs/kernels.md)

Edits that ship with tcplab:
  el8-receiver      receives as Linux 4.18 of the Enterprise Linux 8 family
  mss-boundary      4720852ed9af undone: the ACK of exactly one MSS waits for the timer
  quickack-6.1.56   the delayed ACKs of 6.1.56: both changes of 6.1.57 undone
  quickack-count    059217c18be6 undone: quick-ACK credits are counted by segments sent
  recovlat          counters TCPRecovLat, TCPRecovCnt (and 2): how long recoveries take
  rto-D rto-R rto-Y rto-Y4    the RTO of RFC 6298 with four floors, as default of all hosts
  rto-choice        the same by sysctl net.ipv4.tcp_rto_rule, for each host
  tlp-2016          tail loss probes by the rule of 2016

The first build takes about 6 CPU minutes and 3 GB of disk while it runs; edits on top take seconds.")]
pub struct BuildArgs {
    /// Version of Debian's linux-source package: 6.1, or one release of it, 6.1.176
    #[arg(value_name = "VERSION", required_unless_present = "source")]
    pub version: Option<String>,
    /// Build from this source tree instead; it is copied, never written
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "version")]
    pub source: Option<PathBuf>,
    /// Apply an edit: the name of a shipped one, or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub edit: Vec<String>,
    /// Timer frequency
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HZ, value_parser = parse_hz)]
    pub hz: u32,
    /// A name of your choice, for `uml:NAME`
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Compilers at once (default: as many as there are CPUs)
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Install missing programs by apt, as root or by sudo
    #[arg(long)]
    pub install: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `tcplab kernel rm`.
#[derive(Args, Debug)]
pub struct RmArgs {
    /// Names as `kernel list` shows them; a kernel goes with its last name
    #[arg(value_name = "NAME", required_unless_present = "sources")]
    pub names: Vec<String>,
    /// Remove unpacked sources, build folders and logs: the next build takes minutes again
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

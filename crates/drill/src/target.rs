//! What a script runs against: our endpoint on a simulated host, or a kernel behind a TUN device.
//!
//! Push in, wait, look: the run (`run/`) drives; a target never calls back. Times count from the script's begin.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use tcplab_base::{Duration, Instant};

use crate::call::{Call, Outcome};

/// In virtual time, a script begins this long after a whole tenth of a second of its host's clock. On kernels the
/// verdict must not depend on earlier runs; on the model, timers count ticks of 4 ms at 250 Hz. Late in a tick a timer
/// is only slightly late, as at the 1000 Hz for which scripts are written.
pub const SCRIPT_PHASE: Duration = Duration::from_millis(3);

/// Which addresses a script uses (`--ip_version`).
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub enum IpMode {
    /// IPv4 sockets, IPv4 packets.
    #[default]
    Ipv4,
    /// IPv6 sockets, IPv6 packets.
    Ipv6,
    /// IPv6 sockets, IPv4 packets (RFC 4291 2.5.5.2).
    Mapped,
}

impl IpMode {
    /// All modes, in the order of packetdrill's runner.
    pub const ALL: [Self; 3] = [Self::Ipv4, Self::Mapped, Self::Ipv6];

    /// The word of `--ip_version`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Mapped => "ipv4-mapped-ipv6",
        }
    }

    /// The mode that `word` names.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }
}

/// The network that the script sees, as its options and the command line say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Network {
    /// The mode.
    pub mode: IpMode,
    /// The host under test: an IPv4 address in the mode `Mapped`.
    pub local: IpAddr,
    /// Who talks to it.
    pub remote: IpAddr,
    /// The gateway through which the remote side is reached.
    pub gateway: IpAddr,
    /// Bits of the network of `local`.
    pub prefix: u8,
    /// MTU of the device in bytes.
    pub mtu: u32,
    /// TCP packets that arrive count as segments of this many bytes of payload, put together (`--mss`, GRO).
    pub gso_size: Option<u16>,
}

impl Network {
    /// Whether `ip route change` of this destination changes the script's only route, that to the remote address.
    ///
    /// # Errors
    /// In words: another destination.
    pub fn has_route_to(&self, destination: &str) -> Result<(), String> {
        let (address, bits) = destination.split_once('/').unwrap_or((destination, ""));
        let whole = if self.remote.is_ipv4() { "32" } else { "128" };
        let is_remote = address.parse() == Ok(self.remote) && (bits.is_empty() || bits == whole);
        match is_remote {
            true => Ok(()),
            false => Err(format!(
                "ip route: the script's only route is to {}, not to {destination}",
                self.remote
            )),
        }
    }
}

/// A setting that a shell line of the script asks for, understood; nothing is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Setting {
    /// `sysctl NAME=VALUE` (`net.ipv4.tcp_sack`, `1`), also by writing to /proc/sys; a module's parameter has its path
    /// for a name (`/sys/module/tcp_cubic/parameters/hystart_detect`). The host must have it: in packetdrill the script
    /// ends when its last command fails.
    Sysctl(String, String),
    /// The same, but a host without this sysctl passes over it, as a shell does between two commands.
    SysctlIfThere(String, String),
    /// The values that `set_sysctls.py` found are put back.
    RestoreSysctls,
    /// `ip tcp_metrics flush`.
    FlushMetrics,
    /// `ip route change DST ...`: the destination, and the words after it.
    Route(String, Vec<String>),
    /// `tc qdisc add|replace|delete dev tun0 root ...`: the words after `root`; empty: deleted.
    Qdisc(Vec<String>),
    /// `ethtool -K tun0 NAME on|off`.
    Offload(String, bool),
    /// `ip link set dev tun0 mtu N`.
    Mtu(u32),
    /// What a script cannot see: something is only read or shown.
    Nothing,
}

/// A call that has been made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Made {
    /// It is over.
    Done(Outcome),
    /// It waits; its end is a [`Happening::Returned`] with this number.
    Blocks(u32),
}

/// Something that happened while time passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happening {
    /// The host sent this IP packet.
    Packet(Vec<u8>),
    /// A call that blocked is over.
    Returned(u32, Outcome),
}

/// A target that cannot go on: the message is for the person who runs the script.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(pub String);

/// What a script runs against.
pub trait Target {
    /// The time since the script's begin.
    fn now(&self) -> Instant;

    /// Lets time pass until `until`, or until something happens, whichever is first; what happened first comes first.
    /// None: it is `until` now. What lies ready is given even when `until` is over.
    ///
    /// # Errors
    /// The target is broken.
    fn wait(&mut self, until: Instant) -> Result<Option<(Instant, Happening)>, TargetError>;

    /// An IP packet arrives at the host now.
    ///
    /// # Errors
    /// The target is broken.
    fn inject(&mut self, packet: &[u8]) -> Result<(), TargetError>;

    /// Makes a system call now. `may_block`: the script says that the call takes time. An unexpected block is
    /// [`Made::Blocks`] too, and the run says so.
    ///
    /// # Errors
    /// The target cannot make this call: the script is skipped with this reason.
    fn call(&mut self, call: &Call, may_block: bool) -> Result<Made, TargetError>;

    /// Carries out what a shell line asked for.
    ///
    /// # Errors
    /// The target lacks this setting: the script is skipped with this reason.
    fn set(&mut self, setting: &Setting) -> Result<(), TargetError>;

    /// Whether the host has this sysctl, or a folder of sysctls with this name.
    ///
    /// # Errors
    /// It cannot be told.
    fn has_sysctl(&mut self, name: &str) -> Result<bool, TargetError>;

    /// The host's counters by the names of nstat(8).
    ///
    /// # Errors
    /// They cannot be read.
    fn counters(&mut self) -> Result<Vec<(String, i64)>, TargetError>;

    /// Whether a TCP socket of the host listens on this port.
    ///
    /// # Errors
    /// It cannot be told.
    fn listens(&mut self, port: u16) -> Result<bool, TargetError>;

    /// getsockopt(TCP_INFO) of a descriptor, by the names of `struct tcp_info`, for Python's
    /// asserts. `None` when the descriptor has no TCP_INFO. The values of SO_MEMINFO follow, named
    /// by [`crate::python::MEMORY_NAMES`].
    fn tcp_info(&mut self, fd: i32) -> Option<Vec<(&'static str, i64)>>;

    /// What the host's TCP is about, for messages: state, timers, and why something is held. Empty: not known.
    fn explain(&mut self, fd: Option<i32>) -> String;

    /// How late something may be by the target's clock alone: zero in virtual time of ours.
    fn clock_error(&self) -> Duration {
        Duration::from_nanos(0)
    }
}

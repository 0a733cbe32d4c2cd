//! One point of an experiment: all that a stack must know to run it once.
//!
//! A point is complete: no default is left to the stack that runs it, and it can be written as
//! JSON and read back without loss (a guest kernel gets it so). Times are nanoseconds, sizes are
//! bytes, rates are bits a second.

mod change;
pub(crate) mod check;
mod ip;
mod middlebox;
mod rate_trace;
mod unique;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::{App, AppKind};
use crate::set::AppSet;
use tcplab_qdisc::Settings;

pub use crate::experiment::keys::{host::Card, route::Route, socket::SocketOptions};
pub use change::{Change, SocketChange, SocketTable, SysctlChange};
pub use check::Wrong;
pub use ip::Ip;
pub use middlebox::{Inject, Injected, Rewrite, TcpOption};
pub use rate_trace::RateTrace;

/// One run of an experiment on one stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The experiment's name.
    pub experiment: String,
    /// Value of each axis at this point, as written in the experiment (`every` = `100ms`); the
    /// variant is the axis `variant`, the repetition the axis `repeat`.
    #[serde(deserialize_with = "unique::map")]
    pub axes: BTreeMap<String, serde_json::Value>,
    /// Seed of every random stream of this run.
    pub seed: u64,
    /// The internet protocol of all packets.
    #[serde(default, skip_serializing_if = "Ip::is_v4")]
    pub ip: Ip,
    /// The hosts; names are unique.
    pub hosts: Vec<Host>,
    /// The links between them.
    pub links: Vec<Link>,
    /// The applications, in the order of the file.
    pub apps: Vec<App>,
    /// Sets of them that are measured together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<AppSet>,
    /// Time from the boot of the hosts' kernels to the run's start, on CLOCK_MONOTONIC: it says where
    /// in a tick the run begins. None: the stack's own, with a phase drawn from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_ns: Option<i64>,
    /// The run ends when all applications have ended and this time has passed since.
    pub linger_ns: i64,
    /// The run ends at this time after its start in any case.
    pub max_ns: i64,
    /// The model ends the run after so many events; none: [`Point::MAX_EVENTS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_events: Option<u64>,
    /// Time between two samples of tcp_info of every connection; none: only one at its end.
    pub tcp_info_every_ns: Option<i64>,
    /// Time between two samples of each link; none: there are no samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_every_ns: Option<i64>,
    /// Bytes kept of each captured frame; 0: the whole frame.
    pub snap_bytes: u32,
    /// Whether each interface of each host is captured. Measures of packets need it.
    pub captures: bool,
    /// Whether tcp_info is read at the end of each connection.
    pub tcp_info: bool,
    /// Whether each step of the applications is logged.
    pub log: bool,
    /// Settings that a stack may leave out when it does not honour them: names of sysctls and of keys (`run.tolerate`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerate: Vec<String>,
}

impl Point {
    /// Whether a stack may leave this setting out; the result names what it left out.
    pub fn tolerates(&self, name: &str) -> bool {
        self.tolerate.iter().any(|known| known == name)
    }

    /// The CPUs that the applications at these hosts want to run on.
    pub fn cpus(&self, is_here: impl Fn(usize) -> bool) -> BTreeSet<u32> {
        let here = self.socket_tables().filter(|table| is_here(table.host));
        here.filter_map(|table| table.options.cpu).collect()
    }
}

impl Point {
    /// Default limit of events for a run on the model: about a quarter of an hour of one processor.
    pub const MAX_EVENTS: u64 = 1_000_000_000;

    /// Events after which the model ends the run.
    pub fn max_events(&self) -> u64 {
        self.max_events.unwrap_or(Self::MAX_EVENTS)
    }
}

/// A host: a network namespace on a kernel, an endpoint in the simulator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name, as the experiment has it.
    pub name: String,
    /// sysctl names and values, in the order in which they are set.
    #[serde(deserialize_with = "unique::map")]
    pub sysctl: BTreeMap<String, String>,
    /// What is set later, in the order of the times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<SysctlChange>,
    /// Metrics of the routes to the other hosts.
    pub route: Route,
    /// Options that each socket of this host gets.
    pub socket: SocketOptions,
    /// What the network card does with segments.
    pub offload: Offload,
    /// The receive side of the network card; none: frames are there as they come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// Whether packets of others may go through it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forward: bool,
    /// The name that it shares with like hosts; measures take it for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Profile of this host where the model runs it; none: that of the stack's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Behaviours that differ from the profile's: name and value ([`crate::profile::BEHAVIOURS`]).
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "unique::map"
    )]
    pub behaviour: BTreeMap<String, String>,
}

impl Host {
    /// Names and values of all sysctls that are set, those of a later time behind the others.
    pub fn sysctls(&self) -> impl Iterator<Item = (&str, &str)> {
        let first = self.sysctl.iter();
        let first = first.map(|(name, value)| (name.as_str(), value.as_str()));
        let later = self.changes.iter();
        first.chain(later.map(|change| (change.name.as_str(), change.value.as_str())))
    }
}

/// When an application sets TCP_QUICKACK (tcp(7)), and to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuickAck {
    /// Never.
    #[default]
    Leave,
    /// Once, when the connection stands.
    Once(i32),
    /// Before each read.
    Each(i32),
}

/// Who cuts data into segments, and who joins them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Offload {
    /// Nobody but TCP: each frame is one segment on the wire.
    #[default]
    None,
    /// The sender's card cuts super-segments (TSO).
    Tso,
    /// As `tso`, and the receiver joins segments (GRO).
    Gro,
}

/// A link between two hosts; `a` and `b` are indices into [`Point::hosts`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// One end.
    pub a: usize,
    /// The other end.
    pub b: usize,
    /// Who forwards the frames.
    pub by: By,
    /// Bytes of an IP packet that fits into a frame.
    pub mtu: u32,
    /// What happens on the way from `a` to `b`.
    pub a_to_b: Direction,
    /// What happens on the way back.
    pub b_to_a: Direction,
}

/// The files that runs of these points read: captures to replay, traces of rates.
pub fn files(points: &[Point]) -> BTreeSet<&str> {
    let links = points.iter().flat_map(|point| &point.links);
    let ways = links.flat_map(|link| [&link.a_to_b, &link.b_to_a]);
    let traces = ways.filter_map(|way| Some(way.rate_trace.as_ref()?.file.as_str()));
    let apps = points.iter().flat_map(|point| &point.apps);
    let replays = apps.filter_map(|app| match &app.does {
        AppKind::Replay { file, .. } => Some(file.as_str()),
        _ => None,
    });
    traces.chain(replays).collect()
}

/// Who forwards the frames of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// tcplab, the same code on every stack.
    #[default]
    Tcplab,
    /// The kernel: a veth pair, with the kernel's qdisc at each end.
    Kernel,
}

/// One way of a link: a queue with a rate, then a delay; losses are drawn where a frame enters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Direction {
    /// Bits a second of Ethernet frames; none: no limit.
    pub rate_bps: Option<u64>,
    /// A rate that changes all the time, in place of `rate_bps`; only with [`By::Tcplab`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_trace: Option<RateTrace>,
    /// Delay of each frame.
    pub delay_ns: i64,
    /// The delay is drawn between `delay - jitter` and `delay + jitter`; frames keep their order.
    pub jitter_ns: i64,
    /// Frames that the FIFO holds, the one on its way out included.
    pub limit_pkts: u32,
    /// Bytes of frames that wait in the FIFO; a frame that would go beyond is dropped. None: only frames are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
    /// Bytes that the wire needs for a frame beside its own, at `rate_bps`: preamble, checksum and gap.
    #[serde(skip_serializing_if = "is_none")]
    pub overhead: u32,
    /// Time after the run's start from which on the queue's bytes are measured by time; none: they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_from_ns: Option<i64>,
    /// Chance of each frame to be lost, in parts of a milliard.
    pub loss_ppb: u32,
    /// Other things that happen by chance; only with [`By::Tcplab`].
    #[serde(skip_serializing_if = "Faults::is_none")]
    pub faults: Faults,
    /// Frames that are lost, delayed or doubled, by their number.
    pub events: Vec<Event>,
    /// Times in which every frame that enters is lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Other settings from times of the run on, in their order; only with [`By::Tcplab`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What a middle box in front of the queue does to segments; only with [`By::Tcplab`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub middlebox: Vec<Rewrite>,
    /// Segments that are injected in front of the queue, in the order of their times; only with [`By::Tcplab`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub injects: Vec<Inject>,
    /// The qdisc in front of the wire, in the words of tc(8); none: a FIFO of `limit_pkts`. Only with [`By::Tcplab`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Settings>,
    /// Words of tc(8) for the kernel's qdisc; only with [`By::Kernel`].
    pub qdisc: Option<String>,
}

/// What happens to frames by chance, beside loss of each by itself. Chances are in parts of a milliard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Losses in bursts.
    pub burst_loss: Option<BurstLoss>,
    /// Chance of each frame to come later, and to be overtaken.
    pub reorder_ppb: u32,
    /// By this time.
    pub reorder_ns: i64,
    /// When it is not 0, the time is drawn for each such frame between this and `reorder_ns`.
    #[serde(skip_serializing_if = "is_zero")]
    pub reorder_least_ns: i64,
    /// Chance of each frame to come twice.
    pub duplicate_ppb: u32,
    /// Chance of each frame to be damaged: the receiver finds a wrong checksum.
    pub corrupt_ppb: u32,
    /// Mean of an exponential delay that each frame gets beside the link's; frames keep their order.
    #[serde(skip_serializing_if = "is_zero")]
    pub exponential_jitter_ns: i64,
    /// Times in which the link stands still.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spikes: Option<Spikes>,
}

fn is_none(n: &u32) -> bool {
    *n == 0
}

fn is_zero(n: &i64) -> bool {
    *n == 0
}

/// Delay spikes: a frame meets a link that stands still for a while, as radio links do; frames behind it wait and keep
/// their order. The length is lognormal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spikes {
    /// Chance of each frame to meet one.
    pub chance_ppb: u32,
    /// Median of its length.
    pub median_ns: i64,
    /// Sigma of the logarithm of its length, in parts of a million.
    pub sigma_ppm: u32,
}

/// A time in which a link loses all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// When it begins, after the run's start.
    pub from_ns: i64,
    /// When it ends; none: never.
    pub until_ns: Option<i64>,
}

impl Faults {
    /// Nothing of it.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Gilbert-Elliott, as netem's `loss gemodel`: a good and a bad state, each with its chance of loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstLoss {
    /// Chance at each frame to go from the good state to the bad one (`p`).
    pub good_to_bad_ppb: u32,
    /// Chance to go back (`r`).
    pub bad_to_good_ppb: u32,
    /// Chance of loss in the bad state (`1-h`).
    pub loss_bad_ppb: u32,
    /// Chance of loss in the good state (`1-k`).
    pub loss_good_ppb: u32,
}

/// Something that happens to chosen frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Which frames are counted.
    pub of: Of,
    /// The first one, counted from 1.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// What happens to them.
    pub does: Does,
}

/// A kind of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// All.
    Frame,
    /// TCP segments with payload.
    Data,
    /// TCP segments with ACK, but no payload, SYN, FIN or RST.
    Ack,
    /// TCP segments with SYN.
    Syn,
    /// TCP segments with FIN.
    Fin,
    /// Messages of ICMP or ICMPv6.
    Icmp,
}

impl Of {
    /// Each kind with its word in an experiment file.
    pub const WORDS: [(&str, Self); 6] = [
        ("frame", Self::Frame),
        ("data", Self::Data),
        ("ack", Self::Ack),
        ("syn", Self::Syn),
        ("fin", Self::Fin),
        ("icmp", Self::Icmp),
    ];

    /// Its word in an experiment file.
    pub fn word(self) -> &'static str {
        let own = Self::WORDS.iter().find(|(_, of)| *of == self);
        own.map_or("", |(word, _)| word)
    }
}

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Does {
    /// It is lost.
    Drop,
    /// It comes later by these nanoseconds, and may be overtaken.
    DelayNs(i64),
    /// It comes twice.
    Duplicate,
    /// It gets the ECN mark CE when it is ECN-capable.
    Mark,
}

impl Does {
    /// The key that sets it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::DelayNs(_) => "late",
            Self::Duplicate => "duplicate",
            Self::Mark => "mark",
        }
    }
}

//! Figures of a host's packets that do not show what they are named for, because of what the experiment sets.

use super::is_host;
use crate::endless::is_instant;
use crate::point::{By, Direction, Host, Point};

/// Figures that lack the time in a qdisc between the socket and the capture.
const BY_TIME: &str = "rtt_us.";
/// Figures that lack what such a qdisc drops: a segment that never came this far is not known to be sent again.
const BY_COPIES: &str = "retransmissions.";
/// A figure that lacks both.
const BY_BYTES: &str = "max_in_flight_bytes";
/// The analyser takes nothing that comes sooner for the work of a retransmission timer.
const SHORTEST_RTO_NS: i64 = 150_000_000;
const BY_TIMER: [&str; 3] = [
    "retransmissions.rto",
    "retransmissions.tlp",
    "retransmissions.other",
];
/// The same of a delayed-ACK timer.
const SHORTEST_DELACK_NS: i64 = 20_000_000;
const BY_DELACK: [&str; 3] = ["acks.delayed", "acks.first_delayed", "acks.immediate"];

/// The ways on which a host of this name, or group, sends into a qdisc of the kernel's.
fn own_qdiscs<'a>(point: &'a Point, owner: &'a str) -> impl Iterator<Item = &'a Direction> {
    let owns = |at: usize| point.hosts.get(at).is_some_and(|host| is_host(host, owner));
    let kernels = point.links.iter().filter(|link| link.by == By::Kernel);
    let ways = kernels.flat_map(|link| [(link.a, &link.a_to_b), (link.b, &link.b_to_a)]);
    ways.filter(move |(from, _)| owns(*from))
        .map(|(_, way)| way)
}

/// Whether a host of this name, or group, sends into a qdisc of the kernel's that keeps or drops frames.
pub fn is_behind_own_qdisc(point: &Point, owner: &str) -> bool {
    own_qdiscs(point, owner).any(|way| !is_instant(way))
}

/// Whether this qdisc does what one of these words asks netem for. A qdisc of another kind does.
fn may(way: &Direction, words_of_netem: &[&str]) -> bool {
    way.qdisc.as_deref().is_some_and(|text| {
        let mut words = text.split_whitespace();
        words.next() != Some("netem") || words.any(|word| words_of_netem.contains(&word))
    })
}

fn holds(way: &Direction) -> bool {
    may(way, &["delay", "rate", "reorder", "slot"])
}

fn drops(way: &Direction) -> bool {
    may(way, &["loss", "rate", "limit", "slot"])
}

/// Why a figure of this host's packets is not the one that was asked for.
pub(super) fn lacks(point: &Point, owner: &str, name: &str) -> Option<String> {
    let is_one = |names: &[&str]| names.iter().any(|of| name.starts_with(of));
    let behind = |what: &str, instead: &str| {
        Some(format!(
            "with by = \"kernel\" the capture of {owner} is behind the qdisc of its own link, so this would lack {what}: \
             measure `{owner}.{instead}`, or write by = \"tcplab\""
        ))
    };
    if name.starts_with(BY_TIME) && own_qdiscs(point, owner).any(holds) {
        return behind("the time there", "tcpi_rtt");
    }
    if name.starts_with(BY_BYTES) && is_behind_own_qdisc(point, owner) {
        return behind("the bytes there", "tcpi_snd_cwnd");
    }
    if name.starts_with(BY_COPIES) && own_qdiscs(point, owner).any(drops) {
        return behind("segments dropped there", "TcpRetransSegs");
    }
    let shorter = |of: fn(&Timers) -> Option<i64>, than: i64| {
        let hosts = point.hosts.iter().enumerate();
        let mut own = hosts.filter(|(_, host)| is_host(host, owner));
        own.any(|(at, host)| of(&Timers::of(point, at, host)).is_some_and(|ns| ns < than))
    };
    if is_one(&BY_TIMER) && shorter(|timers| timers.rto_min, SHORTEST_RTO_NS) {
        return Some(format!(
            "{owner} has a minimum RTO below 150 ms, and packets do not show such a timer: measure `{owner}.TcpExtTCPTimeouts`"
        ));
    }
    if is_one(&BY_DELACK) && shorter(|timers| timers.delack, SHORTEST_DELACK_NS) {
        return Some(format!(
            "{owner} delays ACKs by less than 20 ms, and packets do not show such a timer: measure \
             `{owner}.TcpExtDelayedACKs`"
        ));
    }
    None
}

/// The shortest timers that an experiment gives a host, nanoseconds; none: the stack's own.
struct Timers {
    rto_min: Option<i64>,
    delack: Option<i64>,
}

impl Timers {
    fn of(point: &Point, at: usize, host: &Host) -> Self {
        let sockets = || {
            let own = point.socket_tables().filter(move |table| table.host == at);
            own.map(|table| table.options)
        };
        let sysctls = host
            .sysctls()
            .filter(|(name, _)| *name == "net.ipv4.tcp_rto_min_us");
        let floors = sysctls.filter_map(|(_, us)| us.parse::<i64>().ok()?.checked_mul(1000));
        let rto_min = sockets().filter_map(|socket| socket.rto_min_ns);
        let delack = host
            .behaviour
            .get("delack_ms")
            .and_then(|ms| ms.parse::<i64>().ok());
        let delack = delack
            .filter(|ms| *ms > 0)
            .map(|ms| ms.saturating_mul(1_000_000));
        Self {
            rto_min: rto_min.chain(floors).chain(host.route.rto_min_ns).min(),
            delack: sockets()
                .filter_map(|socket| socket.delack_max_ns)
                .chain(delack)
                .min(),
        }
    }
}

/// Whether frames pass without a wait for others: there is no rate and no qdisc at any time.
pub(super) fn never_queues(way: &Direction) -> bool {
    let is_plain = |rate: Option<u64>, has_queue: bool| rate.is_none() && !has_queue;
    let mut changes = way.changes.iter();
    is_plain(way.rate_bps, way.queue.is_some())
        && way.rate_trace.is_none()
        && changes.all(|change| is_plain(change.rate_bps, change.queue.is_some()))
}

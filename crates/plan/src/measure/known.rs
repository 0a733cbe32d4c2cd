//! The measures that have fixed names: each with its unit, its kind and which way is better.

use super::unit::Direction::{self, Less, More, Neither};
use super::unit::Unit::{self, BitsPerSecond as Bps, Microseconds as Us};
use super::unit::{Values, bytes, count, packets, rate, segments, share, time};

/// Why more or less of a measure is not better.
const WORK: Direction = Neither("the experiment says how much there is to do");
const TELLS: Direction = Neither("it describes what TCP did; either direction may be right");
const REPAIR: Direction =
    Neither("it counts one way of repairing losses; RetransSegs counts all retransmissions");
const ACKS: Direction = Neither("quick and delayed ACKs both have their place");
const QUEUE: Direction = Neither("losses, delay and goodput are paid with one another");
const CHANCE: Direction = Neither("the experiment says what gets lost");
pub(super) const SAMPLES: Direction = Neither("it tells how much other values rest on");

/// How the values of several connections become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Their sum.
    Sum,
    /// That of the first connection that has one.
    First,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// All their bytes over the time in which any of them had data.
    Rate,
}

impl Over {
    /// In a word, for the documents.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::First => "first",
            Self::Min => "smallest",
            Self::Max => "largest",
            Self::Rate => "total over the time in which any connection had data",
        }
    }
}

/// A measure with a fixed name.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    /// After its owner.
    pub name: &'static str,
    /// What its values are.
    pub values: Values,
    /// What it is.
    pub meaning: &'static str,
}

const fn known(name: &'static str, values: Values, meaning: &'static str) -> Known {
    Known {
        name,
        values,
        meaning,
    }
}

/// A measure of a host's packets: what the analyser says of every connection in the capture at that host, in the
/// direction that the host sends.
#[derive(Debug, PartialEq, Eq)]
pub struct Packets {
    /// After `HOST.`.
    pub known: Known,
    /// How several connections become one.
    pub over: Over,
}

const fn over(over: Over, name: &'static str, values: Values, meaning: &'static str) -> Packets {
    let known = known(name, values, meaning);
    Packets { known, over }
}

const fn sum(name: &'static str, values: Values, meaning: &'static str) -> Packets {
    over(Over::Sum, name, values, meaning)
}

/// Measures of packets, after `HOST.`.
pub static PACKETS: [Packets; 44] = [
    sum("packets", packets(WORK), "packets sent"),
    sum(
        "data_segments",
        segments(WORK),
        "packets with payload, retransmissions included",
    ),
    sum(
        "data_bytes",
        bytes(WORK),
        "payload bytes, retransmissions included",
    ),
    sum(
        "unique_bytes",
        bytes(WORK),
        "payload bytes sent for the first time",
    ),
    sum("caqm.tags", packets(TELLS), "packets sent with CAQM's tag"),
    sum("caqm.requests", packets(TELLS), "tags that request window"),
    sum(
        "caqm.granted",
        packets(TELLS),
        "requests granted by switches before this capture",
    ),
    sum(
        "caqm.refused",
        packets(TELLS),
        "requests that switches before this capture refused",
    ),
    sum(
        "caqm.marked",
        packets(TELLS),
        "requests that switches before this capture marked",
    ),
    sum(
        "caqm.feedback",
        packets(TELLS),
        "tags that report grants to a sender",
    ),
    over(
        Over::Rate,
        "goodput_bps",
        rate(Bps, More),
        "unique payload over the time from the first data to the last ACK (`analyze --json`: to the last data packet, which makes short transfers faster)",
    ),
    sum(
        "retransmissions.total",
        segments(Less),
        "segments sent again",
    ),
    sum(
        "retransmissions.fast",
        segments(REPAIR),
        "fast retransmit, SACK or RACK",
    ),
    sum(
        "retransmissions.rto",
        segments(Less),
        "retransmission timer",
    ),
    sum(
        "retransmissions.tlp",
        segments(REPAIR),
        "tail loss probe, or timeout of a single segment in flight",
    ),
    sum("retransmissions.other", segments(REPAIR), "unknown reason"),
    sum(
        "retransmissions.spurious",
        segments(Less),
        "retransmitted although the original had arrived",
    ),
    sum(
        "retransmissions.unneeded",
        segments(Less),
        "retransmitted although already ACKed at this capture",
    ),
    sum(
        "out_of_order",
        segments(TELLS),
        "segments that left this host late, behind newer ones; what the path reordered is not counted",
    ),
    sum("duplicate_acks", count(TELLS), "duplicate ACKs sent"),
    sum(
        "lost_segments",
        count(TELLS),
        "gaps in the sequence numbers that left this host: what its capture missed, not what the path lost",
    ),
    sum(
        "zero_windows",
        segments(TELLS),
        "segments with a zero window",
    ),
    sum("dsacks", count(TELLS), "ACKs with a DSACK block sent"),
    sum(
        "zero_window_probes",
        count(TELLS),
        "zero-window probes sent",
    ),
    sum("keep_alives", count(TELLS), "keep-alives sent"),
    sum("window_updates", count(TELLS), "window updates sent"),
    over(
        Over::Max,
        "max_in_flight_bytes",
        bytes(TELLS),
        "most bytes in flight",
    ),
    over(
        Over::Min,
        "rtt_us.min",
        time(Us, Less),
        "shortest time from data to its ACK at this capture",
    ),
    over(Over::First, "rtt_us.p50", time(Us, Less), "the median"),
    over(
        Over::First,
        "rtt_us.p95",
        time(Us, Less),
        "the 95th percentile",
    ),
    over(Over::Max, "rtt_us.max", time(Us, Less), "the largest"),
    sum("rtt_us.samples", count(SAMPLES), "number of samples"),
    sum("acks.total", count(ACKS), "ACKs sent for new data"),
    sum(
        "acks.immediate",
        count(ACKS),
        "immediately, for at most one full segment",
    ),
    sum(
        "acks.second_segment",
        count(ACKS),
        "for more than one full segment",
    ),
    sum("acks.delayed", count(ACKS), "by the delayed-ACK timer"),
    sum("acks.piggybacked", count(ACKS), "on a data segment"),
    sum("acks.other", count(ACKS), "none of these"),
    over(
        Over::First,
        "acks.first_delayed_segment",
        count(ACKS),
        "number, from 1, of the data segment that the first delayed ACK covers",
    ),
    over(
        Over::Min,
        "acks.immediate_us.min",
        time(Us, ACKS),
        "wait of immediate ACKs",
    ),
    over(
        Over::First,
        "acks.immediate_us.p50",
        time(Us, ACKS),
        "the median",
    ),
    over(
        Over::Max,
        "acks.immediate_us.max",
        time(Us, ACKS),
        "the largest",
    ),
    over(
        Over::First,
        "acks.delayed_us.p50",
        time(Us, ACKS),
        "median wait of delayed ACKs",
    ),
    over(
        Over::Max,
        "acks.delayed_us.max",
        time(Us, ACKS),
        "the largest",
    ),
];

/// Measures of an application, after `APP.`.
pub static APP: [Known; 22] = [
    known(
        "connections",
        count(WORK),
        "established connections; for `connect-request-response` the number of clients, because `completed` counts the connections",
    ),
    known(
        "failed",
        count(Less),
        "connections never established or ended by an error",
    ),
    known(
        "completed",
        count(More),
        "completed transactions, datagrams or writes of the client; for a stream and a reversed bulk, of the server",
    ),
    known(
        "client_written_bytes",
        bytes(WORK),
        "bytes that the clients wrote",
    ),
    known(
        "client_read_bytes",
        bytes(WORK),
        "bytes that the clients read",
    ),
    known(
        "server_written_bytes",
        bytes(WORK),
        "bytes that the servers wrote",
    ),
    known(
        "server_read_bytes",
        bytes(WORK),
        "bytes that the servers read",
    ),
    known(
        "goodput_bps",
        rate(Bps, More),
        "bytes read by client and server, over the time from the opening of the first connection to the last close, or to the end of the run if a connection is still open then",
    ),
    known(
        "duration_us",
        time(Us, WORK),
        "time from the opening of the first connection to the last close; no value if a connection is open at the run's end",
    ),
    known(
        "latency_us.min",
        time(Us, Less),
        "shortest transaction over all connections (the first 100,000 of each)",
    ),
    known(
        "latency_us.p50",
        time(Us, Less),
        "the median (nearest rank); a lost transaction counts as slower than all others",
    ),
    known(
        "latency_us.p99",
        time(Us, Less),
        "the 99th percentile; no value if more than 1 % were lost",
    ),
    known(
        "latency_us.max",
        time(Us, Less),
        "the largest; no value if a transaction was lost",
    ),
    known(
        "lost",
        count(Less),
        "pings and requests without an answer within their time-out (`udp-ping`, `ping`, `udp-rr`)",
    ),
    known(
        "sent",
        count(WORK),
        "pings and requests that the clients sent (`udp-ping`, `ping`, `udp-rr`)",
    ),
    known(
        "connection_bps.min",
        rate(Bps, More),
        "rate of the slowest connection over its own duration",
    ),
    known(
        "connection_bps.max",
        rate(Bps, More),
        "rate of the fastest connection over its own duration",
    ),
    known(
        "jain.mean",
        share(More),
        "Jain's index of the goodput of simultaneous connections, mean over intervals of `tcp_info_every` from the run's start",
    ),
    known("jain.min", share(More), "smallest value of the intervals"),
    known(
        "jain.last",
        share(More),
        "value of the last interval with two connections",
    ),
    known(
        "to_fair_us.median",
        time(Us, Less),
        "median time from a change of the set of connections until Jain's index is 0.95, or until the next change if it never is",
    ),
    known("to_fair_us.max", time(Us, Less), "the longest time"),
];

/// Measures of one end of an application, from its logs (`log = true`), after `APP.client.` or
/// `APP.server.`. All connections count.
pub static LOG: [Known; 8] = [
    known(
        "quickack.first",
        count(ACKS),
        "getsockopt(TCP_QUICKACK) at the first established connection",
    ),
    known(
        "quickack.min",
        count(ACKS),
        "smallest value around reads that returned data",
    ),
    known("quickack.max", count(ACKS), "the largest"),
    known(
        "credits.first",
        count(ACKS),
        "the kernel's quick-ACK credits at the first established connection",
    ),
    known(
        "credits.min",
        count(ACKS),
        "fewest credits before and after reads (/proc/net/tcp)",
    ),
    known("credits.max", count(ACKS), "the most"),
    known(
        "pingpong.min",
        count(ACKS),
        "0 if a read saw the kernel outside interactive (pingpong) mode, else 1",
    ),
    known(
        "pingpong.max",
        count(ACKS),
        "1 if a read saw the kernel in interactive (pingpong) mode, else 0",
    ),
];

/// Measures of one way of a link, after `link.A-B.a_to_b.` or `link.A-B.b_to_a.`.
pub static LINK: [Known; 21] = [
    known("frames", packets(WORK), "frames that entered"),
    known("bytes", bytes(WORK), "bytes that entered"),
    known("delivered", packets(WORK), "frames that left the link"),
    known(
        "queue_drops",
        packets(QUEUE),
        "frames dropped by a full queue or by the qdisc, `ack_drops` included",
    ),
    known(
        "lost",
        packets(CHANCE),
        "frames lost by chance, a list (`drop`), an outage or a middle box",
    ),
    known("peak_pkts", packets(QUEUE), "longest queue"),
    known(
        "drops",
        packets(QUEUE),
        "packets dropped by the qdisc, `ack_drops` included",
    ),
    known(
        "ecn_mark",
        packets(QUEUE),
        "packets marked by the qdisc, without those of `ce_mark`",
    ),
    known(
        "ce_mark",
        packets(QUEUE),
        "packets marked for `ce_threshold` (codel, fq_codel, fq)",
    ),
    known("ack_drops", packets(QUEUE), "ACKs dropped by CAKE's filter"),
    known(
        "overlimits",
        count(QUEUE),
        "times that the qdisc delayed packets to keep a rate",
    ),
    known(
        "granted",
        packets(TELLS),
        "packets whose request `caqm` granted",
    ),
    known(
        "refused",
        packets(TELLS),
        "packets whose request `caqm` refused",
    ),
    known(
        "marked",
        packets(TELLS),
        "packets that `caqm` (or `red`) marked",
    ),
    known(
        "already_marked",
        packets(TELLS),
        "packets that arrived at `caqm` already marked",
    ),
    known("granted_bytes", bytes(TELLS), "window that `caqm` granted"),
    known("refused_bytes", bytes(TELLS), "window that `caqm` refused"),
    known(
        "queue_mean_bytes",
        bytes(QUEUE),
        "time-weighted mean of the queue, with the frame on its way out (`queue_from`)",
    ),
    known("queue_p50_bytes", bytes(QUEUE), "the median by time"),
    known(
        "queue_p99_bytes",
        bytes(QUEUE),
        "the 99th percentile by time",
    ),
    known("queue_max_bytes", bytes(QUEUE), "the most"),
];

/// Measures of the run, after `run.`.
pub static RUN: [Known; 2] = [
    known(
        "virtual_s",
        time(Unit::Seconds, WORK),
        "time from the run's start to its end",
    ),
    known(
        "cut_short",
        count(Less),
        "1 if the run reached `max` before its applications ended, else 0",
    ),
];

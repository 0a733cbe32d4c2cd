//! The measures that have fixed names, and where their values come from.

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
}

impl Over {
    /// In a word, for the documents.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::First => "first",
            Self::Min => "smallest",
            Self::Max => "largest",
        }
    }
}

/// A measure of a host's packets: a field of what the analyser says of one direction
/// (`tcplab.analyze/1`), taken from every connection in the capture at that host, in the direction
/// that the host sends.
#[derive(Debug, PartialEq, Eq)]
pub struct Packets {
    /// After `HOST.`.
    pub name: &'static str,
    /// Keys of the field.
    pub path: &'static [&'static str],
    /// Keys of a count that must not be 0 for the field to say anything.
    pub when: &'static [&'static str],
    /// How several connections become one.
    pub over: Over,
    /// What it is, with its unit.
    pub meaning: &'static str,
}

const fn sum(name: &'static str, path: &'static [&'static str], meaning: &'static str) -> Packets {
    Packets {
        name,
        path,
        when: &[],
        over: Over::Sum,
        meaning,
    }
}

const fn of(
    name: &'static str,
    path: &'static [&'static str],
    when: &'static [&'static str],
    over: Over,
    meaning: &'static str,
) -> Packets {
    Packets {
        name,
        path,
        when,
        over,
        meaning,
    }
}

const RTT: &[&str] = &["rtt_us", "samples"];
const IMMEDIATE: &[&str] = &["acks_sent", "immediate"];
const DELAYED: &[&str] = &["acks_sent", "delayed"];

/// Measures of packets.
pub static PACKETS: [Packets; 44] = [
    sum("packets", &["packets"], "packets sent"),
    sum(
        "data_segments",
        &["data_segments"],
        "of these with payload, retransmissions included",
    ),
    sum(
        "data_bytes",
        &["data_bytes"],
        "payload bytes, retransmissions included",
    ),
    sum(
        "unique_bytes",
        &["unique_bytes"],
        "payload bytes sent for the first time",
    ),
    sum("caqm.tags", &["caqm"], "packets sent with CAQM's tag"),
    sum(
        "caqm.requests",
        &["caqm_tags", "requests"],
        "of these those that ask for window",
    ),
    sum(
        "caqm.granted",
        &["caqm_tags", "granted"],
        "requests that switches before this capture granted",
    ),
    sum(
        "caqm.refused",
        &["caqm_tags", "refused"],
        "that they refused",
    ),
    sum("caqm.marked", &["caqm_tags", "marked"], "that they marked"),
    sum(
        "caqm.feedback",
        &["caqm_tags", "feedback"],
        "tags that tell a sender what was granted",
    ),
    sum(
        "goodput_bps",
        &["goodput_bps"],
        "unique payload over the time of the data, bit/s",
    ),
    sum(
        "retransmissions.total",
        &["retransmissions", "total"],
        "segments sent again",
    ),
    sum(
        "retransmissions.fast",
        &["retransmissions", "fast"],
        "by fast retransmit, SACK or RACK",
    ),
    sum(
        "retransmissions.rto",
        &["retransmissions", "rto"],
        "by the retransmission timer",
    ),
    sum(
        "retransmissions.tlp",
        &["retransmissions", "tlp"],
        "by a tail loss probe",
    ),
    sum(
        "retransmissions.other",
        &["retransmissions", "other"],
        "for no reason that the packets show",
    ),
    sum(
        "retransmissions.spurious",
        &["retransmissions", "spurious"],
        "of these: the original had arrived",
    ),
    sum(
        "retransmissions.unneeded",
        &["retransmissions", "unneeded"],
        "of these: already ACKed at this capture",
    ),
    sum("out_of_order", &["out_of_order"], "segments out of order"),
    sum("duplicate_acks", &["duplicate_acks"], "duplicate ACKs sent"),
    sum(
        "lost_segments",
        &["lost_segments"],
        "gaps in the sequence numbers",
    ),
    sum(
        "zero_windows",
        &["zero_windows"],
        "segments that advertise no window",
    ),
    sum("dsacks", &["dsacks"], "ACKs with a DSACK block sent"),
    sum(
        "zero_window_probes",
        &["zero_window_probes"],
        "zero-window probes sent",
    ),
    sum("keep_alives", &["keep_alives"], "keep-alives sent"),
    sum("window_updates", &["window_updates"], "window updates sent"),
    of(
        "max_in_flight_bytes",
        &["max_in_flight_bytes"],
        &[],
        Over::Max,
        "most bytes in flight",
    ),
    of(
        "rtt_us.min",
        &["rtt_us", "min"],
        RTT,
        Over::Min,
        "data to ACK at this capture, us",
    ),
    of(
        "rtt_us.p50",
        &["rtt_us", "p50"],
        RTT,
        Over::First,
        "the median",
    ),
    of(
        "rtt_us.p95",
        &["rtt_us", "p95"],
        RTT,
        Over::First,
        "the 95th percentile",
    ),
    of(
        "rtt_us.max",
        &["rtt_us", "max"],
        RTT,
        Over::Max,
        "the largest",
    ),
    sum("rtt_us.samples", RTT, "how many samples"),
    sum(
        "acks.total",
        &["acks_sent", "total"],
        "ACKs sent for new data",
    ),
    sum(
        "acks.immediate",
        IMMEDIATE,
        "at once, for at most one full segment",
    ),
    sum(
        "acks.second_segment",
        &["acks_sent", "second_segment"],
        "for more than one full segment",
    ),
    sum("acks.delayed", DELAYED, "by the delayed-ACK timer"),
    sum(
        "acks.piggybacked",
        &["acks_sent", "piggybacked"],
        "on a data segment",
    ),
    sum("acks.other", &["acks_sent", "other"], "none of these"),
    of(
        "acks.first_delayed_segment",
        &["acks_sent", "first_delayed_segment"],
        &[],
        Over::First,
        "number, from 1, of the data segment that the first delayed ACK is for",
    ),
    of(
        "acks.immediate_us.min",
        &["acks_sent", "immediate_us", "min"],
        IMMEDIATE,
        Over::Min,
        "wait of the immediate ones, us",
    ),
    of(
        "acks.immediate_us.p50",
        &["acks_sent", "immediate_us", "p50"],
        IMMEDIATE,
        Over::First,
        "the median",
    ),
    of(
        "acks.immediate_us.max",
        &["acks_sent", "immediate_us", "max"],
        IMMEDIATE,
        Over::Max,
        "the largest",
    ),
    of(
        "acks.delayed_us.p50",
        &["acks_sent", "delayed_us", "p50"],
        DELAYED,
        Over::First,
        "median wait of the delayed ones, us",
    ),
    of(
        "acks.delayed_us.max",
        &["acks_sent", "delayed_us", "max"],
        DELAYED,
        Over::Max,
        "the largest",
    ),
];

/// Measures of an application, after `APP.`: name and meaning.
pub const APP: [(&str, &str); 21] = [
    ("connections", "connections that stood"),
    (
        "failed",
        "connections that never stood or ended in an error",
    ),
    (
        "completed",
        "writes (stream, bulk), transactions or datagrams that were completed",
    ),
    ("client_written_bytes", "bytes that the clients wrote"),
    ("client_read_bytes", "bytes that the clients read"),
    ("server_written_bytes", "bytes that the servers wrote"),
    ("server_read_bytes", "bytes that the servers read"),
    (
        "goodput_bps",
        "bytes read by both ends, in bit/s of the time from the first connection to the last end",
    ),
    (
        "duration_us",
        "from the first connection to the last end, us",
    ),
    (
        "latency_us.min",
        "time of a transaction over all connections, us (of each the first 100,000)",
    ),
    ("latency_us.p50", "the median (nearest rank)"),
    ("latency_us.p99", "the 99th percentile"),
    ("latency_us.max", "the largest"),
    (
        "lost",
        "pings that had no answer within their time-out (`udp-ping`, `ping`)",
    ),
    (
        "connection_bps.min",
        "bytes that the slowest connection got, in bit/s of its own time",
    ),
    ("connection_bps.max", "the same of the fastest one"),
    (
        "jain.mean",
        "Jain's index of the goodput of connections that stand at once, mean over intervals of `tcp_info_every`",
    ),
    ("jain.min", "the smallest of these"),
    (
        "jain.last",
        "that of the last interval with two connections",
    ),
    (
        "to_fair_us.median",
        "time from a change of the connections that stand until the index is 0.95, median over all changes, us; where it never is, until the next change",
    ),
    ("to_fair_us.max", "the longest of these"),
];

/// Measures of one end of an application, from its logs (`log = true`), after `APP.client.` or
/// `APP.server.`: name and meaning. All connections count.
pub const LOG: [(&str, &str); 8] = [
    (
        "quickack.first",
        "what getsockopt(TCP_QUICKACK) says when the first connection stands",
    ),
    (
        "quickack.min",
        "the smallest that it says before and after reads that got data",
    ),
    ("quickack.max", "the largest"),
    (
        "credits.first",
        "quick-ACK credits that the kernel has when the first connection stands",
    ),
    (
        "credits.min",
        "the fewest before and after reads, by /proc/net/tcp",
    ),
    ("credits.max", "the most"),
    (
        "pingpong.min",
        "0 when a read saw the kernel out of interactive (pingpong) mode, else 1",
    ),
    (
        "pingpong.max",
        "1 when a read saw the kernel in interactive (pingpong) mode, else 0",
    ),
];

/// Measures of one way of a link, after `link.A-B.a_to_b.` or `link.A-B.b_to_a.`.
pub const LINK: [(&str, &str); 20] = [
    ("frames", "frames that entered"),
    ("bytes", "bytes of them"),
    ("delivered", "frames that came out"),
    ("queue_drops", "frames lost because the queue was full"),
    ("lost", "frames lost by chance or because they were listed"),
    ("peak_pkts", "the longest queue, frames"),
    (
        "drops",
        "packets that its qdisc dropped, ACKs that the filter took included",
    ),
    ("ecn_mark", "packets that its qdisc marked"),
    ("ack_drops", "ACKs that CAKE's filter took"),
    ("overlimits", "how often its qdisc made packets wait"),
    ("granted", "packets that `caqm` granted what they asked for"),
    ("refused", "packets whose hint `caqm` refused"),
    ("marked", "packets that `caqm` (or `red`) marked"),
    ("already_marked", "packets that came to `caqm` marked"),
    ("granted_bytes", "bytes of window that `caqm` granted"),
    (
        "refused_bytes",
        "bytes of window that were asked of `caqm` in vain",
    ),
    (
        "queue_mean_bytes",
        "mean of the queue's bytes by time, the frame on its way out included (`queue_from`)",
    ),
    ("queue_p50_bytes", "the median by time"),
    ("queue_p99_bytes", "the 99th percentile by time"),
    ("queue_max_bytes", "the most"),
];

/// Measures of the run, after `run.`.
pub const RUN: [(&str, &str); 2] = [
    ("virtual_s", "time from the run's start to its end, s"),
    (
        "cut_short",
        "1 when the run came to its `max` before its applications ended, else 0",
    ),
];

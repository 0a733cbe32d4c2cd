//! What a stack says after it has run one point.
//!
//! Captures lie beside it, one for each host and interface: `HOST.IFACE.pcapng`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_qdisc::QdiscCount;

use crate::app::is_zero;

/// What came out of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Outcome {
    /// The kernel's release and version, as uname(2) gives them; the profile of a model.
    pub kernel: String,
    /// Time from the run's start to its end.
    pub virtual_ns: i64,
    /// The run reached its `max` before its applications ended.
    pub cut_short: bool,
    /// The kernel's counters of each host as differences over the run, by nstat's names
    /// (`TcpExtDelayedACKs`). Those of a host that has no such counter are absent.
    pub counters: BTreeMap<String, BTreeMap<String, i64>>,
    /// The connections, application by application as in the file; both ends of each.
    pub flows: Vec<Flow>,
    /// What each link did, in the order of the point.
    pub links: Vec<LinkCount>,
    /// Samples of each link, in the order of the point, when it asks for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub link_series: Vec<LinkSeries>,
    /// What the run could not do, in words: a capture that lost frames, and the like.
    pub warnings: Vec<String>,
    /// Settings that the stack left out because the point tolerates it, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerated: Vec<String>,
    /// IP addresses of hosts that have others than every stack gives them ([`crate::network::host_address`]): real machines.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub addresses: BTreeMap<String, String>,
}

/// A connection or a pair of UDP sockets of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    /// The application's name.
    pub app: String,
    /// Number within the application, from 0.
    pub connection: u32,
    /// The client's port.
    pub client_port: u16,
    /// The client's end.
    pub client: End,
    /// The server's end.
    pub server: End,
}

impl Flow {
    /// Whether it was established, and an end had not finished with it when the run ended. Where one end gave up, the other
    /// waits for nothing.
    pub fn is_open(&self) -> bool {
        let goes_on = |end: &End| end.opened_ns.is_some() && end.closed_ns.is_none();
        let (client, server) = (&self.client, &self.server);
        (goes_on(client) && server.error.is_none()) || (goes_on(server) && client.error.is_none())
    }
}

/// End of a connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct End {
    /// When the connection was established or accepted, after the run's start; null if never.
    pub opened_ns: Option<i64>,
    /// When the application had finished with this end; for a datagram server, when it received the last datagram.
    pub closed_ns: Option<i64>,
    /// Name of the error that ended the connection (`ETIMEDOUT`).
    pub error: Option<String>,
    /// Bytes written by the application.
    pub written_bytes: u64,
    /// Bytes read by the application.
    pub read_bytes: u64,
    /// Transactions or writes that its application completed.
    pub completed: u64,
    /// Requests of `udp-rr` without an answer within their time-out.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Time of each transaction, in order (the first 100,000).
    pub latency_ns: Vec<i64>,
    /// Each ping in order: send time after the run's start and time to its answer, nanoseconds; null: no answer in time, or before the run's end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pings: Vec<(i64, Option<i64>)>,
    /// tcp_info when the program closes the socket, or at the run's end, with the kernel's names and units. What TCP sends
    /// and receives after the close is not in it.
    pub tcp_info: BTreeMap<String, i64>,
    /// Samples of tcp_info: time after the run's start in nanoseconds, then tcpi_rtt, tcpi_rttvar,
    /// tcpi_rto, tcpi_ato, tcpi_snd_cwnd, tcpi_snd_ssthresh, tcpi_unacked, tcpi_total_retrans,
    /// tcpi_delivered, tcpi_bytes_acked and tcpi_bytes_received.
    pub tcp_info_series: Vec<(i64, Vec<i64>)>,
    /// Each step of the application, if the point asks for a log.
    pub log: Vec<LogLine>,
}

/// An end keeps the times of so many transactions.
pub const KEPT_LATENCIES: usize = 100_000;

/// More pings of one application are not sent.
pub const MOST_PINGS: usize = 1_000_000;

/// The fields of tcp_info that a series holds.
pub const TCP_INFO_SERIES: [&str; 11] = [
    "tcpi_rtt",
    "tcpi_rttvar",
    "tcpi_rto",
    "tcpi_ato",
    "tcpi_snd_cwnd",
    "tcpi_snd_ssthresh",
    "tcpi_unacked",
    "tcpi_total_retrans",
    "tcpi_delivered",
    "tcpi_bytes_acked",
    "tcpi_bytes_received",
];

/// Step of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogLine {
    /// After the run's start.
    pub time_ns: i64,
    /// `connect`, `connected`, `accept`, `write`, `readable` (before a read), `read`, `shutdown`,
    /// `close`, `error`.
    pub what: String,
    /// Bytes of a write or read; value of an option.
    pub value: i64,
    /// Value of getsockopt(TCP_QUICKACK), at `connected`, `accept`, `readable` and `read`.
    pub quickack: Option<i64>,
    /// Quick-ACK credits left, from /proc/net/tcp (`quick * 2 + pingpong`).
    pub quick: Option<u32>,
    /// The kernel is in interactive (pingpong) mode.
    pub pingpong: Option<bool>,
}

/// Counts of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkCount {
    /// From `a` to `b`.
    pub a_to_b: WayCount,
    /// From `b` to `a`.
    pub b_to_a: WayCount,
    /// Qdisc from `a` to `b`; absent if none. After a change: the last qdisc, with the drops, marks and similar counts
    /// of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a_to_b_qdisc: Option<QdiscCount>,
    /// Qdisc from `b` to `a`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b_to_a_qdisc: Option<QdiscCount>,
    /// Queue from `a` to `b` by time; absent if not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a_to_b_queue: Option<QueueCount>,
    /// Queue from `b` to `a`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b_to_a_queue: Option<QueueCount>,
}

/// Time-weighted bytes of a queue, including the frame on its way out until its last bit has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QueueCount {
    /// Time that counts.
    pub ns: u64,
    /// The mean.
    pub mean_bytes: u64,
    /// The median, rounded up by at most 0.1 %.
    pub p50_bytes: u64,
    /// Not exceeded for 99 % of the time; rounded up by at most 0.1 %.
    pub p99_bytes: u64,
    /// The most.
    pub max_bytes: u64,
}

/// Samples of one link, each way: time after the run's start in nanoseconds, then frames in the queue, the one on its
/// way out included; their bytes, a frame's until its last bit has left; bytes that came out of the link since the
/// run's start; minimum and maximum bytes of the queue since the previous sample, over every packet. The kernel's
/// links have no samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSeries {
    /// From `a` to `b`.
    pub a_to_b: Vec<(i64, Vec<i64>)>,
    /// From `b` to `a`.
    pub b_to_a: Vec<(i64, Vec<i64>)>,
}

/// The fields of a sample of a link.
pub const LINK_SERIES: [&str; 5] = [
    "queue_pkts",
    "queue_bytes",
    "delivered_bytes",
    "queue_min_bytes",
    "queue_max_bytes",
];

/// Counts of one direction; all 0 on the kernel's own link, which counts only in its qdisc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WayCount {
    /// Frames that entered.
    pub frames: u64,
    /// Bytes of `frames`.
    pub bytes: u64,
    /// Frames that came out.
    pub delivered: u64,
    /// Frames dropped by a full queue or the qdisc.
    pub queue_drops: u64,
    /// Frames lost by the link's chance, a listed event, an outage or a rule of a middle box.
    pub lost: u64,
    /// Longest queue, frames.
    pub peak_pkts: u32,
}

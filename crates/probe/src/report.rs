//! What a probe has to tell: the document of schema `tcplab.probe/1`, as plain data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// The schema's name and version.
pub const SCHEMA: &str = "tcplab.probe/1";

/// One run of a probe. Times are nanoseconds since its start, on a clock that never goes back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// `tcplab.probe/1`.
    pub schema: String,
    /// Such as `echo-client`, `server bulk`.
    pub probe: String,
    /// Arguments after `tcplab probe`.
    pub arguments: Vec<String>,
    /// This machine's kernel, by uname(1).
    pub kernel: String,
    /// Start, by the system's clock.
    pub began_unix_ns: i64,
    /// How long the probe ran.
    pub duration_ns: i64,
    /// `quickack-default` only: TCP_QUICKACK of a new socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quickack_default: Option<i32>,
    /// What all connections read and wrote, also those left out below.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Transactions, writes or datagrams of all connections, `connections_left_out` included.
    pub completed: u64,
    /// Pings and requests of `udp-rr` without an answer, of all connections.
    pub unanswered: u64,
    /// Mean time of a look into /proc/net/tcp. Looks lie between a write and the read of its answer: they add to
    /// latencies; `--no-looks` omits them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look_mean_ns: Option<u64>,
    /// The connections, in the order in which they ended.
    pub connections: Vec<Connection>,
    /// Ended connections beyond the first 10,000: counted, not listed.
    pub connections_left_out: u64,
    /// Connections that this end finished while data of the peer was unread.
    pub connections_unread: u64,
    /// Log lines beyond `--log-lines`: counted, not listed.
    pub log_left_out: u64,
    /// Log lines without the kernel's state: looks would have taken more than a fifth of the time.
    pub looks_left_out: u64,
    /// Samples of tcp_info beyond the first 50,000: counted, not listed.
    pub tcp_info_left_out: u64,
    /// Growth of the kernel's counters in this network namespace during the probe, by nstat's names, zeros included;
    /// other connections of the host count too.
    pub counters: BTreeMap<String, i64>,
    /// What could not be done.
    pub warnings: Vec<String>,
    /// `--via`: tcplab's endpoint on a device. `kernel` and `counters` are then those of the endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<ViaReport>,
}

/// tcplab's endpoint on a device, and its frames on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ViaReport {
    /// Device, as `--via` names it.
    pub device: String,
    /// Address and prefix length: `10.77.0.1/24`.
    pub address: String,
    /// Its profile.
    pub profile: String,
    /// Frames received; a super-segment counts as the frames that it is cut into.
    pub frames_in: u64,
    /// Those of `frames_in` with CAQM's tag, if the endpoint knows CAQM.
    pub tagged_in: u64,
    /// Frames that went out.
    pub frames_out: u64,
    /// Segments sent with CAQM's tag.
    pub tagged_out: u64,
    /// Frames with no content for the endpoint.
    pub refused: u64,
    /// Frames that contradict their virtio_net header.
    pub invalid: u64,
    /// Segments not sent: the next hop's Ethernet address is unknown.
    pub unreachable: u64,
    /// Frames that the device had no room for.
    pub full: u64,
    /// Frames dropped before the endpoint read them.
    pub missed: u64,
}

/// A connection or a UDP socket.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Connection {
    /// Number of the connection, from 0 in the order of opening.
    pub number: u32,
    /// Such as `127.0.0.1:1234`, `[::1]:1234`.
    pub local: String,
    /// Address and port of the peer; empty for a UDP server, which serves many.
    pub remote: String,
    /// When it was connected or accepted; ns since the probe's start.
    pub opened_ns: i64,
    /// When this end was done with it; ns since the probe's start.
    pub closed_ns: i64,
    /// Why it ended.
    pub ended: Ended,
    /// The kernel's error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it read and wrote.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Completed transactions, writes or datagrams.
    pub completed: u64,
    /// Pings and requests of `udp-rr` without an answer.
    pub unanswered: u64,
    /// Time of each transaction, in order (the first 100,000).
    pub latency_ns: Vec<i64>,
    /// The sizes of its buffers.
    #[serde(flatten)]
    pub buffers: Buffers,
    /// `--trend`: bytes read in each second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trend_bytes: Vec<u64>,
    /// What happened, step by step.
    pub log: Vec<LogLine>,
    /// Samples of tcp_info: with `--tcp-info-every` at that interval, and always one at the end.
    pub tcp_info: Vec<Sample>,
}

/// What was read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Traffic {
    /// Calls of read(2) that gave data.
    pub reads: u64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Calls of write(2) that took data.
    pub writes: u64,
    /// Bytes that were written.
    pub written_bytes: u64,
}

/// How the kernel moved the buffers of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Buffers {
    /// SO_RCVBUF at the beginning, as the kernel gives it.
    pub rcvbuf_begin_bytes: Option<i32>,
    /// SO_RCVBUF at the end.
    pub rcvbuf_end_bytes: Option<i32>,
    /// SO_SNDBUF at the beginning, as the kernel gives it.
    pub sndbuf_begin_bytes: Option<i32>,
    /// SO_SNDBUF at the end.
    pub sndbuf_end_bytes: Option<i32>,
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// This end did all that was asked.
    #[default]
    Finished,
    /// Its time limit was reached.
    Time,
    /// The peer sent its FIN.
    Peer,
    /// The peer reset the connection.
    Reset,
    /// Ctrl-C or SIGTERM.
    Interrupted,
    /// Something failed.
    Error,
}

/// What happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Connected; this end was the client.
    #[default]
    Connect,
    /// Connected; this end was the server.
    Accept,
    /// Before a read of at most `value` bytes.
    ReadStart,
    /// After a read of `value` bytes.
    ReadEnd,
    /// After a write of `value` bytes.
    Write,
    /// TCP_QUICKACK was set to `value`.
    SetQuickack,
    /// SIGUSR1: no more writes for `value` seconds.
    Pause,
    /// Writes go on.
    Resume,
    /// This end sent its FIN and still reads.
    Shutdown,
    /// The peer sent its FIN.
    End,
    /// This end was done with the connection.
    Close,
    /// A call failed; `value` is errno.
    Error,
}

/// Line of the log. The delayed-ACK state is read at `connect`, `accept`, `read_start`, `read_end`
/// and `set_quickack`; a `read_start` right behind a `read_end` repeats its state, read between the
/// two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogLine {
    /// Time since the probe's start.
    pub time_ns: i64,
    /// What happened.
    pub what: What,
    /// Bytes, or the value that `what` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
    /// `read_end` of a client of datagrams: time since its last send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_send_ns: Option<i64>,
    /// Value of getsockopt(TCP_QUICKACK).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quickack: Option<i32>,
    /// Quick-ACK credits left, from /proc/net/tcp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick: Option<u32>,
    /// Whether the kernel is in interactive mode, in which ACKs wait to go with data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pingpong: Option<bool>,
    /// The kernel's delayed-ACK interval, in steps of 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ato_ms: Option<u32>,
}

/// tcp_info at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Sample {
    /// Time since the probe's start.
    pub time_ns: i64,
    /// Fields that the kernel has, with the kernel's names and units.
    pub fields: BTreeMap<&'static str, i64>,
}

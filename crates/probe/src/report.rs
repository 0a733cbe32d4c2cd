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
    /// Which probe: `echo-client`, `server bulk`.
    pub probe: String,
    /// The words of the command line behind `tcplab probe`.
    pub arguments: Vec<String>,
    /// This machine's kernel, as uname(1) names it.
    pub kernel: String,
    /// The start in nanoseconds since 1970, by the system's clock.
    pub began_unix_ns: i64,
    /// How long the probe ran.
    pub duration_ns: i64,
    /// `quickack-default` only: TCP_QUICKACK of a new socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quickack_default: Option<i32>,
    /// What all connections read and wrote, also those left out below.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Transactions, writes or datagrams that all connections completed, also those left out below.
    pub completed: u64,
    /// Pings and requests of `udp-rr` that no answer came for, of all connections.
    pub unanswered: u64,
    /// A look into /proc/net/tcp took this long on average. Looks lie between a write and the read of its answer, so
    /// latencies have them in them; `--no-looks` leaves them out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look_mean_ns: Option<u64>,
    /// The connections, in the order in which they ended.
    pub connections: Vec<Connection>,
    /// Connections that ended after the first 10,000: only counted.
    pub connections_left_out: u64,
    /// Connections that this end finished although more of the peer's data lay there unread.
    pub connections_unread: u64,
    /// Log lines beyond `--log-lines`: only counted.
    pub log_left_out: u64,
    /// Log lines without the kernel's state, because looking would have taken more than a fifth of
    /// the time.
    pub looks_left_out: u64,
    /// Samples of tcp_info beyond the first 50,000: only counted.
    pub tcp_info_left_out: u64,
    /// How much the kernel's counters of this network namespace grew, by nstat's names, those that
    /// did not change included. Other connections of the host count too.
    pub counters: BTreeMap<String, i64>,
    /// What could not be done, in words.
    pub warnings: Vec<String>,
    /// `--via`: the endpoint of tcplab's own on a device. `kernel` and `counters` are its own then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<ViaReport>,
}

/// An endpoint of tcplab's own on a device, and the frames of the wire that it had to do with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ViaReport {
    /// Its device, as `--via` names it.
    pub device: String,
    /// Its address and the length of the prefix: `10.77.0.1/24`.
    pub address: String,
    /// Its profile.
    pub profile: String,
    /// Frames that came; super-segments count as the frames that they are cut into.
    pub frames_in: u64,
    /// Of these with CAQM's tag, for an endpoint that knows it.
    pub tagged_in: u64,
    /// Frames that went out.
    pub frames_out: u64,
    /// Of the segments for the device those with CAQM's tag.
    pub tagged_out: u64,
    /// Frames that held nothing for the endpoint.
    pub refused: u64,
    /// Frames that no header before them described.
    pub invalid: u64,
    /// Segments to addresses that nobody answered for.
    pub unreachable: u64,
    /// Frames that the device had no room for.
    pub full: u64,
    /// Frames that were dropped before the endpoint could read them.
    pub missed: u64,
}

/// One connection (or one UDP socket).
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Connection {
    /// Its number, from 0, in the order in which they were opened.
    pub number: u32,
    /// This end: `127.0.0.1:1234`, `[::1]:1234`.
    pub local: String,
    /// The other end; empty for a UDP server, which talks to many.
    pub remote: String,
    /// When it was connected or accepted.
    pub opened_ns: i64,
    /// When this end was done with it.
    pub closed_ns: i64,
    /// Why it ended.
    pub ended: Ended,
    /// What the kernel said, when it was an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it read and wrote.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Transactions, writes or datagrams that the application completed.
    pub completed: u64,
    /// Pings and requests of `udp-rr` that no answer came for.
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
    /// tcp_info: with `--tcp-info-every` samples in that distance, always one at the end.
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
    /// SO_RCVBUF at the beginning, in bytes, as the kernel gives it.
    pub rcvbuf_begin_bytes: Option<i32>,
    /// SO_RCVBUF at the end.
    pub rcvbuf_end_bytes: Option<i32>,
    /// SO_SNDBUF at the beginning, in bytes, as the kernel gives it.
    pub sndbuf_begin_bytes: Option<i32>,
    /// SO_SNDBUF at the end.
    pub sndbuf_end_bytes: Option<i32>,
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It did all that it was asked to.
    #[default]
    Finished,
    /// Its time was over.
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
    /// The connection stands; this end asked for it.
    #[default]
    Connect,
    /// The connection stands; the other end asked for it.
    Accept,
    /// Before a read; `value` is the most that it may give.
    ReadStart,
    /// After a read; `value` is what it gave.
    ReadEnd,
    /// After a write of `value` bytes.
    Write,
    /// TCP_QUICKACK was set to `value`.
    SetQuickack,
    /// SIGUSR1: no more writes for `value` seconds.
    Pause,
    /// Writes go on.
    Resume,
    /// This end sent its FIN and goes on reading.
    Shutdown,
    /// The peer sent its FIN.
    End,
    /// This end was done.
    Close,
    /// A call failed; `value` is errno.
    Error,
}

/// One line of the log. The delayed-ACK state is read at `connect`, `accept`, `read_start`,
/// `read_end` and `set_quickack`; a `read_start` right behind a `read_end` has the same one, which
/// was read between the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogLine {
    /// When.
    pub time_ns: i64,
    /// What.
    pub what: What,
    /// Bytes, or what `what` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
    /// `read_end` of a client of datagrams: the time since it last sent one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_send_ns: Option<i64>,
    /// What getsockopt(TCP_QUICKACK) says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quickack: Option<i32>,
    /// The kernel's truth from /proc/net/tcp: ACKs that will still be sent at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick: Option<u32>,
    /// The kernel's truth: interactive mode, where ACKs wait for data to ride on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pingpong: Option<bool>,
    /// The kernel's delayed-ACK interval in milliseconds, in steps of 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ato_ms: Option<u32>,
}

/// tcp_info at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Sample {
    /// When.
    pub time_ns: i64,
    /// The fields that the kernel knows, by its names and in its units.
    pub fields: BTreeMap<&'static str, i64>,
}

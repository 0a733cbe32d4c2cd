//! The keys of applications: common keys, and keys of each kind.

use super::super::rrul::{MARKS, MAX_FLOWS};
use super::{Bounds, Form, Key, MUST, SOCKET, fixed, flag, key, number, says, word};
use tcplab_base::quantity::SIZE;
use crate::rules::{
    LEAST_PING, MAX_CHUNK, MAX_CONNECTIONS, MAX_COUNT, MAX_DATAGRAM, MAX_MESSAGE, MS_NS, Range,
};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// Bytes of one write or read.
const CHUNK: Range = (1, MAX_CHUNK);
/// Bytes of a message.
pub(crate) const MESSAGE: Range = (1, MAX_MESSAGE);
const DATAGRAM: Range = (1, MAX_DATAGRAM);
const COUNTS: Range = (1, MAX_COUNT);
const LONGER: Bounds = Bounds::Longer("must be longer than 0; remove it to use the default");
const WAIT: Bounds = Bounds::Longer("must be longer than 0; remove it to wait for ever");

pub(crate) const NAME: Key = fixed("name", Form::Name, says("its kind"), "name in variants and measures");
pub(crate) const KIND: Key = key("kind", Form::Words(&KIND_NAMES), MUST, "what the application does");
pub(crate) const CLIENT: Key = key("client", Form::Text, word("client"), "connecting host");
pub(crate) const SERVER: Key = key("server", Form::Text, word("server"), "listening host; the client's own name: over `lo`");
pub(crate) const PORT: Key = key("port", Form::Count((1, 65_535)), says("5001 and up"), "server port");
pub(crate) const START: Key = key("start", Form::Time(Bounds::Any), number(0), "time of the first connection");
pub(crate) const CONNECTIONS: Key = key("connections", Form::Count((1, MAX_CONNECTIONS)), number(1), "number of connections");
pub(crate) const STAGGER: Key = key("stagger", Form::Time(Bounds::Any), number(0), "time between starts of connections, also between hosts of a group");
pub(crate) const CLIENT_SOCKET: Key = key("client_socket", Form::Table(SOCKET), says("the host's"), "options of the client's sockets");
pub(crate) const SERVER_SOCKET: Key = key("server_socket", Form::Table(SOCKET), says("the host's"), "options of the server's sockets");
pub(crate) const AT: Key = fixed("at", Form::Time(Bounds::Any), MUST, "time since the run's start");
/// `client_change`, `server_change`.
pub(crate) const LATER: &[Key] = &super::joined::<{ 1 + SOCKET.len() }>(&[AT], SOCKET);
pub(crate) const CLIENT_CHANGE: Key = fixed("client_change", Form::Tables(LATER), says("none"), "options to set during the run on the client's open sockets: `[{ at = \"5s\", nodelay = true }]`");
pub(crate) const SERVER_CHANGE: Key = fixed("server_change", Form::Tables(LATER), says("none"), "options to set during the run on the server's open sockets");
pub(crate) const CLIENT_TIMEOUT: Key = key("client_timeout", Form::Time(WAIT), says("none"), "a client whose socket makes no progress for this long gives up (`ETIME`) and closes");
pub(crate) const SERVER_TIMEOUT: Key = key("server_timeout", Form::Time(WAIT), says("none"), "a server whose socket makes no progress for this long gives up (`ETIME`) and closes");
pub(crate) const LISTENS: Key = key("listens", Form::Flag, flag(true), "the server listens; if not, connections and datagrams are refused");
pub(crate) const BACKLOG: Key = key("backlog", Form::Count((0, 65_535)), number(crate::app::BACKLOG as u64), "backlog of listen(2): connections waiting for accept, up to `net.core.somaxconn`");
pub(crate) const DEFER_ACCEPT: Key = key("defer_accept", Form::Time(Bounds::Whole(1_000_000_000, 3_600, "seconds")), says("off"), "TCP_DEFER_ACCEPT of the listener, whole seconds: accept when data arrive, or after this time");
pub(crate) const FASTOPEN: Key = key("fastopen", Form::Flag, flag(false), "TCP Fast Open: the first write goes with the SYN (TCP_FASTOPEN_CONNECT), the listener takes it (TCP_FASTOPEN); `net.ipv4.tcp_fastopen` of the server's host needs bit 0x2");
pub(crate) const ACCEPT_EVERY: Key = key("accept_every", Form::Time(Bounds::Any), number(0), "time that the server waits after each accepted connection");
pub(crate) const OPEN: Key = key("open", Form::Words(&["listen", "simultaneous"]), word("listen"), "`simultaneous`: nobody listens, both ends bind `port` and connect, their SYNs cross (RFC 9293, figure 8); one connection between two hosts");
pub(crate) const SERVER_START: Key = key("server_start", Form::Time(Bounds::Any), says("`start`"), "time at which the server connects (with `open = \"simultaneous\"`)");
/// `[[app]]`, whatever its kind.
pub(crate) const APP: &[Key] = &[
    NAME, KIND, CLIENT, SERVER, PORT, START, CONNECTIONS, STAGGER, CLIENT_SOCKET, SERVER_SOCKET, CLIENT_CHANGE,
    SERVER_CHANGE, CLIENT_TIMEOUT, SERVER_TIMEOUT, LISTENS, BACKLOG, ACCEPT_EVERY, DEFER_ACCEPT, FASTOPEN, OPEN,
    SERVER_START,
];
pub(crate) const COUNT: Key = key("count", Form::Count(COUNTS), says("no limit"), "end after this many writes, transactions or datagrams");
pub(crate) const DURATION: Key = key("duration", Form::Time(LONGER), says("10s without `count`"), "end this long after the connection was established");
pub(crate) const PAUSE: Key = key("pause", Form::Time(Bounds::Any), number(0), "client's wait after each response");

pub(crate) const STREAM_CHUNK: Key = key("chunk", Form::Size(CHUNK), number(1460), "bytes per write");
pub(crate) const STREAM_EVERY: Key = key("every", Form::Time(Bounds::Any), number(0), "time between writes, on an absolute schedule; 0: as fast as the socket accepts them");
pub(crate) const STREAM_LATE: Key = key("late", Form::Time(Bounds::Any), number(0), "delays each write, and all later ones, by a random time up to this value, like a loop whose body takes time");
pub(crate) const STREAM_URGENT: Key = key("urgent", Form::Count(COUNTS), says("none"), "each Nth write uses MSG_OOB: its last byte is urgent, and the client does not read it");
pub(crate) const STREAM_MORE: Key = key("more", Form::Count((2, MAX_COUNT)), says("none"), "of each N writes, all but the last use MSG_MORE: full segments leave immediately, the rest after 200 ms; not for writes with MSG_OOB");
pub(crate) const STREAM_READ: Key = key("read", Form::Size(CHUNK), number(64 << 10), "most bytes per read");
pub(crate) const READ_PAUSE: Key = key("read_pause", Form::Time(Bounds::Any), number(0), "the reader stops once for this long");
pub(crate) const READ_PAUSE_AT: Key = key("read_pause_at", Form::Size((0, SIZE.max)), number(0), "bytes read before `read_pause`");
pub(crate) const READ_EVERY: Key = key("read_every", Form::Time(Bounds::Any), number(0), "time between reads; with `read` it limits the reading rate; 0: reads as data arrive");
const STREAM: &[Key] = &[
    STREAM_CHUNK, STREAM_EVERY, STREAM_LATE, STREAM_URGENT, STREAM_MORE, STREAM_READ, READ_PAUSE, READ_PAUSE_AT, READ_EVERY, COUNT, DURATION,
];

pub(crate) const ECHO_SIZE: Key = key("size", Form::Size(MESSAGE), number(1), "bytes per message");
const ECHO: &[Key] = &[ECHO_SIZE, PAUSE, COUNT, DURATION];

pub(crate) const HEAD: Key = key("head", Form::Size(MESSAGE), number(512), "bytes of the first write");
pub(crate) const BODY: Key = key("body", Form::Size((0, MAX_MESSAGE)), number(512), "bytes of the second write; 0: none");
pub(crate) const REPLY: Key = key("reply", Form::Size(MESSAGE), number(1448), "bytes of the reply");
const WRITE_WRITE_READ: &[Key] = &[HEAD, BODY, REPLY, PAUSE, COUNT, DURATION];

pub(crate) const BULK_BYTES: Key = key("bytes", Form::Size((1, SIZE.max)), says("no limit"), "bytes to send");
pub(crate) const BULK_DURATION: Key = key("duration", Form::Time(LONGER), says("10s without `bytes`"), "time to send");
pub(crate) const BULK_CHUNK: Key = key("chunk", Form::Size(CHUNK), number(128 << 10), "bytes per write");
pub(crate) const BULK_REVERSE: Key = key("reverse", Form::Flag, flag(false), "the server sends, the client reads");
pub(crate) const BULK_READ: Key = key("read", Form::Size(CHUNK), number(crate::app::BULK_READ), "most bytes per read");
const BULK: &[Key] = &[BULK_BYTES, BULK_DURATION, BULK_CHUNK, BULK_REVERSE, BULK_READ, READ_PAUSE, READ_PAUSE_AT, READ_EVERY];

pub(crate) const RR_REQUEST: Key = key("request", Form::Size(MESSAGE), number(1), "bytes of a request");
pub(crate) const RR_RESPONSE: Key = key("response", Form::Size(MESSAGE), number(1), "bytes of a response");
pub(crate) const RR_BURST: Key = key("burst", Form::Count((0, 10_000)), number(0), "requests outstanding beyond the first (netperf's `-b`): the client writes this many more before it reads, then one per response; if buffers cannot hold them, both ends wait for ever");
const REQUEST_RESPONSE: &[Key] = &[RR_REQUEST, RR_RESPONSE, RR_BURST, PAUSE, COUNT, DURATION];
const CONNECT_REQUEST_RESPONSE: &[Key] = &[RR_REQUEST, RR_RESPONSE, PAUSE, COUNT, DURATION];

pub(crate) const WEB_REQUEST: Key = key("request", Form::Size(MESSAGE), number(200), "bytes of a request");
pub(crate) const WEB_SIZES: Key = key("sizes", Form::Sizes(MESSAGE), number(10 << 10), "response bytes, in order; or how many to draw from a distribution: `20 of lognormal(median 15kB, sigma 1)`. All connections of the application get the same list");
pub(crate) const WEB_THINK: Key = key("think", Form::Times, number(0), "client's pauses before each request except the first; the last value repeats");
const WEB: &[Key] = &[WEB_REQUEST, WEB_SIZES, WEB_THINK];

pub(crate) const WRITES: Key = key("messages", Form::Texts, MUST, "items in order: `client` or `server`, then `BYTES`, `BYTES x N`, `shutdown` or `close`, then optionally `more` (MSG_MORE), `after TIME` (a pause before it) and `at once` (without reading first; see [Conversations](#conversations))");
const MESSAGES: &[Key] = &[WRITES];

pub(crate) const SINK_HOLD: Key = key("hold", Form::Time(Bounds::Any), number(10 * S), "how long the client holds the connection");
const SINK: &[Key] = &[SINK_HOLD];

pub(crate) const UDP_SIZE: Key = key("size", Form::Size(DATAGRAM), number(1400), "payload bytes");
pub(crate) const UDP_EVERY: Key = key("every", Form::Time(Bounds::Any), number(10 * MS), "time between datagrams, on an absolute schedule");
const UDP_STREAM: &[Key] = &[UDP_SIZE, UDP_EVERY, COUNT, DURATION];

pub(crate) const UDP_RR_REQUEST: Key = key("request", Form::Size(DATAGRAM), number(1), "bytes of a request");
pub(crate) const UDP_RR_RESPONSE: Key = key("response", Form::Size(DATAGRAM), number(1), "bytes of a response");
pub(crate) const UDP_RR_TIMEOUT: Key = key("timeout", Form::Time(LONGER), number(S), "the client gives up a transaction after this time");
const UDP_RR: &[Key] = &[UDP_RR_REQUEST, UDP_RR_RESPONSE, PAUSE, UDP_RR_TIMEOUT, COUNT, DURATION];

pub(crate) const PING_EVERY: Key = key("every", Form::Time(Bounds::AtLeast(MS_NS)), number(200 * MS), "time between pings, on an absolute schedule, without waiting for answers");
pub(crate) const PING_TIMEOUT: Key = key("timeout", Form::Time(LONGER), number(10 * S), "a ping without an answer counts as lost after this time");
pub(crate) const UDP_PING_SIZE: Key = key("size", Form::Size((LEAST_PING, MAX_DATAGRAM)), number(60), "payload bytes, each way");
pub(crate) const PING_SIZE: Key = key("size", Form::Size((LEAST_PING, MAX_DATAGRAM)), number(56), "bytes after the ICMP header");
pub(crate) const REPLAY_FILE: Key = key("file", Form::Text, MUST, "capture to replay (pcap, pcapng, also compressed), relative to this file");
pub(crate) const REPLAY_INTERFACE: Key = key("interface", Form::Text, says("all"), "only frames of this interface of the capture");
pub(crate) const REPLAY_FROM: Key = key("from", Form::Text, says("all"), "only IP packets from this address");
const UDP_PING: &[Key] = &[UDP_PING_SIZE, PING_EVERY, PING_TIMEOUT, COUNT, DURATION];
const PING: &[Key] = &[PING_SIZE, PING_EVERY, PING_TIMEOUT, COUNT, DURATION];
const REPLAY: &[Key] = &[REPLAY_FILE, REPLAY_INTERFACE, REPLAY_FROM];

pub(crate) const RRUL_DURATION: Key = key("duration", Form::Time(Bounds::Any), number(60 * S), "duration of the load");
pub(crate) const RRUL_DELAY: Key = key("delay", Form::Time(Bounds::Any), number(5 * S), "time with pings only, before and after the load");
pub(crate) const RRUL_MARKS: Key = key("marks", Form::Words(&MARKS), word("rrul"), "flent's test: `rrul` marks flows BE, BK, CS5, EF; `rrul_be` all BE; `rrul_noclassification` marks only pings");
pub(crate) const RRUL_UP: Key = key("up", Form::Count((0, MAX_FLOWS)), number(4), "uploads; 0: none");
pub(crate) const RRUL_DOWN: Key = key("down", Form::Count((0, MAX_FLOWS)), number(4), "downloads; 0: none");
pub(crate) const RRUL_PINGS: Key = key("pings", Form::Flag, flag(true), "send three UDP pings and one ICMP ping");
pub(crate) const RRUL_STEP: Key = key("step", Form::Time(Bounds::AtLeast(MS_NS)), number(200 * MS), "time between values of a series, and between pings");
pub(crate) const RRUL_SETTLE: Key = key("settle", Form::Time(Bounds::Any), says("a quarter of `duration`"), "start of the load that the statistics of series ignore");
/// Keys of `rrul`.
pub(crate) const RRUL: &[Key] = &[
    RRUL_DURATION, RRUL_DELAY, RRUL_MARKS, RRUL_UP, RRUL_DOWN, RRUL_PINGS, RRUL_STEP, RRUL_SETTLE,
];

/// Keys that several kinds take in one meaning.
pub(crate) const SHARED: &[Key] = &[PAUSE, COUNT, DURATION, READ_PAUSE, READ_PAUSE_AT, READ_EVERY];

/// The kinds of applications, what they do and their own keys.
pub(crate) const KINDS: [(&str, &str, &[Key]); 15] = [
    (
        "stream",
        "the server writes `chunk` bytes at intervals of `every`; the client only reads",
        STREAM,
    ),
    (
        "echo",
        "the client writes a message, the server reads it and writes it back",
        ECHO,
    ),
    (
        "write-write-read",
        "the client writes a head and a body in two writes and waits for the reply",
        WRITE_WRITE_READ,
    ),
    ("bulk", "one end sends as much as it can", BULK),
    (
        "request-response",
        "transactions on one connection (netperf's TCP_RR)",
        REQUEST_RESPONSE,
    ),
    (
        "connect-request-response",
        "transactions, each on a new connection (netperf's TCP_CRR)",
        CONNECT_REQUEST_RESPONSE,
    ),
    (
        "web",
        "a request and a response for each of `sizes` on one connection",
        WEB,
    ),
    (
        "messages",
        "both ends work through a list of items; an end starts an item once it has read everything that earlier items send to it",
        MESSAGES,
    ),
    (
        "sink",
        "the client connects, sends nothing and holds the connection",
        SINK,
    ),
    (
        "udp-stream",
        "the client sends datagrams, the server counts them",
        UDP_STREAM,
    ),
    (
        "udp-rr",
        "transactions of one datagram each way (netperf's UDP_RR)",
        UDP_RR,
    ),
    (
        "udp-ping",
        "the client sends datagrams at intervals of `every`, and the server answers each datagram; as in irtt, a datagram yields a round-trip time or counts as lost",
        UDP_PING,
    ),
    (
        "ping",
        "like `udp-ping`, but with ICMP echoes as in ping(8), which the server's kernel answers",
        PING,
    ),
    (
        "replay",
        "the client puts the frames of a capture on its link to the server, at their times ([replay.md](replay.md))",
        REPLAY,
    ),
    (
        "rrul",
        "flent's Realtime Response Under Load: simultaneous uploads, downloads and pings, as a set of applications ([rrul.md](rrul.md))",
        RRUL,
    ),
];

/// The words of [`KINDS`].
pub(crate) const KIND_NAMES: [&str; 14] = {
    let mut names = [""; 14];
    let mut i = 0;
    while i < names.len() {
        names[i] = KINDS[i].0;
        i += 1;
    }
    names
};

//! The keys of applications: those of all, those of each kind.

use super::super::rrul::MARKS;
use super::{Form, Key, SOCKET, fixed, key};

/// `[[app]]`, whatever its kind.
pub(crate) const APP: &[Key] = &[
    fixed(
        "name",
        Form::Name,
        "its kind",
        "its name in variants and measures",
    ),
    key(
        "kind",
        Form::Words(&KIND_NAMES),
        "",
        "what it does; it must have one",
    ),
    key("client", Form::Text, "client", "host that connects"),
    key(
        "server",
        Form::Text,
        "server",
        "host that listens; with the client's own name it runs over `lo`",
    ),
    key("port", Form::Count, "5001 and up", "port of the server"),
    key("start", Form::Time, "0", "when the first connection begins"),
    key("connections", Form::Count, "1", "connections"),
    key(
        "stagger",
        Form::Time,
        "0",
        "time between two starts, of a group's hosts too",
    ),
    key(
        "client_socket",
        Form::Table(SOCKET),
        "the host's",
        "options of the client's sockets",
    ),
    key(
        "server_socket",
        Form::Table(SOCKET),
        "the host's",
        "options of the server's sockets",
    ),
    key(
        "client_timeout",
        Form::Time,
        "none",
        "a client that waits so long for its socket, and gets nothing that it waits for, gives up (`ETIME`) and closes",
    ),
    key(
        "server_timeout",
        Form::Time,
        "none",
        "the same of the server",
    ),
];

const COUNT: Key = key(
    "count",
    Form::Count,
    "no limit",
    "ends after so many writes, transactions or datagrams",
);
const DURATION: Key = key(
    "duration",
    Form::Time,
    "10s when there is no count",
    "ends this long after the connection stood",
);
const PAUSE: Key = key(
    "pause",
    Form::Time,
    "0",
    "the client waits after each response",
);

const STREAM: &[Key] = &[
    key("chunk", Form::Size, "1460", "bytes of each write"),
    key(
        "every",
        Form::Time,
        "0",
        "time between two writes, on an absolute schedule; 0: as fast as the socket takes them",
    ),
    key(
        "late",
        Form::Time,
        "0",
        "each write comes later by a draw from 0 to this, and so do those after it: a loop that takes time itself",
    ),
    key(
        "urgent",
        Form::Count,
        "none",
        "each Nth write is sent with MSG_OOB: its last byte is urgent, and the client does not read it",
    ),
    key("read", Form::Size, "64k", "bytes of each read at most"),
    COUNT,
    DURATION,
];
const ECHO: &[Key] = &[
    key("size", Form::Size, "1", "bytes of a message"),
    PAUSE,
    COUNT,
    DURATION,
];
const WRITE_WRITE_READ: &[Key] = &[
    key("head", Form::Size, "512", "bytes of the first write"),
    key(
        "body",
        Form::Size,
        "512",
        "bytes of the second write; 0: there is none",
    ),
    key("reply", Form::Size, "1448", "bytes of the reply"),
    PAUSE,
    COUNT,
    DURATION,
];
const BULK: &[Key] = &[
    key("bytes", Form::Size, "no limit", "bytes to send"),
    key(
        "duration",
        Form::Time,
        "10s when there are no bytes",
        "time to send",
    ),
    key("chunk", Form::Size, "128k", "bytes of each write"),
    key(
        "reverse",
        Form::Flag,
        "false",
        "the server sends, the client reads",
    ),
];
const REQUEST_RESPONSE: &[Key] = &[
    key("request", Form::Size, "1", "bytes of a request"),
    key("response", Form::Size, "1", "bytes of a response"),
    PAUSE,
    COUNT,
    DURATION,
];
const WEB: &[Key] = &[
    key("request", Form::Size, "200", "bytes of a request"),
    key(
        "sizes",
        Form::Sizes,
        "10k",
        "bytes of the responses, in order",
    ),
    key(
        "think",
        Form::Times,
        "0",
        "the client waits before each request but the first; the last one is used again",
    ),
];
const MESSAGES: &[Key] = &[key(
    "messages",
    Form::Texts,
    "",
    "the writes, in order: `client BYTES` or `server BYTES`, and `after TIME` for a pause before it",
)];
const SINK: &[Key] = &[key(
    "hold",
    Form::Time,
    "10s",
    "how long the client holds the connection",
)];
const UDP_STREAM: &[Key] = &[
    key("size", Form::Size, "1400", "bytes of payload"),
    key(
        "every",
        Form::Time,
        "10ms",
        "time between two datagrams, on an absolute schedule",
    ),
    COUNT,
    DURATION,
];
const UDP_RR: &[Key] = &[
    key("request", Form::Size, "1", "bytes of a request"),
    key("response", Form::Size, "1", "bytes of a response"),
    PAUSE,
    key(
        "timeout",
        Form::Time,
        "1s",
        "the client gives a transaction up then",
    ),
    COUNT,
    DURATION,
];

const PING_EVERY: Key = key(
    "every",
    Form::Time,
    "200ms",
    "time between two pings, on an absolute schedule; they do not wait for answers",
);
const PING_TIMEOUT: Key = key(
    "timeout",
    Form::Time,
    "10s",
    "a ping without an answer is lost then",
);
const UDP_PING: &[Key] = &[
    key("size", Form::Size, "60", "bytes of payload, each way"),
    PING_EVERY,
    PING_TIMEOUT,
    COUNT,
    DURATION,
];
const PING: &[Key] = &[
    key("size", Form::Size, "56", "bytes after the ICMP header"),
    PING_EVERY,
    PING_TIMEOUT,
    COUNT,
    DURATION,
];

const REPLAY: &[Key] = &[
    key(
        "file",
        Form::Text,
        "",
        "the capture (pcap, pcapng, also packed), from the folder of this file; it must have one",
    ),
    key(
        "interface",
        Form::Text,
        "all",
        "only frames of the capture's interface of this name",
    ),
    key(
        "from",
        Form::Text,
        "all",
        "only IP packets from this address",
    ),
];

/// Keys of `rrul`.
pub(crate) const RRUL: &[Key] = &[
    key("duration", Form::Time, "60s", "how long the load lasts"),
    key(
        "delay",
        Form::Time,
        "5s",
        "pings alone before the load, and after it",
    ),
    key(
        "marks",
        Form::Words(&MARKS),
        "rrul",
        "the test of flent: `rrul`: flows BE, BK, CS5, EF; `rrul_be`: all BE; `rrul_noclassification`: flows BE, pings marked",
    ),
    key("up", Form::Count, "4", "uploads; 0: none"),
    key("down", Form::Count, "4", "downloads; 0: none"),
    key(
        "pings",
        Form::Flag,
        "true",
        "three pings by UDP and one by ICMP",
    ),
    key(
        "step",
        Form::Time,
        "200ms",
        "time between two values of a series, and between two pings",
    ),
    key(
        "settle",
        Form::Time,
        "a quarter of `duration`",
        "time at the load's begin that the statistics of series leave out",
    ),
];

/// The kinds of applications, what they do and their own keys.
pub(crate) const KINDS: [(&str, &str, &[Key]); 15] = [
    (
        "stream",
        "the server writes `chunk` bytes each `every`; the client only reads",
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
        "each transaction on a connection of its own (netperf's TCP_CRR)",
        REQUEST_RESPONSE,
    ),
    (
        "web",
        "a request and a response for each of `sizes` on one connection",
        WEB,
    ),
    (
        "messages",
        "both ends write the messages of a list, each when its writer has read those of the other end before it",
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
        "the client sends a datagram each `every`, the server answers it; each has its own round-trip time, or is lost (irtt)",
        UDP_PING,
    ),
    (
        "ping",
        "as `udp-ping` by ICMP echoes, which the server's kernel answers (ping(8))",
        PING,
    ),
    (
        "replay",
        "the client puts the frames of a capture on its link to the server, at their times ([replay.md](replay.md))",
        REPLAY,
    ),
    (
        "rrul",
        "flent's Realtime Response Under Load: uploads, downloads and pings at once, as a set of applications ([rrul.md](rrul.md))",
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

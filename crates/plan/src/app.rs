//! The applications of an experiment, as data. What they do is in the crate `apps`.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::message::{Act, Message};
use crate::pair::Pair;
use crate::point::{SocketChange, SocketOptions};

/// Connections that a listener holds until they are accepted, unless a key says otherwise.
pub const BACKLOG: u16 = 4096;
/// Bytes of a read where an application only throws away.
pub const BULK_READ: u64 = 128 << 10;

/// An application: a server on one host, one or more clients on another (or the same) host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct App {
    /// Its name in measures and logs.
    pub name: String,
    /// The name that it shares with like applications; measures take it for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Index of the host that connects.
    pub client: usize,
    /// Index of the host that listens.
    pub server: usize,
    /// Port of the server.
    pub port: u16,
    /// When the first client starts, after the run's start.
    pub start_ns: i64,
    /// Connections that the clients open.
    pub connections: u32,
    /// Time between the starts of two connections.
    pub stagger_ns: i64,
    /// Options of the client's sockets; they win over those of the host.
    pub client_socket: SocketOptions,
    /// Options of the server's sockets; they win over those of the host.
    pub server_socket: SocketOptions,
    /// Options that are set later, in the order of the times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<SocketChange>,
    /// A client for which nothing comes or goes for so long gives up: its socket is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_timeout_ns: Option<i64>,
    /// The same of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_timeout_ns: Option<i64>,
    /// TCP Fast Open: the client's first data go with its SYN, and the listener takes them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fastopen: bool,
    /// Nobody listens: both ends bind their port and connect, so that their SYNs may cross (RFC 9293 3.5, figure 8). The
    /// server's end does it at this time after the run's start, the client's at `start_ns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_connects_ns: Option<i64>,
    /// How its server takes connections.
    #[serde(default, skip_serializing_if = "Listening::is_plain")]
    pub listening: Listening,
    /// How the end that only reads (of `stream` and `bulk`) does so.
    #[serde(default, skip_serializing_if = "Reading::is_plain")]
    pub reading: Reading,
    /// What it does.
    pub does: AppKind,
}

/// How a server takes connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listening {
    /// False: nobody listens at its port.
    pub listens: bool,
    /// The backlog of listen(2).
    pub backlog: u16,
    /// Time between two accepts; 0: each at once.
    pub accept_every_ns: i64,
    /// TCP_DEFER_ACCEPT; 0: off.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub defer_accept_ns: i64,
}

impl Default for Listening {
    fn default() -> Self {
        Self {
            listens: true,
            backlog: BACKLOG,
            accept_every_ns: 0,
            defer_accept_ns: 0,
        }
    }
}

impl Listening {
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// How an end reads that only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Bytes of a read of `bulk` at most; a `stream` says its own.
    pub bytes: u64,
    /// It stops once, when it has read so many bytes.
    pub pause_at: u64,
    /// How long it stops.
    pub pause_ns: i64,
    /// Time from one read to the next; 0: as soon as something is there.
    pub every_ns: i64,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            bytes: BULK_READ,
            pause_at: 0,
            pause_ns: 0,
            every_ns: 0,
        }
    }
}

impl Reading {
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

impl App {
    /// Whether both of its ends connect, and nobody listens.
    pub fn is_simultaneous(&self) -> bool {
        self.server_connects_ns.is_some()
    }

    /// The host of an end, and that of its peer.
    pub fn hosts(&self, is_client: bool) -> (usize, usize) {
        match is_client {
            true => (self.client, self.server),
            false => (self.server, self.client),
        }
    }

    /// The ports that it binds: host, port, and whether they are UDP's.
    pub fn bound_ports(&self) -> impl Iterator<Item = (usize, u16, bool)> {
        let client = self.is_simultaneous().then_some(self.client);
        let hosts = std::iter::once(self.server).chain(client);
        hosts.map(|host| (host, self.port, self.does.is_udp()))
    }

    /// Whether one of its ends gives up at some time.
    #[inline]
    pub fn has_timeout(&self) -> bool {
        self.client_timeout_ns.is_some() || self.server_timeout_ns.is_some()
    }

    /// How long an end waits for its socket before it gives up.
    pub fn timeout_ns(&self, is_client: bool) -> Option<i64> {
        match is_client {
            true => self.client_timeout_ns,
            false => self.server_timeout_ns,
        }
    }
}

/// How long an application goes on: until the first of the two is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Extent {
    /// Writes, transactions or datagrams.
    pub count: Option<u64>,
    /// Time since the connection stood.
    pub duration_ns: Option<i64>,
}

/// What an application does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    rename_all_fields = "snake_case",
    deny_unknown_fields
)]
pub enum AppKind {
    /// The server writes `chunk` bytes each `every`, on an absolute schedule; the client reads.
    Stream {
        /// Bytes of each write.
        chunk: u64,
        /// Time between two writes; 0: as fast as the socket takes them.
        every_ns: i64,
        /// Each write after the first comes later than planned by a draw from 0 to this, and so do all after it: a
        /// loop that takes time itself.
        #[serde(default, skip_serializing_if = "is_zero")]
        late_ns: i64,
        /// Each Nth write goes with MSG_OOB: its last byte is urgent; 0: none.
        #[serde(default, skip_serializing_if = "is_zero")]
        urgent: u64,
        /// Bytes of each read of the client at most.
        read: u64,
        /// When the server stops.
        until: Extent,
        /// Of every N writes, only the last goes without MSG_MORE; 0: MSG_MORE is not used.
        #[serde(default, skip_serializing_if = "is_zero")]
        more: u64,
    },
    /// The client writes `size` bytes, the server reads them all and writes them back.
    Echo {
        /// Bytes of a message.
        size: u64,
        /// The client's pause after each answer.
        pause_ns: i64,
        /// When the client stops.
        until: Extent,
    },
    /// The client writes a head and a body in two writes, then waits for the reply.
    WriteWriteRead {
        /// Bytes of the first write.
        head: u64,
        /// Bytes of the second write.
        body: u64,
        /// Bytes of the reply.
        reply: u64,
        /// The client's pause after each reply.
        pause_ns: i64,
        /// When the client stops.
        until: Extent,
    },
    /// The client sends as much as it can (with `reverse` the server does).
    Bulk {
        /// Bytes to send; none: until `duration`.
        bytes: Option<u64>,
        /// Time to send; none: until `bytes`.
        duration_ns: Option<i64>,
        /// Bytes of each write.
        chunk: u64,
        /// The server sends, the client reads.
        reverse: bool,
    },
    /// Transactions on one connection (netperf's TCP_RR).
    RequestResponse {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// Requests that are outstanding beyond the first.
        #[serde(default, skip_serializing_if = "is_zero")]
        burst: u64,
        /// The client's pause after each response.
        pause_ns: i64,
        /// When the client stops.
        until: Extent,
    },
    /// One transaction on each connection, one connection after another (netperf's TCP_CRR).
    ConnectRequestResponse {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// The client's pause after each connection.
        pause_ns: i64,
        /// When the client stops.
        until: Extent,
    },
    /// One connection with a request and a response for each entry of `sizes`.
    Web {
        /// Bytes of a request.
        request: u64,
        /// Bytes of the responses, in order.
        sizes: Vec<u64>,
        /// The client's pause before each request but the first; the last one is used again.
        think_ns: Vec<i64>,
    },
    /// Both ends do the items of a list in its order: each one when its end has read what the list has of the other end
    /// before it.
    Messages {
        /// The messages.
        messages: Vec<Message>,
    },
    /// The server reads and throws away; the client connects, sends nothing and holds the connection.
    Sink {
        /// How long the client holds it.
        hold_ns: i64,
    },
    /// The client sends datagrams on an absolute schedule; the server counts them.
    UdpStream {
        /// Bytes of payload.
        size: u64,
        /// Time between two datagrams.
        every_ns: i64,
        /// When the client stops.
        until: Extent,
    },
    /// Transactions of one datagram each way (netperf's UDP_RR).
    UdpRr {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// The client's pause after each response.
        pause_ns: i64,
        /// The client gives a transaction up after this time.
        timeout_ns: i64,
        /// When the client stops.
        until: Extent,
    },
    /// The client sends a datagram each `every`, and each is answered: by the server's application over UDP, by the
    /// server's kernel over ICMP (an echo, RFC 792).
    Ping {
        /// Over ICMP.
        icmp: bool,
        /// Bytes of payload.
        size: u64,
        /// Time between two pings.
        every_ns: i64,
        /// What is not answered within this time is lost.
        timeout_ns: i64,
        /// When the client stops.
        until: Extent,
    },
    /// The client puts the frames of a capture file on its link to the server, each at its time after the first. Nobody
    /// takes them there.
    Replay {
        /// The file; a path that is not absolute begins where the run was started.
        file: String,
        /// Only frames of the file's interface of this name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface: Option<String>,
        /// Only IP packets from this address.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<IpAddr>,
    },
    /// One end of a published pair, live.
    #[serde(skip)]
    Pair(Pair),
}

impl AppKind {
    /// Its word in an experiment file.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Stream { .. } => "stream",
            Self::Echo { .. } => "echo",
            Self::WriteWriteRead { .. } => "write-write-read",
            Self::Bulk { .. } => "bulk",
            Self::RequestResponse { .. } => "request-response",
            Self::ConnectRequestResponse { .. } => "connect-request-response",
            Self::Web { .. } => "web",
            Self::Messages { .. } => "messages",
            Self::Sink { .. } => "sink",
            Self::UdpStream { .. } => "udp-stream",
            Self::UdpRr { .. } => "udp-rr",
            Self::Ping { icmp: false, .. } => "udp-ping",
            Self::Ping { icmp: true, .. } => "ping",
            Self::Replay { .. } => "replay",
            Self::Pair(pair) => pair.word(),
        }
    }

    /// When it stops, where a count or a time ends it.
    pub fn until(&self) -> Option<&Extent> {
        match self {
            Self::Stream { until, .. }
            | Self::Echo { until, .. }
            | Self::WriteWriteRead { until, .. }
            | Self::RequestResponse { until, .. }
            | Self::ConnectRequestResponse { until, .. }
            | Self::UdpStream { until, .. }
            | Self::UdpRr { until, .. }
            | Self::Ping { until, .. } => Some(until),
            _ => None,
        }
    }

    /// The client's pause after each answer, where it takes turns with the server.
    pub fn pause_ns(&self) -> Option<i64> {
        match self {
            Self::Echo { pause_ns, .. }
            | Self::WriteWriteRead { pause_ns, .. }
            | Self::RequestResponse { pause_ns, .. }
            | Self::ConnectRequestResponse { pause_ns, .. }
            | Self::UdpRr { pause_ns, .. } => Some(*pause_ns),
            _ => None,
        }
    }

    /// Whether it uses datagrams or frames instead of TCP.
    pub fn is_udp(&self) -> bool {
        use AppKind::{Ping, UdpRr, UdpStream};
        matches!(self, UdpStream { .. } | UdpRr { .. } | Ping { .. }) || self.is_replay()
    }

    /// Whether a connection begins with a write of the client.
    pub fn client_writes_first(&self) -> bool {
        match self {
            Self::Echo { .. }
            | Self::WriteWriteRead { .. }
            | Self::RequestResponse { .. }
            | Self::ConnectRequestResponse { .. }
            | Self::Web { .. } => true,
            Self::Bulk { reverse, .. } => !reverse,
            Self::Messages { messages } => messages.first().is_some_and(|m| m.from_client),
            _ => false,
        }
    }

    /// Whether it sends recorded frames, without a socket of a protocol.
    pub fn is_replay(&self) -> bool {
        matches!(self, Self::Replay { .. })
    }

    /// Whether the server's kernel answers it: no application listens.
    pub fn is_icmp(&self) -> bool {
        matches!(self, Self::Ping { icmp: true, .. })
    }
}

/// Left out when it says nothing, so that digests of experiments without it stay.
#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
pub(crate) fn is_zero<T: Default + PartialEq>(n: &T) -> bool {
    *n == T::default()
}

//! The ends of the two published pairs of programs on delayed ACKs. They run live only (`tcplab probe`), where the other
//! end may be the public program or nc(1); no experiment has them. Sizes are bytes.

use tcplab_base::Duration;

/// One end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// Reads and writes in turn, until the client closes.
    EchoServer(EchoServer),
    /// Writes, reads and pauses in turn.
    EchoClient(EchoClient),
    /// Writes until the client resets the connection; it never reads.
    StreamServer(StreamServer),
    /// Only reads.
    StreamClient(StreamClient),
}

/// `echo-server`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoServer {
    /// Of a read at most.
    pub read: u64,
    /// Of a write.
    pub write: u64,
}

/// `echo-client`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoClient {
    /// Of a write.
    pub write: u64,
    /// Of a read at most.
    pub read: u64,
    /// Round trips.
    pub count: u64,
    /// After each, the last one too.
    pub pause: Duration,
    /// TCP_QUICKACK at the beginning and before each *write*; none: it is left alone.
    pub quickack: Option<i32>,
}

/// `stream-server`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamServer {
    /// Of a write.
    pub write: u64,
    /// After each write.
    pub pause: Duration,
    /// A second on average; none: no limit but the pause.
    pub rate: Option<u64>,
    /// TCP_QUICKACK before each write; none: it is left alone.
    pub quickack: Option<i32>,
}

/// `stream-client`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamClient {
    /// Before each pause.
    pub read: u64,
    /// One read is enough, however few bytes it gives.
    pub is_one_read: bool,
    /// After that many bytes.
    pub pause: Duration,
}

impl Pair {
    /// Its word on the command line.
    pub fn word(&self) -> &'static str {
        match self {
            Self::EchoServer(_) => "echo-server",
            Self::EchoClient(_) => "echo-client",
            Self::StreamServer(_) => "stream-server",
            Self::StreamClient(_) => "stream-client",
        }
    }
}

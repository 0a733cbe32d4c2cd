//! The state of a program between two steps, and the event that it waits for.

use tcplab_base::Instant;

use crate::program::{Message, Result};

/// Where a program stands. Numbers are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// The client is yet to connect, or the server to be accepted.
    Nothing,
    /// The client's connection is being set up.
    Connecting,
    /// Ready for the next step; the last one went so.
    Next(Result),
    /// What is left to write.
    Writing(u64),
    /// Writing what is left, and reading meanwhile.
    Both(Both),
    /// Reading exactly what is left.
    Reading(u64),
    /// One read of at most this.
    ReadingSome(u64),
    /// Waiting for the connection whose SYN took the first write, to end it then.
    Ending(Ending),
    /// Sending this datagram.
    Sending(Message),
    /// Waiting for a datagram, until this time.
    Receiving(Option<Instant>),
    /// Waiting for a time.
    Sleeping,
    /// It has ended.
    Over,
}

/// A write that goes on while its end reads. Numbers are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Both {
    /// Left to write.
    pub write: u64,
    /// May still be read meanwhile.
    pub read: u64,
}

/// How an end ends its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// shutdown(SHUT_WR).
    Shutdown,
    /// close(2).
    Close,
}

/// What an event loop shall do for a program that cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Wake it when its socket has something to read, or at the time.
    Readable(Option<Instant>),
    /// Wake it when its socket takes more.
    Writable,
    /// Wake it when its socket takes more or has something to read.
    Either,
    /// Wake it at this time; its socket is not watched.
    Until(Instant),
    /// Close and connect again.
    Reconnect,
    /// Its program has ended: close.
    Close,
}

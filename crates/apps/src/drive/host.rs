//! What a host of programs offers to the driver: sockets by the number of their end, time, one queue of timers, samples.
//!
//! Ends 2n and 2n + 1 are the client and the server of flow n; flows count through the applications in their order.

use tcplab_base::{Errno, Instant};

use super::end::End;
use crate::program::{Flag, Message};

/// Most bytes of one read or write system call.
pub const CHUNK: u64 = 64 << 10;

/// What the driver has set and waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// The client's end with this number connects.
    Connect(u32),
    /// The server of this application accepts again.
    Accept(u32),
    /// The program of this end goes on.
    Wake(u32),
    /// This end may have waited too long for its socket.
    Idle(u32),
    /// Samples of tcp_info are taken.
    Sample,
    /// Samples of the links are taken.
    SampleLinks,
    /// The run ends.
    Stop,
}

/// What a socket is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Data, an end of the stream or an error.
    Readable,
    /// Room, a connection or an error.
    Writable,
    /// Data, room, an end of the stream or an error.
    Either,
    /// Nothing: the program sleeps.
    Nothing,
}

/// How a read went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Data came.
    Got {
        /// At least one.
        bytes: u64,
        /// The host knows that another read now would find nothing, and would change nothing.
        drained: bool,
    },
    /// The peer's FIN.
    End,
    /// EAGAIN.
    Again,
}

/// A stack's state of ACKs, for the lines of a log; unknown fields are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckState {
    /// getsockopt(TCP_QUICKACK).
    pub quickack: Option<i64>,
    /// Quick ACKs that are left.
    pub quick: Option<u32>,
    /// Whether it is in pingpong mode.
    pub pingpong: Option<bool>,
}

/// What a replay has sent by now, and when it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Frames that this call sent.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Its last frame was sent.
    pub is_over: bool,
    /// When it is to be called again.
    pub next: Option<Instant>,
}

/// All hosts of a run that are here. An error that no experiment can cause is the host's own affair: it keeps it, and its
/// loop ends with it.
pub trait Host {
    /// A connection that was accepted and belongs to no end yet.
    type Conn;

    /// The time since the run's start. It stands still while the driver works, or goes on with a clock.
    fn now(&self) -> Instant;

    /// Whether the ends of this host of the point are here.
    fn has(&self, host: usize) -> bool;

    /// Sets a timer. Timers of equal time come in the order of setting, those that the host itself sets among them.
    fn set(&mut self, at: Instant, timer: Timer);

    /// listen(2) at an application's port. A datagram socket there serves all of its clients and belongs to end
    /// `server`.
    fn listen(&mut self, app: usize, server: usize);

    /// connect(2); gives the own port. An end of a simultaneous open binds its application's port first.
    ///
    /// # Errors
    /// Those of connect(2); not EINPROGRESS.
    fn connect(&mut self, end: usize) -> Result<u16, Errno>;

    /// connect(2) has ended, and not with this error.
    ///
    /// # Errors
    /// SO_ERROR.
    fn connected(&mut self, _end: usize) -> Result<(), Errno> {
        Ok(())
    }

    /// Whether the program has its connection before it stands: Fast Open, whose first write goes with the SYN.
    fn poll_opening(&mut self, _end: usize) -> bool {
        false
    }

    /// accept(2); gives the client's port. `None` if no client waits.
    fn accept(&mut self, app: usize) -> Option<(Self::Conn, u16)>;

    /// An accepted connection is this end's.
    fn give(&mut self, conn: Self::Conn, end: usize);

    /// An accepted connection is nobody's: it is closed.
    fn refuse(&mut self, _app: usize, _conn: Self::Conn) {}

    /// One write(2) of `left` bytes or the first of them ([`CHUNK`] in an experiment), or send(2) with a flag.
    ///
    /// # Errors
    /// Those of the call; EAGAIN: no room, or the host's loop has something to do first.
    fn write(&mut self, end: usize, left: u64, flag: Option<Flag>) -> Result<u64, Errno>;

    /// One read(2) of at most `most` bytes, in an experiment at most [`CHUNK`].
    ///
    /// # Errors
    /// Those of the call; not EAGAIN.
    fn read(&mut self, end: usize, most: u64) -> Result<Read, Errno>;

    /// One datagram, to the peer or to whom the last one came from; gives the bytes of its payload.
    ///
    /// # Errors
    /// Those of sendto(2); EAGAIN: no room.
    fn send(&mut self, end: usize, message: Message) -> Result<u64, Errno>;

    /// Whether so much waits to leave that a program which sends without a pause lets others go on first.
    fn is_crowded(&self, _end: usize) -> bool {
        false
    }

    /// One datagram; `None` when the queue is empty.
    ///
    /// # Errors
    /// Those of recvfrom(2), except EAGAIN.
    fn receive(&mut self, end: usize) -> Result<Option<Message>, Errno>;

    /// A step of an end is over: its socket is watched for this from now on. `reported`: an event of the socket led to it.
    fn watch(&mut self, end: usize, what: Interest, reported: bool);

    /// The driver takes no connections of this application for a time: the host need not tell of them (false), or it does
    /// again. The driver asks [`accept`](Self::accept) itself when the time is over.
    fn watch_listener(&mut self, _app: usize, _on: bool) {}

    /// shutdown(SHUT_WR). A connection that the peer has reset cannot be shut down; the next read says so.
    fn shutdown(&mut self, end: usize);

    /// close(2); `did` is what the end did until now.
    fn close(&mut self, end: usize, did: &End);

    /// setsockopt(TCP_QUICKACK).
    fn set_quickack(&mut self, end: usize, value: i32);

    /// The stack's ACK state of an end; `None` if the end is not a connection.
    fn ack_state(&mut self, _end: usize) -> Option<AckState> {
        None
    }

    /// tcp_info by the kernel's names; `None` if the end is no connection.
    fn tcp_info(&mut self, _end: usize) -> Option<Vec<(&'static str, i64)>> {
        None
    }

    /// Takes a sample of all links.
    fn sample_links(&mut self) {}

    /// Sends the frames of a replay that are due; none: this end replays nothing.
    fn replay(&mut self, _end: usize) -> Option<Replayed> {
        None
    }

    /// All programs have ended. True: the run ends after its `linger`; false: somebody else says when.
    fn programs_ended(&mut self) -> bool {
        true
    }

    /// A warning for the reader of the results.
    fn warn(&mut self, words: String);
}

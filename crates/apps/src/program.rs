//! The requests of a program, and the answers that it gets.

use tcplab_base::Instant;
use tcplab_plan::app::{AppKind, BULK_READ, Reading};

use crate::bulk::{Bulk, Sink};
use crate::messages::Talk;
use crate::pair::Half;
use crate::ping::{Ping, Pings};
use crate::reader::Reader;
use crate::record::Record;
use crate::stream::{Stream, Watch};
use crate::transaction::{Answer, Ask};
use crate::udp::{Datagrams, Replies};
use crate::web::{Pages, Serve};

/// A flag of send(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// MSG_OOB: the last byte of each call is urgent.
    Urgent,
    /// MSG_MORE: what fills no segment waits for the next write.
    More,
}

/// What the driver shall do next for this end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Write this many bytes: one write, continued when the socket buffer took only a part.
    Write(u64),
    /// The same with a flag of send(2).
    WriteWith(Flag, u64),
    /// Write this many bytes, and read meanwhile at most so many: neither waits for the other. It is over when all is
    /// written.
    WriteReading {
        /// Bytes to write.
        write: u64,
        /// The flag of its calls.
        flag: Option<Flag>,
        /// Most bytes to read.
        read: u64,
    },
    /// Read exactly this many bytes, in as many reads as it takes.
    Read(u64),
    /// One read of at most this many bytes.
    ReadSome(u64),
    /// Send one datagram.
    Send(Message),
    /// Receive one datagram; give up at the time, when there is one.
    Receive(Option<Instant>),
    /// Set TCP_QUICKACK, independent of the socket's own policy.
    QuickAck(i32),
    /// Do nothing until this time; at once when it is past.
    Until(Instant),
    /// Close this connection and open a new one to the same server (clients only).
    Reconnect,
    /// Send a FIN, go on reading (shutdown(2) with SHUT_WR).
    Shutdown,
    /// Close; the program has ended.
    Close,
}

/// A datagram, or an ICMP echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Bytes of payload.
    pub size: u64,
    /// What stands in the first four of them; in fewer, its low bytes alone.
    pub number: u32,
}

impl Message {
    /// The bits of the number for which a payload of so many bytes has room.
    pub const fn room(size: u64) -> u32 {
        match size {
            0 => 0,
            bytes @ 1..4 => (1 << (8 * bytes)) - 1,
            _ => u32::MAX,
        }
    }
}

/// How the last step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    /// As asked; also the first call, when the connection stands.
    Done,
    /// A read of some bytes got this many (at least one).
    Got(u64),
    /// All was written; of what could be read meanwhile, so many bytes are left.
    Meanwhile {
        /// Bytes.
        left: u64,
    },
    /// A datagram came.
    Message(Message),
    /// The peer has sent its FIN: nothing more will come.
    End,
    /// The time of [`Step::Receive`] came first.
    TimedOut,
}

/// One end of one connection of an application. A clone of a new one is one more end, and shares what all have in common.
#[derive(Clone, Debug)]
pub struct Program {
    kind: Kind,
    record: Record,
}

/// The larger ones are boxed: there may be a million connections that only wait.
#[derive(Clone, Debug)]
enum Kind {
    Stream(Box<Stream>),
    Watch(Watch),
    Reader(Box<Reader>),
    Bulk(Box<Bulk>),
    Sink(Sink),
    Ask(Box<Ask>),
    Talk(Box<Talk>),
    Answer(Answer),
    Pages(Box<Pages>),
    Serve(Box<Serve>),
    Datagrams(Box<Datagrams>),
    Replies(Box<Replies>),
    Pings(Box<Pings>),
    Pair(Box<Half>),
}

impl Program {
    /// The end that connects.
    pub fn client(app: &AppKind, reading: &Reading) -> Self {
        let reads = |bytes| Self::reader(reading, bytes);
        let kind = match app {
            AppKind::Stream { read, .. } => reads(*read),
            AppKind::Echo { .. }
            | AppKind::WriteWriteRead { .. }
            | AppKind::RequestResponse { .. }
            | AppKind::ConnectRequestResponse { .. } => Kind::Ask(Box::new(Ask::new(app))),
            AppKind::Bulk { reverse: true, .. } => reads(reading.bytes),
            AppKind::Bulk { .. } => Kind::Bulk(Box::new(Bulk::new(app))),
            AppKind::Messages { .. } => Kind::Talk(Box::new(Talk::new(app, true))),
            AppKind::Web { .. } => Kind::Pages(Box::new(Pages::new(app))),
            AppKind::Sink { hold_ns } => Kind::Sink(Sink::new(*hold_ns)),
            AppKind::UdpStream { .. } | AppKind::UdpRr { .. } => {
                Kind::Datagrams(Box::new(Datagrams::new(app)))
            }
            AppKind::Ping { .. } => Kind::Pings(Box::new(Pings::new(app))),
            // The driver itself sends recorded frames: there is no socket to ask a program about.
            AppKind::Replay { .. } => Kind::Watch(Watch::new(BULK_READ)),
            AppKind::Pair(pair) => Kind::Pair(Box::new(Half::new(*pair))),
        };
        Self::of(kind)
    }

    /// The end that was accepted.
    pub fn server(app: &AppKind, reading: &Reading) -> Self {
        let kind = match app {
            AppKind::Stream { .. } => Kind::Stream(Box::new(Stream::new(app))),
            AppKind::Echo { .. }
            | AppKind::WriteWriteRead { .. }
            | AppKind::RequestResponse { .. }
            | AppKind::ConnectRequestResponse { .. } => Kind::Answer(Answer::new(app)),
            AppKind::Bulk { reverse: true, .. } => Kind::Bulk(Box::new(Bulk::new(app))),
            AppKind::Bulk { .. } => Self::reader(reading, reading.bytes),
            AppKind::Sink { .. } | AppKind::Replay { .. } => Kind::Watch(Watch::new(BULK_READ)),
            AppKind::Messages { .. } => Kind::Talk(Box::new(Talk::new(app, false))),
            AppKind::Web { .. } => Kind::Serve(Box::new(Serve::new(app))),
            AppKind::UdpStream { .. } | AppKind::UdpRr { .. } | AppKind::Ping { .. } => {
                Kind::Replies(Box::new(Replies::new(app)))
            }
            AppKind::Pair(pair) => Kind::Pair(Box::new(Half::new(*pair))),
        };
        Self::of(kind)
    }

    /// An end that only reads: at once, or at times of its own.
    fn reader(reading: &Reading, bytes: u64) -> Kind {
        match (reading.pause_ns, reading.every_ns) {
            (0, 0) => Kind::Watch(Watch::new(bytes)),
            _ => Kind::Reader(Box::new(Reader::new(reading, bytes))),
        }
    }

    /// Its draws are those of this connection of its application in the run of this seed.
    pub fn seed(&mut self, seed: u64, connection: u32) {
        if let Kind::Stream(stream) = &mut self.kind {
            stream.seed(seed, connection);
        }
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            record: Record::default(),
        }
    }

    /// A new connection for the same end: the program begins anew, without a seed; what it completed stays.
    pub fn restart(&mut self, app: &AppKind, reading: &Reading, is_client: bool) {
        match &mut self.kind {
            Kind::Ask(p) => p.restart(),
            Kind::Talk(p) => p.restart(),
            Kind::Answer(p) => p.restart(),
            Kind::Pages(p) => p.restart(),
            Kind::Serve(p) => p.restart(),
            kind if is_client => *kind = Self::client(app, reading).kind,
            kind => *kind = Self::server(app, reading).kind,
        }
    }

    /// The driver begins to connect: the first time, and after each [`Step::Reconnect`].
    pub fn connects(&mut self, now: Instant) {
        if let Kind::Ask(p) = &mut self.kind {
            p.connects(now);
        }
    }

    /// The next step at time `now`, after the last one went as `last` says.
    ///
    /// After [`Step::Close`] it must not be asked again.
    #[inline]
    pub fn next(&mut self, now: Instant, last: Result) -> Step {
        match &mut self.kind {
            Kind::Watch(p) => p.next(last),
            _ => self.next_of_others(now, last),
        }
    }

    /// The next step of the programs that do more than read.
    #[inline(never)]
    fn next_of_others(&mut self, now: Instant, last: Result) -> Step {
        let record = &mut self.record;
        match &mut self.kind {
            Kind::Stream(p) => p.next(now, last, record),
            Kind::Watch(p) => p.next(last),
            Kind::Reader(p) => p.next(now, last),
            Kind::Bulk(p) => p.next(now, last, record),
            Kind::Sink(p) => p.next(now),
            Kind::Ask(p) => p.next(now, last, record),
            Kind::Talk(p) => p.next(now, last, record),
            Kind::Answer(p) => p.next(last, record),
            Kind::Pages(p) => p.next(now, last, record),
            Kind::Serve(p) => p.next(last, record),
            Kind::Datagrams(p) => p.next(now, last, record),
            Kind::Replies(p) => p.next(last, record),
            Kind::Pings(p) => p.next(now, last, record),
            Kind::Pair(p) => p.next(now, last, record),
        }
    }

    /// Bytes that it has allocated beside its own size; what it shares with others does not count.
    pub fn memory(&self) -> usize {
        let own = match &self.kind {
            Kind::Stream(p) => size_of_val(&**p),
            Kind::Reader(p) => size_of_val(&**p),
            Kind::Bulk(p) => size_of_val(&**p),
            Kind::Ask(p) => size_of_val(&**p) + p.memory(),
            Kind::Talk(p) => size_of_val(&**p),
            Kind::Pages(p) => size_of_val(&**p),
            Kind::Serve(p) => size_of_val(&**p),
            Kind::Datagrams(p) => size_of_val(&**p),
            Kind::Replies(p) => size_of_val(&**p),
            Kind::Pings(p) => p.memory(),
            Kind::Pair(p) => size_of_val(&**p),
            Kind::Watch(_) | Kind::Sink(_) | Kind::Answer(_) => 0,
        };
        own + self.record.memory()
    }

    /// Each ping that it has sent, in order; nothing when it sends none.
    pub fn pings(&self) -> &[Ping] {
        match &self.kind {
            Kind::Pings(p) => p.sent(),
            _ => &[],
        }
    }

    /// Requests of datagrams that had no answer in time.
    pub fn lost(&self) -> u64 {
        match &self.kind {
            Kind::Datagrams(d) => d.lost(self.record.completed()),
            _ => 0,
        }
    }

    /// Whether an answer is outstanding when it waits to read. Between two pings, when all were answered, none is.
    pub fn is_owed(&self) -> bool {
        match &self.kind {
            Kind::Pings(p) => p.is_owed(),
            _ => true,
        }
    }

    /// The driver has done `n` pieces of work by itself: frames of a replay.
    pub fn count(&mut self, n: u64) {
        self.record.count_all(n);
    }

    /// What it has completed so far.
    pub fn record(&self) -> &Record {
        &self.record
    }
}

//! One end of a connection: its socket, its program, and the step it is at.
//!
//! The same steps in the same pieces as the applications of a kernel run (crates/kernel, `run/end.rs`):
//! reads and writes of at most 64 KiB, TCP_QUICKACK before each read, the lines of the log.

use tcplab_apps::{CHUNK, Doing, Message, Program, Result as Went, Step, Wants};
use tcplab_base::Instant;
use tcplab_plan::outcome::{End as EndOutcome, LogLine};
use tcplab_plan::point::QuickAck;
use tcplab_tcp::{Addr, ConnId, Endpoint, ReadOutcome, SocketError};

use crate::errno;
use crate::host::Host;
use crate::packet::{Datagram, Protocol};

/// Datagrams that wait to leave a host before an application that sends without a pause lets others go on.
const DATAGRAMS: usize = 4096;

/// An end's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Socket {
    None,
    Tcp(ConnId),
    /// A port, and where a datagram goes.
    Udp(u16, Option<Addr>),
    /// An identifier of echoes, and where they go.
    Echo(u16, Addr),
}

/// What the event loop watches of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// It is not in the epoll.
    Absent,
    Nothing,
    Readable,
    Writable,
}

/// One end.
#[derive(Debug)]
pub(crate) struct End {
    /// Index of its application.
    pub(crate) app: u32,
    pub(crate) is_client: bool,
    pub(crate) is_udp: bool,
    /// The run goes on for its sake.
    pub(crate) is_awaited: bool,
    pub(crate) watch: Watch,
    /// It waits in the list of what is ready.
    pub(crate) is_ready: bool,
    /// A write has left less room than poll(2) asks for, and nobody has polled since.
    pub(crate) is_full: bool,
    pub(crate) socket: Socket,
    pub(crate) doing: Doing,
    /// The time at which it is woken; an event of another time is stale.
    pub(crate) wake_at: Instant,
    /// When it gives up waiting for its socket ([`tcplab_apps::Stepped`]); [`UNKNOWN`]: not by itself.
    pub(crate) gives_up_at: Instant,
    /// An event for that is set.
    pub(crate) is_timed: bool,
    pub(crate) program: Program,
    pub(crate) opened: Instant,
    pub(crate) closed: Instant,
    pub(crate) written: u64,
    pub(crate) read: u64,
    /// What few ends have: an error, and what only some points ask for: log, tcp_info, its series.
    pub(crate) extra: Option<Box<EndOutcome>>,
}

/// setsockopt(TCP_QUICKACK).
#[inline(never)]
fn set_quickack(call: &mut Call<'_>, id: ConnId, value: i32) {
    (call.host.stack).with(call.now, id, |e, cx| e.set_quickack(cx, value));
}

/// When an end was opened and closed, and the error that ended it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended<'a> {
    /// When it was connected or accepted, after the run's start in nanoseconds; none: it never was.
    pub opened_ns: Option<i64>,
    /// When its application was done with it.
    pub closed_ns: Option<i64>,
    /// The error by its name (`ETIMEDOUT`); `ETIME` is an application that gave up waiting.
    pub error: Option<&'a str>,
}

/// A time that is not known.
pub(crate) const UNKNOWN: Instant = Instant::from_nanos(i64::MIN);

fn known(at: Instant) -> Option<i64> {
    (at != UNKNOWN).then(|| at.as_nanos())
}

/// What a step of an end uses.
pub(crate) struct Call<'a> {
    pub(crate) now: Instant,
    pub(crate) host: &'a mut Host,
    pub(crate) host_index: u16,
    pub(crate) quickack: QuickAck,
    /// IP_TOS of datagrams.
    pub(crate) tos: u8,
    pub(crate) logs: bool,
    /// It has read all that there was, already in this turn.
    pub(crate) has_drained: bool,
}

impl<'a> Call<'a> {
    /// TCP_QUICKACK is left alone unless the caller sets it.
    pub(crate) fn new(now: Instant, host: &'a mut Host, index: usize, logs: bool) -> Self {
        Self {
            now,
            host,
            host_index: index as u16,
            quickack: QuickAck::Leave,
            tos: 0,
            logs,
            has_drained: false,
        }
    }
}

/// Whether a read would find nothing, not even an end.
#[inline]
fn is_drained(e: &Endpoint) -> bool {
    !e.is_readable() && e.readable_bytes() == 0 && !e.is_closed()
}

impl End {
    pub(crate) fn new(app: u32, is_client: bool, program: Program, is_udp: bool) -> Self {
        Self {
            app,
            is_client,
            is_udp,
            is_awaited: is_client,
            watch: Watch::Absent,
            is_ready: false,
            is_full: false,
            socket: Socket::None,
            doing: Doing::Nothing,
            wake_at: UNKNOWN,
            gives_up_at: UNKNOWN,
            is_timed: false,
            program,
            opened: UNKNOWN,
            closed: UNKNOWN,
            written: 0,
            read: 0,
            extra: None,
        }
    }

    /// Remembers an error, which ends the program.
    #[inline(never)]
    pub(crate) fn fail(&mut self, call: &mut Call<'_>, error: &'static str) {
        self.extra.get_or_insert_default().error = Some(error.to_owned());
        self.log(call, "error", errno::number(error));
        self.doing = Doing::Over;
    }

    #[inline]
    pub(crate) fn log(&mut self, call: &mut Call<'_>, what: &str, value: i64) {
        if call.logs {
            self.line_of(call, what, value);
        }
    }

    #[cold]
    #[inline(never)]
    fn line_of(&mut self, call: &mut Call<'_>, what: &str, value: i64) {
        let line = LogLine {
            time_ns: call.now.as_nanos(),
            what: what.into(),
            value,
            ..LogLine::default()
        };
        self.line(call, line);
    }

    /// A line with what the stack says of its ACKs now.
    pub(crate) fn log_state(&mut self, call: &mut Call<'_>, what: &str, value: i64) {
        if let Some(line) = self.observe(call, what, value) {
            self.line(call, line);
        }
    }

    #[inline(never)]
    fn line(&mut self, call: &mut Call<'_>, line: LogLine) {
        call.host.noted += 1;
        self.extra.get_or_insert_default().log.push(line);
    }

    #[inline]
    fn observe(&self, call: &mut Call<'_>, what: &str, value: i64) -> Option<LogLine> {
        match call.logs {
            true => self.observed(call, what, value),
            false => None,
        }
    }

    #[cold]
    #[inline(never)]
    fn observed(&self, call: &mut Call<'_>, what: &str, value: i64) -> Option<LogLine> {
        let mut line = LogLine {
            time_ns: call.now.as_nanos(),
            what: what.into(),
            value,
            ..LogLine::default()
        };
        if let Socket::Tcp(id) = self.socket
            && let Some((quickack, quick, is_closed)) =
                (call.host.stack).with(call.now, id, |e, cx| {
                    (e.quickack(cx), e.quick_credits(), e.is_closed())
                })
        {
            line.quickack = Some(i64::from(quickack));
            // /proc/net/tcp, where kernels show these two, has no closed socket.
            if !is_closed {
                line.quick = Some(quick);
                line.pingpong = Some(!quickack);
            }
        }
        Some(line)
    }

    /// Goes on until it has to wait for something.
    pub(crate) fn go(&mut self, call: &mut Call<'_>) -> Wants {
        call.has_drained = false;
        loop {
            let wait = match self.doing {
                Doing::Next(went) => {
                    let step = self.program.next(call.now, went);
                    self.begin(call, step)
                }
                Doing::Writing(left) => self.write(call, left, false),
                Doing::WritingUrgent(left) => self.write(call, left, true),
                Doing::Reading(left) => self.read(call, left, true),
                Doing::ReadingSome(most) => self.read(call, most, false),
                Doing::Sending(message) => self.send(call, message),
                Doing::Receiving(until) => self.receive(call, until),
                Doing::Over => Some(Wants::Close),
                // Whoever ends these three says so by setting another state.
                Doing::Nothing | Doing::Connecting | Doing::Sleeping => Some(Wants::Readable(None)),
            };
            if let Some(wants) = wait {
                return wants;
            }
        }
    }

    /// Begins a step; gives what it waits for when it does not use the socket's data.
    #[inline]
    fn begin(&mut self, call: &mut Call<'_>, step: Step) -> Option<Wants> {
        match step {
            Step::ReadSome(n) => {
                self.doing = Doing::ReadingSome(n);
                None
            }
            _ => self.begin_other(call, step),
        }
    }

    #[inline(never)]
    fn begin_other(&mut self, call: &mut Call<'_>, step: Step) -> Option<Wants> {
        let (doing, wait) = match step {
            Step::Write(n) => (Doing::Writing(n), None),
            Step::WriteUrgent(n) => (Doing::WritingUrgent(n), None),
            Step::Read(n) => (Doing::Reading(n), None),
            Step::ReadSome(n) => (Doing::ReadingSome(n), None),
            Step::Send(n) => (Doing::Sending(n), None),
            Step::Receive(until) => (Doing::Receiving(until), None),
            Step::Until(when) => (Doing::Sleeping, Some(Wants::Until(when))),
            Step::Reconnect => (Doing::Nothing, Some(Wants::Reconnect)),
            Step::Shutdown => {
                self.shuts_down(call);
                (Doing::Next(Went::Done), None)
            }
            Step::Close => (Doing::Over, Some(Wants::Close)),
        };
        self.doing = doing;
        wait
    }

    #[cold]
    #[inline(never)]
    fn shuts_down(&mut self, call: &mut Call<'_>) {
        if let Socket::Tcp(id) = self.socket {
            // A connection that the peer has reset cannot be shut down; the next read says so.
            let _ = (call.host.stack).with(call.now, id, |e, cx| e.shutdown_write(cx));
        }
        self.log(call, "shutdown", 0);
    }

    /// Writes what is left, as much as fits.
    #[inline(never)]
    fn write(&mut self, call: &mut Call<'_>, left: u64, urgent: bool) -> Option<Wants> {
        let Socket::Tcp(id) = self.socket else {
            return Some(Wants::Close);
        };
        let most = left.min(CHUNK);
        let wrote = (call.host.stack).with(call.now, id, |e, cx| {
            let wrote = match urgent {
                true => e.write_urgent(cx, most),
                false => e.write(cx, most, false),
            };
            (wrote, e.is_writable(cx))
        });
        let (wrote, is_writable) = wrote.unwrap_or((Err(SocketError::Pipe), true));
        // Who gets EAGAIN is told of room without a poll.
        self.is_full = wrote.is_ok() && !is_writable;
        match wrote {
            Ok(n) => {
                self.written += n;
                self.log(call, "write", n as i64);
                self.doing = match left.saturating_sub(n) {
                    0 => Doing::Next(Went::Done),
                    left if urgent => Doing::WritingUrgent(left),
                    left => Doing::Writing(left),
                };
                None
            }
            Err(SocketError::Again) => Some(Wants::Writable),
            Err(e) => {
                self.fail(call, e.name());
                None
            }
        }
    }

    /// One read.
    fn read(&mut self, call: &mut Call<'_>, want: u64, exactly: bool) -> Option<Wants> {
        let Socket::Tcp(id) = self.socket else {
            return Some(Wants::Close);
        };
        // A second read that finds nothing changes nothing: the first one has sent what was due.
        if call.has_drained {
            return Some(Wants::Readable(None));
        }
        if let QuickAck::Each(value) = call.quickack {
            set_quickack(call, id, value);
        }
        let before = self.observe(call, "readable", 0);
        let most = want.min(CHUNK);
        let went = (call.host.stack).with(call.now, id, |e, cx| (e.read(cx, most), is_drained(e)));
        let (went, is_drained) = went.unwrap_or((ReadOutcome::End, false));
        call.has_drained = is_drained && call.quickack == QuickAck::Leave;
        let got = match went {
            ReadOutcome::Got(n) => n,
            ReadOutcome::End => 0,
            ReadOutcome::Again => return Some(Wants::Readable(None)),
            ReadOutcome::Failed(e) => {
                self.fail(call, e.name());
                return None;
            }
        };
        self.read += got;
        if let Some(line) = before {
            self.line(call, line);
        }
        self.log_state(call, "read", got as i64);
        self.doing = match want.saturating_sub(got) {
            _ if got == 0 => Doing::Next(Went::End),
            _ if !exactly => Doing::Next(Went::Got(got)),
            0 => Doing::Next(Went::Done),
            left => Doing::Reading(left),
        };
        None
    }

    #[inline(never)]
    fn send(&mut self, call: &mut Call<'_>, message: Message) -> Option<Wants> {
        let (port, dst, protocol) = match self.socket {
            Socket::Udp(port, Some(dst)) => (port, dst, Protocol::Udp),
            Socket::Echo(id, dst) => (id, dst, Protocol::EchoRequest),
            _ => return Some(Wants::Close),
        };
        let len = message.size.min(CHUNK) as u32;
        let src = Addr {
            host: call.host_index,
            port,
        };
        let number = match message.size {
            Message::NUMBERED.. => message.number,
            _ => 0,
        };
        call.host.datagrams.push(Datagram {
            src,
            dst,
            len,
            tos: call.tos,
            number,
            protocol,
        });
        call.host.udp.counts_sent(protocol);
        self.written += u64::from(len);
        self.log(call, "write", i64::from(len));
        if call.host.datagrams.len() < DATAGRAMS {
            self.doing = Doing::Next(Went::Done);
            return None;
        }
        self.doing = Doing::Sleeping;
        Some(Wants::Until(call.now))
    }

    #[inline(never)]
    fn receive(&mut self, call: &mut Call<'_>, until: Option<Instant>) -> Option<Wants> {
        let (Socket::Udp(port, _) | Socket::Echo(port, _)) = self.socket else {
            return Some(Wants::Close);
        };
        let Some(datagram) = call.host.udp.receive(port) else {
            return Some(Wants::Readable(until));
        };
        if !self.is_client {
            self.socket = Socket::Udp(port, Some(datagram.src));
        }
        let size = u64::from(datagram.len);
        self.read += size;
        self.log(call, "read", i64::from(datagram.len));
        self.doing = Doing::Next(Went::Message(Message {
            size,
            number: datagram.number,
        }));
        None
    }

    /// Whether its connection was in CLOSE-WAIT when it was closed, by its last tcp_info.
    pub(crate) fn is_closed_by_peer(&self) -> bool {
        const CLOSE_WAIT: i64 = 8;
        let info = self.extra.as_ref().map(|extra| &extra.tcp_info);
        self.closed != UNKNOWN
            && info.is_some_and(|info| info.get("tcpi_state") == Some(&CLOSE_WAIT))
    }

    /// How it ended.
    pub(crate) fn ended(&self) -> Ended<'_> {
        Ended {
            opened_ns: known(self.opened),
            closed_ns: known(self.closed),
            error: self.extra.as_ref().and_then(|e| e.error.as_deref()),
        }
    }

    /// What it did.
    pub(crate) fn outcome(self) -> EndOutcome {
        let record = self.program.record();
        let mut out = self.extra.map(|extra| *extra).unwrap_or_default();
        out.opened_ns = known(self.opened);
        out.closed_ns = known(self.closed);
        out.written_bytes = self.written;
        out.read_bytes = self.read;
        out.completed = record.completed();
        let pings = self.program.pings().iter();
        out.pings = pings
            .map(|ping| (ping.sent.as_nanos(), ping.rtt.map(|rtt| rtt.as_nanos())))
            .collect();
        out.latency_ns = record.latencies().iter().map(|d| d.as_nanos()).collect();
        out
    }
}

//! One end of a connection: its program, its current step, and its results.

use tcplab_base::{Errno, Instant};
use tcplab_plan::outcome::{End as EndOutcome, LogLine};
use tcplab_plan::point::QuickAck;

use super::host::Host;
use crate::doing::{Both, Doing, Ending, Wants};
use crate::patience::Awaited;
use crate::program::{Flag, Program, Result as Went, Step};
use crate::record::Record;

/// One end.
#[derive(Debug)]
pub struct End {
    /// Index of its application.
    pub(super) app: u32,
    pub(super) is_client: bool,
    pub(super) is_udp: bool,
    /// The run goes on for its sake.
    pub(super) is_awaited: bool,
    pub(super) has_socket: bool,
    /// What its last step waits for.
    pub(super) awaits: Awaited,
    /// A timer for `gives_up_at` is set.
    pub(super) is_timed: bool,
    /// Of send(2), in the step that writes.
    pub(super) flag: Option<Flag>,
    pub(super) doing: Doing,
    /// The time at which it is woken; a timer before that is stale.
    pub(super) wake_at: Instant,
    /// When it gives up waiting for its socket; [`UNKNOWN`]: not by itself.
    pub(super) gives_up_at: Instant,
    pub(super) program: Program,
    pub(super) opened: Instant,
    pub(super) closed: Instant,
    pub(super) written: u64,
    pub(super) read: u64,
    /// Data that few ends have: an error, and on request the log, tcp_info and its series.
    pub(super) extra: Option<Box<EndOutcome>>,
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
pub(super) const UNKNOWN: Instant = Instant::from_nanos(i64::MIN);

fn known(at: Instant) -> Option<i64> {
    (at != UNKNOWN).then(|| at.as_nanos())
}

/// What a step of an end uses.
pub(super) struct Call<'a, H> {
    pub(super) host: &'a mut H,
    /// The end's number.
    pub(super) index: usize,
    pub(super) quickack: QuickAck,
    pub(super) logs: bool,
    /// Counts the lines of all logs.
    pub(super) noted: &'a mut u64,
    /// It has read all that there was, already in this turn.
    pub(super) has_drained: bool,
}

impl<H: Host> Call<'_, H> {
    fn line(&self, what: &str, value: i64) -> LogLine {
        LogLine {
            time_ns: self.host.now().as_nanos(),
            what: what.into(),
            value,
            ..LogLine::default()
        }
    }

    /// A line with what the stack says of its ACKs now.
    #[cold]
    #[inline(never)]
    pub(super) fn observed(&mut self, what: &str, value: i64) -> LogLine {
        let state = self.host.ack_state(self.index).unwrap_or_default();
        LogLine {
            quickack: state.quickack,
            quick: state.quick,
            pingpong: state.pingpong,
            ..self.line(what, value)
        }
    }
}

impl End {
    pub(super) fn new(app: u32, is_client: bool, program: Program, is_udp: bool) -> Self {
        Self {
            app,
            is_client,
            is_udp,
            is_awaited: is_client,
            has_socket: false,
            awaits: Awaited::Nothing,
            is_timed: false,
            flag: None,
            doing: Doing::Nothing,
            wake_at: UNKNOWN,
            gives_up_at: UNKNOWN,
            program,
            opened: UNKNOWN,
            closed: UNKNOWN,
            written: 0,
            read: 0,
            extra: None,
        }
    }

    /// Index of its application.
    pub fn app(&self) -> usize {
        self.app as usize
    }

    /// What its program completed.
    pub fn record(&self) -> &Record {
        self.program.record()
    }

    /// Bytes that its program read and wrote.
    pub fn bytes(&self) -> (u64, u64) {
        (self.read, self.written)
    }

    /// Lines of its log, where the point asks for one.
    pub fn log_lines(&self) -> usize {
        self.extra.as_ref().map_or(0, |extra| extra.log.len())
    }

    /// Remembers an error, which ends the program.
    #[inline(never)]
    pub(super) fn fail<H: Host>(&mut self, call: &mut Call<'_, H>, error: Errno) {
        self.extra.get_or_insert_default().error = Some(error.to_string());
        self.log(call, "error", error.0.into());
        self.doing = Doing::Over;
    }

    #[inline]
    pub(super) fn log<H: Host>(&mut self, call: &mut Call<'_, H>, what: &str, value: i64) {
        if call.logs {
            let line = call.line(what, value);
            self.keep(call, line);
        }
    }

    /// A line with what the stack says of its ACKs now.
    #[inline]
    pub(super) fn log_state<H: Host>(&mut self, call: &mut Call<'_, H>, what: &str, value: i64) {
        if call.logs {
            let line = call.observed(what, value);
            self.keep(call, line);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn keep<H>(&mut self, call: &mut Call<'_, H>, line: LogLine) {
        *call.noted += 1;
        self.extra.get_or_insert_default().log.push(line);
    }

    /// Goes on until it has to wait for something.
    pub(super) fn go<H: Host>(&mut self, call: &mut Call<'_, H>) -> Wants {
        loop {
            let wait = match self.doing {
                Doing::Next(went) => {
                    let step = self.program.next(call.host.now(), went);
                    self.begin(call, step)
                }
                Doing::Writing(left) => self.write(call, left),
                Doing::Both(both) => self.write_reading(call, both),
                Doing::Reading(left) => self.read(call, left, true),
                Doing::ReadingSome(most) => self.read(call, most, false),
                Doing::Sending(message) => self.send(call, message),
                Doing::Receiving(until) => self.receive(call, until),
                Doing::Ending(how) => self.ends(call, how),
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
    fn begin<H: Host>(&mut self, call: &mut Call<'_, H>, step: Step) -> Option<Wants> {
        match step {
            Step::ReadSome(n) => {
                self.doing = Doing::ReadingSome(n);
                None
            }
            _ => self.begin_other(call, step),
        }
    }

    #[inline(never)]
    fn begin_other<H: Host>(&mut self, call: &mut Call<'_, H>, step: Step) -> Option<Wants> {
        let (doing, wait) = match step {
            Step::Write(n) => {
                self.flag = None;
                (Doing::Writing(n), None)
            }
            Step::WriteWith(flag, n) => {
                self.flag = Some(flag);
                (Doing::Writing(n), None)
            }
            Step::WriteReading { write, flag, read } => {
                self.flag = flag;
                (Doing::Both(Both { write, read }), None)
            }
            Step::Read(n) => (Doing::Reading(n), None),
            Step::ReadSome(n) => (Doing::ReadingSome(n), None),
            Step::Send(n) => (Doing::Sending(n), None),
            Step::Receive(until) => (Doing::Receiving(until), None),
            Step::QuickAck(value) => {
                call.host.set_quickack(call.index, value);
                (Doing::Next(Went::Done), None)
            }
            Step::Until(when) => (Doing::Sleeping, Some(Wants::Until(when))),
            Step::Reconnect => (Doing::Nothing, Some(Wants::Reconnect)),
            Step::Shutdown => (Doing::Ending(Ending::Shutdown), None),
            Step::Close => (Doing::Ending(Ending::Close), None),
        };
        self.doing = doing;
        wait
    }

    /// Ends its direction. In SYN-SENT it waits for the connection, because an end now would discard the data on the
    /// SYN.
    #[inline(never)]
    fn ends<H: Host>(&mut self, call: &mut Call<'_, H>, how: Ending) -> Option<Wants> {
        if self.has_socket && call.host.poll_opening(call.index) {
            return Some(Wants::Writable);
        }
        if how == Ending::Close {
            self.doing = Doing::Over;
            return Some(Wants::Close);
        }
        call.host.shutdown(call.index);
        self.log(call, "shutdown", 0);
        self.doing = Doing::Next(Went::Done);
        None
    }

    /// Whether its connection was in CLOSE-WAIT when it was closed, by its last tcp_info.
    pub fn is_closed_by_peer(&self) -> bool {
        const CLOSE_WAIT: i64 = 8;
        let info = self.extra.as_ref().map(|extra| &extra.tcp_info);
        self.closed != UNKNOWN
            && info.is_some_and(|info| info.get("tcpi_state") == Some(&CLOSE_WAIT))
    }

    /// Bytes that it has allocated beside its own size.
    pub(super) fn memory(&self) -> usize {
        let extra = self.extra.as_ref().map_or(0, |extra| size_of_val(&**extra));
        self.program.memory() + extra
    }

    /// How it ended.
    pub fn ended(&self) -> Ended<'_> {
        Ended {
            opened_ns: known(self.opened),
            // A server of datagrams has no end of its own, only a last datagram.
            closed_ns: known(self.closed).filter(|_| self.is_client || !self.is_udp),
            error: self.extra.as_ref().and_then(|e| e.error.as_deref()),
        }
    }

    /// What it did.
    pub(super) fn outcome(self) -> EndOutcome {
        let record = self.program.record();
        let mut out = self.extra.map(|extra| *extra).unwrap_or_default();
        out.opened_ns = known(self.opened);
        out.closed_ns = known(self.closed);
        out.written_bytes = self.written;
        out.read_bytes = self.read;
        out.completed = record.completed();
        out.lost = self.program.lost();
        let pings = self.program.pings().iter();
        out.pings = pings
            .map(|ping| (ping.sent.as_nanos(), ping.rtt.map(|rtt| rtt.as_nanos())))
            .collect();
        out.latency_ns = record.latencies().iter().map(|d| d.as_nanos()).collect();
        out
    }
}

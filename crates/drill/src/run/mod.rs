//! Runs a script against a [`Target`], event after event, as Google's packetdrill does.
//!
//! One thread handles all events. A call or an arriving packet waits for its time. A leaving packet is awaited; earlier
//! ones are queued in their order. The last socket of the script is the one whose packets count; packets of other ends
//! are passed over, and so is what leaves after the last event, as in the original. A call that blocks goes on beside
//! the events that follow, one at a time.
//!
//! Left out of the original: runs over a wire and against shared objects, PSP, capabilities.

mod args;
mod arrive;
mod calls;
mod check;
mod code;
mod connection;
mod fds;
mod leave;
mod message;
mod msg;
mod prepare;
mod report;
mod socket;
#[cfg(test)]
mod tests;
mod time;

use std::collections::VecDeque;

use tcplab_base::{Duration, Instant};

pub use report::{Entry, Failure, Report, SNAP_BYTES, Verdict, What};

use self::calls::Blocked;
use self::fds::Fds;
use self::socket::Socket;
use self::time::{Due, Last, OffTime, Tolerance, is_absolute};
use crate::options::Settings;
use crate::packet::{Packet, Shown, line};
use crate::python::Vars;
use crate::script::{Action, At, Direction, Event, Place, Script, ScriptOption};
use crate::shell::{Growth, Step};
use crate::target::{Happening, Target, TargetError};

/// A script may last this long: nothing that the host repeats for ever keeps it going.
const MAX_TIME_US: i64 = 86_400_000_000;
/// The port of the first connection that comes to the host; the next one has the next.
const FIRST_REMOTE_PORT: u16 = 40_001;
/// Packets of the host in the transcript.
const SENT: Shown<'static> = Shown {
    spec: None,
    is_script: false,
    direction: Direction::Out,
};
/// Packets and calls of one run.
const MAX_HAPPENINGS: u32 = 200_000;

/// Runs the script.
pub fn run<T: Target + ?Sized>(script: &Script, settings: &Settings, target: &mut T) -> Report {
    let mut runner = Runner {
        settings,
        target,
        begin: Instant::default(),
        sockets: Vec::new(),
        under_test: None,
        fds: Fds::default(),
        waiting: VecDeque::new(),
        blocked: None,
        last: None,
        vars: Vars::default(),
        counted: Vec::new(),
        entries: Vec::new(),
        happenings: 0,
        next_port: FIRST_REMOTE_PORT,
    };
    let verdict = match runner.script(script) {
        Ok(()) => Verdict::Pass,
        Err(Stop::Fail(failure)) => Verdict::Fail(*failure),
        Err(Stop::Skip { line, why }) => Verdict::Skip { line, why },
    };
    runner.clean_up(script);
    let mut entries = runner.entries;
    // A packet is noted when it is taken, which may be after later things.
    entries.sort_by_key(|e| e.at);
    Report { verdict, entries }
}

/// Why a run ends before the script does.
pub(super) enum Stop {
    Fail(Box<Failure>),
    Skip { line: u32, why: String },
}

/// A failure at a place of the script.
pub(super) fn fail(place: Place, why: impl Into<String>) -> Stop {
    Stop::Fail(Box::new(Failure {
        line: place.line,
        column: place.column,
        why: why.into(),
    }))
}

/// What cannot be done here.
fn skip(place: Place, why: String) -> Stop {
    Stop::Skip {
        line: place.line,
        why,
    }
}

/// What the target cannot do.
fn cannot(place: Place, error: TargetError) -> Stop {
    skip(place, error.0)
}

/// A packet that the host sent and that no event has taken yet.
struct Waiting {
    at: Instant,
    /// The entry that it is written in.
    entry: usize,
    /// The result of [`Packet::parse`].
    packet: Result<Option<Packet>, String>,
}

/// The state of a run.
struct Runner<'a, T: ?Sized> {
    settings: &'a Settings,
    target: &'a mut T,
    /// The target's time when the first event began.
    begin: Instant,
    sockets: Vec<Socket>,
    /// The socket whose packets count.
    under_test: Option<usize>,
    fds: Fds,
    waiting: VecDeque<Waiting>,
    blocked: Option<Blocked<'a>>,
    last: Option<Last>,
    /// What code left for later code.
    vars: Vars,
    /// The counters when nstat was last called.
    counted: Vec<(String, i64)>,
    entries: Vec<Entry>,
    happenings: u32,
    next_port: u16,
}

impl<'a, T: Target + ?Sized> Runner<'a, T> {
    fn script(&mut self, script: &'a Script) -> Result<(), Stop> {
        self.is_for_this_mode(script)?;
        for path in &self.settings.init_scripts {
            self.shell(&At::new(Place::default(), path.clone()))?;
        }
        if let Some(init) = &script.init {
            self.shell(init)?;
        }
        if let Some(lack) = script.lacks.first() {
            return Err(skip(lack.place, lack.value.clone()));
        }
        self.begin = self.target.now();
        for event in &script.events {
            let due = self.due(event)?;
            self.event(event, &due)?;
            self.last = Some(Last {
                due_us: due.from_us,
                is_absolute: is_absolute(event.time),
                is_arrival: is_arrival(event),
            });
        }
        self.end_of_script()
    }

    /// A script that names an `--ip_version` runs in that mode only, as in the kernel's runner of selftests.
    fn is_for_this_mode(&self, script: &Script) -> Result<(), Stop> {
        let mode = self.settings.network.mode;
        let other = |option: &&ScriptOption| {
            let (name, value) = &option.value;
            name == "ip_version" && value.as_deref().is_some_and(|value| value != mode.word())
        };
        match script.options.iter().find(other) {
            Some(option) => {
                let value = option.value.1.as_deref().unwrap_or_default();
                Err(skip(
                    option.place,
                    format!("--ip_version={value}: it is for that mode only"),
                ))
            }
            None => Ok(()),
        }
    }

    /// When an event is due.
    fn due(&self, event: &Event) -> Result<Due, Stop> {
        let now = self.now_us();
        let due = Due::new(event.place, event.time, is_arrival(event), self.last, now);
        match self.last {
            None if due.from_us.saturating_sub(due.offset_us) != 0 => Err(fail(
                event.place,
                "the first event is not at time 0: a script begins there",
            )),
            Some(last)
                if last.is_absolute && is_absolute(event.time) && due.from_us < last.due_us =>
            {
                Err(fail(event.place, "time goes backward here"))
            }
            _ if due.from_us.max(due.to_us) > MAX_TIME_US => {
                Err(fail(event.place, "a script may last 24 hours"))
            }
            _ => Ok(due),
        }
    }

    fn event(&mut self, event: &'a Event, due: &Due) -> Result<(), Stop> {
        match &event.action {
            Action::Packet(spec) if spec.direction == Direction::In => self.arrive(spec, due),
            Action::Packet(spec) => self.leave(spec, due),
            Action::Call(call) => self.call(call, due),
            Action::Shell(line) => {
                self.wait_for(due, "shell line")?;
                self.shell(line)
            }
            Action::Code(code) => {
                self.wait_for(due, "code")?;
                self.code(code)
            }
        }
    }

    /// Microseconds since the script's begin.
    fn now_us(&self) -> i64 {
        self.us(self.target.now())
    }

    fn us(&self, at: Instant) -> i64 {
        at.since(self.begin).as_micros()
    }

    fn instant(&self, us: i64) -> Instant {
        self.begin + Duration::from_micros(us)
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance {
            us: self.settings.tolerance_us,
            ppm: self.settings.tolerance_ppm,
            clock_us: self.target.clock_error().as_micros(),
        }
    }

    /// Lets time pass until the event is due. An event that is late already (calls took too long) fails.
    fn wait_for(&mut self, due: &Due, what: &str) -> Result<(), Stop> {
        let until = self.instant(due.from_us);
        while let Some((at, happening)) = self.step(until, due.place)? {
            self.happened(at, happening, due.place)?;
        }
        if self.last.is_none() {
            return Ok(());
        }
        let now = self.now_us();
        due.check(now, self.tolerance()).map_err(|off: OffTime| {
            let (due_at, now) = (due.text(), report::seconds(now));
            fail(
                due.place,
                format!("the {what} is due at {due_at}, but it is {now}: {off}"),
            )
        })
    }

    /// The next thing that happens until then.
    fn step(&mut self, until: Instant, place: Place) -> Result<Option<(Instant, Happening)>, Stop> {
        self.happenings += 1;
        if self.happenings > MAX_HAPPENINGS {
            return Err(fail(
                place,
                format!("the host sent more than {MAX_HAPPENINGS} packets"),
            ));
        }
        self.target.wait(until).map_err(|e| cannot(place, e))
    }

    /// Something happened while nothing was awaited.
    fn happened(&mut self, at: Instant, happening: Happening, place: Place) -> Result<(), Stop> {
        match happening {
            Happening::Packet(bytes) => {
                let waiting = self.note_packet(at, &bytes);
                self.waiting.push_back(waiting);
                Ok(())
            }
            Happening::Returned(number, outcome) => self.returned(number, at, outcome, place),
        }
    }

    /// Writes down a packet of the host.
    fn note_packet(&mut self, at: Instant, bytes: &[u8]) -> Waiting {
        let packet = Packet::parse(bytes);
        let text = match &packet {
            Ok(Some(packet)) => self.sent_text(packet),
            Ok(None) => format!("> {} bytes of another protocol", bytes.len()),
            Err(why) => format!("> {} bytes: {why}", bytes.len()),
        };
        self.note(at, 0, What::packet(Direction::Out, bytes, text));
        Waiting {
            at,
            entry: self.entries.len() - 1,
            packet,
        }
    }

    /// A packet of the host as text, in the script's numbers where they are known.
    fn sent_text(&self, packet: &Packet) -> String {
        let socket = self.under_test.and_then(|i| self.sockets.get(i));
        match socket.filter(|s| s.sent(packet)) {
            Some(socket) => {
                let mut mapped = packet.clone();
                socket.map_out(&mut mapped);
                line(&mapped, SENT)
            }
            None => line(packet, SENT),
        }
    }

    fn note(&mut self, at: Instant, line: u32, what: What) {
        let at = Instant::from_nanos(at.since(self.begin).as_nanos());
        self.entries.push(Entry { at, line, what });
    }

    /// After the last event: a call that goes on has one second, as in the original.
    fn end_of_script(&mut self) -> Result<(), Stop> {
        let Some(place) = self.blocked.as_ref().map(|b| b.place()) else {
            return Ok(());
        };
        if self.await_call(place)? {
            Ok(())
        } else {
            Err(fail(place, "the script ends while this call still blocks"))
        }
    }

    /// Shell line at the end, and what a host that lives on needs. Nothing of it changes the verdict.
    fn clean_up(&mut self, script: &'a Script) {
        if let Some(line) = &script.cleanup {
            let _ = self.shell(line);
        }
        if self.settings.reset_at_end {
            self.reset_all();
        }
    }

    fn shell(&mut self, text: &At<String>) -> Result<(), Stop> {
        let steps = crate::shell::interpret(&text.value, self.settings.defaults.as_deref())
            .map_err(|why| skip(text.place, why))?;
        for step in &steps {
            self.shell_step(step, text.place)?;
        }
        let now = self.target.now();
        self.note(now, text.place.line, What::Shell(text.value.clone()));
        Ok(())
    }
}

impl<T: Target + ?Sized> Runner<'_, T> {
    fn shell_step(&mut self, step: &Step, place: Place) -> Result<(), Stop> {
        match step {
            Step::Set(setting) => self.target.set(setting).map_err(|e| cannot(place, e)),
            Step::Counters { wanted, keeps } => self.nstat(wanted.as_ref(), *keeps, place),
            Step::Listens(port) => match self.target.listens(*port) {
                Ok(true) => Ok(()),
                Ok(false) => Err(fail(place, format!("no socket listens on port {port}"))),
                Err(e) => Err(cannot(place, e)),
            },
            Step::HasSysctl(name) => match self.target.has_sysctl(name) {
                Ok(true) => Ok(()),
                Ok(false) => Err(fail(
                    place,
                    format!("the shell line fails: sysctl: there is no `{name}`"),
                )),
                Err(e) => Err(cannot(place, e)),
            },
            Step::Fails(command) => Err(fail(
                place,
                format!("the shell line fails: the exit code of `{command}` is not 0"),
            )),
        }
    }

    /// nstat(8): it shows the counters that have grown since it was called last.
    fn nstat(&mut self, wanted: Option<&Growth>, keeps: bool, place: Place) -> Result<(), Stop> {
        let now = self.target.counters().map_err(|e| cannot(place, e))?;
        if let Some(Growth { name, by }) = wanted {
            let before = |name: &str| {
                let known = self.counted.iter().find(|(known, _)| known == name);
                known.map_or(0, |(_, value)| *value)
            };
            let of_name = now
                .iter()
                .filter(|(known, _)| known.contains(name.as_str()));
            let grown: Vec<i64> = of_name
                .map(|(known, value)| value.wrapping_sub(before(known)))
                .collect();
            if grown.is_empty() {
                return Err(skip(
                    place,
                    format!("nstat: this host has no counter {name}"),
                ));
            }
            if !grown
                .iter()
                .any(|n| *n != 0 && by.is_none_or(|by| *n == by))
            {
                let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
                let grown = grown
                    .iter()
                    .map(i64::to_string)
                    .collect::<Vec<_>>()
                    .join(", ");
                let what =
                    format!("nstat: {name} was expected to have grown{by}, and has by {grown}");
                return Err(fail(place, what));
            }
        }
        if !keeps {
            self.counted = now;
        }
        Ok(())
    }
}

fn is_arrival(event: &Event) -> bool {
    matches!(&event.action, Action::Packet(spec) if spec.direction == Direction::In)
}

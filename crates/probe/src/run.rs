//! What one run of a probe has in common: clock, wish to stop, log and report.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use tcplab_base::{Duration, Instant};
use tcplab_os::Stop;
use tcplab_os::counters::{self, Counters};

use super::clock::Clock;
use super::error::Error;
use super::report::{Connection, LogLine, Report, SCHEMA, Sample, ViaReport, What};
use super::text::{self, Times};

/// Longest time between two looks at the wish to stop.
const SLICE: Duration = Duration::from_millis(100);

/// Connections that a report keeps.
const CONNECTIONS_KEPT: usize = 10_000;

/// Connections whose end is shown in any case.
const CLOSED_SHOWN: u32 = 1_000;

/// Samples of tcp_info that a report keeps.
const SAMPLES_KEPT: u64 = 50_000;

/// Looks into /proc/net/tcp may take so many nanoseconds, and this part of the time that has passed.
const LOOKS_NS: u64 = 200_000_000;
const LOOKS_PART: u64 = 5;

/// A look into /proc/net/tcp that takes longer is worth a warning.
const SLOW_LOOK_NS: u64 = 300_000;

/// Settings of every kind of probe.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name: `echo-client`.
    pub probe: String,
    /// The words of the command line.
    pub arguments: Vec<String>,
    /// The log goes into the report instead of to the output.
    pub keeps_log: bool,
    /// Log lines show the time of day too.
    pub shows_date: bool,
    /// Log lines have the kernel's own state of the ACKs, which takes time to look up.
    pub looks: bool,
    /// Log lines of all connections together; the rest is counted.
    pub log_lines: u64,
    /// Time between two samples of tcp_info; none: one at the end of each connection.
    pub tcp_info_every: Option<Duration>,
    /// An application that waited so long for its peer gives up; none: it waits.
    pub idle_timeout: Option<Duration>,
    /// A client ends after this time; none: its application says when.
    pub lasts: Option<Duration>,
    /// Reports the received data each second.
    pub has_trend: bool,
    /// SIGUSR1 holds writers up for this time; none: it ends the probe, as other signals do.
    pub signal_pause: Option<Duration>,
    /// Each datagram of this client's is to be answered.
    pub wants_answers: bool,
}

/// One run of a probe.
pub struct Probe {
    pub(super) settings: Settings,
    clock: Clock,
    times: Times,
    stop: Stop,
    /// Lines that were asked for, also those beyond the limit.
    lines: AtomicU64,
    samples: AtomicU64,
    connections: AtomicU32,
    /// Looks into /proc/net/tcp, and the nanoseconds that they took.
    looks: AtomicU64,
    looked_ns: AtomicU64,
    looks_left_out: AtomicU64,
    before: Counters,
    book: Mutex<Book>,
}

/// Where lines and results go.
struct Book {
    out: Box<dyn Write + Send>,
    failed: Option<io::Error>,
    report: Report,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// What was waited for is there.
    Ready,
    /// The time came first.
    Late,
    /// The user wants an end.
    Stopped,
}

impl Probe {
    /// Begins: reads the clock and the kernel's counters. `out` gets the log.
    pub fn begin(settings: Settings, stop: Stop, out: Box<dyn Write + Send>) -> Self {
        let clock = Clock::start();
        let times = match settings.shows_date {
            true => Times::Absolute {
                began_unix_ns: clock.unix_ns(),
            },
            false => Times::Relative,
        };
        // Sleeps end when they should, not 50 us later (prctl(2)); a refusal costs only accuracy.
        let _ = nix::sys::prctl::set_timerslack(1);
        let mut warnings = Vec::new();
        let before = counters::read().unwrap_or_else(|e| {
            warnings.push(format!("no counters: /proc cannot be read: {e}"));
            Counters::new()
        });
        let report = Report {
            schema: SCHEMA.into(),
            probe: settings.probe.clone(),
            arguments: settings.arguments.clone(),
            kernel: kernel(),
            began_unix_ns: clock.unix_ns(),
            warnings,
            ..Report::default()
        };
        Self {
            settings,
            clock,
            times,
            stop,
            lines: AtomicU64::new(0),
            samples: AtomicU64::new(0),
            connections: AtomicU32::new(0),
            looks: AtomicU64::new(0),
            looked_ns: AtomicU64::new(0),
            looks_left_out: AtomicU64::new(0),
            before,
            book: Mutex::new(Book {
                out,
                failed: None,
                report,
            }),
        }
    }

    /// Ends: reads the counters again and hands out what was found.
    ///
    /// # Errors
    /// When the log could not be written.
    pub fn end(self) -> io::Result<Report> {
        let now = self.now();
        let left_out =
            |asked: &AtomicU64, limit| asked.load(Ordering::Relaxed).saturating_sub(limit);
        let log_left_out = left_out(&self.lines, self.settings.log_lines);
        let tcp_info_left_out = left_out(&self.samples, SAMPLES_KEPT);
        let slow = self.slow_looks();
        let look_mean_ns = self.look_mean_ns();
        let looks_left_out = self.looks_left_out.load(Ordering::Relaxed);
        let book = self
            .book
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(e) = book.failed {
            return Err(e);
        }
        let mut report = book.report;
        report.duration_ns = now.as_nanos();
        report.log_left_out = log_left_out;
        report.looks_left_out = looks_left_out;
        report.warnings.extend(slow);
        report.look_mean_ns = look_mean_ns;
        report.tcp_info_left_out = tcp_info_left_out;
        if report.via.is_none()
            && let Ok(after) = counters::read()
        {
            report.counters = counters::difference(&self.before, &after);
        }
        Ok(report)
    }

    /// The stack that was probed is not this machine's kernel.
    pub(super) fn stands_for(&self, via: ViaReport, kernel: String, counters: Counters) {
        let report = &mut self.book().report;
        (report.kernel, report.counters, report.via) = (kernel, counters, Some(via));
    }

    /// When it began, in nanoseconds since 1970.
    pub(super) fn began_unix_ns(&self) -> i64 {
        self.clock.unix_ns()
    }

    /// Time since the probe began.
    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Whether the user wants an end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.wanted()
    }

    /// A number for a new connection.
    pub(super) fn next_number(&self) -> u32 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits for a socket, at most until a time. What went wrong with it is for the next call to
    /// say.
    pub(super) fn wait(
        &self,
        socket: impl AsFd,
        events: PollFlags,
        until: Option<Instant>,
    ) -> io::Result<Waited> {
        self.poll(&mut [PollFd::new(socket.as_fd(), events)], until)
    }

    /// Does nothing until a time.
    pub(super) fn sleep(&self, until: Instant) -> Waited {
        let slept = self.poll(&mut [], Some(until));
        slept.unwrap_or(Waited::Late)
    }

    fn poll(&self, fds: &mut [PollFd<'_>], until: Option<Instant>) -> io::Result<Waited> {
        while !self.is_stopped() {
            let left = until.map_or(SLICE, |t| t.since(self.now()));
            if left <= Duration::ZERO {
                return Ok(Waited::Late);
            }
            // A slice is less than a second.
            let slice = TimeSpec::new(0, left.min(SLICE).as_nanos());
            match ppoll(fds, Some(slice), None) {
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) => return Ok(Waited::Ready),
                Err(e) => return Err(e.into()),
            }
        }
        Ok(Waited::Stopped)
    }

    /// Whether one more line of the log may be written; counts it.
    pub(super) fn may_log(&self) -> bool {
        let before = self.lines.fetch_add(1, Ordering::Relaxed);
        if before == self.settings.log_lines && before > 0 {
            self.say(&format!(
                "the log ends here after {before} lines; further lines are only counted (--log-lines N raises the limit)"
            ));
        }
        before < self.settings.log_lines
    }

    /// Whether one more sample may be kept; counts it.
    pub(super) fn may_sample(&self) -> bool {
        self.samples.fetch_add(1, Ordering::Relaxed) < SAMPLES_KEPT
    }

    /// Whether to look into /proc/net/tcp now: at most a fifth of the time goes into that.
    pub(super) fn may_look(&self) -> bool {
        if !self.settings.looks {
            return false;
        }
        let elapsed_ns = u64::try_from(self.now().as_nanos()).unwrap_or(0);
        let may = self.looked_ns.load(Ordering::Relaxed) <= LOOKS_NS + elapsed_ns / LOOKS_PART;
        if !may {
            self.looks_left_out.fetch_add(1, Ordering::Relaxed);
        }
        may
    }

    /// Counts a look into /proc/net/tcp that took this long.
    pub(super) fn looked(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(0);
        self.looks.fetch_add(1, Ordering::Relaxed);
        self.looked_ns.fetch_add(ns, Ordering::Relaxed);
    }

    fn look_mean_ns(&self) -> Option<u64> {
        let looked_ns = self.looked_ns.load(Ordering::Relaxed);
        looked_ns.checked_div(self.looks.load(Ordering::Relaxed))
    }

    /// What to know when looking takes so long that it changes what is looked at.
    fn slow_looks(&self) -> Option<String> {
        let mean_ns = self.look_mean_ns()?;
        (mean_ns >= SLOW_LOOK_NS).then(|| {
            let ms = mean_ns as f64 / 1e6;
            format!(
                "each read of /proc/net/tcp takes {ms:.1} ms here (the kernel walks a large hash table) \
                 and delays socket reads by as much; --no-looks avoids it"
            )
        })
    }

    /// Writes a line of the log, or keeps it.
    pub(super) fn log(&self, of: &mut Connection, line: LogLine) {
        if self.settings.keeps_log {
            of.log.push(line);
        } else {
            self.print(line.time_ns, &text::line(of.number, &line));
        }
    }

    /// Keeps a sample of tcp_info; `shows` prints it too.
    pub(super) fn sample(&self, of: &mut Connection, sample: Sample, shows: bool) {
        if shows && !self.settings.keeps_log {
            self.print(sample.time_ns, &text::sample(of.number, &sample));
        }
        of.tcp_info.push(sample);
    }

    /// The last line of a connection. The first thousand appear even beyond the log's limit.
    pub(super) fn close(&self, of: &mut Connection) {
        if of.number >= CLOSED_SHOWN && !self.may_log() {
            return;
        }
        if self.settings.keeps_log {
            let line = LogLine {
                time_ns: of.closed_ns,
                what: What::Close,
                ..LogLine::default()
            };
            of.log.push(line);
        } else {
            self.print(of.closed_ns, &text::closed(of));
        }
    }

    /// Writes a line of text now; nothing when the log goes into the report.
    pub(super) fn say(&self, words: &str) {
        if !self.settings.keeps_log {
            self.print(self.now().as_nanos(), words);
        }
    }

    /// Adds a connection that has ended.
    pub(super) fn add(&self, mut connection: Connection) {
        if self.settings.wants_answers {
            let sent = connection.traffic.writes;
            connection.unanswered = sent.saturating_sub(connection.completed);
        }
        let report = &mut self.book().report;
        let (all, one) = (&mut report.traffic, &connection.traffic);
        all.reads += one.reads;
        all.read_bytes += one.read_bytes;
        all.writes += one.writes;
        all.written_bytes += one.written_bytes;
        report.completed += connection.completed;
        report.unanswered += connection.unanswered;
        match report.connections.len() < CONNECTIONS_KEPT {
            true => report.connections.push(connection),
            false => report.connections_left_out += 1,
        }
    }

    /// Counts a connection that was finished with data of the peer unread.
    pub(super) fn left_unread(&self) {
        self.book().report.connections_unread += 1;
    }

    /// Adds a warning, once.
    pub(super) fn warn(&self, words: String) {
        let warnings = &mut self.book().report.warnings;
        if !warnings.contains(&words) {
            warnings.push(words);
        }
    }

    fn print(&self, time_ns: i64, words: &str) {
        let stamp = text::stamp(self.times, time_ns);
        let mut book = self.book();
        if let Err(e) = writeln!(book.out, "{stamp} {words}") {
            // Nobody reads any more.
            book.failed.get_or_insert(e);
            self.stop.request();
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This machine's kernel, as `uname -srv` names it.
pub(super) fn kernel() -> String {
    let words = ["ostype", "osrelease", "version"].map(tcplab_os::sysctl::kernel);
    words.join(" ").trim().to_owned()
}

/// An error of the kernel without a better word for it.
pub(super) fn os(what: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Os { what, source }
}

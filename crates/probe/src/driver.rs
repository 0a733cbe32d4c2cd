//! Every application of the crate `apps` live: this machine's sockets as a host of their one driver ([`tcplab_apps::Host`]).
//!
//! Each connection is driven by a thread with a loop of its own, as the one flow of a run whose other end is elsewhere.
//! Time goes on while the driver works: it is the clock's. The host says what happens by itself, when it happens: the
//! driver's own log is of calls, and is kept until the end.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use nix::poll::PollFlags;
use tcplab_apps::{Drive, End, Flag, Foreign, Host, Interest, Message, Read, Timer};
use tcplab_base::{Duration, Errno, Instant};
use tcplab_plan::Point;
use tcplab_plan::app::AppKind;
use tcplab_plan::pair::Pair;
use tcplab_plan::point::{QuickAck, SocketOptions};

use super::address::{self, Target, Transport};
use super::conn::Conn;
use super::error::Error;
use super::pin;
use super::point::{HERE, point};
use super::report::{Ended, What};
use super::run::{Probe, Waited, os};
use super::serve::{Service, announce, serve};
use super::signal::{self, Signal};

/// Serves an application until the end; `clients` of the service counts datagrams where these are sent.
///
/// # Errors
/// When it cannot listen.
pub fn server(probe: &Probe, service: &Service, app: &AppKind) -> Result<(), Error> {
    let point = point(probe, &service.socket, false, app, service.listen.port);
    let point = Arc::new(point);
    if !app.is_udp() {
        if probe.settings.signal_pause.is_some() {
            // Also without a client.
            signal::ignore().map_err(os("SIGUSR1"))?;
        }
        return serve(probe, service, |conn| {
            let signal = probe.settings.signal_pause.map(Signal::new).transpose();
            let live = Live {
                given: Some(conn),
                signal: signal.unwrap_or_else(|e| {
                    probe.warn(format!("SIGUSR1: {e}"));
                    None
                }),
                ..Live::new(probe, &service.socket, app)
            };
            // What a connection fails with is in its record.
            let _ = live.run(&point);
        });
    }
    pin(service.socket.cpu)?;
    let socket = address::listen(&service.listen, Transport::Udp, &service.socket)?;
    announce(probe, &socket, service.clients);
    let conn = Conn::new(probe, socket, Transport::Udp, &service.socket);
    let live = Live {
        conn: Some(conn),
        most: service.clients,
        ..Live::new(probe, &service.socket, app)
    };
    live.run(&point).map(drop)
}

/// Runs the client's end of an application; gives how the last connection ended.
///
/// # Errors
/// When it cannot connect.
pub fn client(
    probe: &Probe,
    target: &Target,
    wanted: &SocketOptions,
    app: &AppKind,
) -> Result<Ended, Error> {
    pin(wanted.cpu)?;
    let point = Arc::new(point(probe, wanted, true, app, target.port));
    let transport = match app.is_udp() {
        true if app.is_icmp() => Transport::Echo,
        true => Transport::Udp,
        false => Transport::Tcp,
    };
    let live = Live {
        target: Some((target, transport)),
        longest: longest(app),
        ..Live::new(probe, wanted, app)
    };
    live.run(&point)
}

/// The longest answer that a client may get, and the option that says so. Where several requests are outstanding, what
/// comes behind an answer is the next one.
fn longest(app: &AppKind) -> Option<(u64, &'static str)> {
    match *app {
        AppKind::RequestResponse {
            response, burst: 0, ..
        }
        | AppKind::ConnectRequestResponse { response, .. }
        | AppKind::UdpRr { response, .. } => Some((response, "--response")),
        AppKind::WriteWriteRead { reply, .. } => Some((reply, "--reply")),
        AppKind::Echo { size, .. } => Some((size, "--size")),
        _ => None,
    }
}

/// The one end that is here, and its socket.
struct Live<'a> {
    probe: &'a Probe,
    wanted: &'a SocketOptions,
    /// Whom a client connects to.
    target: Option<(&'a Target, Transport)>,
    /// A connection that was accepted, until the driver takes it.
    given: Option<Conn<'a>>,
    conn: Option<Conn<'a>>,
    /// One of each: a later one of a kind makes the earlier one stale.
    timers: BTreeMap<Timer, Instant>,
    watched: Interest,
    ends_at: Option<Instant>,
    signal: Option<Signal>,
    /// How long the time of its programs stood still.
    stood: Duration,
    /// Settings of TCP_QUICKACK that still get a line: not all of those that are made before each read or write.
    quickack_lines: u64,
    /// A server of datagrams ends after so many.
    most: Option<u64>,
    /// Of a client that reads one answer at a time.
    longest: Option<(u64, &'static str)>,
    /// What earlier connections have completed.
    completed: u64,
    /// Why there is no connection, and the error of a call on one.
    refused: Option<Error>,
    failed: Option<io::Error>,
    ended: Ended,
}

impl<'a> Live<'a> {
    fn new(probe: &'a Probe, wanted: &'a SocketOptions, app: &AppKind) -> Self {
        let quickack_lines = match (app, wanted.quickack) {
            (AppKind::Pair(Pair::StreamServer(_)), _) => 1,
            (AppKind::Pair(Pair::EchoClient(_)), _) | (_, QuickAck::Once(_)) => u64::MAX,
            _ => 0,
        };
        Self {
            probe,
            wanted,
            ends_at: None,
            signal: None,
            stood: Duration::ZERO,
            quickack_lines,
            target: None,
            given: None,
            conn: None,
            timers: BTreeMap::new(),
            watched: Interest::Nothing,
            most: None,
            longest: None,
            completed: 0,
            refused: None,
            failed: None,
            ended: Ended::Interrupted,
        }
    }

    /// Until its program has ended or the user wants an end; gives how its last connection ended.
    fn run(mut self, point: &Arc<Point>) -> Result<Ended, Error> {
        let mut drive = Drive::new(point, Foreign::Each);
        drive.listen(&mut self);
        drive.begin(&mut self);
        drive.accept(&mut self, 0);
        let end = usize::from(self.target.is_none());
        loop {
            while let Some(timer) = self.due() {
                drive.fire(&mut self, timer);
            }
            if drive.is_stopped() {
                drive.close_all(&mut self);
            }
            drive.rest(&mut self);
            if drive.is_ending() {
                return self.refused.map_or(Ok(self.ended), Err);
            }
            match self.wait() {
                Waited::Ready => drive.ready(&mut self, end),
                Waited::Late => {}
                Waited::Stopped => drive.close_all(&mut self),
            }
        }
    }

    fn next(&self) -> Option<(Timer, Instant)> {
        let timers = self.timers.iter().map(|(timer, at)| (*timer, *at));
        timers.min_by_key(|(_, at)| *at)
    }

    /// The next timer, when it is due.
    fn due(&mut self) -> Option<Timer> {
        let (timer, at) = self.next()?;
        if at > self.now() {
            return None;
        }
        self.timers.remove(&timer);
        Some(timer)
    }

    /// Waits for what is watched, at most until the next timer.
    fn wait(&mut self) -> Waited {
        let until = self.next().map(|(_, at)| at + self.stood);
        let Some(conn) = &mut self.conn else {
            return Waited::Stopped;
        };
        let is_last = self.most == Some(conn.record.traffic.reads);
        if self.failed.is_some() || (is_last && self.watched == Interest::Readable) {
            return Waited::Stopped;
        }
        let events = match (self.watched, until) {
            (Interest::Nothing, Some(until)) => return conn.sleep(until),
            (Interest::Writable, _) => PollFlags::POLLOUT,
            (Interest::Either, _) => PollFlags::POLLIN | PollFlags::POLLOUT,
            _ => PollFlags::POLLIN,
        };
        let waited = conn.wait(events, until);
        waited.unwrap_or_else(|e| {
            self.failed = Some(e);
            Waited::Stopped
        })
    }

    /// The time of a client is over.
    fn is_late(&self) -> bool {
        self.ends_at.is_some_and(|at| self.now() >= at)
    }

    /// When SIGUSR1 came since the last write: nothing is written for a time. The time of the programs stands still
    /// meanwhile, so what was not written is not made up for.
    fn hold_up(&mut self) {
        let (Some(signal), Some(conn)) = (&self.signal, &mut self.conn) else {
            return;
        };
        if conn.is_writing() || !signal.came() {
            return;
        }
        let begun = self.probe.now();
        conn.note(What::Pause, Some(signal.pause.as_nanos() / 1_000_000_000));
        if conn.sleep(begun + signal.pause) == Waited::Late {
            conn.note(What::Resume, None);
        }
        self.stood = self.stood + self.probe.now().since(begun);
    }

    /// What a call on the connection gave. Its error is kept, and the connection ends with it: also with a
    /// full queue of datagrams, after which the driver would go on.
    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut Conn<'a>) -> io::Result<Option<T>>,
    ) -> Result<T, Errno> {
        if self.is_late() {
            // The loop is to see it.
            return Err(Errno::EAGAIN);
        }
        let conn = self.conn.as_mut().ok_or(Errno::EBADF)?;
        match call(conn) {
            Ok(got) => got.ok_or(Errno::EAGAIN),
            Err(e) => {
                self.failed = Some(e);
                Err(Errno::EIO)
            }
        }
    }
}

impl Live<'_> {
    /// The server answered with more than was asked: the connection ends.
    fn too_long(&mut self) -> Errno {
        let (bytes, option) = self.longest.unwrap_or_default();
        self.failed = Some(io::Error::other(format!(
            "the answer is longer than {option} {bytes} (give both ends the same)"
        )));
        Errno::EIO
    }
}

impl<'a> Host for Live<'a> {
    type Conn = Conn<'a>;

    fn now(&self) -> Instant {
        self.probe.now() - self.stood
    }

    fn has(&self, host: usize) -> bool {
        host == HERE
    }

    fn set(&mut self, at: Instant, timer: Timer) {
        self.timers.insert(timer, at);
    }

    /// It does already.
    fn listen(&mut self, _app: usize, _server: usize) {}

    /// Waits until the connection stands, at one address of the server's after the other. Nobody needs its port.
    fn connect(&mut self, _end: usize) -> Result<u16, Errno> {
        let (target, transport) = self.target.ok_or(Errno::EBADF)?;
        match Conn::connect(self.probe, target, transport, self.wanted) {
            Ok(conn) => self.conn = conn,
            Err(e) => self.refused = Some(e),
        }
        if let (Some(conn), Some(lasts)) = (&self.conn, self.probe.settings.lasts) {
            let ends_at = Instant::from_nanos(conn.record.opened_ns) + lasts;
            self.ends_at = Some(ends_at);
            self.set(ends_at, Timer::Stop);
        }
        self.conn.as_ref().map(|_| 0).ok_or(Errno::EINTR)
    }

    fn accept(&mut self, _app: usize) -> Option<(Conn<'a>, u16)> {
        self.given.take().map(|conn| (conn, 0))
    }

    fn give(&mut self, conn: Conn<'a>, _end: usize) {
        self.conn = Some(conn);
    }

    fn write(&mut self, _end: usize, left: u64, flag: Option<Flag>) -> Result<u64, Errno> {
        self.hold_up();
        self.call(|conn| conn.write(left, flag))
    }

    fn read(&mut self, _end: usize, most: u64) -> Result<Read, Errno> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let beyond = self.longest.is_some();
        match self.call(|conn| conn.read(most, beyond)) {
            Ok(0) => Ok(Read::End),
            Ok(n) if n > most => Err(self.too_long()),
            Ok(n) => Ok(Read::Got {
                bytes: n as u64,
                drained: false,
            }),
            Err(Errno::EAGAIN) => Ok(Read::Again),
            Err(e) => Err(e),
        }
    }

    fn send(&mut self, _end: usize, message: Message) -> Result<u64, Errno> {
        self.call(|conn| conn.send(message))
    }

    fn receive(&mut self, _end: usize) -> Result<Option<Message>, Errno> {
        match self.call(Conn::receive) {
            Err(Errno::EAGAIN) => Ok(None),
            Ok(message) if self.longest.is_some_and(|(bytes, _)| message.size > bytes) => {
                Err(self.too_long())
            }
            other => other.map(Some),
        }
    }

    fn watch(&mut self, _end: usize, what: Interest, _reported: bool) {
        self.watched = what;
    }

    fn shutdown(&mut self, _end: usize) {
        if let Some(conn) = &mut self.conn {
            let _ = conn.shutdown();
        }
    }

    fn close(&mut self, _end: usize, did: &End) {
        let Some(mut conn) = self.conn.take() else {
            return;
        };
        let (record, before) = (did.record(), self.completed);
        self.completed = record.completed();
        conn.record.completed = self.completed - before;
        let latencies = record.latencies().iter().skip(before as usize);
        conn.record.latency_ns = latencies.map(|d| d.as_nanos()).collect();
        // The driver's own error means that an end waited too long.
        let waited = (did.ended().error).map(|_| io::Error::from_raw_os_error(libc::ETIME));
        let error = self.failed.take().or(waited);
        let how = match conn.how() {
            Ended::Finished if self.is_late() => Ended::Time,
            how => how,
        };
        self.ended = conn.finish(error.map_or(Ok(how), Err));
    }

    fn set_quickack(&mut self, _end: usize, value: i32) {
        self.hold_up();
        let logs = self.quickack_lines > 0;
        self.quickack_lines -= u64::from(logs);
        let _ = self.call(|conn| conn.set_quickack(value, logs).map(Some));
    }

    fn warn(&mut self, words: String) {
        self.probe.warn(words);
    }
}

//! `stream-server` and `stream-client`: one end writes, the other only reads.
//!
//! The pair with which the end of quick ACKs was shown: 1 kB every 100 ms. The server goes on
//! writing until the client resets the connection, as the public program does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGUSR1;
use signal_hook::{flag, low_level};
use tcplab_base::quantity::rate;
use tcplab_base::{Duration, Instant};
use tcplab_plan::point::{QuickAck, SocketOptions};

use super::address::{Target, Transport};
use super::conn::{Conn, Got};
use super::error::Error;
use super::pin;
use super::report::{Ended, What};
use super::run::{Probe, Waited, os};
use super::serve::{Service, serve};

/// What the server does with each client.
#[derive(Clone, Copy, Debug)]
pub struct StreamServer {
    /// Bytes of a write.
    pub write_bytes: u64,
    /// Pause after each write.
    pub pause: Duration,
    /// Bytes a second on average; none: no limit but the pause.
    pub rate: Option<u64>,
    /// Pause after SIGUSR1.
    pub signal_pause: Duration,
}

/// What the client does.
#[derive(Clone, Debug)]
pub struct StreamClient {
    /// Whom it reads from.
    pub target: Target,
    /// Options of its socket.
    pub socket: SocketOptions,
    /// Bytes that it wants before it pauses; with SO_RCVLOWAT bytes of one read.
    pub read_bytes: usize,
    /// Pause after that many bytes.
    pub pause: Duration,
    /// How long it reads.
    pub duration: Duration,
    /// Says each second what came.
    pub has_trend: bool,
}

/// Serves until the end.
///
/// # Errors
/// When it cannot listen.
pub fn server(probe: &Probe, service: &Service, does: StreamServer) -> Result<(), Error> {
    // Without a client the signal shall end nothing.
    flag::register(SIGUSR1, Arc::default()).map_err(os("SIGUSR1"))?;
    let policy = service.socket.quickack;
    serve(probe, service, |conn| {
        conn.run(policy, |conn| {
            let paused: Arc<AtomicBool> = Arc::default();
            let id = flag::register(SIGUSR1, Arc::clone(&paused))?;
            let outcome = write_on(conn, does, policy, &paused);
            low_level::unregister(id);
            outcome
        });
    })
}

fn write_on(
    conn: &mut Conn<'_>,
    does: StreamServer,
    policy: QuickAck,
    paused: &AtomicBool,
) -> io::Result<Ended> {
    let mut pace = Pace::new(does.rate, conn.probe.now());
    let mut is_first = true;
    loop {
        if paused.swap(false, Ordering::Relaxed) {
            conn.note(
                What::Pause,
                Some(does.signal_pause.as_nanos() / 1_000_000_000),
            );
            if conn.sleep(conn.probe.now() + does.signal_pause) == Waited::Stopped {
                return Ok(Ended::Interrupted);
            }
            conn.note(What::Resume, None);
            // What was not sent meanwhile is not made up for.
            pace = Pace::new(does.rate, conn.probe.now());
        }
        if let QuickAck::Each(value) = policy {
            conn.set_quickack(value, std::mem::take(&mut is_first))?;
        }
        if let Got::Stopped = conn.write(does.write_bytes)? {
            return Ok(Ended::Interrupted);
        }
        conn.record.completed += 1;
        for next in [
            (does.pause > Duration::ZERO).then(|| conn.probe.now() + does.pause),
            pace.after(does.write_bytes),
        ] {
            if next.is_some_and(|t| conn.sleep(t) == Waited::Stopped) {
                return Ok(Ended::Interrupted);
            }
        }
    }
}

/// Keeps an average rate.
struct Pace {
    rate: Option<u64>,
    begun: Instant,
    sent: u64,
}

impl Pace {
    fn new(rate: Option<u64>, begun: Instant) -> Self {
        Self {
            rate,
            begun,
            sent: 0,
        }
    }

    /// When the next write is due, after one of so many bytes.
    fn after(&mut self, bytes: u64) -> Option<Instant> {
        let rate = self.rate?.max(1);
        self.sent = self.sent.saturating_add(bytes);
        let ns = u128::from(self.sent) * 1_000_000_000 / u128::from(rate);
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        Some(self.begun + Duration::from_nanos(ns))
    }
}

/// Runs a client to its end; gives how it ended.
///
/// # Errors
/// When it cannot connect.
pub fn client(probe: &Probe, does: &StreamClient) -> Result<Ended, Error> {
    pin(does.socket.cpu)?;
    let connected = Conn::connect(probe, &does.target, Transport::Tcp, &does.socket)?;
    Ok(connected.map_or(Ended::Interrupted, |conn| {
        conn.run(does.socket.quickack, |conn| read_on(conn, does))
    }))
}

fn read_on(conn: &mut Conn<'_>, does: &StreamClient) -> io::Result<Ended> {
    let begun = conn.probe.now();
    let deadline = begun + does.duration;
    let mut trend = Trend::new(does.has_trend, begun);
    // With SO_RCVLOWAT one read is enough, whatever it gives.
    let is_whole = does.socket.rcvlowat.is_none();
    loop {
        let mut wanted = does.read_bytes;
        while wanted > 0 {
            if let QuickAck::Each(value) = does.socket.quickack {
                conn.set_quickack(value, false)?;
            }
            match read_once(conn, wanted, deadline, &mut trend)? {
                Got::Bytes(got) => wanted = wanted.saturating_sub(got),
                Got::End => return Ok(Ended::Peer),
                Got::Late => return Ok(Ended::Time),
                Got::Stopped => return Ok(Ended::Interrupted),
            }
            if !is_whole {
                break;
            }
        }
        conn.record.completed += 1;
        let pause = conn.probe.now() + does.pause;
        if does.pause > Duration::ZERO && conn.sleep(pause.min(deadline)) == Waited::Stopped {
            return Ok(Ended::Interrupted);
        }
    }
}

/// One read, with the trend's lines on time.
fn read_once(
    conn: &mut Conn<'_>,
    size: usize,
    deadline: Instant,
    trend: &mut Trend,
) -> io::Result<Got> {
    trend.tell(conn);
    let mut got = conn.read(size, Some(trend.before(deadline)))?;
    loop {
        trend.tell(conn);
        if got != Got::Late || conn.probe.now() >= deadline {
            return Ok(got);
        }
        got = conn.read(size, Some(trend.before(deadline)))?;
    }
}

/// `--trend`: what came in each second.
struct Trend {
    /// When the second ends; none: no trend.
    next: Option<Instant>,
    /// Bytes that were told.
    told: u64,
}

impl Trend {
    const SECOND: Duration = Duration::from_secs(1);

    fn new(is_wanted: bool, begun: Instant) -> Self {
        Self {
            next: is_wanted.then(|| begun + Self::SECOND),
            told: 0,
        }
    }

    /// The earlier of `deadline` and the end of this second.
    fn before(&self, deadline: Instant) -> Instant {
        self.next.map_or(deadline, |t| t.min(deadline))
    }

    /// Tells of each second that has ended.
    fn tell(&mut self, conn: &mut Conn<'_>) {
        while let Some(next) = self.next.filter(|t| conn.probe.now() >= *t) {
            let bytes = conn.record.traffic.read_bytes - self.told;
            self.told = conn.record.traffic.read_bytes;
            self.next = Some(next + Self::SECOND);
            conn.record.trend_bytes.push(bytes);
            let number = conn.record.trend_bytes.len();
            let rate = rate(bytes as f64 * 8.0);
            conn.probe
                .say(&format!("second {number}: {bytes} bytes, {rate}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_on_average() {
        let begun = Instant::from_nanos(7);
        let mut pace = Pace::new(Some(1_000), begun);
        assert_eq!(pace.after(500), Some(begun + Duration::from_millis(500)));
        assert_eq!(
            pace.after(1_000),
            Some(begun + Duration::from_millis(1_500))
        );
        let huge = pace.after(u64::MAX);
        assert!(huge.is_some_and(|t| t > begun));
        assert_eq!(Pace::new(None, begun).after(1), None);
    }
}

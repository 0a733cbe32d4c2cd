//! The clock of a script: CLOCK_MONOTONIC since its begin.

use nix::time::ClockId;
use tcplab_base::{Duration, Instant};
use tcplab_os::clock::read;

/// When a script began, on both clocks of the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    monotonic: Instant,
    real: Instant,
}

impl Clock {
    /// The script begins now.
    pub(super) fn start() -> Self {
        Self {
            monotonic: read(ClockId::CLOCK_MONOTONIC),
            real: read(ClockId::CLOCK_REALTIME),
        }
    }

    /// Now, since the begin.
    pub(super) fn now(&self) -> Instant {
        Instant::default() + read(ClockId::CLOCK_MONOTONIC).since(self.monotonic)
    }

    /// A time of the script on CLOCK_MONOTONIC.
    pub(super) fn monotonic(&self, at: Instant) -> Instant {
        self.monotonic + at.since(Instant::default())
    }

    /// A time of CLOCK_REALTIME, as the kernel stamps packets, since the begin.
    pub(super) fn of_real(&self, at: Instant) -> Duration {
        at.since(self.real)
    }
}

/// Sleeps until CLOCK_MONOTONIC is this far behind a whole tenth of a second.
pub(super) fn align(phase: Duration) {
    const TENTH_NS: i64 = 100_000_000;
    let now = read(ClockId::CLOCK_MONOTONIC).as_nanos();
    let ns = (phase.as_nanos() - now).rem_euclid(TENTH_NS);
    std::thread::sleep(std::time::Duration::from_nanos(ns.unsigned_abs()));
}

//! The clock of a run: nanoseconds since the epoch that only go forward.

use nix::time::{ClockId, clock_gettime};
use tcplab_base::{Duration, Instant};

/// Whose time a run lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The machine's time: a timer may be late, and what is done late is stamped with its real time.
    Real,
    /// Time of a guest that stands still while it works: a timer is never late but for the steps
    /// of the guest's clock, so its due time counts.
    Virtual,
}

/// Reads CLOCK_MONOTONIC, shifted to begin at the wall clock's time: captures need a date, timers
/// must not jump.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    shift: Duration,
    /// Whose time it is.
    pub pace: Pace,
}

impl Clock {
    /// Takes the wall clock's time once.
    pub fn new(pace: Pace) -> nix::Result<Self> {
        let wall = read(ClockId::CLOCK_REALTIME)?;
        let shift = wall.since(read(ClockId::CLOCK_MONOTONIC)?);
        Ok(Self { shift, pace })
    }

    /// Now, in nanoseconds since the epoch.
    pub fn now(&self) -> Instant {
        // CLOCK_MONOTONIC cannot fail once it has been read.
        read(ClockId::CLOCK_MONOTONIC).unwrap_or_default() + self.shift
    }

    /// A time of CLOCK_MONOTONIC, in nanoseconds since the epoch.
    pub fn of_monotonic(&self, at: Instant) -> Instant {
        at + self.shift
    }

    /// The same time on CLOCK_MONOTONIC, as timers take it.
    pub fn monotonic(&self, at: Instant) -> Instant {
        at - self.shift
    }
}

fn read(id: ClockId) -> nix::Result<Instant> {
    let t = clock_gettime(id)?;
    let seconds = t.tv_sec().saturating_mul(1_000_000_000);
    Ok(Instant::from_nanos(seconds.saturating_add(t.tv_nsec())))
}

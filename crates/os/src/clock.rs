//! Clocks: that of a run, in nanoseconds since the epoch that only go forward; the kernel's own, and their times as system
//! calls take and give them.

use nix::sys::time::{TimeSpec, TimeValLike};
use nix::time::{ClockId, clock_gettime};
use tcplab_base::{Duration, Instant};

/// Whose time a run lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The machine's time: a timer may be late, and what is done late is stamped with its real time.
    Real,
    /// Time of a guest that stands still while it works: a timer is never late, so its due time counts.
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
        let wall = instant(clock_gettime(ClockId::CLOCK_REALTIME)?);
        let shift = wall.since(instant(clock_gettime(ClockId::CLOCK_MONOTONIC)?));
        Ok(Self { shift, pace })
    }

    /// Now, in nanoseconds since the epoch.
    pub fn now(&self) -> Instant {
        monotonic() + self.shift
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

/// The time of what a run does now: where time goes on, each reading is later than the one before.
#[derive(Clone, Copy, Debug)]
pub enum Now {
    /// Time stands still while the run works.
    At(Instant),
    /// By this clock.
    Clock(Clock),
}

impl Now {
    /// In nanoseconds since the epoch.
    pub fn read(&self) -> Instant {
        match self {
            Self::At(at) => *at,
            Self::Clock(clock) => clock.now(),
        }
    }
}

/// Now on CLOCK_MONOTONIC.
#[inline]
pub fn monotonic() -> Instant {
    read(ClockId::CLOCK_MONOTONIC)
}

/// Now on a clock that every kernel has: reading it cannot fail.
#[inline]
pub fn read(id: ClockId) -> Instant {
    clock_gettime(id).map_or(Instant::default(), instant)
}

/// A time that the kernel gave.
#[inline]
pub fn instant(t: TimeSpec) -> Instant {
    Instant::from_nanos(t.num_nanoseconds())
}

/// A span as system calls take it; 0 for one that is over.
pub fn timespec(span: Duration) -> TimeSpec {
    TimeSpec::nanoseconds(span.as_nanos().max(0))
}

/// A time for a timer; 0 would switch it off.
pub fn timer(at: Instant) -> TimeSpec {
    TimeSpec::nanoseconds(at.as_nanos().max(1))
}

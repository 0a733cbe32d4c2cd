//! Instants and durations in whole nanoseconds.
//!
//! Both are signed: captures hold time stamps out of order and before 1970, and a
//! difference of two such stamps must not wrap.

use std::fmt;
use std::ops::{Add, Sub};

/// A point in time: nanoseconds since the Unix epoch in captures, since the start of the run
/// in the simulator. Arithmetic saturates, because time stamps in captures are hostile input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Instant(i64);

/// A signed length of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Duration(i64);

impl Instant {
    /// From nanoseconds since the origin.
    pub const fn from_nanos(ns: i64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Time from `earlier` to `self`; negative when `self` is the earlier one.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// From nanoseconds.
    pub const fn from_nanos(ns: i64) -> Self {
        Self(ns)
    }

    /// From microseconds.
    pub const fn from_micros(us: i64) -> Self {
        Self(us.saturating_mul(1_000))
    }

    /// From milliseconds.
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// From seconds.
    pub const fn from_secs(s: i64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Whole microseconds, rounded down towards zero.
    pub const fn as_micros(self) -> i64 {
        self.0 / 1_000
    }

    /// Seconds as a float, for display and rates only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Microseconds clamped into a `u32` (about 71 minutes); negative lengths become 0.
    pub fn as_micros_u32(self) -> u32 {
        u32::try_from(self.as_micros().max(0)).unwrap_or(u32::MAX)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, d: Duration) -> Self {
        Self(self.0.saturating_sub(d.0))
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, d: Self) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, d: Self) -> Self {
        Self(self.0.saturating_sub(d.0))
    }
}

impl fmt::Display for Duration {
    /// Milliseconds with three decimals: `40.512 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ms", self.0 as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_on_hostile_time_stamps() {
        let far = Instant::from_nanos(i64::MAX);
        let past = Instant::from_nanos(i64::MIN);
        assert_eq!(far.since(past), Duration::from_nanos(i64::MAX));
        assert_eq!(past.since(far), Duration::from_nanos(i64::MIN));
        assert_eq!(far + Duration::from_secs(1), far);
        assert_eq!(past.since(far).as_micros_u32(), 0);
        assert_eq!(far.since(past).as_micros_u32(), u32::MAX);
    }
}

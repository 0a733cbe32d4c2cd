//! When an event is due, and whether something happened in time.
//!
//! Times are microseconds since the script's begin. A relative time counts from the end of the event before: from *now*;
//! between two packets that arrive from the time that the first one was due, so that delays do not add up.

use super::report::seconds;
use crate::script::{Place, Time};

/// What kind of time an event has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    At,
    Range,
    Any,
}

/// When an event is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Due {
    pub(super) place: Place,
    pub(super) kind: Kind,
    /// The time, or where the range begins; for any time: now.
    pub(super) from_us: i64,
    /// The end of a range, else as `from_us`.
    pub(super) to_us: i64,
    /// What relative times were added to; 0 for absolute ones.
    pub(super) offset_us: i64,
    /// When the event before was due.
    pub(super) last_us: Option<i64>,
}

/// The event before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Last {
    pub(super) due_us: i64,
    pub(super) is_absolute: bool,
    /// A packet that arrived.
    pub(super) is_arrival: bool,
}

/// Whether a time counts from the script's begin.
pub(super) fn is_absolute(time: Time) -> bool {
    matches!(time, Time::Absolute(_) | Time::AbsoluteRange(..))
}

impl Due {
    /// When an event with this time is due, by what was before it.
    pub(super) fn new(
        place: Place,
        time: Time,
        is_arrival: bool,
        last: Option<Last>,
        now_us: i64,
    ) -> Self {
        let base = match last {
            Some(last) if last.is_arrival && is_arrival => last.due_us,
            _ => now_us,
        };
        let (kind, from, to, offset) = match time {
            Time::Absolute(at) => (Kind::At, at, at, 0),
            Time::Relative(at) => (Kind::At, at, at, base),
            Time::AbsoluteRange(from, to) => (Kind::Range, from, to, 0),
            Time::RelativeRange(from, to) => (Kind::Range, from, to, base),
            Time::Any => (Kind::Any, 0, 0, base),
        };
        Self {
            place,
            kind,
            from_us: from.saturating_add(offset),
            to_us: to.saturating_add(offset),
            offset_us: offset,
            last_us: last.map(|l| l.due_us),
        }
    }

    /// The time as text.
    pub(super) fn text(&self) -> String {
        match self.kind {
            Kind::At => seconds(self.from_us),
            Kind::Range => format!("{}~{}", seconds(self.from_us), seconds(self.to_us)),
            Kind::Any => "any time".into(),
        }
    }

    /// How far `at` is from where it may be.
    pub(super) fn check(&self, at_us: i64, tolerance: Tolerance) -> Result<(), OffTime> {
        if self.kind == Kind::Any {
            return Ok(());
        }
        let allowed_us = tolerance.since(self.last_us.map(|l| self.from_us.saturating_sub(l)));
        let early = self.from_us.saturating_sub(at_us);
        let late = at_us.saturating_sub(self.to_us);
        if early > allowed_us {
            Err(OffTime {
                us: -early,
                allowed_us,
            })
        } else if late > allowed_us.saturating_add(tolerance.clock_us) {
            Err(OffTime {
                us: late,
                allowed_us,
            })
        } else {
            Ok(())
        }
    }
}

/// How much a time may be off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tolerance {
    pub(super) us: i64,
    /// In millionths of the time since the event before.
    pub(super) ppm: u32,
    /// How late something may be by the target's clock, on top.
    pub(super) clock_us: i64,
}

impl Tolerance {
    /// In microseconds, after this long; none: there is nothing to count from.
    pub(super) fn since(&self, delta_us: Option<i64>) -> i64 {
        let share = i128::from(delta_us.unwrap_or(0)) * i128::from(self.ppm) / 1_000_000;
        i64::try_from(share).unwrap_or(i64::MAX).max(self.us)
    }
}

/// Something that did not happen in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OffTime {
    /// Negative: too early.
    pub(super) us: i64,
    pub(super) allowed_us: i64,
}

impl std::fmt::Display for OffTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = if self.us < 0 { "early" } else { "late" };
        let us = self.us.unsigned_abs();
        write!(f, "{us} us {side} (tolerance {} us)", self.allowed_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: Tolerance = Tolerance {
        us: 4_000,
        ppm: 125_000,
        clock_us: 0,
    };

    fn due(time: Time, last: Option<i64>, now: i64) -> Due {
        let last = last.map(|due_us| Last {
            due_us,
            is_absolute: false,
            is_arrival: false,
        });
        Due::new(Place::default(), time, false, last, now)
    }

    #[test]
    fn the_larger_tolerance_counts() {
        // 12.5 % of 100 ms is 12.5 ms, of 10 ms less than 4 ms.
        let long = due(Time::Relative(100_000), Some(0), 0);
        assert_eq!(long.check(112_500, TOLERANCE), Ok(()));
        assert_eq!(long.check(87_500, TOLERANCE), Ok(()));
        let off = long.check(112_501, TOLERANCE).unwrap_err();
        assert_eq!((off.us, off.allowed_us), (12_501, 12_500));
        let short = due(Time::Relative(10_000), Some(0), 0);
        assert_eq!(short.check(14_000, TOLERANCE), Ok(()));
        assert_eq!(short.check(5_999, TOLERANCE).unwrap_err().us, -4_001);
    }

    #[test]
    fn ranges_have_tolerance_at_both_ends() {
        let range = due(Time::RelativeRange(1_000, 2_000), None, 5_000);
        assert_eq!((range.from_us, range.to_us), (6_000, 7_000));
        assert_eq!(range.check(2_000, TOLERANCE), Ok(()));
        assert_eq!(range.check(11_000, TOLERANCE), Ok(()));
        assert!(range.check(1_999, TOLERANCE).is_err());
        assert!(range.check(11_001, TOLERANCE).is_err());
        assert_eq!(due(Time::Any, None, 9).check(i64::MAX, TOLERANCE), Ok(()));
    }

    #[test]
    fn arrivals_count_from_each_other_and_all_else_from_now() {
        let last = Some(Last {
            due_us: 100,
            is_absolute: true,
            is_arrival: true,
        });
        let new =
            |is_arrival| Due::new(Place::default(), Time::Relative(10), is_arrival, last, 150);
        assert_eq!(new(true).from_us, 110);
        assert_eq!(new(false).from_us, 160);
    }

    #[test]
    fn hostile_times_saturate() {
        let far = due(Time::Relative(i64::MAX), Some(i64::MIN), i64::MAX);
        assert_eq!(far.from_us, i64::MAX);
        assert!(far.check(i64::MIN, TOLERANCE).is_ok() || far.check(0, TOLERANCE).is_err());
    }
}

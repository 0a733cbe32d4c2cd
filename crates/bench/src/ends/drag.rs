//! A planted slowdown: both ends pause at the same moments for a part of the time, as if all work took longer.
//!
//! The moments follow the machine's clock. If the ends of a stream paused in turns, each would also wait for the
//! other, and the stream would lose more than its part (up to 16 % for 10 %). To stop the processes would not work
//! either: the kernel goes on with the data in the buffers.

use std::hint::spin_loop;

use tcplab_base::{Duration, Instant};

use tcplab_os::clock::monotonic as now;

/// A rest begins each time that the clock is a multiple of this.
const PERIOD: Duration = Duration::from_millis(10);
/// Time between two looks at the clock, about: a look must weigh little beside a call of 64 bytes.
const LOOK: Duration = Duration::from_micros(5);
/// The most calls between two looks.
const MOST_CALLS: i64 = 64;

/// Keeps an end back.
#[derive(Debug)]
pub(super) struct Drag {
    /// Part of each period in which nothing is done; 0: none.
    rest: Duration,
    /// When the next rest begins.
    next: Instant,
    /// Calls until the next look, and between looks.
    calls: i64,
    between: i64,
    looked: Instant,
}

impl Drag {
    /// Takes so many per cent of an end's time; 0: none.
    pub(super) fn of(percent: u32) -> Self {
        let at = now();
        Self {
            rest: Duration::from_nanos(PERIOD.as_nanos() * i64::from(percent.min(99)) / 100),
            next: boundary(at) + PERIOD,
            calls: 1,
            between: 1,
            looked: at,
        }
    }

    /// A call of the end begins.
    #[inline]
    pub(super) fn call(&mut self) {
        if self.rest > Duration::default() {
            self.slow();
        }
    }

    #[cold]
    fn slow(&mut self) {
        self.calls -= 1;
        if self.calls > 0 {
            return;
        }
        let mut at = now();
        self.between = paced(self.between, at.since(self.looked));
        self.calls = self.between;
        if let Some(until) = rests_until(self.next, self.rest, at) {
            while at < until {
                spin_loop();
                at = now();
            }
        }
        if at >= self.next {
            self.next = boundary(at) + PERIOD;
        }
        self.looked = at;
    }
}

/// The last multiple of the period.
fn boundary(at: Instant) -> Instant {
    at - Duration::from_nanos(at.since(Instant::default()).as_nanos() % PERIOD.as_nanos())
}

/// Until when an end rests that looks at the clock now. One that is late was in a call: the rest is as long for it. One
/// that is later than a whole rest waited for the other end, which rested: it has lost its part already.
fn rests_until(next: Instant, rest: Duration, at: Instant) -> Option<Instant> {
    (at >= next && at < next + rest).then(|| at + rest)
}

/// How many calls fit between two looks, after so many took so long.
fn paced(calls: i64, took: Duration) -> i64 {
    (calls * LOOK.as_nanos() / took.as_nanos().max(1)).clamp(1, MOST_CALLS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: i64) -> Duration {
        Duration::from_micros(us)
    }

    #[test]
    fn late_end_rests_in_full_and_waiting_end_skips_the_rest() {
        let next = Instant::from_nanos(10_000_000);
        assert_eq!(rests_until(next, us(500), next - us(1)), None);
        assert_eq!(rests_until(next, us(500), next), Some(next + us(500)));
        assert_eq!(
            rests_until(next, us(500), next + us(60)),
            Some(next + us(560))
        );
        assert_eq!(rests_until(next, us(500), next + us(510)), None);
    }

    #[test]
    fn looks_are_as_rare_as_calls_are_short() {
        assert_eq!(paced(1, us(20)), 1);
        assert_eq!(paced(1, us(1)), 5);
        assert_eq!(paced(5, us(5)), 5);
        assert_eq!(paced(64, us(1)), 64);
    }

    #[test]
    fn rests_begin_when_the_clock_says_so() {
        let at = Instant::from_nanos(34_567_890);
        assert_eq!(boundary(at), Instant::from_nanos(30_000_000));
    }

    #[test]
    fn an_end_that_is_not_slowed_looks_at_no_clock() {
        let mut free = Drag::of(0);
        let mut slowed = Drag::of(50);
        let begun = [free.looked, slowed.looked];
        free.call();
        slowed.call();
        assert_eq!(free.looked, begun[0]);
        assert!(slowed.looked > begun[1]);
    }
}

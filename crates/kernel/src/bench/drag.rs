//! A slowdown that is planted: an end does nothing for a part of its time, as if its calls took longer.
//!
//! Stopping the processes would not do: the kernel goes on with what lies in the buffers of a stream meanwhile.

use std::hint::spin_loop;

use tcplab_base::{Duration, Instant};

use super::clock::now;

/// Calls between two looks at the clock, so that the looks themselves weigh little.
const EVERY: u32 = 16;

/// Keeps an end back.
#[derive(Debug)]
pub(super) struct Drag {
    /// Per cent of its time that goes to nothing.
    percent: i64,
    calls: u32,
    since: Instant,
}

impl Drag {
    /// Takes so many per cent of an end's time; 0: none.
    pub(super) fn of(percent: u32) -> Self {
        Self {
            percent: i64::from(percent.min(99)),
            calls: 0,
            since: now(),
        }
    }

    /// A call of the end is over.
    #[inline]
    pub(super) fn call(&mut self) {
        if self.percent > 0 {
            self.slow();
        }
    }

    #[cold]
    fn slow(&mut self) {
        self.calls += 1;
        if self.calls < EVERY {
            return;
        }
        self.calls = 0;
        let at = now();
        let until = at + owed(at.since(self.since), self.percent);
        while now() < until {
            spin_loop();
        }
        self.since = until;
    }
}

/// How long nothing must be done after so much work.
fn owed(worked: Duration, percent: i64) -> Duration {
    Duration::from_nanos(worked.as_nanos().saturating_mul(percent) / (100 - percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_owed_makes_the_share_exact() {
        let ms = Duration::from_millis;
        assert_eq!(owed(ms(9), 10), ms(1));
        assert_eq!(owed(ms(19), 5), ms(1));
        assert_eq!(owed(ms(5), 0), ms(0));
    }

    #[test]
    fn an_end_that_is_not_slowed_looks_at_no_clock() {
        let mut free = Drag::of(0);
        let mut slowed = Drag::of(50);
        let begun = [free.since, slowed.since];
        for _ in 0..EVERY {
            free.call();
            slowed.call();
        }
        assert_eq!(free.since, begun[0]);
        assert!(slowed.since > begun[1]);
    }
}

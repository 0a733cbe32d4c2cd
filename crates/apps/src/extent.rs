//! When an application that repeats itself has done enough.

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::Extent;

/// Counts repetitions against an [`Extent`]. It does not hold that: many ends share one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// [`Limit::NEVER`]: not yet.
    begun: Instant,
    done: u64,
}

impl Default for Limit {
    fn default() -> Self {
        Self {
            begun: Self::NEVER,
            done: 0,
        }
    }
}

impl Limit {
    const NEVER: Instant = Instant::from_nanos(i64::MIN);

    /// When the first repetition began: at the first call.
    pub(crate) fn begun(&mut self, now: Instant) -> Instant {
        if self.begun == Self::NEVER {
            self.begun = now;
        }
        self.begun
    }

    /// Whether one more repetition may begin at `at`; counts it.
    pub(crate) fn again(&mut self, extent: &Extent, at: Instant) -> bool {
        let begun = self.begun(at);
        let enough = extent.count.is_some_and(|n| self.done >= n);
        let late = |d| at.since(begun) >= Duration::from_nanos(d);
        if enough || extent.duration_ns.is_some_and(late) {
            return false;
        }
        self.done += 1;
        true
    }

    /// The same for a repetition that was due at a scheduled time and begins now. A delay below `every` counts as on
    /// time, so a slightly late machine still does the planned number. Beyond that, and without a schedule (`every` is
    /// 0), the clock decides.
    pub(crate) fn again_on_schedule(
        &mut self,
        extent: &Extent,
        (due, now): (Instant, Instant),
        every: Duration,
    ) -> bool {
        self.again(extent, due.max(now - every))
    }

    /// Repetitions that were begun.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }
}

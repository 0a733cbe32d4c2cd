//! When an application that repeats itself has done enough.

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::Extent;

/// Counts repetitions against an [`Extent`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    extent: Extent,
    begun: Option<Instant>,
    done: u64,
}

impl Limit {
    pub(crate) fn new(extent: Extent) -> Self {
        Self {
            extent,
            begun: None,
            done: 0,
        }
    }

    /// When the first repetition began: at the first call.
    pub(crate) fn begun(&mut self, now: Instant) -> Instant {
        *self.begun.get_or_insert(now)
    }

    /// Whether one more repetition may begin at `at`; counts it.
    pub(crate) fn again(&mut self, at: Instant) -> bool {
        let begun = self.begun(at);
        let enough = self.extent.count.is_some_and(|n| self.done >= n);
        let late = |d| at.since(begun) >= Duration::from_nanos(d);
        if enough || self.extent.duration_ns.is_some_and(late) {
            return false;
        }
        self.done += 1;
        true
    }

    /// Repetitions that were begun.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }
}

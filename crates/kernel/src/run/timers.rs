//! The timers of a run: by time, then by the order in which they were set.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcplab_base::Instant;

/// What a timer wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// What the driver of the applications has set.
    Run(tcplab_apps::Timer),
    /// Frames of this link may be due.
    Link(usize),
    /// The settings of one way of this link change: 2n and 2n + 1.
    Change(usize),
    /// A sysctl of this host is set: which of its changes.
    Sysctl(usize, usize),
    /// Options are set on the sockets of this application: which of its changes.
    Sockets(usize, usize),
    /// One half of a run on two machines looks around.
    Look,
}

/// A heap of timers.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Instant, u64, Timer)>>,
    order: u64,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Instant, timer: Timer) {
        self.heap.push(Reverse((at, self.order, timer)));
        self.order += 1;
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next one that is due at `now`, with its time.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Timer)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, timer))| (at, timer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: Timer = Timer::Run(tcplab_apps::Timer::Stop);

    #[test]
    fn equal_times_keep_the_order_of_setting() {
        let mut timers = Timers::default();
        let at = Instant::from_nanos;
        timers.set(at(5), STOP);
        timers.set(at(5), Timer::Link(0));
        timers.set(at(1), Timer::Look);
        assert_eq!(timers.pop(at(0)), None);
        assert_eq!(timers.pop(at(9)), Some((at(1), Timer::Look)));
        assert_eq!(timers.pop(at(9)), Some((at(5), STOP)));
        assert_eq!(timers.pop(at(9)), Some((at(5), Timer::Link(0))));
        assert_eq!(timers.next(), None);
    }
}

//! The timers of a run: by time, then by the order in which they were set.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcplab_base::Instant;

/// What a timer wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// The client's end with this index connects.
    Connect(usize),
    /// The application of this end wakes up; stale when the end's count of sleeps differs.
    Wake(usize, u32),
    /// This end may have waited too long for its socket.
    Idle(usize),
    /// Frames of this link may be due.
    Link(usize),
    /// Samples of tcp_info are taken.
    Sample,
    /// Samples of the links are taken.
    SampleLinks,
    /// One half of a run on two machines looks around.
    Look,
    /// The run ends.
    Stop,
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

    #[test]
    fn equal_times_keep_the_order_of_setting() {
        let mut timers = Timers::default();
        let at = Instant::from_nanos;
        timers.set(at(5), Timer::Stop);
        timers.set(at(5), Timer::Link(0));
        timers.set(at(1), Timer::Sample);
        assert_eq!(timers.pop(at(0)), None);
        assert_eq!(timers.pop(at(9)), Some((at(1), Timer::Sample)));
        assert_eq!(timers.pop(at(9)), Some((at(5), Timer::Stop)));
        assert_eq!(timers.pop(at(9)), Some((at(5), Timer::Link(0))));
        assert_eq!(timers.next(), None);
    }
}

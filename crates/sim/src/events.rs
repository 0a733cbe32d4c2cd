//! The event queue: what happens next, by time, then by the order in which it was set.
//!
//! An entry is two words. A wake-up that is no longer wanted stays in the heap; whoever it was for
//! finds that nothing is due and ignores it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcplab_base::Instant;

/// What an event wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// The client's end with this number connects.
    Connect(u32),
    /// The application of this end.
    App(u32),
    /// Frames of this way may be due.
    Way(u32),
    /// Timers of this host's TCP may be due.
    Host(u32),
    /// Samples of tcp_info are taken.
    Sample,
    /// The run ends.
    Stop,
}

/// Bits of an entry's second word: the order above, then the kind, then the number.
const NUMBER_BITS: u32 = 24;
const KIND_BITS: u32 = 3;

impl Wake {
    fn word(self) -> u64 {
        let (kind, number) = match self {
            Self::Connect(n) => (0, n),
            Self::App(n) => (1, n),
            Self::Way(n) => (2, n),
            Self::Host(n) => (3, n),
            Self::Sample => (4, 0),
            Self::Stop => (5, 0),
        };
        kind << NUMBER_BITS | u64::from(number)
    }

    fn of(word: u64) -> Self {
        let number = (word & ((1 << NUMBER_BITS) - 1)) as u32;
        match word >> NUMBER_BITS & ((1 << KIND_BITS) - 1) {
            0 => Self::Connect(number),
            1 => Self::App(number),
            2 => Self::Way(number),
            3 => Self::Host(number),
            4 => Self::Sample,
            _ => Self::Stop,
        }
    }
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<(i64, u64)>>,
    order: u64,
    popped: u64,
}

impl Events {
    /// The most ends, ways or hosts that an entry can name.
    pub(crate) const MOST: usize = 1 << NUMBER_BITS;

    /// Empty again; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.order = 0;
        self.popped = 0;
    }

    #[inline]
    pub(crate) fn set(&mut self, at: Instant, wake: Wake) {
        // 2^37 events: more than a run of weeks makes.
        let word = self.order << (NUMBER_BITS + KIND_BITS) | wake.word();
        self.order += 1;
        self.heap.push(Reverse((at.as_nanos(), word)));
    }

    /// When the next one is.
    #[inline]
    pub(crate) fn next_time(&self) -> Option<Instant> {
        let Reverse((at, _)) = self.heap.peek()?;
        Some(Instant::from_nanos(*at))
    }

    /// The next one that is due at `now`.
    #[inline]
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Wake> {
        if self.next_time()? > now {
            return None;
        }
        let Reverse((_, word)) = self.heap.pop()?;
        self.popped += 1;
        Some(Wake::of(word))
    }

    /// Events taken out since [`Events::clear`].
    pub(crate) fn popped(&self) -> u64 {
        self.popped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_keep_the_order_of_setting() {
        let mut events = Events::default();
        let at = Instant::from_nanos;
        events.set(at(5), Wake::Stop);
        events.set(at(5), Wake::Way(0));
        events.set(at(-1), Wake::App((Events::MOST - 1) as u32));
        assert_eq!(events.pop(at(-2)), None);
        assert_eq!(
            events.pop(at(9)),
            Some(Wake::App((Events::MOST - 1) as u32))
        );
        assert_eq!(events.pop(at(9)), Some(Wake::Stop));
        assert_eq!(events.pop(at(9)), Some(Wake::Way(0)));
        assert_eq!(events.next_time(), None);
        assert_eq!(events.popped(), 3);
    }
}

//! The event queue: events by time, then by the order in which they were set. TCP's timers come first at each instant.
//! A kernel runs the timers of a tick before any process continues, and in runs on kernels a process hands over the
//! frames. So when a tick and a frame coincide, the timer runs first.
//!
//! An entry is two words. A cancelled wake-up stays in the heap; its receiver finds nothing due and ignores it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcplab_apps::Timer;
use tcplab_base::Instant;

/// What an event wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// What the driver of the applications has set.
    Run(Timer),
    /// Frames of this link may be due.
    Link(u32),
    /// Timers of this host's TCP may be due.
    Host(u32),
    /// The settings of a link direction change. Numbers beyond those of all directions are hosts, then the sockets of
    /// applications.
    Change(u32),
    /// A CPU of a host's card has something to do: the host's number, then 8 bits of the CPU's.
    Card(u32),
}

/// Bits of an entry's second word: the order above, then the kind, then the number.
const NUMBER_BITS: u32 = 24;
const KIND_BITS: u32 = 3;

impl Wake {
    fn word(self) -> u64 {
        let (kind, number) = match self {
            Self::Run(Timer::Connect(n)) => (0, n),
            Self::Run(Timer::Wake(n)) => (1, n),
            Self::Link(n) => (2, n),
            Self::Host(n) => (3, n),
            // These have no number.
            Self::Run(Timer::Sample) => (4, 0),
            Self::Run(Timer::Stop) => (4, 1),
            Self::Run(Timer::SampleLinks) => (4, 2),
            Self::Change(n) => (4, 3 + n),
            Self::Card(n) => (5, n),
            Self::Run(Timer::Accept(n)) => (6, n),
            Self::Run(Timer::Idle(n)) => (7, n),
        };
        kind << NUMBER_BITS | u64::from(number)
    }

    fn of(word: u64) -> Self {
        let number = (word & ((1 << NUMBER_BITS) - 1)) as u32;
        Self::Run(match word >> NUMBER_BITS & ((1 << KIND_BITS) - 1) {
            0 => Timer::Connect(number),
            1 => Timer::Wake(number),
            2 => return Self::Link(number),
            3 => return Self::Host(number),
            4 => match number {
                0 => Timer::Sample,
                1 => Timer::Stop,
                2 => Timer::SampleLinks,
                n => return Self::Change(n - 3),
            },
            5 => return Self::Card(number),
            6 => Timer::Accept(number),
            _ => Timer::Idle(number),
        })
    }
}

/// Set in the second word of what comes after the timers of its instant.
const LATER: u64 = 1 << 63;

/// The queue. An entry is one word to compare: the time, then the order of setting, then what it wakes.
#[derive(Debug, Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<u128>>,
    /// The top of the heap was taken, and the next event that is set replaces it. This saves half of the work of a pop
    /// and a push, because most events set another one.
    taken: bool,
    order: u64,
    popped: u64,
}

/// Times may be negative; as a word they shall compare as times.
const SIGN: u64 = 1 << 63;

fn entry(at: Instant, word: u64) -> u128 {
    u128::from(at.as_nanos() as u64 ^ SIGN) << 64 | u128::from(word)
}

fn time(entry: u128) -> Instant {
    Instant::from_nanos(((entry >> 64) as u64 ^ SIGN) as i64)
}

impl Events {
    /// The most ends, ways or hosts that an entry can name.
    pub(crate) const MOST: usize = 1 << NUMBER_BITS;

    /// Empty again; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.taken = false;
        self.order = 0;
        self.popped = 0;
    }

    #[inline]
    pub(crate) fn set(&mut self, at: Instant, wake: Wake) {
        // 2^36 events: more than a run of weeks makes.
        let word = self.order << (NUMBER_BITS + KIND_BITS) | wake.word();
        let word = match wake {
            Wake::Host(_) => word,
            _ => word | LATER,
        };
        self.order += 1;
        let entry = Reverse(entry(at, word));
        if self.taken
            && let Some(mut top) = self.heap.peek_mut()
        {
            *top = entry;
            self.taken = false;
        } else {
            self.heap.push(entry);
        }
    }

    /// When the next one is.
    #[inline]
    pub(crate) fn next_time(&mut self) -> Option<Instant> {
        self.remove_taken();
        let Reverse(first) = self.heap.peek()?;
        Some(time(*first))
    }

    /// The next one that is due at `now`.
    #[inline]
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Wake> {
        self.remove_taken();
        let Reverse(first) = *self.heap.peek()?;
        if time(first) > now {
            return None;
        }
        self.taken = true;
        self.popped += 1;
        Some(Wake::of(first as u64))
    }

    #[inline]
    fn remove_taken(&mut self) {
        if self.taken {
            self.remove_top();
        }
    }

    #[inline(never)]
    fn remove_top(&mut self) {
        self.taken = false;
        self.heap.pop();
    }

    /// Bytes of the heap.
    pub(crate) fn memory(&self) -> usize {
        self.heap.capacity() * size_of::<(i64, u64)>()
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
        events.set(at(5), Wake::Run(Timer::Stop));
        events.set(at(5), Wake::Link(0));
        events.set(at(-1), Wake::Run(Timer::Wake((Events::MOST - 1) as u32)));
        for wake in [
            Wake::Run(Timer::Sample),
            Wake::Run(Timer::SampleLinks),
            Wake::Card(0xff_ffff),
        ] {
            events.set(at(-3), wake);
            assert_eq!(events.pop(at(-3)), Some(wake));
        }
        assert_eq!(events.pop(at(-2)), None);
        assert_eq!(
            events.pop(at(9)),
            Some(Wake::Run(Timer::Wake((Events::MOST - 1) as u32)))
        );
        assert_eq!(events.pop(at(9)), Some(Wake::Run(Timer::Stop)));
        assert_eq!(events.pop(at(9)), Some(Wake::Link(0)));
        assert_eq!(events.next_time(), None);
        assert_eq!(events.popped(), 6);
    }

    #[test]
    fn timers_are_the_first_of_their_instant() {
        let mut events = Events::default();
        let at = Instant::from_nanos;
        for wake in [
            Wake::Link(1),
            Wake::Host(1),
            Wake::Run(Timer::Wake(1)),
            Wake::Host(0),
        ] {
            events.set(at(5), wake);
        }
        let order: Vec<Wake> = std::iter::from_fn(|| events.pop(at(5))).collect();
        assert_eq!(
            order,
            [
                Wake::Host(1),
                Wake::Host(0),
                Wake::Link(1),
                Wake::Run(Timer::Wake(1))
            ]
        );
    }
}

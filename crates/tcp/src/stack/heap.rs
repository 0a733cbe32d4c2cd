//! Deadlines of many records: which one is due next, without a walk over all.
//!
//! A heap with one entry for each record that waits, and the place of each record in it. An entry may be earlier than
//! the record's own deadline, because a deadline that moves on (each ACK moves the retransmission timer) leaves its
//! entry where it is: the owner looks when the entry comes to the top. Memory is bounded by the number of records.

use tcplab_base::Instant;

/// No place.
const NOWHERE: u32 = u32::MAX;

/// The heap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deadlines {
    /// (when, order of arming, who), smallest first. The kernel's order of timers at one tick is [`Wheel`](crate::timers::Wheel)'s.
    heap: Vec<(Instant, u64, u32)>,
    /// Place of each record in the heap.
    place: Vec<u32>,
    armed: u64,
}

impl Deadlines {
    /// The earliest entry.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, u32)> {
        self.heap.first().map(|&(at, _, who)| (at, who))
    }

    /// `who` wants to be looked at no later than `at`. Nothing changes when it has an earlier entry.
    #[inline]
    pub(crate) fn no_later(&mut self, who: u32, at: Instant) {
        let entry = self.place_of(who).and_then(|place| self.heap.get(place));
        if entry.is_none_or(|entry| entry.0 > at) {
            self.set(who, Some(at));
        }
    }

    /// Sets the entry of `who` to `at`; `None` removes it.
    #[inline(never)]
    pub(crate) fn set(&mut self, who: u32, at: Option<Instant>) {
        match (self.place_of(who), at) {
            (Some(place), Some(at)) => self.replace(place, at),
            (None, Some(at)) => self.insert(who, at),
            (Some(place), None) => self.remove(place),
            (None, None) => {}
        }
    }

    /// The entry of `who`.
    pub(crate) fn of(&self, who: u32) -> Option<Instant> {
        self.heap.get(self.place_of(who)?).map(|entry| entry.0)
    }

    /// A record is gone.
    pub(crate) fn forget(&mut self, who: u32) {
        self.set(who, None);
    }

    /// Entries that there is memory for, and places.
    pub(super) fn capacity(&self) -> (usize, usize) {
        (self.heap.capacity(), self.place.capacity())
    }

    fn place_of(&self, who: u32) -> Option<usize> {
        let place = *self.place.get(who as usize)?;
        (place != NOWHERE).then_some(place as usize)
    }

    fn insert(&mut self, who: u32, at: Instant) {
        let index = who as usize;
        if self.place.len() <= index {
            self.place.resize(index + 1, NOWHERE);
        }
        self.armed += 1;
        self.heap.push((at, self.armed, who));
        self.up(self.heap.len() - 1);
    }

    fn replace(&mut self, place: usize, at: Instant) {
        self.armed += 1;
        let armed = self.armed;
        if let Some(entry) = self.heap.get_mut(place) {
            entry.0 = at;
            entry.1 = armed;
        }
        let place = self.up(place);
        self.down(place);
    }

    fn remove(&mut self, place: usize) {
        let (_, _, who) = self.heap.swap_remove(place);
        if let Some(slot) = self.place.get_mut(who as usize) {
            *slot = NOWHERE;
        }
        if place < self.heap.len() {
            let place = self.up(place);
            self.down(place);
        }
    }

    /// Moves an entry towards the top, and says where it is now.
    fn up(&mut self, mut at: usize) -> usize {
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.heap[parent] <= self.heap[at] {
                break;
            }
            self.heap.swap(parent, at);
            self.note(at);
            at = parent;
        }
        self.note(at);
        at
    }

    fn down(&mut self, mut at: usize) {
        loop {
            let children = 4 * at + 1..(4 * at + 5).min(self.heap.len());
            let Some(least) = children.min_by_key(|&child| self.heap[child]) else {
                break;
            };
            if self.heap[at] <= self.heap[least] {
                break;
            }
            self.heap.swap(at, least);
            self.note(at);
            at = least;
        }
        self.note(at);
    }

    fn note(&mut self, at: usize) {
        let (_, _, who) = self.heap[at];
        self.place[who as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: i64) -> Instant {
        Instant::from_nanos(ns)
    }

    /// Against a plain table, over a long sequence of changes.
    #[test]
    fn the_first_entry_is_always_the_earliest() {
        let mut heap = Deadlines::default();
        let mut table = [None; 50];
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let who = (state >> 33) as usize % 50;
            let when = at((state >> 40) as i64 % 1000);
            match (state >> 60) % 3 {
                0 => {
                    heap.no_later(who as u32, when);
                    table[who] = Some(table[who].map_or(when, |old: Instant| old.min(when)));
                }
                1 => {
                    heap.set(who as u32, Some(when));
                    table[who] = Some(when);
                }
                _ => {
                    heap.set(who as u32, None);
                    table[who] = None;
                }
            }
            assert_eq!(
                heap.first().map(|e| e.0),
                table.iter().flatten().min().copied()
            );
            if let Some((when, who)) = heap.first() {
                assert_eq!(table[who as usize], Some(when));
            }
        }
    }

    #[test]
    fn equal_deadlines_come_in_the_order_of_arming() {
        let mut heap = Deadlines::default();
        for who in [3, 1, 2] {
            heap.set(who, Some(at(10)));
        }
        let mut order = Vec::new();
        while let Some((_, who)) = heap.first() {
            order.push(who);
            heap.set(who, None);
        }
        assert_eq!(order, [3, 1, 2]);
    }
}

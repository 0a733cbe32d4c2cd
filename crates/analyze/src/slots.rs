//! The live connections: slots that are used again, a queue of those that are over, and a clock
//! hand that finds an inactive one when a limit is set.

use std::collections::VecDeque;

use crate::conn::Connection;

/// Most connections that are over and stay for late packets. Not limited by time: a packet may come minutes after a
/// RST that its receiver ignored, and Wireshark's verdicts on it count too.
const LINGERING: usize = 8_192;

struct Slot {
    connection: Option<Box<Connection>>,
    /// Grows each time the slot is emptied: old entries of the queue do not count.
    generation: u32,
    /// Active since the clock hand passed.
    active: bool,
}

/// All live connections.
#[derive(Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
    over: VecDeque<(u32, u32)>,
    hand: usize,
}

impl Slots {
    /// How many connections live.
    pub(crate) fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Gives a connection a slot.
    pub(crate) fn insert(&mut self, connection: Box<Connection>) -> u32 {
        if let Some(index) = self.free.pop() {
            self.slots[index as usize].connection = Some(connection);
            return index;
        }
        let slot = Slot {
            connection: Some(connection),
            generation: 0,
            active: true,
        };
        self.slots.push(slot);
        self.slots.len() as u32 - 1
    }

    /// The connection in a slot; marks it active.
    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(index as usize)?;
        slot.active = true;
        slot.connection.as_deref_mut()
    }

    /// Empties a slot.
    pub(crate) fn take(&mut self, index: u32) -> Option<Box<Connection>> {
        let slot = self.slots.get_mut(index as usize)?;
        let connection = slot.connection.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        Some(connection)
    }

    /// Notes that the connection in a slot is over.
    pub(crate) fn ended(&mut self, index: u32) {
        let generation = self.slots[index as usize].generation;
        self.over.push_back((index, generation));
    }

    /// The connection that has lingered longest, when there are too many.
    pub(crate) fn lingered(&mut self) -> Option<u32> {
        while let Some(&(index, generation)) = self.over.front() {
            let gone = self.slots[index as usize].generation != generation;
            if !gone && self.over.len() <= LINGERING {
                return None;
            }
            self.over.pop_front();
            if !gone {
                return Some(index);
            }
        }
        None
    }

    /// An inactive connection: the clock hand clears marks until it finds one without.
    pub(crate) fn inactive(&mut self) -> Option<u32> {
        for _ in 0..self.slots.len() * 2 {
            let index = self.hand;
            self.hand = (self.hand + 1) % self.slots.len();
            let slot = &mut self.slots[index];
            if slot.connection.is_some() && !std::mem::take(&mut slot.active) {
                return Some(index as u32);
            }
        }
        None
    }

    /// All slots, for the end of the capture.
    pub(crate) fn indices(&self) -> std::ops::Range<u32> {
        0..self.slots.len() as u32
    }
}

impl std::fmt::Debug for Slots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Slots({} live)", self.live())
    }
}

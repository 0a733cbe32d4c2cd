//! The live connections: reusable slots, a queue of finished connections, a queue of connections that have barely
//! begun, and a clock hand that finds an inactive one when there are too many.

use std::collections::VecDeque;

use tcplab_wire::CaqmUnits;

use crate::conn::Connection;
use crate::trace::Shelf;
use crate::young::Young;

/// Most connections that are over and stay for late packets. Not limited by time: a packet may come minutes after a
/// RST that its receiver ignored, and Wireshark's verdicts on it count too.
const LINGERING: usize = 8_192;

/// A limit of connections that have barely begun is not below this.
const LEAST_BEGUN: usize = 1_024;

/// A connection, or the few packets that it will be made of.
#[derive(Debug)]
pub(crate) enum Life {
    Young(Box<Young>),
    Grown(Box<Connection>),
}

impl Life {
    /// Memory that it takes, about; bytes.
    fn weight(&self) -> usize {
        match self {
            Self::Young(young) => size_of_val(&**young),
            Self::Grown(connection) => connection.weight(),
        }
    }

    /// It is over, by all that was seen.
    fn is_over(&self) -> bool {
        matches!(self, Self::Grown(connection) if connection.over)
    }

    /// Packets that each side sent.
    fn sent(&self) -> [u32; 2] {
        match self {
            Self::Young(young) => young.sent(),
            Self::Grown(connection) => [0, 1].map(|d| connection.dirs[d].packets),
        }
    }
}

/// What a connection is made with.
pub(crate) type Makings<'a> = (&'a CaqmUnits, &'a mut Shelf);

/// A connection has barely begun while only one side has sent, and at most this many packets: a SYN and the 6
/// retransmissions that Linux allows by default (`tcp_syn_retries`).
const FEW: u32 = 7;

struct Slot {
    life: Option<Life>,
    /// Grows each time the slot is emptied: old entries of the queue do not count.
    generation: u32,
    /// Active since the clock hand passed.
    active: bool,
}

impl Slot {
    /// Its connection is over.
    fn is_over(&self) -> bool {
        self.life.as_ref().is_some_and(Life::is_over)
    }
}

/// All live connections.
#[derive(Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
    over: VecDeque<(u32, u32)>,
    /// Connections in the order in which they began; only some of them have still barely begun.
    begun: VecDeque<(u32, u32)>,
    /// More than the limit had barely begun when that was last looked at.
    crowded: bool,
    hand: usize,
    /// Memory of the last connection that was handed out.
    spare: Option<Box<Connection>>,
}

impl Slots {
    /// How many connections live.
    pub(crate) fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Gives a connection a slot.
    pub(crate) fn insert(&mut self, life: Life) -> u32 {
        if let Some(index) = self.free.pop() {
            self.slots[index as usize].life = Some(life);
            return index;
        }
        let slot = Slot {
            life: Some(life),
            generation: 0,
            active: true,
        };
        self.slots.push(slot);
        self.slots.len() as u32 - 1
    }

    /// A connection began in this slot. At most about two times `limit` connections that have barely begun
    /// are held: gives the oldest ones, two at most, when there are more.
    pub(crate) fn began(&mut self, index: u32, limit: usize) -> [Option<u32>; 2] {
        let limit = limit.max(LEAST_BEGUN);
        let generation = self.slots[index as usize].generation;
        self.begun.push_back((index, generation));
        if self.begun.len() > 2 * limit {
            let slots = &self.slots;
            self.begun.retain(|entry| barely_begun(slots, *entry));
            self.crowded = self.begun.len() > limit;
        }
        [(); 2].map(|()| self.oldest_begun(limit))
    }

    /// The oldest connection that has barely begun, while there are too many of them.
    fn oldest_begun(&mut self, limit: usize) -> Option<u32> {
        while self.crowded {
            if self.begun.len() <= limit {
                self.crowded = false;
                return None;
            }
            let entry = self.begun.pop_front()?;
            if barely_begun(&self.slots, entry) {
                return Some(entry.0);
            }
        }
        None
    }

    /// Memory that the connections take, about; bytes.
    pub(crate) fn weight(&self) -> usize {
        let live = self.slots.iter().filter_map(|s| s.life.as_ref());
        live.map(Life::weight).sum()
    }

    /// Memory that one connection takes.
    pub(crate) fn weight_of(&self, index: u32) -> usize {
        let slot = self.slots.get(index as usize);
        slot.and_then(|s| s.life.as_ref()).map_or(0, Life::weight)
    }

    /// The connection in a slot, which is active. `None`: it is young, and `suffices` says that it may stay so.
    #[inline]
    pub(crate) fn grown(
        &mut self,
        index: u32,
        suffices: impl FnOnce(&mut Young) -> bool,
        with: Makings<'_>,
    ) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(index as usize)?;
        slot.active = true;
        if let Some(Life::Young(young)) = &mut slot.life {
            if suffices(young) {
                return None;
            }
            let grown = room(&mut self.spare, young.grow(with.0, with.1));
            slot.life = Some(Life::Grown(grown));
        }
        match &mut slot.life {
            Some(Life::Grown(connection)) => Some(connection),
            _ => None,
        }
    }

    /// Empties a slot. The box shall come back by [`Slots::give_back`].
    pub(crate) fn take(&mut self, index: u32, with: Makings<'_>) -> Option<Box<Connection>> {
        let slot = self.slots.get_mut(index as usize)?;
        let life = slot.life.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        Some(match life {
            Life::Grown(connection) => connection,
            Life::Young(young) => room(&mut self.spare, young.grow(with.0, with.1)),
        })
    }

    /// A place for a connection.
    pub(crate) fn room(&mut self, connection: Connection) -> Box<Connection> {
        room(&mut self.spare, connection)
    }

    /// The memory of a connection that is not needed any more.
    pub(crate) fn give_back(&mut self, connection: Box<Connection>) {
        self.spare = Some(connection);
    }

    /// Notes that the connection in a slot is over.
    pub(crate) fn ended(&mut self, index: u32) {
        let generation = self.slots[index as usize].generation;
        self.over.push_back((index, generation));
    }

    /// The connection that has lingered longest, when there are too many.
    pub(crate) fn lingered(&mut self) -> Option<u32> {
        while let Some(&(index, generation)) = self.over.front() {
            // A connection that a RST seemed to end may have gone on.
            let slot = &self.slots[index as usize];
            let gone = slot.generation != generation || !slot.is_over();
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
            if slot.life.is_some() && !std::mem::take(&mut slot.active) {
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

/// Whether the connection of an entry is still there and has barely begun.
fn barely_begun(slots: &[Slot], (index, generation): (u32, u32)) -> bool {
    let slot = slots.get(index as usize);
    let slot = slot.filter(|s| s.generation == generation);
    let sent = slot.and_then(|s| s.life.as_ref()).map(Life::sent);
    sent.is_some_and(|[a, b]| a.min(b) == 0 && a.max(b) <= FEW)
}

/// A connection in memory that was used before where there is some.
#[inline]
fn room(spare: &mut Option<Box<Connection>>, connection: Connection) -> Box<Connection> {
    match spare.take() {
        Some(mut memory) => {
            *memory = connection;
            memory
        }
        None => Box::new(connection),
    }
}

impl std::fmt::Debug for Slots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Slots({} live)", self.live())
    }
}

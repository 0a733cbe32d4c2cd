//! Which connections of a host are packed ([`crate::pack`]).
//!
//! Some stay as they are, idle or not: the working set, in the order in which they came to it. When it is full, each
//! one that joins it makes the first ones leave that are idle, and so does one whose timer turns out to be stopped: its
//! last packet is ACKed for a while. What is in flight stays, so memory grows with that. A packed connection is unpacked
//! when anything asks for it, and so nobody sees the difference.

use std::collections::VecDeque;

use tcplab_base::Instant;

use super::table::{Conn, Holder, Record, Table};
use crate::endpoint::Endpoint;
use crate::pack::{Pack, Packer, Unpacker};

/// Connections that stay unpacked, idle or not: a megabyte.
const KEPT: usize = 1024;
/// Of the oldest of the working set, how many are looked at when one joins it.
const TRIES: usize = 2;
/// Memory of unpacked connections that is kept for the next ones.
const SPARE: usize = 16;

/// See the head of this file.
#[derive(Debug)]
pub(crate) struct WorkingSet {
    kept: usize,
    /// Connections that are not packed.
    unpacked: usize,
    /// Numbers of all connections that are not packed, and some that are, or are free or something else by now.
    order: VecDeque<u32>,
    /// Whether a number is in `order`.
    listed: Vec<bool>,
    /// What packed ones are told by their difference from: the first one that was packed.
    like: Option<Box<Conn>>,
    #[allow(clippy::vec_box, reason = "a record holds the box")]
    spare: Vec<Box<Conn>>,
    packer: Packer,
}

impl Default for WorkingSet {
    fn default() -> Self {
        Self {
            kept: KEPT,
            unpacked: 0,
            order: VecDeque::new(),
            listed: Vec::new(),
            like: None,
            spare: Vec::new(),
            packer: Packer::default(),
        }
    }
}

impl WorkingSet {
    pub(super) fn memory(&self) -> usize {
        let boxes = self.spare.iter().chain(&self.like);
        let boxes: usize = boxes.map(|conn| conn.memory()).sum();
        boxes + self.order.capacity() * size_of::<u32>() + self.listed.capacity()
    }
}

impl Table {
    /// A connection with this number is not packed, from now on.
    pub(super) fn joins_working_set(&mut self, number: u32) {
        let index = number as usize;
        let w = &mut self.working;
        w.unpacked += 1;
        if w.listed.len() <= index {
            w.listed.resize(index + 1, false);
        }
        if let Some(listed) = w.listed.get_mut(index).filter(|listed| !**listed) {
            *listed = true;
            w.order.push_back(number);
        }
    }

    /// Packs some of those that were not used for long, when there are too many.
    pub(super) fn make_room(&mut self) {
        for _ in 0..TRIES {
            if self.working.unpacked < self.working.kept {
                return;
            }
            self.try_first();
        }
    }

    /// A connection that was not packed is gone.
    pub(super) fn left_working_set(&mut self) {
        self.working.unpacked -= 1;
    }

    /// A timer of this connection was stopped some time ago.
    pub(super) fn is_rested(&mut self, number: u32) {
        let w = &self.working;
        if w.unpacked > w.kept
            && let Some(Record::Conn(conn)) = self.get(number)
            && conn.ep.is_idle()
        {
            self.pack(number);
        }
    }

    /// Packs all that are idle.
    pub(crate) fn pack_idle(&mut self) {
        for _ in 0..self.working.order.len() {
            self.try_first();
        }
    }

    /// The first one of the working set leaves it, or becomes the last one.
    fn try_first(&mut self) {
        let Some(number) = self.working.order.pop_front() else {
            return;
        };
        let stays = match self.get(number) {
            Some(Record::Conn(conn)) => !conn.ep.is_idle(),
            _ => false,
        };
        if stays {
            self.working.order.push_back(number);
            return;
        }
        if let Some(listed) = self.working.listed.get_mut(number as usize) {
            *listed = false;
        }
        self.pack(number);
    }

    fn pack(&mut self, number: u32) {
        let Some(slot) = self.records.get_mut(number as usize) else {
            return;
        };
        if !matches!(slot, Record::Conn(_)) {
            return;
        }
        let Record::Conn(conn) = std::mem::replace(slot, Record::Packed(Box::default())) else {
            return;
        };
        let w = &mut self.working;
        w.unpacked -= 1;
        let like = w.like.get_or_insert_with(|| conn.clone());
        conn.pack(like, &mut w.packer);
        *slot = Record::Packed(w.packer.finish());
        if w.spare.len() < SPARE {
            w.spare.push(conn);
        }
    }

    /// The connection of this number is as it was before it was packed.
    #[cold]
    #[inline(never)]
    pub(super) fn unpack(&mut self, number: u32) {
        if !matches!(self.get(number), Some(Record::Packed(_))) {
            return;
        }
        self.make_room();
        let w = &mut self.working;
        let (Some(like), Some(slot)) = (&w.like, self.records.get_mut(number as usize)) else {
            return;
        };
        let Record::Packed(packed) = slot else {
            return;
        };
        let mut conn = w.spare.pop().unwrap_or_else(|| like.clone());
        conn.unpack(like, &mut Unpacker::new(packed));
        *slot = Record::Conn(conn);
        self.joins_working_set(number);
    }

    /// When the first timer of a packed connection is due.
    pub(super) fn next_of_packed(&self, packed: &[u8]) -> Option<Instant> {
        Endpoint::next_of(&self.working.like.as_ref()?.ep, packed)
    }

    /// A copy of a packed connection.
    pub(super) fn unpacked(&self, packed: &[u8]) -> Option<Box<Conn>> {
        let like = self.working.like.as_ref()?;
        let mut conn = like.clone();
        conn.unpack(like, &mut Unpacker::new(packed));
        Some(conn)
    }

    /// How many connections stay unpacked although they are idle.
    pub(crate) fn keep_unpacked(&mut self, most: usize) {
        self.working.kept = most;
    }
}

impl Conn {
    fn pack(&self, like: &Self, to: &mut Packer) {
        let Self { ep, holder, hashed } = self;
        ep.pack(&like.ep, to);
        hashed.pack(&like.hashed, to);
        match *holder {
            Holder::Application => to.put(0),
            Holder::Nobody => to.put(1),
            Holder::Queue(listener) => to.put(2 + u64::from(listener)),
        }
    }

    fn unpack(&mut self, like: &Self, from: &mut Unpacker<'_>) {
        self.ep.unpack(&like.ep, from);
        self.hashed = Pack::unpack(&like.hashed, from);
        self.holder = match from.take() {
            0 => Holder::Application,
            1 => Holder::Nobody,
            listener => Holder::Queue((listener - 2) as u32),
        };
    }
}

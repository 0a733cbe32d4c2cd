//! Which connections of a host are packed ([`crate::pack`]).
//!
//! The working set stays unpacked, in order of arrival, even when idle. When it is full, each newcomer triggers a
//! check of its first members. Members that are idle and have moved no byte since the last check leave the set; others
//! move to its end. A connection whose timer is found stopped leaves as well, because its last packet was ACKed some
//! time ago. Connections with data in flight stay, so memory grows with their number.
//!
//! A packed connection is unpacked on any access, so packing cannot be observed. If a connection is unpacked within a
//! second, it was packed too early: the working set may then grow, and shrinks again as other connections arrive.

use std::collections::VecDeque;

use tcplab_base::Instant;

use super::table::{Conn, Holder, Record, Table};
use crate::endpoint::Endpoint;
use crate::pack::{Pack, Packer, Unpacker};

/// Connections that stay unpacked, idle or not: a megabyte.
const KEPT: usize = 1024;
/// A connection that is used again within this time, in ms, was packed too early.
const EARLY_MS: u32 = 1000;
/// By how many connections the working set may grow then; it shrinks by one for each other one that joins it.
const GROWS: usize = 8;
/// Of the oldest of the working set, how many are looked at when one joins it.
const TRIES: usize = 3;
/// Memory of unpacked connections that is kept for the next ones.
const SPARE: usize = 16;

/// See the head of this file.
#[derive(Debug)]
pub(crate) struct WorkingSet {
    /// Connections that stay unpacked: at least, and for now.
    least: usize,
    kept: usize,
    /// The time of the last thing that came to the host.
    now: Instant,
    /// Connections that are not packed.
    unpacked: usize,
    /// Numbers of all unpacked connections, in order; some entries may be packed, free or reused by now. Each with its
    /// bytes moved at the last check ([`moved`]); `None` before the first check.
    order: VecDeque<(u32, Option<u32>)>,
    /// Whether a number is in `order`.
    listed: Vec<bool>,
    /// The first packed record: others are stored as differences from it.
    like: Option<Box<Conn>>,
    #[allow(clippy::vec_box, reason = "a record holds the box")]
    spare: Vec<Box<Conn>>,
    packer: Packer,
}

impl Default for WorkingSet {
    fn default() -> Self {
        Self {
            least: KEPT,
            kept: KEPT,
            now: Instant::default(),
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
    fn now_ms(&self) -> u32 {
        (self.now.as_nanos() / 1_000_000) as u32
    }

    /// Another size, as one that joins tells: it was packed at this time, in ms, or is new.
    fn fit(&mut self, packed_at: Option<u32>) {
        let age = packed_at.map(|at| self.now_ms().wrapping_sub(at));
        match age.is_some_and(|age| age < EARLY_MS) {
            true => self.kept += GROWS,
            false => self.kept = self.kept.saturating_sub(1).max(self.least),
        }
    }

    pub(super) fn memory(&self) -> usize {
        let boxes = self.spare.iter().chain(&self.like);
        let boxes: usize = boxes.map(|conn| conn.memory()).sum();
        boxes + self.order.capacity() * size_of::<(u32, Option<u32>)>() + self.listed.capacity()
    }
}

/// Changes when the connection sends or gets a byte.
fn moved(ep: &Endpoint) -> u32 {
    ep.rcv.rcv_nxt.0.wrapping_add(ep.snd.snd_nxt.0)
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
            w.order.push_back((number, None));
        }
    }

    /// Something comes to the host at this time.
    #[inline]
    pub(super) fn set_now(&mut self, now: Instant) {
        self.working.now = now;
    }

    /// Packs some of those that were not used for long, when there are too many: a new one comes, or one that was packed
    /// at this time.
    pub(super) fn make_room(&mut self, packed_at: Option<u32>) {
        self.working.fit(packed_at);
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
    pub(super) fn pack_rested(&mut self, number: u32) {
        let w = &self.working;
        if w.unpacked > w.kept {
            self.pack_if_idle(number);
        }
    }

    fn pack_if_idle(&mut self, number: u32) {
        if let Some(Record::Conn(conn)) = self.get(number)
            && conn.ep.is_idle()
        {
            self.pack(number);
        }
    }

    /// Packs all that are idle.
    pub(crate) fn pack_idle(&mut self) {
        for number in 0..self.records.len() as u32 {
            self.pack_if_idle(number);
        }
    }

    /// The first one of the working set leaves it, or becomes the last one.
    fn try_first(&mut self) {
        let Some((number, before)) = self.working.order.pop_front() else {
            return;
        };
        if let Some(Record::Conn(conn)) = self.get(number) {
            let now = moved(&conn.ep);
            if before != Some(now) || !conn.ep.is_idle() {
                self.working.order.push_back((number, Some(now)));
                return;
            }
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
        w.packer.put(u64::from(w.now_ms()));
        *slot = Record::Packed(w.packer.finish());
        if w.spare.len() < SPARE {
            w.spare.push(conn);
        }
    }

    /// The connection of this number is as it was before it was packed.
    #[cold]
    #[inline(never)]
    pub(super) fn unpack(&mut self, number: u32) {
        let w = &mut self.working;
        let (Some(like), Some(slot)) = (&w.like, self.records.get_mut(number as usize)) else {
            return;
        };
        let Record::Packed(packed) = slot else {
            return;
        };
        let mut conn = w.spare.pop().unwrap_or_else(|| like.clone());
        let mut from = Unpacker::new(packed);
        conn.unpack(like, &mut from);
        let packed_at = from.take() as u32;
        *slot = Record::Conn(conn);
        // It is not in the order yet, and so stays.
        self.make_room(Some(packed_at));
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
        self.working.least = most;
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

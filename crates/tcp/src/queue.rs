//! The send queue: written data that the peer is yet to ACK, in segments.
//!
//! Linux keeps two structures, `tcp_rtx_queue` (sent) and `sk_write_queue` (not sent), and the list
//! `tsorted_sent_queue` of what is sent and not yet SACKed, in the order of its last transmission.
//! Here one ring holds both, with the number of sent segments; the list is threaded through it.
//! A segment keeps its [`Id`] until it leaves the queue, so the list and hints survive what is ACKed
//! before them. Only [`SendQueue::split`] moves segments: rare, and linear in what stands behind.

use std::collections::VecDeque;

use bitflags::bitflags;
use tcplab_base::Seq;
use tcplab_wire::CaqmInfo;

use crate::pack::{Pack, Packer, Unpacker};

/// Names a segment of the queue: its place, counted from the connection's first one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Id(u32);

impl Id {
    /// No segment.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The place behind this one.
    #[inline]
    pub(crate) const fn behind(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

impl Default for Id {
    fn default() -> Self {
        Self::NONE
    }
}

impl Pack for Id {
    fn pack(&self, like: &Self, to: &mut Packer) {
        self.0.pack(&like.0, to);
    }
    fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self {
        Self(u32::unpack(&like.0, from))
    }
}

bitflags! {
    /// What became of a sent segment (`TCPCB_*`).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) struct Sacked: u8 {
        /// SACKed.
        const ACKED = 1;
        /// Retransmitted, and that copy is in flight.
        const RETRANS = 2;
        /// Marked lost.
        const LOST = 4;
        /// All of these.
        const TAGBITS = 7;
        /// It was retransmitted at some time.
        const EVER_RETRANS = 0x80;
    }
}

bitflags! {
    /// The flags of its header that a queued segment brings; all but the first SYN have ACK beside them.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) struct SkbFlags: u8 {
        const FIN = 1;
        const SYN = 2;
        const PSH = 8;
        /// ECE and CWR: a SYN that asks for ECN (RFC 3168 6.1.1).
        const ECN_SETUP = 0xc0;
    }
}

/// A segment of the send queue (Linux `struct sk_buff` with `tcp_skb_cb`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skb {
    pub(crate) seq: Seq,
    /// Payload bytes.
    pub(crate) len: u32,
    pub(crate) flags: SkbFlags,
    pub(crate) sacked: Sacked,
    /// Nothing may be appended (MSG_EOR).
    pub(crate) eor: bool,
    /// SACKed, and one with the segment before it on Linux (`tcp_shift_skb_data()`).
    pub(crate) merged: bool,
    /// Transmitted as app limited (tx.is_app_limited).
    pub(crate) app_limited: bool,
    /// Wire packets that it makes (`tcp_skb_pcount()`), and the payload of each (`gso_size`).
    pub(crate) pcount: u16,
    pub(crate) gso_size: u16,
    /// The tag of CAQM that it was sent with; 0: none yet.
    pub(crate) caqm: CaqmInfo,
    /// Memory that the send buffer counts for it.
    pub(crate) truesize: u32,
    /// Last transmission in ns since the host's boot (`skb_mstamp_ns`); 0: never sent.
    pub(crate) xmit_ns: u64,
    /// `tx.first_tx_mstamp`, `tx.delivered_mstamp` in us, `tx.delivered`, `tx.delivered_ce` at its last transmission.
    pub(crate) first_tx_us: u64,
    pub(crate) delivered_us: u64,
    pub(crate) delivered: u32,
    pub(crate) delivered_ce: u32,
    /// `tx.in_flight`-like: the neighbours in the order of transmission.
    prev: Id,
    next: Id,
    on_list: bool,
}

impl Skb {
    /// A segment that was not sent yet.
    pub(crate) fn new(seq: Seq, len: u32, flags: SkbFlags, truesize: u32) -> Self {
        Self {
            seq,
            len,
            flags,
            sacked: Sacked::empty(),
            eor: false,
            merged: false,
            app_limited: false,
            pcount: 1,
            gso_size: 0,
            caqm: CaqmInfo::default(),
            truesize,
            xmit_ns: 0,
            first_tx_us: 0,
            delivered_us: 0,
            delivered: 0,
            delivered_ce: 0,
            prev: Id::NONE,
            next: Id::NONE,
            on_list: false,
        }
    }

    /// The sequence number after it; SYN and FIN count.
    #[inline]
    pub(crate) fn end_seq(&self) -> Seq {
        let has = |flag| u32::from(self.flags.intersects(flag));
        self.seq + (self.len + has(SkbFlags::FIN) + has(SkbFlags::SYN))
    }

    #[inline]
    pub(crate) fn is(&self, bits: Sacked) -> bool {
        self.sacked.intersects(bits)
    }

    /// Microseconds of its last transmission.
    #[inline]
    pub(crate) fn xmit_us(&self) -> u64 {
        self.xmit_ns / 1000
    }
}

/// The ring.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendQueue {
    skbs: VecDeque<Skb>,
    /// Id of the first one.
    base: u32,
    /// How many of them were sent.
    sent: u32,
    /// Oldest and newest transmission on the list.
    head: Id,
    tail: Id,
}

impl SendQueue {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.skbs.is_empty()
    }

    /// Bytes of memory of the ring.
    pub(crate) fn memory(&self) -> usize {
        self.skbs.capacity() * size_of::<Skb>()
    }

    /// The place of the next segment, when it is empty: see [`SendQueue::begin_at`].
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    /// An empty queue whose next segment has this place; its memory stays.
    pub(crate) fn begin_at(&mut self, base: u32) {
        self.skbs.clear();
        self.base = base;
        self.sent = 0;
        (self.head, self.tail) = (Id::NONE, Id::NONE);
    }

    /// Number of sent ones (`tcp_rtx_queue`).
    #[cfg(test)]
    fn sent(&self) -> usize {
        self.sent as usize
    }

    #[inline]
    pub(crate) fn has_unsent(&self) -> bool {
        (self.sent as usize) < self.skbs.len()
    }

    /// The first sent segment (`tcp_rtx_queue_head()`).
    #[inline]
    pub(crate) fn first_sent(&self) -> Option<Id> {
        (self.sent > 0).then_some(Id(self.base))
    }

    /// The last sent segment (`tcp_rtx_queue_tail()`).
    #[inline]
    pub(crate) fn last_sent(&self) -> Option<Id> {
        (self.sent > 0).then(|| Id(self.base.wrapping_add(self.sent - 1)))
    }

    /// The first segment that was not sent (`tcp_send_head()`).
    #[inline]
    pub(crate) fn send_head(&self) -> Option<Id> {
        self.has_unsent()
            .then(|| Id(self.base.wrapping_add(self.sent)))
    }

    /// The last segment, sent or not (`tcp_write_queue_tail()` and else the last sent one).
    #[inline]
    pub(crate) fn last(&self) -> Option<Id> {
        (!self.skbs.is_empty()).then(|| Id(self.base.wrapping_add(self.skbs.len() as u32 - 1)))
    }

    #[inline]
    fn place(&self, id: Id) -> usize {
        id.0.wrapping_sub(self.base) as usize
    }

    /// The segment of this id, when it is still there.
    #[inline]
    pub(crate) fn get(&self, id: Id) -> Option<&Skb> {
        if id == Id::NONE {
            return None;
        }
        self.skbs.get(self.place(id))
    }

    /// The segment of this id, when it is still there.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut Skb> {
        if id == Id::NONE {
            return None;
        }
        let place = self.place(id);
        self.skbs.get_mut(place)
    }

    /// The sent segment behind `id` (`skb_rb_next()`).
    #[inline]
    pub(crate) fn next_sent(&self, id: Id) -> Option<Id> {
        let place = self.place(id) + 1;
        (place < self.sent as usize).then(|| Id(id.0.wrapping_add(1)))
    }

    /// The sent segment before `id`.
    #[inline]
    pub(crate) fn previous_sent(&self, id: Id) -> Option<Id> {
        (self.place(id) > 0).then(|| Id(id.0.wrapping_sub(1)))
    }

    /// Number of sent segments before `id`; all sent segments for [`Id::NONE`].
    pub(crate) fn sent_before(&self, id: Id) -> u32 {
        match id == Id::NONE {
            true => self.sent,
            false => (self.place(id) as u32).min(self.sent),
        }
    }

    /// Whether `a` stands before `b` in the queue.
    #[inline]
    pub(crate) fn is_before(&self, a: Id, b: Id) -> bool {
        self.place(a) < self.place(b)
    }

    /// The sent segment that holds `seq`: the first one whose end is after it (`tcp_sacktag_bsearch()`).
    pub(crate) fn find(&self, seq: Seq) -> Option<Id> {
        let (front, back) = self.skbs.as_slices();
        let sent = self.sent as usize;
        let in_front = front.len().min(sent);
        let after = |skb: &Skb| !skb.end_seq().after(seq);
        let mut place = front.get(..in_front)?.partition_point(after);
        if place == in_front && sent > in_front {
            place += back.get(..sent - in_front)?.partition_point(after);
        }
        (place < sent).then(|| Id(self.base.wrapping_add(place as u32)))
    }

    /// Appends a segment that was not sent.
    pub(crate) fn push(&mut self, skb: Skb) {
        self.skbs.push_back(skb);
    }

    /// The last segment, when it was not sent: the next write may be appended to it.
    pub(crate) fn unsent_tail(&mut self) -> Option<&mut Skb> {
        match self.has_unsent() {
            true => self.skbs.back_mut(),
            false => None,
        }
    }

    /// The first unsent segment goes to the sent ones; it is not on the list of transmissions yet.
    pub(crate) fn advance_send_head(&mut self) {
        debug_assert!(self.has_unsent());
        self.sent += 1;
    }

    /// Takes the first sent segment out, and off the list (`tcp_rtx_queue_unlink_and_free()`).
    pub(crate) fn pop_first(&mut self) -> Option<Skb> {
        if self.sent == 0 {
            return None;
        }
        self.unlist(Id(self.base));
        let skb = self.skbs.pop_front()?;
        self.base = self.base.wrapping_add(1);
        self.sent -= 1;
        if self.skbs.is_empty() && self.skbs.capacity() > 16 {
            self.free();
        }
        Some(skb)
    }

    /// An idle connection holds no memory of the time when it was busy.
    #[cold]
    #[inline(never)]
    fn free(&mut self) {
        self.skbs = VecDeque::new();
    }

    /// Forgets everything (`tcp_write_queue_purge()`).
    pub(crate) fn clear(&mut self) {
        *self = Self {
            base: self.base,
            ..Self::default()
        };
    }

    /// Where `hint` stands after the cut of `cut`: what stood behind it moved one place.
    pub(crate) fn after_split(&self, hint: Id, cut: Id) -> Id {
        match hint != Id::NONE && self.place(hint) > self.place(cut) {
            true => Id(hint.0.wrapping_add(1)),
            false => hint,
        }
    }

    /// Where `hint` stands after the segment behind `kept` went ([`SendQueue::remove_behind`]); a hint to that one
    /// points to `kept`.
    pub(crate) fn after_removal(&self, hint: Id, kept: Id) -> Id {
        match hint != Id::NONE && self.place(hint) > self.place(kept) {
            true => Id(hint.0.wrapping_sub(1)),
            false => hint,
        }
    }

    /// Takes the sent segment behind `kept` out, and off the list: its bytes went to `kept`.
    pub(crate) fn remove_behind(&mut self, kept: Id) -> Option<Skb> {
        let next = self.next_sent(kept)?;
        self.unlist(next);
        let place = self.place(next);
        self.renumber(place, u32::MAX);
        self.sent -= 1;
        self.skbs.remove(place)
    }

    /// Every segment behind a place gets another id, by so much: what points to it must follow.
    fn renumber(&mut self, place: usize, by: u32) {
        let moved = |other: &mut Id| {
            if *other != Id::NONE && other.0.wrapping_sub(self.base) as usize > place {
                other.0 = other.0.wrapping_add(by);
            }
        };
        for skb in &mut self.skbs {
            moved(&mut skb.prev);
            moved(&mut skb.next);
        }
        moved(&mut self.head);
        moved(&mut self.tail);
    }

    /// Takes out an unsent segment: those behind it move by one, and nothing else knows them.
    pub(crate) fn remove_unsent(&mut self, id: Id) -> Option<Skb> {
        let place = self.place(id);
        match place >= self.sent as usize {
            true => self.skbs.remove(place),
            false => None,
        }
    }

    /// Takes a tag off all sent segments: a walk over the window, for rare events only.
    pub(crate) fn clear_tag(&mut self, tag: Sacked) {
        for skb in self.skbs.iter_mut().take(self.sent as usize) {
            skb.sacked &= !tag;
        }
    }

    /// All sent segments in order of their sequence numbers.
    pub(crate) fn iter_sent(&self) -> impl Iterator<Item = &Skb> {
        self.skbs.iter().take(self.sent as usize)
    }

    /// All segments that were not sent.
    pub(crate) fn iter_unsent(&self) -> impl Iterator<Item = &Skb> {
        self.skbs.iter().skip(self.sent as usize)
    }

    /// Cuts a segment after `len` bytes; the rest becomes the next one, not on the list. The caller
    /// sets counts, flags and memory of both (`tcp_fragment()`).
    pub(crate) fn split(&mut self, id: Id, len: u32) -> Option<Id> {
        let place = self.place(id);
        let first = self.skbs.get_mut(place)?;
        debug_assert!(len < first.len);
        let mut rest = *first;
        rest.seq = first.seq + len;
        rest.len = first.len - len;
        first.len = len;
        rest.on_list = false;
        rest.prev = Id::NONE;
        rest.next = Id::NONE;
        self.renumber(place, 1);
        self.skbs.insert(place + 1, rest);
        if place < self.sent as usize {
            self.sent += 1;
        }
        Some(Id(id.0.wrapping_add(1)))
    }

    /// The oldest transmission that is not SACKed.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<Id> {
        (self.head != Id::NONE).then_some(self.head)
    }

    /// The transmission after that of `id`.
    #[inline]
    pub(crate) fn later(&self, id: Id) -> Option<Id> {
        let next = self.get(id)?.next;
        (next != Id::NONE).then_some(next)
    }

    /// Puts a segment at the list's end: it was transmitted just now (`list_move_tail()`).
    pub(crate) fn list_last(&mut self, id: Id) {
        self.unlist(id);
        let tail = self.tail;
        if let Some(skb) = self.get_mut(id) {
            skb.prev = tail;
            skb.next = Id::NONE;
            skb.on_list = true;
        }
        match self.get_mut(tail) {
            Some(last) => last.next = id,
            None => self.head = id,
        }
        self.tail = id;
    }

    /// Puts the second half of a split segment behind the first one on the list.
    pub(crate) fn list_behind(&mut self, id: Id, first: Id) {
        let Some(next) = self
            .get(first)
            .filter(|skb| skb.on_list)
            .map(|skb| skb.next)
        else {
            return;
        };
        if let Some(skb) = self.get_mut(id) {
            skb.prev = first;
            skb.next = next;
            skb.on_list = true;
        }
        if let Some(skb) = self.get_mut(first) {
            skb.next = id;
        }
        match self.get_mut(next) {
            Some(skb) => skb.prev = id,
            None => self.tail = id,
        }
    }

    /// Takes a segment off the list: it was SACKed (`list_del_init()`).
    #[inline]
    pub(crate) fn unlist(&mut self, id: Id) {
        if self.get(id).is_some_and(|skb| skb.on_list) {
            self.unlink(id);
        }
    }

    #[inline(never)]
    fn unlink(&mut self, id: Id) {
        let Some(skb) = self.get_mut(id) else {
            return;
        };
        let (prev, next) = (skb.prev, skb.next);
        skb.on_list = false;
        skb.prev = Id::NONE;
        skb.next = Id::NONE;
        match self.get_mut(prev) {
            Some(skb) => skb.next = next,
            None => self.head = next,
        }
        match self.get_mut(next) {
            Some(skb) => skb.prev = prev,
            None => self.tail = prev,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(n: u32) -> SendQueue {
        let mut q = SendQueue::default();
        for i in 0..n {
            q.push(Skb::new(Seq(1000 * i), 1000, SkbFlags::empty(), 0));
            q.advance_send_head();
            q.list_last(q.last_sent().unwrap());
        }
        q
    }

    fn listed(q: &SendQueue) -> Vec<u32> {
        let mut seqs = Vec::new();
        let mut at = q.oldest();
        while let Some(id) = at {
            seqs.push(q.get(id).unwrap().seq.0);
            at = q.later(id);
        }
        seqs
    }

    #[test]
    fn ids_survive_what_leaves_at_the_front() {
        let mut q = queue(5);
        let third = q.find(Seq(2500)).unwrap();
        q.pop_first();
        q.pop_first();
        assert_eq!(q.get(third).unwrap().seq, Seq(2000));
        assert_eq!(listed(&q), [2000, 3000, 4000]);
        assert_eq!(q.find(Seq(1999)), Some(third));
        assert_eq!(q.find(Seq(5000)), None);
    }

    #[test]
    fn the_list_keeps_the_order_of_transmission() {
        let mut q = queue(4);
        let second = q.find(Seq(1000)).unwrap();
        q.list_last(second);
        assert_eq!(listed(&q), [0, 2000, 3000, 1000]);
        q.unlist(q.find(Seq(2000)).unwrap());
        assert_eq!(listed(&q), [0, 3000, 1000]);
        q.pop_first();
        assert_eq!(listed(&q), [3000, 1000]);
    }

    #[test]
    fn joining_moves_the_segments_behind() {
        let mut q = queue(4);
        q.list_last(q.find(Seq(0)).unwrap());
        let second = q.find(Seq(1000)).unwrap();
        let last = q.last_sent().unwrap();
        let gone = q.remove_behind(second).unwrap();
        assert_eq!(gone.seq, Seq(2000));
        assert_eq!(listed(&q), [1000, 3000, 0]);
        assert_eq!(q.sent(), 3);
        assert_eq!(Some(q.after_removal(last, second)), q.last_sent());
    }

    #[test]
    fn a_cut_moves_what_stands_behind_it() {
        let mut q = queue(4);
        q.list_last(q.find(Seq(0)).unwrap());
        let second = q.find(Seq(1000)).unwrap();
        let rest = q.split(second, 400).unwrap();
        q.list_behind(rest, second);
        assert_eq!(listed(&q), [1000, 1400, 2000, 3000, 0]);
        assert_eq!(q.sent(), 5);
        assert_eq!(q.get(rest).unwrap().len, 600);
    }
}

//! Tags the segments of one SACK block (Linux `tcp_sacktag_walk()`, `tcp_sacktag_one()`).
//!
//! Linux joins neighbours that are SACKed into one buffer (`tcp_shift_skb_data()`). Here segments stay
//! as they are; [`Skb::merged`](crate::queue::Skb) remembers which would be one, for the counters
//! TCPSackShifted, TCPSackMerged and TCPSackShiftFallback, and for the memory that joining frees.

use tcplab_base::Seq;

use super::sack::Block;
use super::{AckWork, Flag};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd};
use crate::mib::Counter;
use crate::queue::{Id, Sacked, SendQueue, Skb};
use crate::recovery::Loss;

/// What Linux would do with a segment that a block touches.
enum Shift {
    /// It is not in the block at all.
    Noop,
    /// It is tagged by itself.
    Fallback,
    /// The whole of it joins the one before it.
    Whole,
    /// Its first bytes do.
    Part(u32),
}

impl Loss {
    /// A segment that was sent once filled a place above the ACK: an RTT sample, perhaps reordering.
    fn sacked_original(
        &self,
        queue: &SendQueue,
        snd: &Snd,
        work: &mut AckWork,
        (seq, end): (Seq, Seq),
        sent_us: u64,
    ) {
        if seq.before(self.highest_sack_seq(queue, snd)) {
            work.reord = work.reord.min(seq);
        }
        if !end.after(self.high_seq) {
            work.flag |= Flag::ORIG_SACK_ACKED;
        }
        if work.first_sackt == 0 {
            work.first_sackt = sent_us;
        }
        work.last_sackt = sent_us;
    }
}

impl SendQueue {
    fn joins_behind(&self, id: Id, next: Id) -> bool {
        let (Some(skb), Some(next)) = (self.get(id), self.get(next)) else {
            return false;
        };
        next.len > 0
            && next.sacked & Sacked::TAGBITS == Sacked::ACKED
            && segment_len(skb) == segment_len(next)
            && !skb.eor
    }

    fn shift_of(&self, snd: &Snd, id: Id, (start, end): Block, dup: bool) -> Shift {
        let Some(skb) = self.get(id) else {
            return Shift::Fallback;
        };
        let only_retrans = skb.sacked & (Sacked::LOST | Sacked::RETRANS) == Sacked::RETRANS;
        if (!dup && only_retrans) || skb.len == 0 || !skb.end_seq().after(snd.snd_una) {
            return Shift::Fallback;
        }
        let before = self.previous_sent(id).and_then(|id| self.get(id));
        let Some(prev) =
            before.filter(|prev| prev.sacked & Sacked::TAGBITS == Sacked::ACKED && !prev.eor)
        else {
            return Shift::Fallback;
        };
        let same = segment_len(skb) == segment_len(prev);
        if !start.after(skb.seq) && !end.before(skb.end_seq()) {
            return match same {
                true => Shift::Whole,
                false => Shift::Fallback,
            };
        }
        if !skb.end_seq().after(start) || skb.pcount <= 1 {
            return Shift::Noop;
        }
        let mss = u32::from(skb.gso_size).max(1);
        if start.after(skb.seq) || !same {
            return Shift::Fallback;
        }
        match (end - skb.seq) / mss {
            0 => Shift::Noop,
            whole => Shift::Part(whole * mss),
        }
    }
}

impl Endpoint {
    /// `tcp_sacktag_walk()`: from `at` to the block's end; gives where it stopped.
    pub(super) fn sack_walk(
        &mut self,
        cx: &mut Cx<'_>,
        mut at: Option<Id>,
        next_dup: Option<Block>,
        work: &mut AckWork,
        block: Block,
        dup: bool,
    ) -> Option<Id> {
        while let Some(id) = at {
            let skb = *self.queue.get(id)?;
            if !skb.seq.before(block.1) {
                break;
            }
            if skb.merged && !dup && next_dup.is_none() {
                at = self.queue.next_sent(id);
                continue;
            }
            let mut dup = dup;
            let mut hit = false;
            if let Some(second) = next_dup.filter(|second| skb.seq.before(second.1)) {
                hit = self.match_to_sack(cx, id, second)?;
                dup |= hit;
            }
            if !hit {
                hit = match self.shift(cx, id, block, dup) {
                    Shift::Noop => false,
                    Shift::Fallback => self.match_to_sack(cx, id, block)?,
                    Shift::Whole => true,
                    Shift::Part(len) => {
                        let mss = u32::from(skb.gso_size);
                        let cut = self.fragment(cx, id, len, mss).is_some();
                        self.merge(id);
                        cut
                    }
                };
            }
            if hit {
                self.sack_one(cx, id, work, dup);
            }
            at = self.queue.next_sent(id);
        }
        at
    }

    /// `tcp_match_skb_to_sack()`: whether the segment lies in the block; a super-segment that does in part is
    /// cut first. None: it could not be cut.
    fn match_to_sack(&mut self, cx: &mut Cx<'_>, id: Id, (start, end): Block) -> Option<bool> {
        let skb = *self.queue.get(id)?;
        let inside = !start.after(skb.seq) && !end.before(skb.end_seq());
        if skb.pcount <= 1 || inside || !skb.end_seq().after(start) {
            return Some(inside);
        }
        let mss = u32::from(skb.gso_size).max(1);
        let inside = !start.after(skb.seq);
        let mut len = match inside {
            false => (start - skb.seq).max(mss),
            true => end - skb.seq,
        };
        if len < mss {
            return None;
        }
        // SACKs of whole packets only, or of the short rest.
        if len > mss {
            len = match inside {
                true => len / mss * mss,
                false => len.div_ceil(mss) * mss,
            };
        }
        if len >= skb.len && !inside {
            return Some(false);
        }
        self.fragment(cx, id, len, mss)?;
        Some(inside)
    }

    /// `tcp_sacktag_one()` and what follows for the rate sample, the list of transmissions and `highest_sack`.
    fn sack_one(&mut self, cx: &mut Cx<'_>, id: Id, work: &mut AckWork, dup: bool) {
        let Some(skb) = self.queue.get(id).copied() else {
            return;
        };
        let sacked = self.sack_tag(cx, work, &skb, dup);
        let mut tagged = skb;
        tagged.sacked = sacked;
        self.tune.rate_skb_delivered(&tagged, &mut work.rs);
        let highest = self.loss.highest_sack_seq(&self.queue, &self.snd);
        if let Some(skb) = self.queue.get_mut(id) {
            skb.sacked = sacked;
            if sacked.intersects(Sacked::ACKED) {
                // Its delivery is counted once.
                skb.delivered_us = 0;
            }
        }
        if sacked.intersects(Sacked::ACKED) {
            self.queue.unlist(id);
        }
        if !skb.seq.before(highest) {
            self.loss.highest_sack = id.behind();
        }
    }

    /// `tcp_sacktag_one()`: counters and flags; gives the segment's new tags.
    fn sack_tag(&mut self, cx: &Cx<'_>, work: &mut AckWork, skb: &Skb, dup: bool) -> Sacked {
        let mut sacked = skb.sacked;
        let end = skb.end_seq();
        let packets = u32::from(skb.pcount);
        if dup && skb.is(Sacked::RETRANS | Sacked::EVER_RETRANS) {
            if let Some(marker) = self.loss.undo_marker
                && self.loss.undo_retrans > 0
                && end.after(marker)
            {
                self.loss.undo_retrans = (self.loss.undo_retrans - packets as i32).max(0);
            }
            if skb.is(Sacked::ACKED) {
                work.reord = work.reord.min(skb.seq);
            }
        }
        if !end.after(self.snd.snd_una) {
            return sacked;
        }
        if !skb.is(Sacked::ACKED) {
            sacked = self.newly_sacked(cx, work, skb);
        }
        if dup && sacked.intersects(Sacked::RETRANS) {
            // Both copies arrived.
            sacked &= !Sacked::RETRANS;
            self.loss.retrans_out -= packets.min(self.loss.retrans_out);
        }
        sacked
    }

    fn newly_sacked(&mut self, cx: &Cx<'_>, work: &mut AckWork, skb: &Skb) -> Sacked {
        let mut sacked = skb.sacked;
        let (seq, end, sent) = (skb.seq, skb.end_seq(), skb.xmit_us());
        let packets = u32::from(skb.pcount);
        self.rack.advance(cx, &self.rtt, sacked, end, sent);
        if skb.is(Sacked::RETRANS) {
            // Not marked lost: the retransmission is thought to be still in flight.
            if skb.is(Sacked::LOST) {
                sacked &= !(Sacked::LOST | Sacked::RETRANS);
                self.loss.lost_out -= packets.min(self.loss.lost_out);
                self.loss.retrans_out -= packets.min(self.loss.retrans_out);
            }
        } else {
            if !skb.is(Sacked::EVER_RETRANS) {
                self.loss
                    .sacked_original(&self.queue, &self.snd, work, (seq, end), sent);
            }
            if skb.is(Sacked::LOST) {
                sacked &= !Sacked::LOST;
                self.loss.lost_out -= packets.min(self.loss.lost_out);
            }
        }
        work.flag |= Flag::DATA_SACKED;
        self.loss.sacked_out += packets;
        work.sack_delivered += packets;
        let hint = self.queue.get(self.loss.lost_hint);
        if hint.is_some_and(|hint| seq.before(hint.seq)) && !self.loss.is_fack(cx, &self.neg) {
            self.loss.lost_cnt_hint += packets;
        }
        sacked | Sacked::ACKED
    }

    /// `tcp_shift_skb_data()`: counts what it would do, and marks who joins whom.
    fn shift(&mut self, cx: &mut Cx<'_>, id: Id, block: Block, dup: bool) -> Shift {
        let how = self.queue.shift_of(&self.snd, id, block, dup);
        match how {
            Shift::Fallback => cx.count(Counter::SackShiftFallback),
            Shift::Part(_) => cx.count(Counter::SackShifted),
            Shift::Whole => {
                cx.count(Counter::SackMerged);
                self.merge(id);
                if let Some(next) = self.queue.next_sent(id)
                    && self.queue.joins_behind(id, next)
                {
                    cx.count(Counter::SackMerged);
                    self.merge(next);
                }
            }
            Shift::Noop => {}
        }
        how
    }

    /// The segment's bytes go to the buffer before it: the send buffer gets back what it took beside them.
    fn merge(&mut self, id: Id) {
        let Some(skb) = self.queue.get_mut(id).filter(|skb| !skb.merged) else {
            return;
        };
        skb.merged = true;
        let freed = skb.truesize.saturating_sub(skb.len);
        skb.truesize -= freed;
        self.snd.wmem_free(&mut self.rcv, freed);
    }
}

/// `tcp_skb_seglen()`: payload of each of its wire packets.
pub(super) fn segment_len(skb: &Skb) -> u32 {
    match skb.pcount {
        0 | 1 => skb.len,
        _ => u32::from(skb.gso_size),
    }
}

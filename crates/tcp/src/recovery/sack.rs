//! SACK blocks of an ACK: which are valid, which say "duplicate", which part of them is new
//! (RFC 2018, RFC 2883; Linux `tcp_sacktag_write_queue()`). What earlier ACKs said is skipped by
//! `recv_sack_cache`, so the cost is O(log n + newly SACKed).

use tcplab_base::Seq;

use super::{AckWork, CaState, Flag};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd};
use crate::mib::Counter;
use crate::queue::{Id, SendQueue};
use crate::recovery::Loss;
use crate::segment::Segment;

/// A block: its first byte, and the first one behind it.
pub(super) type Block = (Seq, Seq);

/// An empty place of the cache.
const EMPTY: Block = (Seq(0), Seq(0));

/// The blocks of one ACK that count, in order of their sequence numbers.
struct Blocks {
    blocks: [Block; 4],
    used: usize,
    /// The place of the option's first block; `None` if the block did not count.
    first: Option<usize>,
}

impl Loss {
    /// `tcp_is_sackblock_valid()`: inside what is in flight; a DSACK may lie below, down to the episode's start.
    fn is_block_valid(&self, snd: &Snd, dsack: bool, (start, end): Block) -> bool {
        if end.after(snd.snd_nxt) || !start.before(end) || !start.before(snd.snd_nxt) {
            return false;
        }
        if start.after(snd.snd_una) {
            return true;
        }
        let Some(marker) = self.undo_marker.filter(|_| dsack) else {
            return false;
        };
        if end.after(snd.snd_una) {
            return false;
        }
        if !start.before(marker) {
            return true;
        }
        end.after(marker) && !start.before(end - snd.max_window)
    }

    /// `tcp_highest_sack()`: the sent segment behind the highest SACKed one.
    pub(super) fn highest_sack(&self, queue: &SendQueue) -> Option<Id> {
        let id = self.highest_sack;
        let last = queue.last_sent()?;
        (id != Id::NONE && queue.get(id).is_some() && !queue.is_before(last, id)).then_some(id)
    }
}

impl SendQueue {
    /// `tcp_sacktag_skip()`: goes on at `seq`.
    fn sack_skip(&self, at: Option<Id>, seq: Seq) -> Option<Id> {
        if let Some(id) = at
            && self.get(id).is_some_and(|skb| skb.seq.after(seq))
        {
            return Some(id);
        }
        let id = self.find(seq)?;
        self.get(id)
            .is_some_and(|skb| !skb.seq.after(seq))
            .then_some(id)
    }
}

impl Endpoint {
    /// `tcp_sacktag_write_queue()`: gives what happened as flags.
    pub(super) fn sacktag_write_queue(
        &mut self,
        cx: &mut Cx<'_>,
        seg: &Segment,
        prior_snd_una: Seq,
        work: &mut AckWork,
    ) -> Flag {
        work.flag = Flag::empty();
        work.reord = self.snd.snd_nxt;
        if self.loss.sacked_out == 0 {
            self.loss.highest_sack = self.queue.first_sent().unwrap_or(Id::NONE);
        }
        let dsack = self.check_dsack(cx, seg, prior_snd_una, work);
        if seg.ack.before(prior_snd_una - self.snd.max_window) {
            // Far too old to be valid.
            return Flag::empty();
        }
        if self.loss.packets_out == 0 {
            return work.flag;
        }
        let blocks = self.usable_blocks(cx, seg, prior_snd_una, dsack);
        work.mss_now = self.current_mss();
        self.tag_blocks(cx, &blocks, dsack, work);
        let empty = 4 - blocks.used;
        for (i, slot) in self.loss.recv_sack_cache.iter_mut().enumerate() {
            *slot = match i.checked_sub(empty) {
                Some(j) => blocks.blocks[j],
                None => EMPTY,
            };
        }
        if self.loss.ca_state != CaState::Loss || self.loss.undo_marker.is_some() {
            self.check_sack_reordering(cx, work.reord, false);
        }
        work.flag
    }

    /// `tcp_check_dsack()`: whether the first block says that something came twice (RFC 2883 4).
    fn check_dsack(
        &mut self,
        cx: &mut Cx<'_>,
        seg: &Segment,
        prior_snd_una: Seq,
        work: &mut AckWork,
    ) -> bool {
        let wire = seg.options.sack.as_slice();
        let Some(&(start, end)) = wire.first() else {
            return false;
        };
        if start.before(seg.ack) {
            cx.count(Counter::DSACKRecv);
        } else if let Some(&(start1, end1)) = wire.get(1) {
            if end.after(end1) || start.before(start1) {
                return false;
            }
            cx.count(Counter::DSACKOfoRecv);
        } else {
            return false;
        }
        let segments = self.dsack_seen(cx, start, end, work);
        if segments == 0 {
            cx.count(Counter::DSACKIgnoredDubious);
            return false;
        }
        cx.mib.add(Counter::DSACKRecvSegs, u64::from(segments));
        // It is about data that has left the queue: only the number can be kept.
        if let Some(marker) = self.loss.undo_marker
            && self.loss.undo_retrans > 0
            && !end.after(prior_snd_una)
            && end.after(marker)
        {
            self.loss.undo_retrans = (self.loss.undo_retrans - segments as i32).max(0);
        }
        true
    }

    /// `tcp_dsack_seen()`: segments that it stands for; 0: it cannot be about our retransmissions.
    fn dsack_seen(&mut self, cx: &Cx<'_>, start: Seq, end: Seq, work: &mut AckWork) -> u32 {
        if !start.before(end) {
            return 0;
        }
        let len = end - start;
        if len > self.snd.max_window {
            return 0;
        }
        let mut segments = 1;
        if len > self.snd.mss_cache {
            segments = len.div_ceil(self.snd.mss_cache.max(1));
        } else if self.loss.tlp_high_seq == Some(end) {
            work.flag |= Flag::DSACK_TLP;
        }
        self.stats.dsack_dups = self.stats.dsack_dups.wrapping_add(segments);
        if self.stats.dsack_dups > self.stats.total_retrans {
            return 0;
        }
        // Only reordering is RACK's matter: not a probe, and not before any reordering was seen.
        let reordered = self.stats.reord_seen > 0 && !work.flag.intersects(Flag::DSACK_TLP);
        if reordered || cx.host.profile.rack_counts_every_dsack {
            self.rack.dsack_seen = true;
        }
        work.flag |= Flag::DSACKING_ACK;
        work.sack_delivered += segments;
        segments
    }

    /// The blocks that count, sorted.
    fn usable_blocks(
        &mut self,
        cx: &mut Cx<'_>,
        seg: &Segment,
        prior_snd_una: Seq,
        found_dsack: bool,
    ) -> Blocks {
        let mut found = Blocks {
            blocks: [EMPTY; 4],
            used: 0,
            first: None,
        };
        for (i, &block) in seg.options.sack.as_slice().iter().take(4).enumerate() {
            let dsack = i == 0 && found_dsack;
            if !self.loss.is_block_valid(&self.snd, dsack, block) {
                self.count_invalid(cx, seg, dsack, block);
                continue;
            }
            if !block.1.after(prior_snd_una) {
                continue;
            }
            if i == 0 {
                found.first = Some(0);
            }
            found.blocks[found.used] = block;
            found.used += 1;
        }
        found.sort();
        found
    }

    fn count_invalid(&self, cx: &mut Cx<'_>, seg: &Segment, dsack: bool, block: Block) {
        let counter = match (dsack, self.loss.undo_marker) {
            (true, None) => Counter::DSACKIgnoredNoUndo,
            (true, Some(_)) => Counter::DSACKIgnoredOld,
            // An ACK that was overtaken brings old blocks: no defect of the peer.
            (false, _) if seg.ack != self.snd.snd_una && !block.1.after(self.snd.snd_una) => return,
            (false, _) => Counter::SACKDiscard,
        };
        cx.count(counter);
    }

    /// Tags each block but what the cache knows.
    fn tag_blocks(&mut self, cx: &mut Cx<'_>, found: &Blocks, dsack: bool, work: &mut AckWork) {
        let cache = self.loss.recv_sack_cache;
        let mut c = match self.loss.sacked_out {
            0 => cache.len(),
            _ => cache.iter().take_while(|&&block| block == EMPTY).count(),
        };
        let mut at: Option<Id> = None;
        let mut i = 0;
        while i < found.used {
            let (start, end) = found.blocks[i];
            let dup = dsack && found.first == Some(i);
            let next_dup = (dsack && found.first == Some(i + 1)).then(|| found.blocks[i + 1]);
            while cache.get(c).is_some_and(|known| !start.before(known.1)) {
                c += 1;
            }
            if let Some(&known) = cache.get(c)
                && !dup
                && end.after(known.0)
            {
                if start.before(known.0) {
                    at = self.queue.sack_skip(at, start);
                    at = self.sack_walk(cx, at, next_dup, work, (start, known.0), dup);
                }
                if !end.after(known.1) {
                    i += 1;
                    continue;
                }
                at = self.sack_skip_dup(cx, at, next_dup, work, known.1);
                c += 1;
                if self.loss.highest_sack_seq(&self.queue, &self.snd) != known.1 {
                    at = self.queue.sack_skip(at, known.1);
                    // The next block of the cache may overlap too.
                    continue;
                }
                at = self.loss.highest_sack(&self.queue);
                if at.is_none() {
                    break;
                }
            } else {
                if !start.before(self.loss.highest_sack_seq(&self.queue, &self.snd)) {
                    at = self.loss.highest_sack(&self.queue);
                    if at.is_none() {
                        break;
                    }
                }
                at = self.queue.sack_skip(at, start);
            }
            at = self.sack_walk(cx, at, next_dup, work, (start, end), dup);
            i += 1;
        }
    }

    /// `tcp_maybe_skipping_dsack()`: a DSACK in front of what is skipped is tagged first.
    fn sack_skip_dup(
        &mut self,
        cx: &mut Cx<'_>,
        at: Option<Id>,
        next_dup: Option<Block>,
        work: &mut AckWork,
        skip_to: Seq,
    ) -> Option<Id> {
        let Some(dup) = next_dup.filter(|dup| dup.0.before(skip_to)) else {
            return at;
        };
        let at = self.queue.sack_skip(at, dup.0);
        self.sack_walk(cx, at, None, work, dup, true)
    }
}

impl Blocks {
    /// In order of their first bytes; `first` follows its block.
    fn sort(&mut self) {
        for i in (1..self.used).rev() {
            for j in 0..i {
                if self.blocks[j].0.after(self.blocks[j + 1].0) {
                    self.blocks.swap(j, j + 1);
                    if self.first == Some(j) {
                        self.first = Some(j + 1);
                    }
                }
            }
        }
    }
}

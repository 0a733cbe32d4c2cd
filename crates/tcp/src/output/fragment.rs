//! Cutting, trimming and counting segments of the queue (Linux `tcp_fragment()`, `tso_fragment()`, `tcp_trim_head()`,
//! `tcp_set_skb_tso_segs()`, `tcp_adjust_pcount()`).

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Rcv, Snd};
use crate::mib::Counter;
use crate::queue::{Id, Sacked, SendQueue, Skb, SkbFlags};

/// Two largest skbs: what a full send buffer may be exceeded by before a cut is refused.
const ALLOWANCE: u32 = 2 * (65_536 + 576);

impl Skb {
    /// `tcp_set_skb_tso_segs()`: how many segments of `mss` bytes it makes.
    #[inline]
    pub(crate) fn set_segs(&mut self, mss: u32) {
        if self.len <= mss {
            self.pcount = 1;
            self.gso_size = 0;
        } else {
            self.set_many_segs(mss);
        }
    }

    #[cold]
    #[inline(never)]
    fn set_many_segs(&mut self, mss: u32) {
        self.pcount = self.len.div_ceil(mss).min(u32::from(u16::MAX)) as u16;
        self.gso_size = mss as u16;
    }
}

impl SendQueue {
    /// `tcp_trim_head()`: the first `len` bytes of a segment are ACKed.
    pub(crate) fn trim_head(&mut self, snd: &mut Snd, rcv: &mut Rcv, id: Id, len: u32) {
        let Some(skb) = self.get_mut(id) else {
            return;
        };
        let len = len.min(skb.len);
        skb.seq = skb.seq + len;
        skb.len -= len;
        let freed = len.min(skb.truesize);
        skb.truesize -= freed;
        if skb.pcount > 1 {
            skb.set_segs(u32::from(skb.gso_size).max(1));
        }
        snd.wmem_free(rcv, freed);
    }
}

impl Endpoint {
    /// `tcp_fragment()`: cuts a sent or unsent segment at `len`; counters of the scoreboard follow. The rest is the
    /// next segment; places behind it moved by one, those of hints too.
    #[inline(never)]
    pub(crate) fn fragment(&mut self, cx: &mut Cx<'_>, id: Id, len: u32, mss: u32) -> Option<Id> {
        let sent = self
            .queue
            .send_head()
            .is_none_or(|head| self.queue.is_before(id, head));
        let edge = Some(id) == self.queue.first_sent() || Some(id) == self.queue.last_sent();
        if sent && !edge && self.snd.wmem_queued >> 1 > self.snd.sndbuf.saturating_add(ALLOWANCE) {
            cx.count(Counter::WqueueTooBig);
            return None;
        }
        let old = self.queue.get(id)?;
        if len == 0 || len >= old.len {
            return None;
        }
        let (old_pcount, moved) = (i32::from(old.pcount), old.len - len);
        let sent = sent && !self.snd.snd_nxt.before(old.end_seq());
        let rest = self.split(cx, id, len, moved, mss)?;
        let (a, b) = (self.queue.get(id)?.pcount, self.queue.get(rest)?.pcount);
        if sent {
            self.adjust_pcount(id, old_pcount - i32::from(a) - i32::from(b));
            self.queue.list_behind(rest, id);
        }
        Some(rest)
    }

    fn split(&mut self, cx: &Cx<'_>, id: Id, len: u32, moved: u32, mss: u32) -> Option<Id> {
        let rest = self.queue.split(id, len)?;
        let base = cx.host.profile.tx_truesize;
        let first = self.queue.get_mut(id)?;
        // PSH and FIN belong to the last byte.
        first.flags &= !(SkbFlags::FIN | SkbFlags::PSH);
        first.eor = false;
        first.truesize = first.truesize.saturating_sub(moved);
        first.set_segs(mss);
        let second = self.queue.get_mut(rest)?;
        second.truesize = base + moved;
        second.set_segs(mss);
        self.snd.wmem_add(&mut self.rcv, base);
        for hint in [
            &mut self.loss.highest_sack,
            &mut self.loss.retransmit_hint,
            &mut self.loss.lost_hint,
        ] {
            *hint = self.queue.after_split(*hint, id);
        }
        Some(rest)
    }

    /// Moves at most `most` bytes of the next unsent segment, with their memory, to the end of the unsent `id`, and its
    /// flags when it goes as a whole (`skb_shift()`, `tcp_eat_one_skb()`): how many.
    pub(super) fn take_of_next(&mut self, id: Id, most: u32, mss: u32) -> u32 {
        let Some(next) = self.queue.get_mut(id.behind()) else {
            return 0;
        };
        let bytes = next.len.min(most);
        let mut flags = next.flags;
        let mut eor = false;
        next.truesize = next.truesize.saturating_sub(bytes);
        if bytes == next.len {
            eor = next.eor;
            let freed = next.truesize;
            self.queue.remove_unsent(id.behind());
            self.snd.wmem_free(&mut self.rcv, freed);
        } else {
            flags &= !(SkbFlags::FIN | SkbFlags::PSH);
            next.seq = next.seq + bytes;
            next.len -= bytes;
            next.set_segs(mss);
        }
        if let Some(skb) = self.queue.get_mut(id) {
            skb.len += bytes;
            skb.truesize += bytes;
            skb.flags |= flags;
            skb.eor |= eor;
        }
        bytes
    }

    /// `tcp_grow_skb()`: a segment that is shorter than `most` bytes, what may leave at once, takes some of the next.
    #[inline(never)]
    pub(super) fn grow(&mut self, id: Id, most: u32, mss: u32) {
        let Some(skb) = self.queue.get(id).filter(|skb| !skb.eor) else {
            return;
        };
        let missing = most.saturating_sub(skb.len);
        if missing > 0
            && self.take_of_next(id, missing, mss) > 0
            && let Some(skb) = self.queue.get_mut(id)
        {
            skb.set_segs(mss);
        }
    }

    /// `tcp_adjust_pcount()`: a sent segment lost `decrease` packets of its count.
    pub(crate) fn adjust_pcount(&mut self, id: Id, decrease: i32) {
        let Some(skb) = self.queue.get(id).filter(|_| decrease != 0) else {
            return;
        };
        let (skb_seq, sacked) = (skb.seq, skb.sacked);
        let l = &mut self.loss;
        let less = |n: &mut u32| *n = n.saturating_add_signed(-decrease);
        less(&mut l.packets_out);
        if sacked.intersects(Sacked::ACKED) {
            less(&mut l.sacked_out);
        }
        if sacked.intersects(Sacked::RETRANS) {
            less(&mut l.retrans_out);
        }
        if sacked.intersects(Sacked::LOST) {
            less(&mut l.lost_out);
        }
        // Without SACK, duplicate ACKs count segments without identifying them.
        if !self.neg.sack_ok && decrease > 0 {
            l.sacked_out -= l.sacked_out.min(decrease as u32);
        }
        let hint = self.queue.get(l.lost_hint);
        if sacked.intersects(Sacked::ACKED) && hint.is_some_and(|hint| skb_seq.before(hint.seq)) {
            less(&mut self.loss.lost_cnt_hint);
        }
    }
}

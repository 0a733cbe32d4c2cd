//! Data that came before what precedes it (Linux `tcp_data_queue_ofo()`, `tcp_ofo_queue()`).
//!
//! The queue is sorted by first and by last sequence number; neighbours may overlap, none lies within another.

use tcplab_plan::profile::BufferGrowth;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Owner, Rcv, RcvQueue, RcvSkb};
use crate::mib::Counter;
use crate::segment::Segment;

/// What becomes of an arriving segment.
enum Place {
    /// It was appended to the one before it.
    Joined,
    /// All of it is there already.
    Known,
    /// It stands at this place now.
    At(usize),
}

impl RcvQueue {
    /// `skb_rbtree_purge()` of the out-of-order queue.
    pub(super) fn purge_ofo(&mut self, rcv: &mut Rcv) {
        while let Some(skb) = self.ofo.pop_front() {
            rcv.uncharge(skb.truesize);
        }
    }
}

impl Endpoint {
    /// `tcp_data_queue_ofo()`.
    pub(super) fn data_queue_ofo(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        self.ecn_check_ce(cx, seg);
        let skb = self.received(cx, seg);
        if !self.try_rmem_schedule(cx, skb) {
            cx.count(Counter::OFODrop);
            return;
        }
        self.rcv.pred = false;
        self.ack.schedule();
        if cx.host.profile.rcv_mss_of_ofo {
            self.measure_rcv_mss(cx, seg, skb.truesize);
        }
        self.stats.rcv_ooopack = self.stats.rcv_ooopack.wrapping_add(seg.wire_packets());
        cx.count(Counter::OFOQueue);
        let place = if self.rcvq.ofo.is_empty() {
            self.rcvq.num_sacks = 0;
            Place::At(0)
        } else {
            self.place_in_ofo(cx, skb)
        };
        if let Place::At(at) = place {
            self.rcvq.ofo.insert(at, skb);
            self.swallow_behind(cx, at);
        }
        // `tcp_grow_window()` comes first when the segment was joined; nothing between the two depends on the order.
        if self.neg.sack_ok {
            self.sack_new_ofo(cx, skb.seq, skb.end_seq);
            // Without SACK the window stays, so that each ACK is a duplicate one.
            let truesize = match place {
                Place::Known => None,
                // truesize_adjust(): nothing is left of a FIN's memory, so it grows the window as data that cost nothing.
                Place::Joined if seg.len == 0 => Some(0),
                _ => Some(skb.truesize),
            };
            if let Some(truesize) = truesize {
                self.rcv.grow_window(cx, &mut self.ack, seg.len, truesize);
            }
        }
        if matches!(place, Place::At(_)) {
            self.rcv.set_owner(skb.truesize);
        }
        if cx.host.profile.buffer_growth == BufferGrowth::Reordered
            && self.owner == Owner::Application
        {
            self.rcv.rcvbuf_grow(cx, &self.rcvq, self.rcv.space);
        }
    }

    /// Finds where `skb` belongs, and joins it to the one before it when that can be done.
    fn place_in_ofo(&mut self, cx: &mut Cx<'_>, skb: RcvSkb) -> Place {
        let ofo = &self.rcvq.ofo;
        let at = match ofo.back() {
            // The typical case: behind all.
            Some(last) if skb.seq.at_or_after(last.end_seq) => ofo.len(),
            _ => ofo.partition_point(|other| other.seq.at_or_before(skb.seq)),
        };
        let Some(before) = at.checked_sub(1) else {
            return Place::At(0);
        };
        let Some(other) = ofo.get(before).copied() else {
            return Place::At(at);
        };
        if skb.seq.at_or_after(other.end_seq) {
            let joined = self.rcvq.join(cx, &mut self.rcv, true, before, skb);
            return if joined { Place::Joined } else { Place::At(at) };
        }
        if skb.end_seq.at_or_before(other.end_seq) {
            cx.count(Counter::OFOMerge);
            self.dsack_set(cx, skb.seq, skb.end_seq);
            return Place::Known;
        }
        if skb.seq == other.seq {
            // It covers the other one and more.
            self.rcvq.ofo.remove(before);
            self.rcv.uncharge(other.truesize);
            self.dsack_extend(cx, other.seq, other.end_seq);
            cx.count(Counter::OFOMerge);
            return Place::At(before);
        }
        self.dsack_set(cx, skb.seq, other.end_seq);
        Place::At(at)
    }

    /// Removes what the segment at `at` covers.
    fn swallow_behind(&mut self, cx: &mut Cx<'_>, at: usize) {
        let Some(end_seq) = self.rcvq.ofo.get(at).map(|skb| skb.end_seq) else {
            return;
        };
        while let Some(next) = self.rcvq.ofo.get(at + 1).copied() {
            if end_seq.at_or_before(next.seq) {
                break;
            }
            if end_seq.before(next.end_seq) {
                self.dsack_extend(cx, next.seq, end_seq);
                break;
            }
            self.rcvq.ofo.remove(at + 1);
            self.rcv.uncharge(next.truesize);
            self.dsack_extend(cx, next.seq, next.end_seq);
            cx.count(Counter::OFOMerge);
        }
    }

    /// `tcp_ofo_queue()`: what follows `rcv_nxt` now goes to the receive queue.
    pub(super) fn ofo_queue(&mut self, cx: &mut Cx<'_>) {
        let dsack_high = self.rcv.rcv_nxt;
        while let Some(skb) = self.rcvq.ofo.front().copied() {
            if skb.seq.after(self.rcv.rcv_nxt) {
                break;
            }
            if skb.seq.before(dsack_high) {
                self.dsack_extend(cx, skb.seq, dsack_high.min(skb.end_seq));
            }
            self.rcvq.ofo.pop_front();
            if skb.end_seq.at_or_before(self.rcv.rcv_nxt) {
                self.rcv.uncharge(skb.truesize);
                continue;
            }
            // Its memory is counted already: joining counts what the other one takes over.
            self.rcvq.append_ready(cx, &mut self.rcv, skb, true);
            self.rcv.rcv_nxt_update(&mut self.stats, skb.end_seq);
            if skb.fin {
                // Drops what is left: it lies behind the FIN.
                self.fin(cx);
                break;
            }
        }
        if self.rcvq.ofo.is_empty() && self.rcvq.ofo.capacity() > 64 {
            self.rcvq.ofo = std::collections::VecDeque::new();
        }
    }
}

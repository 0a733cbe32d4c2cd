//! What is done when more memory is queued than the buffer allows (Linux `tcp_prune_queue()`,
//! `tcp_prune_ofo_queue()`, `tcp_collapse()`).

use std::collections::VecDeque;

use tcplab_base::Seq;

use super::memory::{buffer_of, skb_truesize};
use crate::cx::Cx;
use crate::endpoint::{AckState, Rcv, RcvQueue, RcvSkb};
use crate::mib::Counter;
use crate::options::Negotiated;

/// `SKB_MAX_ORDER(0, 0)`: payload that a frame of one page holds.
const COLLAPSED: u32 = 4096 - 320;

impl Rcv {
    fn fits(&self) -> bool {
        self.rmem_alloc <= self.rcvbuf
    }

    /// Copies neighbours together into frames of a page, from the first place where that saves memory.
    fn collapse_run(
        &mut self,
        cx: &mut Cx<'_>,
        mut queue: VecDeque<RcvSkb>,
        start: Seq,
    ) -> VecDeque<RcvSkb> {
        let mut done = VecDeque::with_capacity(queue.len());
        let mut start = start;
        while let Some(skb) = queue.front().copied() {
            let len = (skb.end_seq - skb.seq).saturating_sub(u32::from(skb.fin));
            let bloated = self.win_from_space(cx, i64::from(skb.truesize)) > i64::from(len);
            let overlaps = queue.get(1).is_some_and(|next| next.seq != skb.end_seq);
            if (!skb.fin && (bloated || skb.seq.before(start))) || overlaps {
                break;
            }
            start = skb.end_seq;
            queue.pop_front();
            done.push_back(skb);
        }
        while let Some(skb) = queue.front().copied().filter(|skb| !skb.fin) {
            start = start.max(skb.seq);
            let new = self.gather(cx, &mut queue, start);
            start = new.end_seq;
            done.push_back(new);
        }
        done.append(&mut queue);
        done
    }

    /// One frame of up to a page with the bytes from `start` on; what it empties leaves the queue.
    fn gather(&mut self, cx: &mut Cx<'_>, queue: &mut VecDeque<RcvSkb>, start: Seq) -> RcvSkb {
        let mut end = start;
        while let Some(skb) = queue.front_mut().filter(|skb| !skb.fin) {
            let room = COLLAPSED - (end - start);
            let has = skb.end_seq.distance(end).max(0) as u32;
            end = end + has.min(room);
            if has > room {
                break;
            }
            let truesize = skb.truesize;
            queue.pop_front();
            self.uncharge(truesize);
            cx.count(Counter::RcvCollapsed);
            if end - start == COLLAPSED {
                break;
            }
        }
        let len = end - start;
        let room = buffer_of(&cx.host.profile, len);
        let new = RcvSkb {
            seq: start,
            end_seq: end,
            truesize: skb_truesize(room),
            tailroom: (room - len) as u16,
            frags: RcvSkb::OWN_BUFFER,
            fin: false,
        };
        self.set_owner(new.truesize);
        new
    }
}

impl RcvQueue {
    /// `tcp_prune_queue()`: true when a frame may be queued afterwards.
    #[inline(never)]
    pub(super) fn prune_queue(
        &mut self,
        cx: &mut Cx<'_>,
        rcv: &mut Rcv,
        ack: &mut AckState,
        (neg, seq): (&Negotiated, Seq),
    ) -> bool {
        cx.count(Counter::PruneCalled);
        if rcv.rmem_alloc >= rcv.rcvbuf {
            rcv.clamp_window(cx, ack);
        }
        if rcv.fits() {
            return true;
        }
        self.collapse_ofo(cx, rcv);
        self.collapse_ready(cx, rcv);
        if rcv.fits() {
            return true;
        }
        self.prune_ofo(cx, rcv, neg, seq);
        if rcv.fits() {
            return true;
        }
        cx.count(Counter::RcvPruned);
        rcv.pred = false;
        false
    }

    /// `tcp_prune_ofo_queue()`: drops the highest out-of-order frames, an eighth of the buffer at a time; in later
    /// releases none below the one that arrives, at `seq`.
    fn prune_ofo(&mut self, cx: &mut Cx<'_>, rcv: &mut Rcv, neg: &Negotiated, seq: Seq) {
        let keeps = cx.host.profile.prunes_above_only;
        let may_go = |skb: &RcvSkb| !keeps || !seq.after(skb.seq);
        if !self.ofo.back().is_some_and(may_go) {
            return;
        }
        cx.count(Counter::OfoPruned);
        let mut goal = i64::from(rcv.rcvbuf >> 3);
        while let Some(skb) = self.ofo.back().copied().filter(may_go) {
            self.ofo.pop_back();
            goal -= i64::from(skb.truesize);
            rcv.uncharge(skb.truesize);
            if goal <= 0 {
                if rcv.fits() {
                    break;
                }
                goal = i64::from(rcv.rcvbuf >> 3);
            }
        }
        // RFC 2018 8: what was SACKed is gone.
        if neg.sack_ok {
            self.num_sacks = 0;
            self.dsack = None;
        }
    }

    /// `tcp_collapse()` of the receive queue.
    fn collapse_ready(&mut self, cx: &mut Cx<'_>, rcv: &mut Rcv) {
        let queue = std::mem::take(&mut self.ready);
        self.ready = rcv.collapse_run(cx, queue, rcv.copied_seq);
    }

    /// `tcp_collapse_ofo_queue()`: each run without a gap, unless it is one small frame.
    fn collapse_ofo(&mut self, cx: &mut Cx<'_>, rcv: &mut Rcv) {
        let mut rest = std::mem::take(&mut self.ofo);
        let mut done = VecDeque::with_capacity(rest.len());
        let mut tiny = 0_u32;
        while let Some(first) = rest.pop_front() {
            let mut run = VecDeque::from([first]);
            let (mut end, mut memory) = (first.end_seq, first.truesize);
            while let Some(next) = rest.front().copied().filter(|n| n.seq.at_or_before(end)) {
                rest.pop_front();
                end = end.max(next.end_seq);
                memory += next.truesize;
                run.push_back(next);
            }
            if run.len() > 1 || end - first.seq >= COLLAPSED {
                done.append(&mut rcv.collapse_run(cx, run, first.seq));
                continue;
            }
            done.append(&mut run);
            tiny += memory;
            if tiny > rcv.rcvbuf >> 3 {
                break;
            }
        }
        done.append(&mut rest);
        self.ofo = done;
    }
}

//! A segment in ESTABLISHED: header prediction and the slow path (Linux `tcp_rcv_established()`).
//!
//! Prediction (Van Jacobson) changes what is counted, and skips only what cannot matter then.

use tcplab_wire::TcpFlags;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Rcv, RcvQueue, RcvSkb, Snd, Urgent};
use crate::mib::Counter;
use crate::options::Negotiated;
use crate::recovery::{Acked, Flag};
use crate::segment::{Caqm, Segment};

impl Negotiated {
    /// Takes the time stamp over; false: PAWS must look closer.
    #[inline]
    fn predicted_time_stamp(&mut self, seg: &Segment) -> bool {
        if !self.tstamp_ok {
            return true;
        }
        self.parse_time_stamp(seg);
        self.rcv_tsval.wrapping_sub(self.ts_recent) as i32 >= 0
    }

    /// `tcp_store_ts_recent()` of a predicted segment: it is at `rcv_nxt`, so the rule is `rcv_nxt == rcv_wup`.
    #[inline]
    fn predicted_ts_recent(&mut self, cx: &Cx<'_>, rcv: &Rcv) {
        if self.tstamp_ok && rcv.rcv_nxt == rcv.rcv_wup {
            self.store_ts_recent(cx);
        }
    }
}

impl Rcv {
    /// The header is as `pred_flags` says, the segment is next in order, its ACK is within what was sent.
    #[inline]
    fn predicts(&self, neg: &Negotiated, snd: &Snd, seg: &Segment) -> bool {
        let o = &seg.options;
        self.pred
            && seg.flags.0 & !TcpFlags::PSH == TcpFlags::ACK
            && u32::from(seg.window) == snd.snd_wnd >> snd.snd_wscale
            && seg.seq == self.rcv_nxt
            && seg.ack.at_or_before(snd.snd_nxt)
            && seg.ack.at_or_after(snd.snd_una)
            && o.sack.is_empty()
            && o.timestamps.is_some() == neg.tstamp_ok
    }

    /// `tcp_fast_path_check()`: header prediction is on when nothing unusual goes on.
    #[inline]
    pub(crate) fn fast_path_check(&mut self, rcvq: &RcvQueue) {
        if rcvq.ofo.is_empty()
            && self.rcv_wnd != 0
            && self.rmem_alloc < self.rcvbuf
            && self.urg_data == Urgent::None
        {
            self.pred = true;
        }
    }
}

impl Endpoint {
    /// `tcp_rcv_established()`.
    pub(super) fn rcv_established(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        self.neg.saw_tstamp = false;
        if self.rcv.predicts(&self.neg, &self.snd, seg) && self.neg.predicted_time_stamp(seg) {
            if seg.caqm != Caqm::Plain {
                self.caqm_accepted(cx, seg);
            }
            if seg.len == 0 {
                return self.fast_ack(cx, seg);
            }
            if cx.host.profile.checks_segment_end && self.rcv.is_beyond(seg.end_seq()) {
                if self.validate(cx, seg, true) {
                    self.slow_path(cx, seg);
                }
                return;
            }
            // Most readers take all that comes: nothing is set aside then, and how much it takes need not be known.
            if self.rcv.fwd_alloc > 0 {
                let skb = self.received(cx, seg);
                if self.rcv.fwd_alloc >= skb.truesize as i32 {
                    return self.fast_data(cx, seg, skb);
                }
            }
            // No memory was set aside for it: the slow path takes some. What was predicted stays valid.
            return self.slow_path(cx, seg);
        }
        if !seg.flags.has(TcpFlags::ACK | TcpFlags::RST | TcpFlags::SYN) {
            return;
        }
        if self.validate(cx, seg, true) {
            if seg.caqm != Caqm::Plain {
                self.caqm_accepted(cx, seg);
            }
            self.slow_path(cx, seg);
        }
    }

    /// A pure ACK: the sender's side of a bulk transfer.
    #[inline]
    fn fast_ack(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        self.neg.predicted_ts_recent(cx, &self.rcv);
        self.ack(cx, seg, Flag::empty());
        self.data_snd_check(cx);
        self.rcv.rtt_last_tsecr = self.neg.rcv_tsecr;
    }

    /// Data in order: the receiver's side of a bulk transfer.
    #[inline(never)]
    fn fast_data(&mut self, cx: &mut Cx<'_>, seg: &Segment, skb: RcvSkb) {
        self.neg.predicted_ts_recent(cx, &self.rcv);
        self.rcv.rtt_measure_ts(cx, &self.ack, &self.neg, seg);
        cx.count(Counter::HPHits);
        self.rcvq.queue_rcv(cx, &mut self.rcv, &mut self.stats, skb);
        self.event_data_recv(cx, seg, skb.truesize);
        if seg.ack == self.snd.snd_una {
            self.snd.snd_wl1 = seg.seq;
        } else {
            self.ack(cx, seg, Flag::DATA);
            self.data_snd_check(cx);
            if !self.ack.is_scheduled() {
                return;
            }
        }
        self.decide_ack(cx, false);
    }

    /// From step 5 on: ACK, urgent pointer, data, and what to send.
    fn slow_path(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        if self.ack(cx, seg, Flag::SLOWPATH | Flag::UPDATE_TS_RECENT) == Acked::Invalid {
            return;
        }
        self.rcv.rtt_measure_ts(cx, &self.ack, &self.neg, seg);
        self.rcv.urgent(cx, &mut self.rcvq, seg);
        self.data_queue(cx, seg);
        self.data_snd_check(cx);
        self.ack_snd_check(cx);
    }
}

//! Payload and FIN of a segment whose ACK was handled (Linux `tcp_data_queue()`, `tcp_queue_rcv()`,
//! `tcp_fin()`).

use tcplab_base::Seq;
use tcplab_plan::profile::AckEngine;
use tcplab_wire::TcpFlags;

use crate::ack::MAX_QUICKACKS;
use crate::cx::Cx;
use crate::endpoint::{AckPending, AckState, Endpoint, Rcv, RcvSkb, Shutdown, State, Stats};
use crate::mib::Counter;
use crate::segment::Segment;

impl AckState {
    /// Nothing of the segment is kept; its sender shall learn soon what we have.
    #[inline(never)]
    fn out_of_window(&mut self, cx: &mut Cx<'_>, rcv: &Rcv) {
        self.enter_quickack_mode(cx, rcv, MAX_QUICKACKS);
        self.schedule();
        self.bsd_ack_now(cx);
    }

    /// BSD ACKs at once all that is not plain data in order.
    #[inline]
    fn bsd_ack_now(&mut self, cx: &Cx<'_>) {
        if cx.host.profile.ack_engine == AckEngine::EverySecond {
            self.pending |= AckPending::NOW;
        }
    }
}

impl Rcv {
    /// `tcp_rcv_nxt_update()`.
    #[inline]
    pub(super) fn rcv_nxt_update(&mut self, stats: &mut Stats, seq: Seq) {
        stats.bytes_received += u64::from(seq - self.rcv_nxt);
        self.rcv_nxt = seq;
    }
}

impl Endpoint {
    /// `tcp_data_queue()`: payload and FIN of a segment whose ACK was handled.
    pub(crate) fn data_queue(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        let end_seq = seg.end_seq();
        if seg.seq == end_seq {
            return;
        }
        self.rcvq.dsack = None;
        let rcv_nxt = self.rcv.rcv_nxt;
        if seg.seq == rcv_nxt {
            let bare_fin = seg.len == 0 && cx.host.profile.takes_bare_fin;
            if self.rcv.receive_window() == 0 && !bare_fin {
                cx.count(Counter::ZeroWindowDrop);
                return self.ack.out_of_window(cx, &self.rcv);
            }
            return self.queue_in_order(cx, seg);
        }
        self.data_not_next(cx, seg, end_seq, rcv_nxt);
    }

    /// The segment does not begin at `rcv_nxt`.
    #[inline(never)]
    fn data_not_next(&mut self, cx: &mut Cx<'_>, seg: &Segment, end_seq: Seq, rcv_nxt: Seq) {
        if end_seq.at_or_before(rcv_nxt) {
            // All of it is old: the peer's retransmission was spurious, or our ACK was lost.
            if self.is_spurious(cx, seg.seq) {
                self.rethink_txhash(cx, Counter::DuplicateDataRehash);
            }
            cx.count(Counter::DelayedACKLost);
            self.dsack_set(cx, seg.seq, end_seq);
            return self.ack.out_of_window(cx, &self.rcv);
        }
        let window = self.rcv.receive_window();
        if seg.seq.at_or_after(rcv_nxt + window) {
            if cx.host.profile.checks_segment_end {
                cx.count(Counter::BeyondWindow);
            }
            return self.ack.out_of_window(cx, &self.rcv);
        }
        if seg.seq.before(rcv_nxt) {
            self.dsack_set(cx, seg.seq, rcv_nxt);
            if window == 0 {
                cx.count(Counter::ZeroWindowDrop);
                return self.ack.out_of_window(cx, &self.rcv);
            }
            return self.queue_in_order(cx, seg);
        }
        self.data_queue_ofo(cx, seg);
    }

    /// The segment begins at or before `rcv_nxt` and ends behind it.
    fn queue_in_order(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        let skb = self.received(cx, seg);
        if cx.host.profile.full_memory_closes_window {
            if !self.try_rmem_schedule(cx, skb) && !self.takes_without_memory(cx, seg, skb) {
                return;
            }
        } else if self.rcvq.ready.is_empty() {
            self.rcv.forced_mem_schedule(skb.truesize);
        } else if !self.try_rmem_schedule(cx, skb) {
            cx.count(Counter::RcvQDrop);
            return;
        }
        self.rcvq.queue_rcv(cx, &mut self.rcv, &mut self.stats, skb);
        if seg.len > 0 {
            self.event_data_recv(cx, seg, skb.truesize);
        }
        if seg.flags.has(TcpFlags::FIN) {
            self.fin(cx);
        }
        if !self.rcvq.ofo.is_empty() {
            self.hole_is_filled(cx);
        }
        if self.rcvq.num_sacks > 0 {
            self.rcvq.sack_remove(&self.rcv);
        }
        self.rcv.fast_path_check(&self.rcvq);
        cx.tells();
    }

    /// There is no memory: the next ACK, sent at once, offers no window. Only a first frame and a bare FIN are queued.
    #[cold]
    #[inline(never)]
    fn takes_without_memory(&mut self, cx: &mut Cx<'_>, seg: &Segment, skb: RcvSkb) -> bool {
        self.ack.pending |= AckPending::NO_MEMORY | AckPending::NOW;
        self.ack.schedule();
        cx.tells();
        let takes = self.rcvq.ready.is_empty() || seg.len == 0;
        match takes {
            true => self.rcv.forced_mem_schedule(skb.truesize),
            false => cx.count(Counter::RcvQDrop),
        }
        takes
    }

    /// What stood behind the segment may be in order now.
    #[inline(never)]
    fn hole_is_filled(&mut self, cx: &mut Cx<'_>) {
        self.ofo_queue(cx);
        if self.rcvq.ofo.is_empty() {
            // RFC 5681 4.2: at once, when a gap is filled.
            match cx.host.profile.repair_ack {
                true => self.ack.pending |= AckPending::NOW,
                false => self.ack.exit_pingpong(),
            }
        }
        self.ack.bsd_ack_now(cx);
    }

    /// `tcp_fin()`: the peer's FIN is in order.
    pub(crate) fn fin(&mut self, cx: &mut Cx<'_>) {
        self.ack.schedule();
        self.ack.bsd_ack_now(cx);
        self.shutdown |= Shutdown::RECEIVE;
        self.rcv.fin_seq = Some(self.rcv.rcv_nxt - 1);
        match self.state {
            State::SynRecv | State::Established => {
                self.set_state(cx, State::CloseWait);
                self.ack.enter_pingpong(cx);
            }
            State::FinWait1 => {
                self.send_ack(cx);
                self.set_state(cx, State::Closing);
            }
            State::FinWait2 => {
                self.send_ack(cx);
                self.enter_time_wait(cx, true, 0);
            }
            _ => {}
        }
        self.rcvq.purge_ofo(&mut self.rcv);
        self.rcvq.num_sacks = 0;
        self.rcvq.dsack = None;
    }
}

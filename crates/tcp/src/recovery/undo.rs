//! Reductions that were not needed are taken back: by time stamps (RFC 3522), by DSACK (RFC 3708), by
//! F-RTO (RFC 5682). Linux `tcp_try_undo_*()`.

use tcplab_base::Seq;

use super::CaState;
use super::rack::RECOVERY_THRESH;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd, State};
use crate::mib::Counter;
use crate::options::{Ecn, Negotiated};
use crate::queue::{Sacked, SendQueue, Skb};
use crate::recovery::Loss;

impl Negotiated {
    /// `tcp_tsopt_ecr_before()`: the peer echoes a time before `when` (ms).
    #[cold]
    #[inline(never)]
    fn echoes_before(&self, when: u32) -> bool {
        self.saw_tstamp && self.rcv_tsecr != 0 && (self.rcv_tsecr.wrapping_sub(when) as i32) < 0
    }

    /// `tcp_skb_spurious_retrans()`: the echo is older than the segment's last transmission.
    pub(super) fn is_spurious_retrans(&self, skb: &Skb) -> bool {
        skb.is(Sacked::RETRANS | Sacked::EVER_RETRANS)
            && self.echoes_before((skb.xmit_ns / 1_000_000) as u32)
    }
}

impl Loss {
    /// `tcp_any_retrans_done()`.
    pub(super) fn any_retrans_done(&self, queue: &SendQueue) -> bool {
        self.retrans_out > 0
            || queue
                .first_sent()
                .and_then(|id| queue.get(id))
                .is_some_and(|skb| skb.is(Sacked::EVER_RETRANS))
    }

    /// `tcp_retrans_stamp_cleanup()`.
    pub(super) fn retrans_stamp_cleanup(&mut self, queue: &SendQueue) {
        if !self.any_retrans_done(queue) {
            self.retrans_stamp = 0;
        }
    }

    /// `tcp_init_undo()`: an episode begins that may turn out to be an error.
    pub(super) fn init_undo(&mut self, snd: &Snd) {
        self.undo_marker = Some(snd.snd_una);
        self.undo_retrans = self.retrans_out as i32;
        if self.tlp_high_seq.is_some() && self.tlp_retrans {
            self.undo_retrans += 1;
        }
        if self.undo_retrans == 0 {
            // 0 would mean that all retransmissions were needless.
            self.undo_retrans = -1;
        }
    }
}

impl Endpoint {
    /// `tcp_packet_delayed()`: what was ACKed left before the first retransmission.
    fn packet_delayed(&self) -> bool {
        if self.loss.retrans_stamp != 0 {
            return self.neg.echoes_before(self.loss.retrans_stamp);
        }
        // No retransmission yet; or Reno's wait for something above high_seq has cleared the stamp.
        if self.neg.is_reno() && !self.snd.snd_una.before(self.loss.high_seq) {
            return false;
        }
        self.state != State::SynSent
    }

    /// `tcp_may_undo()`.
    fn may_undo(&self) -> bool {
        self.loss.undo_marker.is_some() && (self.loss.undo_retrans == 0 || self.packet_delayed())
    }

    /// `tcp_undo_cwnd_reduction()`; `unmark`: nothing is lost after all.
    fn undo_cwnd_reduction(&mut self, cx: &mut Cx<'_>, unmark: bool) {
        if unmark {
            self.queue.clear_tag(Sacked::LOST);
            self.loss.lost_out = 0;
            self.loss.clear_hints();
        }
        if self.loss.prior_ssthresh > 0 {
            let cwnd = self.cc_undo_cwnd(cx);
            self.snd.set_cwnd(cwnd);
            if self.loss.prior_ssthresh > self.snd.snd_ssthresh {
                self.snd.set_ssthresh(self.loss.prior_ssthresh);
                self.neg.ecn_flags &= !Ecn::QUEUE_CWR;
            }
        }
        self.snd.snd_cwnd_stamp = cx.jiffies32();
        self.loss.undo_marker = None;
        self.rack.advanced = true;
    }

    /// `tcp_is_non_sack_preventing_reopen()`: without SACK the state is held until something above `high_seq`
    /// is ACKed (RFC 6582 3.2 step 1).
    fn hold_by_reno(&mut self) -> bool {
        if self.snd.snd_una != self.loss.high_seq || !self.neg.is_reno() {
            return false;
        }
        self.loss.retrans_stamp_cleanup(&self.queue);
        true
    }

    /// `tcp_try_undo_recovery()`: the episode is over; true: its state is held.
    pub(super) fn try_undo_recovery(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.may_undo() {
            self.undo_cwnd_reduction(cx, false);
            cx.count(match self.loss.ca_state {
                CaState::Loss => Counter::LossUndo,
                _ => Counter::FullUndo,
            });
        } else if self.rack.reo_wnd_persist > 0 {
            self.rack.reo_wnd_persist -= 1;
        }
        if self.hold_by_reno() {
            return true;
        }
        self.cc_set_state(cx, CaState::Open);
        self.loss.is_sack_reneg = false;
        false
    }

    /// The SYN-ACK of a child of Fast Open is ACKed after its timer fired: by the echo of its time it may have been
    /// the first one.
    pub(crate) fn undo_synack_loss(&mut self, cx: &mut Cx<'_>) {
        if self.loss.ca_state == CaState::Loss && self.loss.packets_out == 0 {
            self.try_undo_recovery(cx);
        }
    }

    /// `tcp_try_undo_dsack()`: every retransmission of the episode came twice.
    pub(super) fn try_undo_dsack(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.loss.undo_marker.is_none() || self.loss.undo_retrans != 0 {
            return false;
        }
        self.rack.reo_wnd_persist = (self.rack.reo_wnd_persist + 1).min(RECOVERY_THRESH);
        self.undo_cwnd_reduction(cx, false);
        cx.count(Counter::DSACKUndo);
        true
    }

    /// `tcp_try_undo_loss()`: in Loss, by time stamp or F-RTO.
    pub(super) fn try_undo_loss(&mut self, cx: &mut Cx<'_>, frto: bool) -> bool {
        if !frto && !self.may_undo() {
            return false;
        }
        self.undo_cwnd_reduction(cx, true);
        cx.count(Counter::LossUndo);
        if frto {
            cx.count(Counter::SpuriousRTOs);
        }
        self.loss.retransmits = 0;
        if self.hold_by_reno() {
            return true;
        }
        if frto || !self.neg.is_reno() {
            self.cc_set_state(cx, CaState::Open);
            self.loss.is_sack_reneg = false;
        }
        true
    }

    /// `tcp_try_undo_partial()`: a partial ACK in recovery. True: a hole was filled by what was only late, and
    /// retransmissions are still in flight: nothing more is marked.
    pub(super) fn try_undo_partial(
        &mut self,
        cx: &mut Cx<'_>,
        prior_snd_una: Seq,
        do_lost: &mut bool,
    ) -> bool {
        if self.loss.undo_marker.is_none() || !self.packet_delayed() {
            *do_lost = self.loss.force_fast_retransmit(&self.queue, &self.snd);
            return false;
        }
        self.check_sack_reordering(cx, prior_snd_una, true);
        if self.loss.retrans_out > 0 {
            return true;
        }
        self.loss.retrans_stamp_cleanup(&self.queue);
        self.undo_cwnd_reduction(cx, true);
        cx.count(Counter::PartialUndo);
        self.try_keep_open(cx);
        false
    }
}

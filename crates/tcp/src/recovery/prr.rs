//! The congestion window while it is reduced: proportional rate reduction (RFC 6937; Linux
//! `tcp_init_cwnd_reduction()`, `tcp_cwnd_reduction()`, `tcp_end_cwnd_reduction()`, `tcp_enter_cwr()`).

use super::{CaState, Flag};
use crate::cc::INFINITE_SSTHRESH;
use crate::cc::{CaEvent, CongestionControl};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd};
use crate::options::{Ecn, Negotiated};
use crate::recovery::Loss;

impl Negotiated {
    /// `tcp_ecn_queue_cwr()`: the next new data carries CWR (RFC 3168 6.1.2).
    pub(super) fn ecn_queue_cwr(&mut self) {
        if self.ecn_flags.intersects(Ecn::OK) {
            self.ecn_flags |= Ecn::QUEUE_CWR;
        }
    }
}

impl Loss {
    /// `tcp_cwnd_reduction()`: RFC 6937 3.1, with the conservative bound while more is lost. Older releases leave that
    /// bound only when a retransmission was ACKed.
    #[cold]
    #[inline(never)]
    pub(crate) fn cwnd_reduction(
        &mut self,
        cx: &Cx<'_>,
        snd: &mut Snd,
        newly_delivered: u32,
        newly_lost: u32,
        flag: Flag,
    ) {
        if newly_delivered == 0 || snd.prior_cwnd == 0 {
            return;
        }
        let in_flight = self.in_flight();
        let ssthresh = snd.snd_ssthresh;
        self.prr_delivered = self.prr_delivered.wrapping_add(newly_delivered);
        let (delivered, out) = (i64::from(self.prr_delivered), i64::from(self.prr_out));
        let delta = i64::from(ssthresh) - i64::from(in_flight);
        let mut count = if delta < 0 {
            let prior = i64::from(snd.prior_cwnd);
            (i64::from(ssthresh) * delivered + prior - 1) / prior - out
        } else if cx.host.profile.prr_waits_for_retransmission {
            let both = Flag::RETRANS_DATA_ACKED | Flag::LOST_RETRANS;
            let count = match flag & both == Flag::RETRANS_DATA_ACKED {
                true => (delivered - out).max(i64::from(newly_delivered)) + 1,
                false => i64::from(newly_delivered),
            };
            count.min(delta)
        } else {
            let mut count = (delivered - out).max(i64::from(newly_delivered));
            if flag.intersects(Flag::SND_UNA_ADVANCED) && newly_lost == 0 {
                count += 1;
            }
            count.min(delta)
        };
        // The first retransmission leaves in any case.
        count = count.max(i64::from(out == 0));
        let cwnd = (i64::from(in_flight) + count).clamp(0, i64::from(u32::MAX)) as u32;
        snd.set_cwnd(cwnd);
    }
}

impl Endpoint {
    /// `tcp_init_cwnd_reduction()`.
    pub(super) fn init_cwnd_reduction(&mut self, cx: &mut Cx<'_>) {
        self.loss.high_seq = self.snd.snd_nxt;
        self.loss.tlp_high_seq = None;
        self.snd.snd_cwnd_cnt = 0;
        self.snd.prior_cwnd = self.snd.snd_cwnd;
        self.loss.prr_delivered = 0;
        self.loss.prr_out = 0;
        let ssthresh = self.cc_ssthresh(cx);
        self.snd.set_ssthresh(ssthresh);
        self.neg.ecn_queue_cwr();
    }

    /// `tcp_end_cwnd_reduction()`: the window is the threshold, unless the reduction was undone.
    pub(super) fn end_cwnd_reduction(&mut self, cx: &mut Cx<'_>) {
        if self.cc.controls_cwnd() {
            return;
        }
        if self.snd.snd_ssthresh < INFINITE_SSTHRESH
            && (self.loss.ca_state == CaState::Cwr || self.loss.undo_marker.is_some())
        {
            self.snd.set_cwnd(self.snd.snd_ssthresh);
            self.snd.snd_cwnd_stamp = cx.jiffies32();
        }
        self.cc_event(cx, CaEvent::CompleteCwr);
    }

    /// `tcp_enter_cwr()`: congestion is proven (ECE): no undo.
    pub(crate) fn enter_cwr(&mut self, cx: &mut Cx<'_>) {
        self.loss.prior_ssthresh = 0;
        if self.loss.ca_state < CaState::Cwr {
            self.loss.undo_marker = None;
            self.init_cwnd_reduction(cx);
            self.cc_set_state(cx, CaState::Cwr);
        }
    }
}

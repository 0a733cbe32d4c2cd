//! Losses that are not congestion: the path's MTU shrank (Linux `tcp_simple_retransmit()`).

use super::CaState;
use super::sack_walk::segment_len;
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::queue::Id;

impl Endpoint {
    /// `tcp_simple_retransmit()`: the MSS shrank; what is too long is sent again in smaller segments.
    pub(crate) fn simple_retransmit(&mut self, cx: &mut Cx<'_>) {
        let mss = self.current_mss();
        // Data that went with the SYN stand behind it here: the segment that was too long was both.
        let all = self.is_syn_data_out();
        let mut at = self.queue.first_sent();
        while let Some(id) = at {
            at = self.queue.next_sent(id);
            if self
                .queue
                .get(id)
                .is_some_and(|skb| all || segment_len(skb) > mss)
            {
                self.loss.mark_lost(cx, &mut self.queue, id);
            }
        }
        self.loss.lost_hint = Id::NONE;
        if self.loss.lost_out == 0 {
            return;
        }
        if self.neg.is_reno() {
            self.loss.limit_reno_sacked();
        }
        self.loss_without_congestion(cx);
    }

    /// `tcp_non_congestion_loss_retransmit()`: sends what is marked lost; the window stays as it is.
    pub(crate) fn loss_without_congestion(&mut self, cx: &mut Cx<'_>) {
        if self.loss.ca_state != CaState::Loss {
            // The window stays: only the unit changed.
            self.loss.high_seq = self.snd.snd_nxt;
            let ssthresh = self.snd.current_ssthresh(&self.loss);
            self.snd.set_ssthresh(ssthresh);
            self.loss.prior_ssthresh = 0;
            self.loss.undo_marker = None;
            self.cc_set_state(cx, CaState::Loss);
        }
        self.xmit_retransmit_queue(cx);
    }

    /// `tcp_v4_mtu_reduced()`, `tcp_v6_mtu_reduced()`: the path takes packets of `mtu` bytes. No packet of the
    /// connection came and no timer fired, so the kernel does not read its clock: time stamps come from the last
    /// packet sent or received.
    pub(crate) fn mtu_reduced(&mut self, cx: &mut Cx<'_>, mtu: u32) {
        self.path_shrinks(cx, mtu);
        self.sync_mss(cx, mtu);
        cx.at_mstamp(self.last_stamp(cx), |cx| self.simple_retransmit(cx));
    }

    /// `tcp_mstamp`: when the connection read the clock last, as it sent or was sent something.
    pub(crate) fn last_stamp(&self, cx: &Cx<'_>) -> u64 {
        let tick_ns = cx.host.clock.tick_ns().unsigned_abs();
        let heard = u64::from(cx.jiffies32().wrapping_sub(self.rcv.rcv_tstamp)) * tick_ns;
        let heard = cx.now_ns().saturating_sub(heard);
        self.tune.wstamp_ns.max(heard / tick_ns * tick_ns)
    }
}

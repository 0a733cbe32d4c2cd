//! The timer of RTO, TLP and RACK's reordering: arming and dispatch (Linux `tcp_rearm_rto()`,
//! `tcp_set_xmit_timer()`, `tcp_write_timer_handler()`).

use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::queue::SendQueue;
use crate::rtt::Rtt;
use crate::timers::{NEVER, Pending};

impl Rtt {
    /// `tcp_rto_delta_us()`: time until the head's timeout, in us; negative when that has passed.
    pub(super) fn rto_delta_us(&self, cx: &Cx<'_>, queue: &SendQueue) -> i64 {
        let rto = i64::from(cx.host.clock.micros(self.rto));
        match queue.first_sent().and_then(|id| queue.get(id)) {
            Some(skb) => skb.xmit_us() as i64 + rto - cx.now_us() as i64,
            None => rto,
        }
    }
}

impl Endpoint {
    /// `tcp_rearm_rto()`: RFC 6298 5.2, 5.3.
    pub(crate) fn rearm_rto(&mut self, cx: &mut Cx<'_>) {
        if self.timers.pending == Pending::SynAck {
            return;
        }
        if self.loss.packets_out == 0 {
            self.timers.disarm();
            return;
        }
        let mut rto = self.rtt.rto;
        if matches!(
            self.timers.pending,
            Pending::ReoTimeout | Pending::LossProbe | Pending::EarlyRetrans
        ) {
            // The timeout counts from the head's transmission, not from the probe's timer.
            let us = self.rtt.rto_delta_us(cx, &self.queue).max(1);
            rto = cx.host.clock.from_micros(us as u64);
        }
        self.timers.arm_paced(cx, &self.tune, Pending::Retrans, rto);
    }

    /// `tcp_set_xmit_timer()`: a probe, and where there can be none the timeout.
    pub(super) fn set_xmit_timer(&mut self, cx: &mut Cx<'_>) {
        if !self.schedule_loss_probe(cx, true) {
            self.rearm_rto(cx);
        }
    }

    /// The timer that `pending` names is due: RTO, TLP, RACK's reordering or a window probe
    /// (`tcp_write_timer_handler()`).
    pub(crate) fn on_rexmit_timer(&mut self, cx: &mut Cx<'_>) {
        self.timers.rexmit_at = NEVER;
        self.ack.note_clock(cx);
        match self.timers.pending {
            Pending::ReoTimeout => self.rack_reo_timeout(cx),
            Pending::EarlyRetrans => self.resume_early_retransmit(cx),
            Pending::LossProbe => self.send_loss_probe(cx),
            Pending::Retrans => {
                self.timers.pending = Pending::None;
                self.retransmit_timer(cx);
            }
            Pending::Probe0 => {
                self.timers.pending = Pending::None;
                self.on_probe_timer(cx);
            }
            Pending::SynAck => self.fast_synack_timer(cx),
            Pending::None => {}
        }
    }
}

//! Tail loss probes (RFC 8985 7; Linux `tcp_schedule_loss_probe()`, `tcp_send_loss_probe()`,
//! `tcp_process_tlp_ack()`).

use tcplab_base::Seq;
use tcplab_plan::profile::TlpRule;

use super::rack::TIMEOUT_MIN_US;
use super::{CaState, Flag};
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::mib::Counter;
use crate::options::Nagle;
use crate::output::Push;
use crate::rtt::timeout_init;
use crate::timers::Pending;

impl Endpoint {
    /// `tcp_schedule_loss_probe()`: true when a probe is armed.
    pub(crate) fn schedule_loss_probe(&mut self, cx: &mut Cx<'_>, advancing_rto: bool) -> bool {
        if !matches!(cx.host.sysctl.tcp_early_retrans, 3 | 4)
            || self.loss.packets_out == 0
            || self.timers.pending == Pending::SynAck
            || self.neg.is_reno()
            || !matches!(self.loss.ca_state, CaState::Open | CaState::Cwr)
            || !self.old_rule_allows(cx)
        {
            return false;
        }
        let clock = &cx.host.clock;
        let mut timeout = match self.rtt.srtt_us {
            0 => timeout_init(clock),
            _ => self.probe_timeout(cx),
        };
        // Not later than the retransmission timeout.
        let rto_us = match advancing_rto {
            true => i64::from(clock.micros(self.rtt.rto)),
            false => self.rtt.rto_delta_us(cx, &self.queue),
        };
        if let Ok(us @ 1..) = u64::try_from(rto_us) {
            let rto = clock.from_micros(us);
            if rto < timeout && !cx.host.profile.tlp_rto_cap {
                // No kernel does this: the probe keeps its own time, and a timeout that is sooner comes instead.
                return false;
            }
            timeout = timeout.min(rto);
        }
        self.timers
            .arm_paced(cx, &self.tune, Pending::LossProbe, timeout);
        true
    }

    /// The rule of 2016 probes in Open only, after a first sample, and not while the application's data and the
    /// window let more out.
    fn old_rule_allows(&self, cx: &Cx<'_>) -> bool {
        cx.host.profile.tlp_rule != TlpRule::DelackMax
            || (self.loss.ca_state == CaState::Open
                && self.rtt.srtt_us != 0
                && (self.snd.snd_cwnd <= self.loss.in_flight() || !self.queue.has_unsent()))
    }

    /// The time that the peer has to answer, in jiffies: two round trips, and its delayed ACK when one segment is
    /// out.
    fn probe_timeout(&self, cx: &Cx<'_>) -> u32 {
        let clock = &cx.host.clock;
        let alone = self.loss.packets_out == 1;
        match cx.host.profile.tlp_rule {
            TlpRule::RtoMin => {
                let more = match alone {
                    true => self.rtt.rto_min_us(cx.host),
                    false => TIMEOUT_MIN_US,
                };
                clock.from_micros(u64::from(self.rtt.srtt_us >> 2) + u64::from(more))
            }
            TlpRule::DelackMax => {
                let rtt = clock.from_micros(u64::from(self.rtt.srtt_us >> 3));
                let mut timeout = rtt << 1;
                if alone {
                    // TCP_DELACK_MAX
                    timeout = timeout.max(rtt + (rtt >> 1) + clock.hz / 5);
                }
                timeout.max(clock.from_millis(10))
            }
        }
    }

    /// `tcp_send_loss_probe()`: new data when there is some and the window allows it, else the last segment again.
    pub(super) fn send_loss_probe(&mut self, cx: &mut Cx<'_>) {
        if self.loss.tlp_high_seq.is_none() && self.probe_sent(cx) {
            self.loss.tlp_high_seq = Some(self.snd.snd_nxt);
            cx.count(Counter::LossProbes);
            // The timeout counts from now, not from the last transmission.
            self.timers.pending = Pending::None;
        }
        if self.loss.packets_out == 0 {
            self.timers.disarm();
            return;
        }
        self.rearm_rto(cx);
    }

    fn probe_sent(&mut self, cx: &mut Cx<'_>) -> bool {
        let mss = self.current_mss();
        self.loss.tlp_retrans = false;
        let head = self.queue.send_head().and_then(|id| self.queue.get(id));
        if head.is_some_and(|skb| self.snd.wnd_test(skb, mss)) {
            let before = self.loss.packets_out;
            self.write_xmit(cx, mss, Nagle::OFF, Push::Probe);
            return self.loss.packets_out > before;
        }
        let Some(mut id) = self.queue.last_sent() else {
            return false;
        };
        let Some(skb) = self.queue.get(id).copied() else {
            return false;
        };
        let whole = (u32::from(skb.pcount).max(1) - 1) * mss;
        if whole > 0 && skb.len > whole {
            match self.fragment(cx, id, whole, mss) {
                Some(rest) => id = rest,
                None => return false,
            }
        }
        if !self.resend(cx, id, 1) {
            return false;
        }
        self.loss.tlp_retrans = true;
        true
    }

    /// `tcp_process_tlp_ack()`: ends the probe's episode.
    pub(super) fn process_tlp_ack(&mut self, cx: &mut Cx<'_>, ack: Seq, flag: Flag) {
        let Some(high) = self.loss.tlp_high_seq else {
            return;
        };
        if ack.before(high) {
            return;
        }
        let pure = Flag::SND_UNA_ADVANCED | Flag::NOT_DUP | Flag::DATA_SACKED;
        let original_came = match cx.host.profile.tlp_ends_by_any_dsack {
            true => Flag::DSACKING_ACK,
            false => Flag::DSACK_TLP,
        };
        if !self.loss.tlp_retrans || flag.intersects(original_came) {
            // New data was the probe; or the original arrived too.
            self.loss.tlp_high_seq = None;
        } else if ack.after(high) {
            // The probe repaired a loss: that was congestion (RFC 8985 7.4.2).
            self.init_cwnd_reduction(cx);
            self.cc_set_state(cx, CaState::Cwr);
            self.end_cwnd_reduction(cx);
            self.try_keep_open(cx);
            cx.count(Counter::LossProbeRecovery);
        } else if !flag.intersects(pure) {
            self.loss.tlp_high_seq = None;
        }
    }
}

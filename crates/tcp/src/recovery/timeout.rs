//! The retransmission timeout: the retransmission, the backoff, and when the connection is given up (RFC 6298 5.4 to
//! 5.7, RFC 9293 3.8.3, RFC 6069; Linux `tcp_retransmit_timer()`, `tcp_write_timeout()`).

use tcplab_base::Seq;

use super::CaState;
use crate::cc::INFINITE_SSTHRESH;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd, SocketError, State};
use crate::host::DeviceQueue;
use crate::mib::Counter;
use crate::output::resource_probe_interval;
use crate::queue::{Id, Skb};
use crate::recovery::Loss;
use crate::rtt::timeout_init;
use crate::timers::Pending;

/// Retries with a linear timeout for thin streams (`TCP_THIN_LINEAR_RETRIES`).
const THIN_LINEAR_RETRIES: u8 = 6;

impl Loss {
    /// `tcp_stream_is_thin()`.
    fn is_thin(&self, snd: &Snd) -> bool {
        self.packets_out < 4 && snd.snd_ssthresh < INFINITE_SSTHRESH
    }
}

impl Endpoint {
    /// `tcp_retransmit_timer()`; the SYN's too.
    pub(super) fn retransmit_timer(&mut self, cx: &mut Cx<'_>) {
        let Some(head) = self
            .queue
            .first_sent()
            .filter(|_| self.loss.packets_out > 0)
        else {
            return;
        };
        let opening = matches!(self.state, State::SynSent | State::SynRecv);
        if self.snd.snd_wnd == 0 && !self.is_orphan() && !opening {
            // The peer took its window back: what is sent now is a window probe, and no reason to give up.
            if self.rtx_probe0_timed_out(cx, head) {
                self.write_error(cx);
                return;
            }
            self.enter_loss(cx);
            self.retransmit_skb(cx, head, 1);
            self.back_off(cx);
            return;
        }
        cx.count(Counter::Timeouts);
        if self.write_timeout(cx) {
            return;
        }
        if self.loss.retransmits == 0 {
            self.count_failure(cx);
        }
        self.enter_loss(cx);
        self.loss.retransmits = self.loss.retransmits.saturating_add(1);
        let head = self.queue.first_sent();
        let sent = head.is_none_or(|head| self.retransmit_skb(cx, head, 1));
        if !sent && cx.host.queue == DeviceQueue::Drops {
            // The host itself is congested: it tries again soon, and no timeout doubles.
            let soon = resource_probe_interval(cx);
            let most = cx.host.rto_max();
            self.timers.arm(cx, Pending::Retrans, soon, most);
            return;
        }
        self.rtt.backoff = self.rtt.backoff.saturating_add(1);
        self.back_off(cx);
    }

    /// `tcp_ld_RTO_revert()`: a message about the first segment that is not ACKed says that the path is broken: the
    /// timeout that sent it again was no congestion, and its doubling is undone (RFC 6069 3).
    #[cold]
    pub(crate) fn revert_backoff(&mut self, cx: &mut Cx<'_>, seq: Seq) {
        if seq != self.snd.snd_una || self.loss.retransmits == 0 || self.rtt.backoff == 0 {
            return;
        }
        let head = self.queue.first_sent().and_then(|id| self.queue.get(id));
        let Some(sent_us) = head.map(Skb::xmit_us) else {
            return;
        };
        let (clock, most) = (&cx.host.clock, cx.host.rto_max());
        self.rtt.backoff -= 1;
        let rto = match self.rtt.srtt_us {
            0 => timeout_init(clock),
            _ => clock.from_micros(u64::from(self.rtt.rto_us(&self.rtt.rule(cx.host)))),
        };
        let rto = (u64::from(rto) << self.rtt.backoff.min(32)).min(u64::from(most)) as u32;
        self.rtt.rto = rto;
        match rto.saturating_sub(clock.from_micros(cx.now_us().saturating_sub(sent_us))) {
            // Step 6: it would have been due before.
            0 => self.retransmit_timer(cx),
            remaining => self.timers.arm(cx, Pending::Retrans, remaining, most),
        }
    }

    /// Which hope the timeout ended.
    fn count_failure(&self, cx: &mut Cx<'_>) {
        let counter = match (self.loss.ca_state, self.neg.is_reno()) {
            (CaState::Recovery, false) => Counter::SackRecoveryFail,
            (CaState::Recovery, true) => Counter::RenoRecoveryFail,
            (CaState::Loss, _) => Counter::LossFailures,
            (state, reno) if state == CaState::Disorder || self.loss.sacked_out > 0 => match reno {
                false => Counter::SackFailures,
                true => Counter::RenoFailures,
            },
            _ => return,
        };
        cx.count(counter);
    }

    /// RFC 6298 5.5: the timeout doubles; a thin stream may keep it for some tries.
    fn back_off(&mut self, cx: &mut Cx<'_>) {
        let most = cx.host.rto_max();
        let thin = self.options.thin_lto || cx.host.sysctl.tcp_thin_linear_timeouts;
        if self.state == State::Established
            && thin
            && self.loss.is_thin(&self.snd)
            && self.loss.retransmits <= THIN_LINEAR_RETRIES
        {
            self.rtt.backoff = 0;
            let us = self.rtt.rto_us(&self.rtt.rule(cx.host));
            let least = self.rtt.rto_min(cx.host);
            let rto = cx.host.clock.from_micros(u64::from(us));
            self.rtt.rto = rto.clamp(least.min(most), most);
        } else if !self.is_syn_linear(cx) {
            self.rtt.rto = self.rtt.rto.saturating_mul(2).min(most);
        }
        let when = self.clamp_rto_to_user_timeout(cx);
        self.timers.arm(cx, Pending::Retrans, when, most);
        let suspect = u32::from(cx.host.sysctl.tcp_retries1) + 1;
        self.ack.route_lost = self.retransmits_timed_out(cx, suspect, 0);
    }

    /// The first timeouts of a SYN keep their length (tcp_syn_linear_timeouts of 6.5 and later; ccce324dabfe).
    fn is_syn_linear(&self, cx: &Cx<'_>) -> bool {
        self.state == State::SynSent
            && self.loss.retransmits <= cx.host.sysctl.tcp_syn_linear_timeouts
    }

    /// `tcp_write_err()`: gives up.
    pub(crate) fn write_error(&mut self, cx: &mut Cx<'_>) {
        let error = self.error_soft.unwrap_or(SocketError::TimedOut);
        self.fail(cx, error, false);
        cx.count(Counter::AbortOnTimeout);
    }

    /// `tcp_write_timeout()`: true when the connection was given up.
    fn write_timeout(&mut self, cx: &mut Cx<'_>) -> bool {
        let sysctl = &cx.host.sysctl;
        let expired = if matches!(self.state, State::SynSent | State::SynRecv) {
            let until = match self.options.syn_retries {
                0 => sysctl.tcp_syn_retries,
                own => own,
            };
            let linear = match self.state {
                State::SynSent => sysctl.tcp_syn_linear_timeouts,
                _ => 0,
            };
            self.loss.retransmits >= until.saturating_add(linear)
                || self.retransmits_timed_out(cx, u32::from(until), self.options.user_timeout)
        } else {
            let (mut until, probing) = (u32::from(sysctl.tcp_retries2), sysctl.tcp_mtu_probing > 0);
            if probing && self.retransmits_timed_out(cx, u32::from(sysctl.tcp_retries1), 0) {
                self.mtu_black_hole(cx);
            }
            if self.is_orphan() {
                let alive = self.rtt.rto < cx.host.rto_max();
                until = self.orphan_retries(cx, alive);
            }
            self.retransmits_timed_out(cx, until, self.options.user_timeout)
        };
        self.detect_black_hole(cx, expired);
        if expired {
            self.write_error(cx);
            return true;
        }
        self.rethink_txhash(cx, Counter::TimeoutRehash);
        false
    }

    /// How often it has taken another hash.
    pub(crate) fn rehashes(&self) -> u16 {
        self.loss.rehashes
    }

    /// `sk_rethink_txhash()`: another hash, so another flow label over IPv6; another path through the network may do better.
    pub(crate) fn rethink_txhash(&mut self, cx: &mut Cx<'_>, counter: Counter) {
        cx.count(counter);
        self.loss.rehashes = self.loss.rehashes.wrapping_add(1);
    }

    /// `retransmits_timed_out()`: since the first retransmission as long as `boundary` retries take, or `timeout`
    /// milliseconds when that is not 0.
    fn retransmits_timed_out(&self, cx: &Cx<'_>, boundary: u32, timeout: u32) -> bool {
        if self.loss.retransmits == 0 {
            return false;
        }
        let limit = match timeout {
            0 => {
                let base = match self.state {
                    State::SynSent | State::SynRecv => timeout_init(&cx.host.clock),
                    _ => cx.host.clock.hz / 5,
                };
                model_timeout_ms(cx.host.clock.hz, boundary, base, cx.host.rto_max())
            }
            ms => ms,
        };
        let since = Self::now_ms(cx).wrapping_sub(self.loss.retrans_stamp);
        since.wrapping_sub(limit) as i32 >= 0
    }

    /// `tcp_clamp_rto_to_user_timeout()` in jiffies.
    fn clamp_rto_to_user_timeout(&self, cx: &Cx<'_>) -> u32 {
        if self.options.user_timeout == 0 {
            return self.rtt.rto;
        }
        let elapsed = Self::now_ms(cx).wrapping_sub(self.loss.retrans_stamp);
        match self.options.user_timeout.wrapping_sub(elapsed) as i32 {
            ms @ 1.. => self.rtt.rto.min(cx.host.clock.from_millis(ms as u64)),
            _ => 1,
        }
    }

    /// `tcp_rtx_probe0_timed_out()`: a peer without a window, whose answers have stopped too.
    fn rtx_probe0_timed_out(&self, cx: &Cx<'_>, head: Id) -> bool {
        let clock = &cx.host.clock;
        let since = match self.loss.retrans_stamp {
            0 => self
                .queue
                .get(head)
                .map_or(0, |skb| (skb.xmit_ns / 1_000_000) as u32),
            stamp => stamp,
        };
        let waited_ms = Self::now_ms(cx).wrapping_sub(since);
        let waited = clock.from_millis(u64::from(waited_ms));
        let mut limit = cx.host.rto_max() * 2;
        let user = self.options.user_timeout;
        if user > 0 {
            // Linux before 6.7 compares jiffies with milliseconds here.
            let compared = match cx.host.profile.user_timeout_in_jiffies {
                true => waited,
                false => waited_ms,
            };
            if compared > user {
                return true;
            }
            limit = limit.min(clock.from_millis(u64::from(user)));
        }
        let silent = (self.timers.timeout as u32).wrapping_sub(self.rcv.rcv_tstamp) as i32;
        silent > limit as i32 && waited > limit
    }
}

/// `tcp_model_timeout()`: how long `boundary` doubled retries from `base` jiffies to `most` take, in milliseconds.
fn model_timeout_ms(hz: u32, boundary: u32, base: u32, most: u32) -> u32 {
    let doubling = (most / base.max(1)).max(1).ilog2();
    let jiffies = if boundary <= doubling {
        ((2_u64 << boundary) - 1) * u64::from(base)
    } else {
        ((2_u64 << doubling) - 1) * u64::from(base)
            + u64::from(boundary - doubling) * u64::from(most)
    };
    (jiffies * 1000 / u64::from(hz)).min(u64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::model_timeout_ms;

    #[test]
    fn retries_as_a_time() {
        assert_eq!(model_timeout_ms(250, 15, 50, 120 * 250), 924_600);
        assert_eq!(model_timeout_ms(1000, 15, 200, 120 * 1000), 924_600);
        assert_eq!(model_timeout_ms(1000, 3, 200, 120 * 1000), 3000);
        assert_eq!(model_timeout_ms(1000, 6, 1000, 120 * 1000), 127_000);
        assert_eq!(model_timeout_ms(1000, 8, 200, 120 * 1000), 102_200);
        assert_eq!(model_timeout_ms(1000, 8, 200, 1000), 7400);
    }
}

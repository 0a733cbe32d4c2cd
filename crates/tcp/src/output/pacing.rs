//! Pacing inside TCP, for algorithms that need it without sch_fq (Linux `tcp_pacing_check()`, `tcp_pace_kick()`,
//! `tcp_update_skb_after_send()`, `tcp_update_pacing_rate()`).

use tcplab_base::Instant;

use super::rto_max;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, NEVER, State};
use crate::timers::Pending;

/// Segments at a connection's start that are not paced, as in sch_fq.
const UNPACED: u32 = 10;

impl Endpoint {
    /// `tcp_pacing_check()`: the next departure is in the future; the timer will say when.
    #[inline]
    pub(crate) fn pacing_check(&mut self, cx: &Cx<'_>) -> bool {
        if self.tune.pacing_status == 0 || self.tune.wstamp_ns <= cx.now_ns() {
            return false;
        }
        if self.timers.pacing_at == NEVER {
            let at = self.tune.wstamp_ns as i64 - cx.host.clock.boot_ns;
            self.timers.pacing_at = Instant::from_nanos(at);
        }
        true
    }

    /// Puts the next departure behind this one by the time that its bytes take at the pacing rate.
    #[inline(never)]
    pub(super) fn pace_after(&mut self, prior_wstamp: u64, bytes: u32) {
        let rate = self.tune.pacing_rate();
        if rate == u64::MAX || rate == 0 || self.stats.data_segs_out < UNPACED {
            return;
        }
        let time = u64::from(bytes) * 1_000_000_000 / rate;
        let credit = self.tune.wstamp_ns - prior_wstamp;
        // A late departure takes at most half of the time off the next one.
        self.tune.wstamp_ns += time - (time / 2).min(credit);
    }

    /// `tcp_pacing_delay()`: jiffies until the next departure.
    #[inline]
    pub(crate) fn pacing_delay(&self, cx: &Cx<'_>) -> u32 {
        let delay = self.tune.wstamp_ns.saturating_sub(cx.now_ns());
        match delay {
            0 => 0,
            _ => in_jiffies(cx, delay),
        }
    }

    /// `tcp_reset_xmit_timer()`: a timer of a segment that pacing holds back counts from its departure.
    #[inline]
    pub(crate) fn reset_xmit_timer(&mut self, cx: &Cx<'_>, what: Pending, when: u32) {
        let when = when.saturating_add(self.pacing_delay(cx));
        self.timers.arm(cx, what, when, rto_max(cx));
    }

    /// The pacing timer is due (`tcp_pace_kick()`, `tcp_tsq_write()`).
    pub(crate) fn on_pacing_timer(&mut self, cx: &mut Cx<'_>) {
        self.timers.pacing_at = NEVER;
        let sends = matches!(
            self.state,
            State::Established
                | State::FinWait1
                | State::Closing
                | State::CloseWait
                | State::LastAck
        );
        if !sends {
            return;
        }
        if self.loss.lost_out > self.loss.retrans_out && self.snd.snd_cwnd > self.loss.in_flight() {
            self.xmit_retransmit_queue(cx);
        }
        let mss = self.current_mss();
        self.write_xmit(cx, mss, self.options.nonagle, 0);
    }

    /// `tcp_update_pacing_rate()`: twice the rate of the window in slow start, 1.2 times after.
    #[inline]
    pub(crate) fn update_pacing_rate(&mut self, cx: &Cx<'_>) {
        let s = &cx.host.sysctl;
        let ratio = match self.snd.snd_cwnd < self.snd.snd_ssthresh / 2 {
            true => s.tcp_pacing_ss_ratio,
            false => s.tcp_pacing_ca_ratio,
        };
        let window = u64::from(self.snd.snd_cwnd.max(self.loss.packets_out));
        let rate = u64::from(self.snd.mss_cache) * (10_000 << 3) * u64::from(ratio);
        self.tune
            .set_pacing_rate(rate.wrapping_mul(window), self.rtt.srtt_us);
    }
}

/// Whole jiffies of a time in ns; few connections are paced.
#[cold]
fn in_jiffies(cx: &Cx<'_>, ns: u64) -> u32 {
    (ns / (1_000_000_000 / u64::from(cx.host.clock.hz))) as u32
}

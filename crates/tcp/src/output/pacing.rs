//! Pacing inside TCP, for algorithms that need it without sch_fq (Linux `tcp_pacing_check()`, `tcp_pace_kick()`,
//! `tcp_update_skb_after_send()`, `tcp_update_pacing_rate()`).

use tcplab_base::Instant;

use super::xmit::Push;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd, State, Stats, Tune};
use crate::recovery::Loss;
use crate::rtt::Rtt;
use crate::timers::{NEVER, Pending, Timers};

/// Segments at a connection's start that are not paced, as in sch_fq.
const UNPACED: u32 = 10;

impl Tune {
    /// `tcp_pacing_check()`: the next departure is in the future; the timer will say when.
    #[inline]
    pub(crate) fn pacing_check(&mut self, cx: &Cx<'_>, timers: &mut Timers) -> bool {
        if !self.pacing_needed || self.wstamp_ns <= cx.now_ns() {
            return false;
        }
        if timers.pacing_at == NEVER {
            let at = self.wstamp_ns as i64 - cx.host.clock.boot_ns;
            timers.pacing_at = Instant::from_nanos(at);
        }
        true
    }

    /// Puts the next departure behind this one by the time that its bytes take at the pacing rate.
    #[inline(never)]
    pub(super) fn pace_after(&mut self, stats: &Stats, prior_wstamp: u64, bytes: u32) {
        let rate = self.pacing_rate();
        if rate == u64::MAX || rate == 0 || stats.data_segs_out < UNPACED {
            return;
        }
        let time = u64::from(bytes) * 1_000_000_000 / rate;
        let credit = self.wstamp_ns - prior_wstamp;
        // A late departure takes at most half of the time off the next one.
        self.wstamp_ns += time - (time / 2).min(credit);
    }

    /// `tcp_pacing_delay()`: jiffies until the next departure.
    #[inline]
    pub(crate) fn pacing_delay(&self, cx: &Cx<'_>) -> u32 {
        let delay = self.wstamp_ns.saturating_sub(cx.now_ns());
        match delay {
            0 => 0,
            _ => in_jiffies(cx, delay),
        }
    }

    /// `tcp_update_pacing_rate()`: twice the rate of the window in slow start, 1.2 times after.
    #[inline]
    pub(crate) fn update_rate(&mut self, cx: &Cx<'_>, loss: &Loss, rtt: &Rtt, snd: &Snd) {
        let s = &cx.host.sysctl;
        let ratio = match snd.snd_cwnd < snd.snd_ssthresh / 2 {
            true => s.tcp_pacing_ss_ratio,
            false => s.tcp_pacing_ca_ratio,
        };
        let window = u64::from(snd.snd_cwnd.max(loss.packets_out));
        let rate = u64::from(snd.mss_cache) * (10_000 << 3) * u64::from(ratio);
        self.set_pacing_rate(rate.wrapping_mul(window), rtt.srtt_us);
    }
}

impl Timers {
    /// `tcp_reset_xmit_timer()`: a timer of a segment that pacing holds back counts from its departure.
    #[inline]
    pub(crate) fn arm_paced(&mut self, cx: &Cx<'_>, tune: &Tune, what: Pending, when: u32) {
        let when = when.saturating_add(tune.pacing_delay(cx));
        self.arm(cx, what, when, cx.host.rto_max());
    }
}

impl Endpoint {
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
        self.write_xmit(cx, mss, self.options.nonagle, Push::All);
    }
}

/// Whole jiffies of a time in ns; few connections are paced.
#[cold]
fn in_jiffies(cx: &Cx<'_>, ns: u64) -> u32 {
    (ns / (1_000_000_000 / u64::from(cx.host.clock.hz))) as u32
}

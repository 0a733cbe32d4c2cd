//! The congestion window follows what is used of it (RFC 2861, RFC 7661; Linux `tcp_cwnd_validate()`,
//! `tcp_cwnd_restart()`, `tcp_slow_start_after_idle_check()`).

use crate::cc::{CaEvent, CongestionControl};
use crate::cx::Cx;
use crate::endpoint::{Busy, Endpoint, Snd, State};
use crate::recovery::{CaState, Loss};

impl Loss {
    /// `tcp_in_cwnd_reduction()`.
    #[inline]
    pub(crate) fn in_cwnd_reduction(&self) -> bool {
        matches!(self.ca_state, CaState::Cwr | CaState::Recovery)
    }
}

impl Snd {
    /// `tcp_current_ssthresh()`: outside a reduction at least three quarters of the window.
    pub(crate) fn current_ssthresh(&self, loss: &Loss) -> u32 {
        match loss.in_cwnd_reduction() {
            true => self.snd_ssthresh,
            false => self
                .snd_ssthresh
                .max((self.snd_cwnd >> 1) + (self.snd_cwnd >> 2)),
        }
    }
}

impl Endpoint {
    /// `tcp_cwnd_validate()`: after segments left, or could not for the window's sake.
    pub(super) fn cwnd_validate(&mut self, cx: &mut Cx<'_>, is_cwnd_limited: bool) {
        let out = self.loss.packets_out;
        let s = &mut self.snd;
        if s.snd_una.at_or_after(s.cwnd_usage_seq)
            || is_cwnd_limited
            || (!s.is_cwnd_limited && out > s.max_packets_out)
        {
            s.is_cwnd_limited = is_cwnd_limited;
            s.max_packets_out = out;
            s.cwnd_usage_seq = s.snd_nxt;
        }
        if self.snd.may_grow() {
            self.snd.snd_cwnd_used = 0;
            self.snd.snd_cwnd_stamp = cx.jiffies32();
        } else {
            self.cwnd_not_full(cx, out);
        }
    }

    #[inline(never)]
    fn cwnd_not_full(&mut self, cx: &mut Cx<'_>, out: u32) {
        self.snd.snd_cwnd_used = self.snd.snd_cwnd_used.max(out);
        let since = cx.jiffies32().wrapping_sub(self.snd.snd_cwnd_stamp) as i32;
        if cx.host.sysctl.tcp_slow_start_after_idle
            && since >= self.rtt.rto as i32
            && !self.cc.controls_cwnd()
        {
            self.cwnd_application_limited(cx);
        }
        if self.snd.nospace
            && !self.queue.has_unsent()
            && !self.is_orphan()
            && matches!(self.state, State::Established | State::CloseWait)
        {
            self.stats.chrono.start(cx, Busy::SndbufLimited);
        }
    }

    /// `tcp_cwnd_application_limited()`: the window was not used for an RTO: half way down to what was.
    #[cold]
    #[inline(never)]
    fn cwnd_application_limited(&mut self, cx: &mut Cx<'_>) {
        if self.loss.ca_state == CaState::Open && !self.is_orphan() && !self.snd.nospace {
            let used = self.snd.snd_cwnd_used.max(self.snd.init_cwnd(cx));
            if used < self.snd.snd_cwnd {
                self.snd.set_ssthresh(self.snd.current_ssthresh(&self.loss));
                self.snd.set_cwnd((self.snd.snd_cwnd + used) >> 1);
            }
            self.snd.snd_cwnd_used = 0;
        }
        self.snd.snd_cwnd_stamp = cx.jiffies32();
    }

    /// `tcp_slow_start_after_idle_check()`: after an idle RTO the window is halved for each RTO, down to the initial
    /// one (RFC 5681 4.1).
    #[inline]
    pub(crate) fn slow_start_after_idle_check(&mut self, cx: &mut Cx<'_>) {
        if self.loss.packets_out > 0
            || !cx.host.sysctl.tcp_slow_start_after_idle
            || self.cc.controls_cwnd()
        {
            return;
        }
        let idle = cx.jiffies32().wrapping_sub(self.snd.lsndtime) as i32;
        if idle > self.rtt.rto as i32 {
            self.cwnd_restart(cx, idle);
        }
    }

    /// `tcp_cwnd_restart()`; `idle` in jiffies.
    fn cwnd_restart(&mut self, cx: &mut Cx<'_>, idle: i32) {
        self.cc_event(cx, CaEvent::CwndRestart);
        self.snd.set_ssthresh(self.snd.current_ssthresh(&self.loss));
        let mut cwnd = self.snd.snd_cwnd;
        let restart = self.snd.init_cwnd(cx).min(cwnd);
        let rto = (self.rtt.rto as i32).max(1);
        let mut left = idle.saturating_sub(rto);
        while left > 0 && cwnd > restart {
            cwnd >>= 1;
            left = left.saturating_sub(rto);
        }
        self.snd.set_cwnd(cwnd.max(restart));
        self.snd.snd_cwnd_stamp = cx.jiffies32();
        self.snd.snd_cwnd_used = 0;
    }
}

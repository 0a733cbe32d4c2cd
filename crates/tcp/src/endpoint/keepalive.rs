//! The keepalive timer, and the same timer of a FIN-WAIT-2 without an owner (RFC 9293 3.8.4; Linux
//! `tcp_keepalive_timer()`).

use super::{Endpoint, State};
use crate::cx::Cx;
use crate::endpoint::{AckState, Rcv};
use crate::output::resource_probe_interval;

impl AckState {
    /// `keepalive_time_elapsed()`: jiffies since anything came.
    fn quiet_for(&self, cx: &Cx<'_>, rcv: &Rcv) -> u32 {
        let now = cx.jiffies32();
        let data = now.wrapping_sub(self.lrcvtime);
        let any = now.wrapping_sub(rcv.rcv_tstamp);
        data.min(any)
    }
}

impl Endpoint {
    /// `keepalive_time_when()` in jiffies.
    pub(crate) fn keepalive_time(&self, cx: &Cx<'_>) -> u32 {
        match self.options.keepalive_time {
            0 => cx
                .host
                .sysctl
                .tcp_keepalive_time
                .saturating_mul(cx.host.clock.hz),
            own => own,
        }
    }

    /// `keepalive_intvl_when()` in jiffies.
    fn keepalive_interval(&self, cx: &Cx<'_>) -> u32 {
        match self.options.keepalive_intvl {
            0 => cx
                .host
                .sysctl
                .tcp_keepalive_intvl
                .saturating_mul(cx.host.clock.hz),
            own => own,
        }
    }

    /// SO_KEEPALIVE with times of its own in seconds (TCP_KEEPIDLE, TCP_KEEPINTVL; 0: the sysctl's) and this many
    /// probes (TCP_KEEPCNT; 0: the sysctl's).
    pub fn set_keepalive(&mut self, cx: &mut Cx<'_>, idle: u32, interval: u32, probes: u8) {
        let hz = cx.host.clock.hz;
        let was = std::mem::replace(&mut self.options.keepalive, true);
        self.options.keepalive_time = idle.saturating_mul(hz);
        self.options.keepalive_intvl = interval.saturating_mul(hz);
        self.options.keepalive_probes = probes;
        let over = matches!(self.state, State::Close | State::SynSent);
        if over {
            return;
        }
        // TCP_KEEPIDLE counts from the last segment (tcp_sock_set_keepidle_locked()).
        let idle = self.keepalive_time(cx);
        let rest = match was {
            true => idle.saturating_sub(self.ack.quiet_for(cx, &self.rcv)),
            false => idle,
        };
        self.timers.arm_keepalive(cx, rest);
    }

    /// The keepalive timer: keepalive, FIN-WAIT-2 (`tcp_keepalive_timer()`).
    pub(crate) fn on_keepalive_timer(&mut self, cx: &mut Cx<'_>) {
        if self.state == State::FinWait2 && self.is_orphan() {
            self.fin_wait_2_over(cx);
            return;
        }
        if !self.options.keepalive || matches!(self.state, State::Close | State::SynSent) {
            return;
        }
        let idle = self.keepalive_time(cx);
        let busy = self.loss.packets_out != 0 || self.queue.has_unsent();
        let again = match busy {
            // What is in flight tells as well whether the peer lives.
            true => idle,
            false => match self.probe_when_quiet(cx, idle) {
                Some(again) => again,
                None => return,
            },
        };
        self.timers.arm_keepalive(cx, again);
    }

    /// Probes a quiet peer; gives the jiffies to the next look, none when the connection was given up.
    fn probe_when_quiet(&mut self, cx: &mut Cx<'_>, idle: u32) -> Option<u32> {
        let quiet = self.ack.quiet_for(cx, &self.rcv);
        if quiet < idle {
            return Some(idle - quiet);
        }
        let probes = match self.options.keepalive_probes {
            0 => cx.host.sysctl.tcp_keepalive_probes,
            own => own,
        };
        let given_up = match self.options.user_timeout {
            0 => self.loss.probes_out >= probes,
            ms => {
                let most = cx.host.clock.from_millis(u64::from(ms));
                quiet >= most && self.loss.probes_out > 0
            }
        };
        if given_up {
            self.send_active_reset(cx);
            self.write_error(cx);
            return None;
        }
        if self.send_keepalive_probe(cx) {
            self.loss.probes_out = self.loss.probes_out.saturating_add(1);
            return Some(self.keepalive_interval(cx));
        }
        Some(resource_probe_interval(cx))
    }
}

//! ACK now, later, or together with more (RFC 5681 4.2, RFC 9293 3.8.6.3), and the two timers.
//!
//! Linux `tcp_ack_snd_check()`, `tcp_send_delayed_ack()`, `tcp_delack_timer_handler()`,
//! `tcp_compressed_ack_kick()`, `tcp_sack_compress_send_ack()`.

use tcplab_base::Instant;
use tcplab_plan::profile::{AckEngine, CompressedSack};

use super::{DUP_THRESH, ato_min, delack_max};
use crate::cx::Cx;
use crate::endpoint::{AckPending, AckState, Endpoint, State};
use crate::mib::Counter;
use crate::rtt::Rtt;
use crate::timers::NEVER;

impl AckState {
    /// The bound of a delay that is longer than the shortest: the round trip, 200 ms or 500 ms.
    #[inline(never)]
    fn longest_delay(&self, cx: &Cx<'_>, rtt: &Rtt) -> u32 {
        let hz = cx.host.clock.hz;
        let waits_for_us = self.in_pingpong(cx) || self.pending.intersects(AckPending::PUSHED);
        let most = if waits_for_us { delack_max(hz) } else { hz / 2 };
        if rtt.srtt_us == 0 {
            return most;
        }
        let rtt = cx.host.clock.from_micros(u64::from(rtt.srtt_us / 8));
        most.min(rtt.max(ato_min(hz)))
    }
}

impl Endpoint {
    /// `tcp_ack_snd_check()`: ACK now, later, or compressed; nothing when a data segment carried the ACK.
    #[inline]
    pub(crate) fn ack_snd_check(&mut self, cx: &mut Cx<'_>) {
        if self.ack.is_scheduled() {
            self.decide_ack(cx, true);
        }
    }

    /// `__tcp_ack_snd_check()`; `holes`: the out-of-order queue may hold something.
    #[inline]
    pub(crate) fn decide_ack(&mut self, cx: &mut Cx<'_>, holes: bool) {
        if cx.host.profile.ack_engine == AckEngine::EverySecond {
            return self.ack_every_second(cx);
        }
        if self.must_ack_now(cx) {
            self.send_ack(cx);
        } else if !holes || self.rcvq.ofo.is_empty() {
            self.send_delayed_ack(cx);
        } else {
            self.compress_ack(cx);
        }
    }

    /// More than one full segment and room for more; quick mode; or something demanded it once.
    #[inline]
    fn must_ack_now(&mut self, cx: &Cx<'_>) -> bool {
        let unacked = self.rcv.rcv_nxt - self.rcv.rcv_wup;
        (unacked > u32::from(self.ack.rcv_mss) && {
            let unread = self.rcv.rcv_nxt - self.rcv.copied_seq;
            // Otherwise the read sends it. With SO_RCVLOWAT, the application may not read before more data comes.
            unread < self.options.rcvlowat.max(1)
                || self.rcv.window_to_offer(cx, &mut self.ack, &self.snd) >= self.rcv.rcv_wnd
        }) || self.ack.in_quickack_mode(cx)
            || self.ack.pending.intersects(AckPending::NOW)
    }

    /// The ACK of a segment behind a hole: the first three go out, then they wait for each other.
    #[inline(never)]
    fn compress_ack(&mut self, cx: &mut Cx<'_>) {
        let sysctl = &cx.host.sysctl;
        let rule = cx.host.profile.compressed_sack;
        let never = !self.neg.sack_ok || rule == CompressedSack::Never;
        if never || self.ack.compressed >= sysctl.tcp_comp_sack_nr {
            return self.send_ack(cx);
        }
        if self.ack.compressed_rcv_nxt != self.rcv.rcv_nxt {
            self.ack.compressed_rcv_nxt = self.rcv.rcv_nxt;
            self.ack.dup_ack_counter = 0;
        }
        if rule == CompressedSack::AfterThree && self.ack.dup_ack_counter < DUP_THRESH {
            self.ack.dup_ack_counter += 1;
            return self.send_ack(cx);
        }
        self.ack.compressed += 1;
        self.ack.stamp = cx.now;
        if self.timers.comp_sack_at != NEVER {
            return;
        }
        let mut rtt = self.rcv.rtt_us;
        if self.rtt.srtt_us != 0 {
            rtt = rtt.min(self.rtt.srtt_us);
        }
        // A part of the round trip; `rtt` is in units of 1/8 us.
        let percent = match cx.host.profile.comp_sack_rtt_percent {
            0 => sysctl.tcp_comp_sack_rtt_percent,
            own => own,
        };
        let percent = u64::from(percent);
        let delay = sysctl
            .tcp_comp_sack_delay_ns
            .min(u64::from(rtt) * 125 * percent / 100)
            .saturating_add(sysctl.tcp_comp_sack_slack_ns);
        self.timers.comp_sack_at = Instant::from_nanos(cx.now.as_nanos() + delay as i64);
    }

    /// `tcp_sack_compress_send_ack()`: what was held back goes out now, before its blocks are overwritten.
    pub(crate) fn send_compressed_ack(&mut self, cx: &mut Cx<'_>) {
        if self.ack.compressed == 0 {
            return;
        }
        self.timers.comp_sack_at = NEVER;
        // One of them is sent, so it is not counted.
        cx.mib
            .add(Counter::AckCompressed, u64::from(self.ack.compressed - 1));
        self.ack.compressed = 0;
        self.send_ack(cx);
    }

    /// `tcp_compressed_ack_kick()`.
    pub(crate) fn on_comp_sack_timer(&mut self, cx: &mut Cx<'_>) {
        self.timers.comp_sack_at = NEVER;
        if self.ack.compressed == 0 {
            return;
        }
        self.ack.compressed -= 1;
        if cx.host.profile.comp_sack_reads_clock {
            self.ack.note_clock(cx);
            return self.send_ack(cx);
        }
        // The kernel does not read its clock here (`tcp_mstamp`): the time stamp comes from the last arrival.
        let now = cx.set_now(self.ack.stamp);
        self.send_ack(cx);
        cx.set_now(now);
    }

    /// `tcp_send_delayed_ack()`.
    fn send_delayed_ack(&mut self, cx: &mut Cx<'_>) {
        let hz = cx.host.clock.hz;
        let mut ato = self.ack.ato;
        if ato > ato_min(hz) {
            ato = ato.min(self.ack.longest_delay(cx, &self.rtt));
        }
        let most = match self.ack.own_max {
            0 => delack_max(hz),
            own => u32::from(own),
        };
        let mut ato = ato.min(most);
        if cx.host.profile.delack_below_rto_min {
            ato = ato.min(self.rtt.rto_min(cx.host).max(2) - 1);
        }
        let now = cx.jiffies();
        let mut timeout = now + u64::from(ato);
        if self.ack.pending.intersects(AckPending::TIMER) {
            let earlier = self.timers.ack_timeout;
            if earlier <= now + u64::from(ato / 4) {
                return self.send_ack(cx);
            }
            timeout = timeout.min(earlier);
        }
        let armed = timeout == self.timers.ack_timeout
            && self.timers.delack_at != NEVER
            && self.timers.delack_at > cx.now;
        self.ack.pending |= AckPending::SCHED | AckPending::TIMER;
        if !armed {
            self.timers.arm_delack(cx, timeout);
        }
    }

    /// `tcp_delack_timer_handler()`.
    pub(crate) fn on_delack_timer(&mut self, cx: &mut Cx<'_>) {
        self.timers.delack_at = NEVER;
        if self.state == State::Close {
            return;
        }
        if self.ack.compressed > 0 && cx.host.profile.delack_sends_sack {
            // Also from a timer whose ACK has left long ago.
            return self.send_compressed_ack(cx);
        }
        if !self.ack.pending.intersects(AckPending::TIMER) {
            return;
        }
        if self.timers.ack_timeout > cx.jiffies() {
            let timeout = self.timers.ack_timeout;
            self.timers.arm_delack(cx, timeout);
            return;
        }
        self.ack.pending &= !AckPending::TIMER;
        if !self.ack.is_scheduled() {
            return;
        }
        if self.ack.in_pingpong(cx) {
            // No answer of ours carried it: the connection is not interactive.
            self.ack.exit_pingpong();
            self.ack.ato = ato_min(cx.host.clock.hz);
        } else {
            self.ack.ato = (self.ack.ato * 2).min(self.rtt.rto);
            if cx.host.profile.ato_has_8_bits {
                self.ack.ato = self.ack.ato.min(delack_max(cx.host.clock.hz));
            }
        }
        self.send_ack(cx);
        cx.count(Counter::DelayedACKs);
    }
}

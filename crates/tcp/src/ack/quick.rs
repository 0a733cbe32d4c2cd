//! Credits of immediate ACKs, and the interactive mode that ends them.
//!
//! Linux `tcp_incr_quickack()`, `tcp_enter_quickack_mode()`, `tcp_dec_quickack_mode()`,
//! `inet_csk_enter_pingpong_mode()`, `tcp_event_ack_sent()`, `tcp_event_data_sent()`.

use tcplab_plan::profile::{PingpongRule, QuickackAccounting};

use super::ato_min;
use crate::cx::Cx;
use crate::endpoint::{AckPending, AckState, Endpoint, Rcv, Snd};
use crate::mib::Counter;
use crate::timers::{NEVER, Timers};

/// How many answers make a connection interactive.
#[inline]
fn pingpong_threshold(cx: &Cx<'_>) -> u8 {
    let of_profile = cx.host.profile.pingpong_threshold.clamp(1, 255) as u8;
    of_profile.max(cx.host.sysctl.tcp_pingpong_thresh)
}

impl AckState {
    /// `inet_csk_ack_scheduled()`: an ACK of data is due.
    #[inline]
    pub(crate) fn is_scheduled(&self) -> bool {
        self.pending.intersects(AckPending::SCHED)
    }

    /// `inet_csk_schedule_ack()`.
    #[inline]
    pub(crate) fn schedule(&mut self) {
        self.pending |= AckPending::SCHED;
    }

    /// `inet_csk_in_pingpong_mode()`.
    #[inline]
    pub(crate) fn in_pingpong(&self, cx: &Cx<'_>) -> bool {
        self.pingpong >= pingpong_threshold(cx)
    }

    /// `inet_csk_enter_pingpong_mode()`.
    #[inline]
    pub(crate) fn enter_pingpong(&mut self, cx: &Cx<'_>) {
        self.pingpong = pingpong_threshold(cx);
    }

    /// `inet_csk_exit_pingpong_mode()`.
    #[inline]
    pub(crate) fn exit_pingpong(&mut self) {
        self.pingpong = 0;
    }

    /// `tcp_in_quickack_mode()`: by the route, or by credits outside of pingpong.
    #[inline]
    pub(crate) fn in_quickack_mode(&self, cx: &Cx<'_>) -> bool {
        (cx.host.route.quickack.is_some_and(|metric| metric != 0) && !self.route_lost)
            || (self.quick > 0 && !self.in_pingpong(cx))
    }

    /// `tcp_incr_quickack()`: credits for half of the offered window, at most `max`; never fewer than before.
    #[inline(never)]
    pub(crate) fn incr_quickack(&mut self, rcv: &Rcv, max: u32) {
        let segment = u32::from(self.rcv_mss).max(1);
        let credits = match rcv.rcv_wnd / (2 * segment) {
            0 => 2,
            n => n,
        };
        let credits = credits.min(max) as u8;
        self.quick = self.quick.max(credits);
    }

    /// `tcp_enter_quickack_mode()`.
    pub(crate) fn enter_quickack_mode(&mut self, cx: &mut Cx<'_>, rcv: &Rcv, max: u32) {
        self.incr_quickack(rcv, max);
        self.exit_pingpong();
        self.ato = ato_min(cx.host.clock.hz);
    }

    /// `tcp_event_ack_sent()`: an ACK left with a segment of `packets` wire packets.
    #[inline]
    pub(crate) fn sent(&mut self, cx: &mut Cx<'_>, timers: &mut Timers, packets: u32) {
        if self.compressed > 0 {
            self.compressed_were_sent(cx, timers);
        }
        if self.quick > 0 {
            self.quick_ack_sent(cx, packets);
        }
        self.clear();
    }

    #[cold]
    #[inline(never)]
    fn compressed_were_sent(&mut self, cx: &mut Cx<'_>, timers: &mut Timers) {
        cx.mib
            .add(Counter::AckCompressed, u64::from(self.compressed));
        self.compressed = 0;
        timers.comp_sack_at = NEVER;
    }

    /// `tcp_dec_quickack_mode()`.
    #[inline(never)]
    fn quick_ack_sent(&mut self, cx: &Cx<'_>, packets: u32) {
        let spent = match cx.host.profile.quickack_accounting {
            QuickackAccounting::PerPacket => packets,
            QuickackAccounting::PerAck => u32::from(self.is_scheduled()),
        };
        if spent >= u32::from(self.quick) {
            self.quick = 0;
            // The mode ends: the next delay is the shortest again.
            self.ato = ato_min(cx.host.clock.hz);
        } else {
            self.quick -= spent as u8;
        }
    }

    /// The receiver's part of `tcp_event_data_sent()`: answering within ato enters pingpong. To be called before
    /// `lsndtime` becomes this segment's.
    #[inline]
    pub(crate) fn data_sent(&mut self, cx: &mut Cx<'_>, snd: &Snd) {
        if cx.jiffies32().wrapping_sub(self.lrcvtime) >= self.ato {
            return;
        }
        let counts = match cx.host.profile.pingpong_rule {
            PingpongRule::EachSegment => true,
            PingpongRule::FirstOfReply => (snd.lsndtime.wrapping_sub(self.lrcvtime) as i32) < 0,
        };
        if counts {
            self.pingpong = self.pingpong.saturating_add(1);
        }
    }

    /// `inet_csk_clear_xmit_timer(ICSK_TIME_DACK)`: the wheel's timer goes on and finds nothing to do, unless ACKs
    /// are held back then.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.pending = AckPending::empty();
        self.route_lost = false;
    }
}

impl Endpoint {
    /// The credits of immediate ACKs that are left, as /proc/net/tcp shows them.
    pub fn quick_credits(&self) -> u32 {
        u32::from(self.ack.quick)
    }
}

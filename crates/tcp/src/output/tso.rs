//! Super-segments: how large, and when to wait for a larger one (Linux `tcp_tso_autosize()`,
//! `tcp_mss_split_point()`, `tcp_tso_should_defer()`). Without TSO, each skb is one segment and this code does not
//! run.

use crate::cc::{Congestion, CongestionControl};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd, Tune};
use crate::options::{Nagle, Negotiated};
use crate::queue::{Id, SendQueue, Skb, SkbFlags};
use crate::recovery::CaState;
use crate::rtt::Rtt;

/// What held a segment back, for the next rule of the window.
#[derive(Clone, Copy, Default)]
pub(super) struct Limited {
    pub(super) cwnd: bool,
    pub(super) rwnd: bool,
}

const MILLISECOND: u64 = 1_000_000;

impl Snd {
    /// `tcp_xmit_size_goal()`: bytes up to which a write fills one skb.
    #[inline]
    pub(crate) fn size_goal(&mut self, cx: &Cx<'_>, neg: &Negotiated, mss: u32) -> u32 {
        let most = cx.host.gso_max_segs();
        if most == 1 {
            return mss;
        }
        let goal = self.bound_to_half_wnd(neg, cx.host.gso_max_size());
        let now = u32::from(self.gso_segs) * mss;
        if goal < now || goal >= now + mss {
            self.gso_segs = (goal / mss).min(most) as u16;
        }
        (u32::from(self.gso_segs) * mss).max(mss)
    }

    /// The share of the window that is worth a super-segment (`tcp_tso_win_divisor`).
    fn enough_window(&self, cx: &Cx<'_>) -> u32 {
        let mss = self.mss_cache;
        match u32::from(cx.host.sysctl.tcp_tso_win_divisor) {
            // At most three segments wait for the next ACK.
            0 => 3 * mss + 1,
            divisor => self.snd_wnd.min(self.snd_cwnd.saturating_mul(mss)) / divisor,
        }
    }
}

impl SendQueue {
    /// The ACK of the first segment in flight comes within a millisecond and half an RTT.
    fn ack_is_near(&self, rtt: &Rtt, now: u64) -> bool {
        let Some(head) = self.first_sent().and_then(|id| self.get(id)) else {
            return false;
        };
        let srtt = 125 * u64::from(rtt.srtt_us);
        let far = (head.xmit_ns + srtt).wrapping_sub(now) as i64;
        far <= (srtt >> 1).min(MILLISECOND) as i64
    }
}

impl Tune {
    /// `tcp_tso_segs()`: segments wanted in one super-segment: about a millisecond of the pacing rate, more when the
    /// peer is near.
    #[inline]
    pub(crate) fn tso_segs(&self, cx: &Cx<'_>, cc: &Congestion, rtt: &Rtt, mss: u32) -> u32 {
        let most = cx.host.gso_max_segs();
        match most {
            1 => 1,
            _ => self.tso_autosize(cx, cc, rtt, mss).min(most),
        }
    }

    #[inline(never)]
    fn tso_autosize(&self, cx: &Cx<'_>, cc: &Congestion, rtt: &Rtt, mss: u32) -> u32 {
        let size = cx.host.gso_max_size();
        let mut bytes = self.pacing_rate() >> self.pacing_shift;
        let near = rtt.min_rtt() >> cx.host.sysctl.tcp_tso_rtt_log;
        if near < 32 {
            bytes += u64::from(size >> near);
        }
        let segs = bytes.min(u64::from(size)) as u32 / mss.max(1);
        segs.max(cc.min_tso_segs(self, &cx.host.sysctl))
    }
}

impl Endpoint {
    /// `tcp_mss_split_point()`: bytes of the super-segment that may leave now.
    #[inline(never)]
    pub(super) fn split_point(
        &self,
        id: Id,
        skb: &Skb,
        mss: u32,
        segs: u32,
        nonagle: Nagle,
    ) -> u32 {
        let window = self.snd.wnd_end() - skb.seq;
        let most = mss.saturating_mul(segs);
        if most <= window && Some(id) != self.queue.last() {
            return most;
        }
        let needed = skb.len.min(window);
        if most <= needed {
            return most;
        }
        let partial = needed % mss;
        match self.snd.nagle_holds(&self.loss, partial != 0, nonagle) {
            true => needed - partial,
            false => needed,
        }
    }

    /// `tcp_tso_should_defer()`: waits for more window, when an ACK is near and the last departure was recent.
    #[inline(never)]
    pub(super) fn tso_should_defer(
        &self,
        cx: &Cx<'_>,
        id: Id,
        skb: &Skb,
        limited: &mut Limited,
        max_segs: u32,
    ) -> bool {
        if self.loss.ca_state >= CaState::Recovery {
            return false;
        }
        let now = cx.now_ns();
        if now.saturating_sub(self.tune.wstamp_ns) > MILLISECOND {
            return false;
        }
        let mss = self.snd.mss_cache;
        let last = Some(id) == self.queue.last();
        let send_win = self.snd.wnd_end() - skb.seq;
        let cong_win = (self.snd.snd_cwnd - self.loss.in_flight()).saturating_mul(mss);
        let limit = send_win.min(cong_win);
        if limit >= max_segs.saturating_mul(mss) || (!last && limit >= skb.len) {
            return false;
        }
        if limit >= self.snd.enough_window(cx) || !self.queue.ack_is_near(&self.rtt, now) {
            return false;
        }
        if cong_win < send_win {
            if cong_win <= skb.len {
                limited.cwnd = true;
                return true;
            }
        } else if send_win <= skb.len {
            limited.rwnd = true;
            return true;
        }
        !skb.flags.intersects(SkbFlags::FIN) && !skb.eor
    }
}

//! The one writer of the congestion window and its threshold, and the ways in which windows grow (RFC 5681 3.1;
//! Linux `tcp_slow_start()`, `tcp_cong_avoid_ai()`, `tcp_init_cwnd()`).

use crate::cx::Cx;
use crate::endpoint::Snd;

/// `TCP_INFINITE_SSTHRESH`: no loss was seen yet.
pub(crate) const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// `TCP_INIT_CWND` (RFC 6928).
pub(super) const INIT_CWND: u32 = 10;

impl Snd {
    /// `tcp_snd_cwnd_set()`: the one writer of `snd_cwnd`.
    #[inline]
    pub(crate) fn set_cwnd(&mut self, packets: u32) {
        self.snd_cwnd = packets.max(1);
    }

    /// The one writer of `snd_ssthresh`.
    #[inline]
    pub(crate) fn set_ssthresh(&mut self, packets: u32) {
        self.snd_ssthresh = packets;
    }

    /// `tcp_init_cwnd()`: the initial window in packets: the route's, else ten.
    pub(crate) fn init_cwnd(&self, cx: &Cx<'_>) -> u32 {
        let route = cx.host.route.initcwnd.unwrap_or(0);
        let packets = if route == 0 { INIT_CWND } else { route };
        packets.min(self.snd_cwnd_clamp)
    }

    /// `tcp_is_cwnd_limited()`: the window may grow: it was full, or half of it in slow start.
    #[inline]
    pub(crate) fn may_grow(&self) -> bool {
        let half = self.max_packets_out.saturating_mul(2);
        self.is_cwnd_limited || (self.in_slow_start() && self.snd_cwnd < half)
    }

    /// Grows in slow start; how many packets are left of `acked` for congestion avoidance, none where the window was not
    /// used.
    #[inline]
    pub(super) fn slow_start_first(&mut self, acked: u32) -> u32 {
        match (self.may_grow(), self.in_slow_start()) {
            (false, _) => 0,
            (true, true) => self.slow_start(acked),
            (true, false) => acked,
        }
    }

    /// `tcp_slow_start()`: one packet for each delivered one up to the threshold; what is left of `acked`.
    #[inline(never)]
    fn slow_start(&mut self, acked: u32) -> u32 {
        let now = self.snd_cwnd;
        let cwnd = now.saturating_add(acked).min(self.snd_ssthresh);
        self.set_cwnd(cwnd.min(self.snd_cwnd_clamp));
        acked - (cwnd - now)
    }

    /// `tcp_cong_avoid_ai()`: one packet for each `w` delivered ones.
    pub(super) fn cong_avoid_ai(&mut self, w: u32, acked: u32) {
        let mut cwnd = self.snd_cwnd;
        let mut count = self.snd_cwnd_cnt;
        // Credits of a larger w count once.
        if count >= w {
            count = 0;
            cwnd += 1;
        }
        count += acked;
        if count >= w {
            let delta = count / w.max(1);
            count -= delta * w;
            cwnd += delta;
        }
        self.snd_cwnd_cnt = count;
        self.set_cwnd(cwnd.min(self.snd_cwnd_clamp));
    }
}

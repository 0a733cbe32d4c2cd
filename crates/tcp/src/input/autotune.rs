//! How the receive buffer grows with the rate (dynamic right-sizing: Fisk, Feng 2001), and the receiver's own
//! round trip.
//!
//! Linux `tcp_rcv_space_adjust()`, `tcp_rcv_rtt_measure()`, `tcp_rcv_rtt_measure_ts()`.

use tcplab_plan::profile::WindowShare;

use crate::cx::Cx;
use crate::endpoint::{AckState, Rcv};
use crate::input::memory::skb_truesize;
use crate::options::Negotiated;
use crate::segment::Segment;

/// Larger differences of time stamps are nonsense.
const MAX_ECHO_MS: u32 = i32::MAX as u32 / 1000;

impl Rcv {
    /// `tcp_rcv_rtt_update()`: keeps 8 times the round trip. Without time stamps (`window`) only the minimum counts: the
    /// sample is too long when the sender did not fill the window.
    #[inline(never)]
    fn rtt_update(&mut self, sample_us: u32, window: bool) {
        let old = self.rtt_us;
        let new = sample_us.saturating_mul(8);
        self.rtt_us = if old == 0 || new < old {
            new
        } else if window {
            old
        } else {
            (old - old / 8).saturating_add(sample_us)
        };
    }

    /// `tcp_rcv_rtt_measure()`: the time in which the peer filled the offered window.
    #[inline]
    pub(crate) fn rtt_measure(&mut self, cx: &Cx<'_>) {
        if self.rtt_time_us == 0 || !self.rcv_nxt.before(self.rtt_seq) {
            self.window_filled(cx);
        }
    }

    #[inline(never)]
    fn window_filled(&mut self, cx: &Cx<'_>) {
        let now = cx.now_us();
        if self.rtt_time_us != 0 {
            let delta = now.saturating_sub(self.rtt_time_us).max(1);
            self.rtt_update(delta.min(u64::from(u32::MAX)) as u32, true);
        }
        self.rtt_seq = self.rcv_nxt + self.rcv_wnd;
        self.rtt_time_us = now;
    }

    /// `tcp_rcv_rtt_measure_ts()`: from our time stamp that a full segment echoes, once for each echo.
    #[inline]
    pub(crate) fn rtt_measure_ts(
        &mut self,
        cx: &Cx<'_>,
        ack: &AckState,
        neg: &Negotiated,
        seg: &Segment,
    ) {
        if neg.rcv_tsecr != self.rtt_last_tsecr {
            self.rtt_echoed(cx, ack, neg, seg);
        }
    }

    #[inline(never)]
    fn rtt_echoed(&mut self, cx: &Cx<'_>, ack: &AckState, neg: &Negotiated, seg: &Segment) {
        self.rtt_last_tsecr = neg.rcv_tsecr;
        if seg.end_seq() - seg.seq < u32::from(ack.rcv_mss) {
            return;
        }
        let delta = cx.host.clock.millis(cx.now).wrapping_sub(neg.rcv_tsecr);
        if delta < MAX_ECHO_MS {
            self.rtt_update(delta.max(1) * 1000, false);
        }
    }

    /// `tcp_rcv_space_adjust()`: once in a round trip, after a read.
    #[inline]
    pub(super) fn space_adjust(&mut self, cx: &Cx<'_>) {
        let now = cx.now_us();
        let rtt = u64::from(self.rtt_us / 8);
        if self.rtt_us != 0 && now.saturating_sub(self.space_time_us) >= rtt {
            self.space_measured(cx, now);
        }
    }

    #[inline(never)]
    fn space_measured(&mut self, cx: &Cx<'_>, now: u64) {
        let mut copied = self.copied_seq - self.space_seq;
        if cx.host.profile.tunes_without_queue {
            copied = copied.saturating_sub(self.rcv_nxt - self.copied_seq);
        }
        if copied > self.space {
            if cx.host.sysctl.tcp_moderate_rcvbuf && !self.rcvbuf_locked {
                self.grow_rcvbuf(cx, copied);
            }
            self.space = copied;
        }
        self.space_seq = self.copied_seq;
        self.space_time_us = now;
    }

    /// A buffer for twice what was read in a round trip, and for a sender that doubles its rate.
    #[inline(never)]
    fn grow_rcvbuf(&mut self, cx: &Cx<'_>, copied: u32) {
        let mss = u64::from(self.advmss).max(1);
        let base = u64::from(copied) * 2 + 16 * mss;
        let space = u64::from(self.space).max(1);
        let growth = base
            .saturating_mul(u64::from(copied) - u64::from(self.space).min(u64::from(copied)))
            / space;
        let window = base.saturating_add(growth.saturating_mul(2));
        let [_, _, rmem_max] = cx.host.sysctl.tcp_rmem;
        let memory = match cx.host.profile.window_share {
            WindowShare::Sysctl => (window / mss).saturating_mul(self.memory_of_segment(cx)),
            WindowShare::Measured => match self.scaling_ratio {
                0 => window.saturating_mul(2),
                ratio => window.saturating_mul(256) / u64::from(ratio),
            },
        };
        let rcvbuf = memory.min(u64::from(rmem_max)) as u32;
        if rcvbuf > self.rcvbuf {
            self.rcvbuf = rcvbuf;
            self.window_clamp = self.full_space(cx);
        }
    }

    /// Memory that a full segment may cost so that all of its payload becomes window.
    fn memory_of_segment(&self, cx: &Cx<'_>) -> u64 {
        let mss = u32::from(self.advmss);
        let mut frame = i64::from(skb_truesize(mss + cx.host.profile.tx_header));
        while self.win_from_space(cx, frame) < i64::from(mss) && frame < 1 << 24 {
            frame += 128;
        }
        frame as u64
    }
}

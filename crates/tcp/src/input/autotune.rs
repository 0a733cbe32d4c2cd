//! How the receive buffer grows with the rate (dynamic right-sizing: Fisk, Feng 2001), and the receiver's own
//! round trip.
//!
//! Linux `tcp_rcv_space_adjust()`, `tcp_rcv_rtt_measure()`, `tcp_rcv_rtt_measure_ts()`.

use tcplab_base::Instant;
use tcplab_plan::profile::{BufferGrowth, WindowShare};

use crate::cx::Cx;
use crate::endpoint::{AckState, Rcv, RcvQueue};
use crate::input::memory::skb_truesize;
use crate::options::Negotiated;
use crate::segment::Segment;

/// Larger differences of time stamps are nonsense.
const MAX_ECHO_MS: u32 = i32::MAX as u32 / 1000;

impl Rcv {
    /// `tcp_rcv_rtt_update()`: keeps 8 times the round trip. Without time stamps (`window`) only the minimum counts: the
    /// sample is too long when the sender did not fill the window.
    #[inline(never)]
    fn rtt_update(&mut self, cx: &Cx<'_>, sample_us: u32, window: bool) {
        let waits = cx.host.profile.rcv_rtt_of_empty_queue && self.rcv_nxt != self.copied_seq;
        let old = self.rtt_us;
        let new = sample_us.saturating_mul(8);
        self.rtt_us = if old == 0 || new < old {
            new
        } else if window || waits {
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
            self.rtt_update(cx, delta.min(u64::from(u32::MAX)) as u32, true);
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
        if delta < MAX_ECHO_MS && !(delta == 0 && cx.host.profile.rcv_rtt_skips_zero) {
            self.rtt_update(cx, delta.max(1) * 1000, false);
        }
    }

    /// `tcp_rcv_space_adjust()`: once in a round trip, after a read.
    #[inline]
    pub(super) fn space_adjust(&mut self, cx: &Cx<'_>, ack: &AckState, rcvq: &RcvQueue) {
        let now = match cx.host.profile.read_keeps_clock {
            true => since_boot_us(cx, ack.stamp),
            false => cx.now_us(),
        };
        let rtt = u64::from(self.rtt_us / 8);
        if self.rtt_us != 0 && now.saturating_sub(self.space_time_us) >= rtt {
            self.space_measured(cx, rcvq, now);
        }
    }

    #[inline(never)]
    fn space_measured(&mut self, cx: &Cx<'_>, rcvq: &RcvQueue, now: u64) {
        let mut copied = self.copied_seq - self.space_seq;
        if cx.host.profile.tunes_without_queue {
            copied = copied.saturating_sub(self.rcv_nxt - self.copied_seq);
        }
        if copied > self.space {
            match cx.host.profile.buffer_growth {
                BufferGrowth::Reordered => self.rcvbuf_grow(cx, rcvq, copied),
                BufferGrowth::Margin if self.is_tuned(cx) => self.grow_rcvbuf(cx, copied),
                BufferGrowth::Margin => {}
            }
            self.space = copied;
        }
        self.space_seq = self.copied_seq;
        self.space_time_us = now;
    }

    /// The buffer follows the rate.
    fn is_tuned(&self, cx: &Cx<'_>) -> bool {
        cx.host.sysctl.tcp_moderate_rcvbuf && !self.rcvbuf_locked
    }

    /// `tcp_rcvbuf_grow()`: a buffer for twice `space`, for a sender that doubles its rate, and for what lies out of
    /// order.
    #[inline(never)]
    pub(super) fn rcvbuf_grow(&mut self, cx: &Cx<'_>, rcvq: &RcvQueue, space: u32) {
        if !self.is_tuned(cx) {
            return;
        }
        let low = u64::from(cx.host.sysctl.tcp_rcvbuf_low_rtt);
        let rtt = u64::from(self.rtt_us / 8);
        let window = u64::from(space) * 2;
        let growth = if rtt < low {
            // A short path reaches its rate in a few more round trips: memory stays in the cache.
            window * rtt / low
        } else {
            let more = u64::from(space.wrapping_sub(self.space));
            window * 2 * more / u64::from(self.space).max(1)
        };
        let reordered = rcvq
            .ofo
            .back()
            .map_or(0, |last| last.end_seq - self.rcv_nxt);
        // As wide as Linux' variables.
        let window = (window + growth) as u32;
        let memory = self.space_from_win(window.wrapping_add(reordered));
        let [_, _, rmem_max] = cx.host.sysctl.tcp_rmem;
        self.rcvbuf_grows_to(cx, memory.min(rmem_max));
    }

    /// `tcp_space_from_win()`: memory for a window by the measured share, in the width of Linux' variables.
    pub(crate) fn space_from_win(&self, window: u32) -> u32 {
        let window = i64::from(window as i32) as u64;
        ((window << 8) / u64::from(self.share())) as u32
    }

    fn rcvbuf_grows_to(&mut self, cx: &Cx<'_>, rcvbuf: u32) {
        if rcvbuf > self.rcvbuf {
            self.rcvbuf = rcvbuf;
            self.window_clamp = self.full_space(cx);
        }
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
            WindowShare::Measured => window.saturating_mul(256) / u64::from(self.share()),
        };
        self.rcvbuf_grows_to(cx, memory.min(u64::from(rmem_max)) as u32);
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

/// A time in microseconds since boot, as `tcp_mstamp` counts.
fn since_boot_us(cx: &Cx<'_>, at: Instant) -> u64 {
    (at.as_nanos() + cx.host.clock.boot_ns) as u64 / 1000
}

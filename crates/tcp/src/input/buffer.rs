//! How far the offered window may grow (Linux `tcp_init_buffer_space()`, `tcp_grow_window()`,
//! `tcp_clamp_window()`).

use super::memory::skb_truesize;
use super::window::old_init_rwnd;
use crate::cx::Cx;
use crate::endpoint::{AckState, Endpoint, Rcv};

/// `TCP_INIT_CWND`: RFC 6928.
const INIT_CWND: u32 = 10;

impl Rcv {
    /// `tcp_fixup_rcvbuf()` of old kernels: memory for twice the initial window, and four times that where the buffer
    /// is tuned.
    fn fixup_rcvbuf(&mut self, cx: &Cx<'_>) {
        let mss = u32::from(self.advmss);
        let frame = skb_truesize(mss + cx.host.profile.tx_header);
        let mut memory = 2 * frame * old_init_rwnd(mss);
        if cx.host.sysctl.tcp_moderate_rcvbuf {
            memory *= 4;
        }
        let [_, _, rmem_max] = cx.host.sysctl.tcp_rmem;
        self.rcvbuf = self.rcvbuf.max(memory.min(rmem_max));
    }

    /// What `tcp_measure_rcv_mss()` does with a new share of memory: the window may grow to that; the threshold follows
    /// by `tcp_grow_window()` (as 6.12.117 has it).
    pub(crate) fn new_window_clamp(&mut self, cx: &Cx<'_>) {
        self.window_clamp = self.full_space(cx);
        self.space = self.space.min(self.window_clamp);
    }

    /// `tcp_grow_window()`: a frame of `len` bytes came in `truesize` bytes of memory. What grows the window also
    /// gives a credit of an immediate ACK.
    #[inline]
    pub(crate) fn grow_window(&mut self, cx: &Cx<'_>, ack: &mut AckState, len: u32, truesize: u32) {
        // DEVIATION: the memory of a driver's page fragments is not taken off (`truesize_adjust()`): frames here
        // lie in linear buffers.
        let room = self.space(cx).min(i64::from(self.window_clamp)) - i64::from(self.rcv_ssthresh);
        if room > 0 {
            self.grow_window_by(cx, ack, room as u32, len, truesize);
        }
    }

    #[inline(never)]
    fn grow_window_by(
        &mut self,
        cx: &Cx<'_>,
        ack: &mut AckState,
        room: u32,
        len: u32,
        truesize: u32,
    ) {
        let window = self.win_from_space(cx, i64::from(truesize));
        let step = if window <= i64::from(len) {
            2 * u32::from(self.advmss)
        } else {
            self.growth_of_bloated(cx, ack, len, window)
        };
        if step > 0 {
            let step = step.max(2 * len);
            self.rcv_ssthresh += room.min(step);
            ack.quick |= 1;
        }
    }

    /// `__tcp_grow_window()`: frames that waste memory grow the window while it is small against the largest buffer.
    fn growth_of_bloated(&self, cx: &Cx<'_>, ack: &AckState, len: u32, window: i64) -> u32 {
        let [_, _, rmem_max] = cx.host.sysctl.tcp_rmem;
        let mut cost = window >> 1;
        let mut limit = self.win_from_space(cx, i64::from(rmem_max)) >> 1;
        while i64::from(self.rcv_ssthresh) <= limit {
            if cost <= i64::from(len) {
                return 2 * u32::from(ack.rcv_mss);
            }
            cost >>= 1;
            limit >>= 1;
        }
        0
    }

    /// `tcp_clamp_window()`: more is queued than the buffer allows. It grows to what is queued, up to the host's limit;
    /// quick ACKs end.
    pub(super) fn clamp_window(&mut self, cx: &Cx<'_>, ack: &mut AckState) {
        ack.quick = 0;
        let [_, _, rmem_max] = cx.host.sysctl.tcp_rmem;
        if self.rcvbuf < rmem_max && !self.rcvbuf_locked {
            self.rcvbuf = self.rmem_alloc.min(rmem_max);
        }
        if self.rmem_alloc > self.rcvbuf {
            let mss = u32::from(self.advmss);
            self.rcv_ssthresh = self.window_clamp.min(2 * mss);
        }
    }
}

impl Endpoint {
    /// `tcp_init_buffer_space()`: receive buffer, window clamp and threshold when the handshake is over.
    pub(crate) fn init_buffer_space(&mut self, cx: &mut Cx<'_>) {
        if cx.host.profile.rcvbuf_fixup && !self.rcv.rcvbuf_locked {
            self.rcv.fixup_rcvbuf(cx);
        }
        if !self.snd.sndbuf_locked {
            self.snd.sndbuf_expand(cx, &self.cc, &self.loss);
        }
        self.ack.note_clock(cx);
        self.rcv.space_time_us = cx.now_us();
        self.rcv.space_seq = self.rcv.copied_seq;
        let most = self.rcv.full_space(cx);
        let mss = u32::from(self.rcv.advmss);
        let app_win = u32::from(cx.host.sysctl.tcp_app_win);
        if self.rcv.window_clamp >= most {
            self.rcv.window_clamp = most;
            if app_win > 0 && most > 4 * mss {
                self.rcv.window_clamp = (most - (most >> app_win.min(31))).max(4 * mss);
            }
        }
        // One segment stays free.
        let clamp = self.rcv.window_clamp;
        if app_win > 0 && clamp > 2 * mss && u64::from(clamp) + u64::from(mss) > u64::from(most) {
            self.rcv.window_clamp = (2 * mss).max(most.saturating_sub(mss));
        }
        self.rcv.rcv_ssthresh = self.rcv.rcv_ssthresh.min(self.rcv.window_clamp);
        self.snd.snd_cwnd_stamp = cx.jiffies32();
        self.rcv.space = self
            .rcv
            .rcv_ssthresh
            .min(self.rcv.rcv_wnd)
            .min(INIT_CWND * mss);
    }
}

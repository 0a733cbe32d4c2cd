//! The send buffer: memory of what is queued, its size, and when the writer is told of room (Linux
//! `sk_stream_memory_free()`, `sk_stream_is_writeable()`, `tcp_sndbuf_expand()`, `tcp_check_space()`).

use crate::cc::{Congestion, CongestionControl};
use crate::cx::Cx;
use crate::endpoint::{Busy, Endpoint, Rcv, Shutdown, Snd};
use crate::options::SocketState;
use crate::recovery::Loss;

/// `SKB_DATA_ALIGN(sizeof(struct skb_shared_info))` and of `struct sk_buff`.
const SHARED_INFO: u32 = 320;
const SK_BUFF: u32 = 256;
/// `TCP_INIT_CWND`.
const INIT_CWND: u32 = 10;

impl Snd {
    /// `tcp_notsent_lowat()` against what was written and not sent; `wake` shifts it for the wake-up rule.
    #[inline]
    fn notsent_is_low(&self, cx: &Cx<'_>, options: &SocketState, wake: u32) -> bool {
        let lowat = match options.notsent_lowat {
            0 => cx.host.sysctl.tcp_notsent_lowat,
            own => own,
        };
        (self.write_seq - self.snd_nxt) << wake < lowat
    }

    /// `sk_stream_memory_free()`: one more segment may be queued.
    #[inline]
    pub(super) fn memory_free(&self, cx: &Cx<'_>, options: &SocketState) -> bool {
        self.wmem_queued < self.sndbuf && self.notsent_is_low(cx, options, 0)
    }

    /// `tcp_sndbuf_expand()`: room for two congestion windows (three with BBR), each segment in a power of two.
    pub(crate) fn sndbuf_expand(&mut self, cx: &Cx<'_>, cc: &Congestion, loss: &Loss) {
        let mss = u32::from(self.mss_clamp).max(self.mss_cache);
        let skb = (mss + cx.host.profile.tx_header + SHARED_INFO).next_power_of_two() + SK_BUFF;
        let segs = self.snd_cwnd.max(INIT_CWND).max(loss.reordering + 1);
        let bytes = cc.sndbuf_factor().saturating_mul(segs).saturating_mul(skb);
        // The kernel compares as int; windows of that size do not occur.
        if self.sndbuf < bytes {
            self.sndbuf = bytes.min(cx.host.sysctl.tcp_wmem[2]);
        }
    }

    /// `sk_wmem_queued_add()`, `sk_mem_charge()`: memory of a segment, of whole pages that are set aside.
    #[inline]
    pub(crate) fn wmem_add(&mut self, rcv: &mut Rcv, truesize: u32) {
        self.wmem_queued += truesize;
        rcv.forced_mem_schedule(truesize);
        rcv.fwd_alloc -= truesize as i32;
    }

    /// `tcp_wmem_free_skb()`: a segment left the queue.
    #[inline]
    pub(crate) fn wmem_free(&mut self, rcv: &mut Rcv, truesize: u32) {
        self.wmem_queued = self.wmem_queued.saturating_sub(truesize);
        rcv.mem_uncharge(truesize);
    }
}

impl Endpoint {
    /// Whether poll(2) says POLLOUT (`sk_stream_is_writeable()`, TCP_NOTSENT_LOWAT): a third of the buffer is free, and
    /// half of the low-water mark.
    pub fn is_writable(&self, cx: &Cx<'_>) -> bool {
        if self.shutdown.intersects(Shutdown::SEND) {
            return true;
        }
        let (queued, buffer) = (self.snd.wmem_queued, self.snd.sndbuf);
        queued < buffer
            && buffer - queued >= queued >> 1
            && self.snd.notsent_is_low(cx, &self.options, 1)
    }

    /// Takes the news that a full buffer has room again (`sk_write_space()`): true once.
    pub fn take_write_space(&mut self) -> bool {
        std::mem::take(&mut self.snd.space_event)
    }

    /// `tcp_check_space()`: memory was freed or data left; a writer that met a full buffer may go on.
    #[inline]
    pub(crate) fn check_space(&mut self, cx: &mut Cx<'_>) {
        if self.snd.nospace && !self.is_orphan() {
            self.new_space(cx);
        }
    }

    fn new_space(&mut self, cx: &mut Cx<'_>) {
        if !self.snd.sndbuf_locked && self.loss.in_flight() < self.snd.snd_cwnd {
            self.snd.sndbuf_expand(cx, &self.cc, &self.loss);
            self.snd.snd_cwnd_stamp = cx.jiffies32();
        }
        if self.is_writable(cx) {
            self.snd.nospace = false;
            self.snd.space_event = true;
            self.stats
                .chrono
                .stop(cx, self.queue.is_empty(), Busy::SndbufLimited);
        }
    }
}

//! What an in-order data segment teaches the receiver's ACK engine.
//!
//! Linux `tcp_measure_rcv_mss()`, `tcp_event_data_recv()`, `tcp_initialize_rcv_mss()`.

use tcplab_plan::profile::{AckPushRule, WindowShare};
use tcplab_wire::TcpFlags;

use super::{MAX_QUICKACKS, ato_min, delack_max};
use crate::cx::Cx;
use crate::endpoint::{AckPending, AckState, Endpoint, Rcv, Snd};
use crate::rtt::Rtt;
use crate::segment::Segment;

/// `TCP_MSS_DEFAULT`: RFC 9293 3.7.1.
const MSS_DEFAULT: u32 = 536;
/// `TCP_MIN_MSS`.
const MIN_MSS: u32 = 88;
/// Bytes of a TCP header without options.
const HEADER: u32 = 20;

impl AckState {
    /// `tcp_initialize_rcv_mss()`: a low guess is corrected by the first segments, a high one is not.
    pub(crate) fn initialize_rcv_mss(&mut self, rcv: &Rcv, snd: &Snd) {
        let guess = u32::from(rcv.advmss)
            .min(snd.mss_cache)
            .min(rcv.rcv_wnd / 2)
            .clamp(MIN_MSS, MSS_DEFAULT);
        self.rcv_mss = guess as u16;
    }

    /// The interval in which the next data segment is expected (`icsk_ack.ato`).
    #[inline]
    fn predict_ato(&mut self, cx: &Cx<'_>, rcv: &Rcv, rtt: &Rtt, now: u32) {
        let ato_min = ato_min(cx.host.clock.hz);
        if self.ato == 0 {
            self.incr_quickack(rcv, MAX_QUICKACKS);
            self.ato = ato_min;
            return;
        }
        // Unsigned, as Linux compares it. After crossed SYNs no time stands here yet: the gap is a long one.
        let gap = now.wrapping_sub(self.lrcvtime);
        // A field of 8 bits makes the comparison a signed one: until 300 s after the boot that gap is a short one.
        let most = cx
            .host
            .profile
            .ato_has_8_bits
            .then(|| delack_max(cx.host.clock.hz));
        let is_short = match most {
            None => gap < self.ato,
            Some(_) => (gap as i32) < self.ato as i32,
        };
        if gap <= ato_min / 2 {
            self.ato = self.ato / 2 + ato_min / 2;
        } else if is_short {
            let ato = (self.ato / 2).wrapping_add(gap).min(rtt.rto);
            self.ato = most.map_or(ato, |most| ato.min(most));
        } else if gap > rtt.rto {
            // The sender starts slowly again after such a pause: it needs each ACK.
            self.incr_quickack(rcv, MAX_QUICKACKS);
        }
    }
}

impl Rcv {
    /// The share of memory that becomes window, in 1/256; until the first measurement a half.
    pub(crate) fn share(&self) -> u8 {
        match self.scaling_ratio {
            0 => 128,
            share => share,
        }
    }

    /// `scaling_ratio` of kernels since 6.6: payload against memory, measured when the guess of the MSS changes.
    #[cold]
    #[inline(never)]
    fn measure_share(&mut self, cx: &Cx<'_>, len: u32, truesize: u32) {
        let share = u64::from(len) * 256 / u64::from(truesize.max(1));
        let share = share.clamp(1, 255) as u8;
        // The same share again changes nothing.
        if share != self.share() {
            self.scaling_ratio = share;
            self.new_window_clamp(cx);
        }
    }
}

impl Endpoint {
    /// `tcp_measure_rcv_mss()`: guesses the peer's MSS; says by PUSHED whether the next read shall ACK.
    #[inline]
    pub(crate) fn measure_rcv_mss(&mut self, cx: &Cx<'_>, seg: &Segment, truesize: u32) {
        let last = u32::from(self.ack.last_seg_size);
        self.ack.last_seg_size = 0;
        let len = match seg.gso_size {
            0 => seg.len,
            size => u32::from(size),
        };
        if len >= u32::from(self.ack.rcv_mss) {
            if cx.host.profile.window_share == WindowShare::Measured
                && len != u32::from(self.ack.rcv_mss)
            {
                self.rcv.measure_share(cx, seg.len, truesize);
            }
            self.ack.rcv_mss = len.min(u32::from(self.rcv.advmss)) as u16;
            if cx.host.profile.ack_push_rule == AckPushRule::AtMss && seg.flags.has(TcpFlags::PSH) {
                self.ack.pending |= AckPending::PUSHED;
            }
        } else {
            self.measure_short(seg, len, last);
        }
    }

    /// A segment that is shorter than the guess.
    #[inline(never)]
    fn measure_short(&mut self, seg: &Segment, len: u32, last: u32) {
        // Whole segment: a SACK option takes from the payload what it adds to the header.
        let whole = len + seg.header_len();
        let remnant = seg
            .flags
            .has(TcpFlags::FIN | TcpFlags::URG | TcpFlags::SYN | TcpFlags::PSH);
        if whole >= MSS_DEFAULT + HEADER || (whole >= MIN_MSS + HEADER && !remnant) {
            let size = whole.saturating_sub(self.neg.header_len());
            self.ack.last_seg_size = size as u16;
            if size == last {
                self.ack.rcv_mss = size as u16;
                return;
            }
        }
        if self.ack.pending.intersects(AckPending::PUSHED) {
            self.ack.pending |= AckPending::PUSHED2;
        }
        self.ack.pending |= AckPending::PUSHED;
    }

    /// `tcp_event_data_recv()`: in-order data was queued.
    #[inline]
    pub(crate) fn event_data_recv(&mut self, cx: &mut Cx<'_>, seg: &Segment, truesize: u32) {
        self.ack.schedule();
        self.measure_rcv_mss(cx, seg, truesize);
        self.rcv.rtt_measure(cx);
        let now = cx.jiffies32();
        self.ack.predict_ato(cx, &self.rcv, &self.rtt, now);
        self.ack.lrcvtime = now;
        self.ecn_check_ce(cx, seg);
        if seg.len >= 128 {
            self.rcv.grow_window(cx, &mut self.ack, seg.len, truesize);
        }
    }
}

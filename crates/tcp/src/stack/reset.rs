//! Answers without a connection: resets and ACKs of small records (RFC 9293 3.10.7.1; Linux `tcp_v4_send_reset()`,
//! `tcp_v4_send_ack()`).

use tcplab_base::Seq;
use tcplab_wire::{TcpFlags, TcpOptions};

use crate::cx::Cx;
use crate::mib::Counter;
use crate::segment::Segment;

/// Answers a segment with a reset, unless it is one itself.
pub(crate) fn reply_reset(cx: &mut Cx<'_>, seg: &Segment) {
    if seg.flags.has(TcpFlags::RST) {
        return;
    }
    let (seq, ack, flags) = match seg.flags.has(TcpFlags::ACK) {
        true => (seg.ack, Seq(0), TcpFlags::RST),
        false => (Seq(0), seg.end_seq(), TcpFlags::RST | TcpFlags::ACK),
    };
    cx.out.push(Segment {
        src: seg.dst,
        dst: seg.src,
        seq,
        ack,
        flags: TcpFlags(flags),
        tos: seg.tos & !3,
        ..Segment::default()
    });
    cx.count(Counter::OutSegs);
    cx.count(Counter::OutRsts);
}

/// What an ACK of a small record says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallAck {
    pub(crate) seq: Seq,
    pub(crate) ack: Seq,
    /// The window field, scaled down already.
    pub(crate) window: u32,
    pub(crate) tsval: u32,
    /// 0: no time stamps.
    pub(crate) tsecr: u32,
    pub(crate) tos: u8,
}

/// Sends an ACK for a small record, in answer to `seg`.
pub(crate) fn reply_ack(cx: &mut Cx<'_>, seg: &Segment, small: &SmallAck) {
    cx.out.push(Segment {
        src: seg.dst,
        dst: seg.src,
        seq: small.seq,
        ack: small.ack,
        // As Linux writes it: what does not fit into the field is lost.
        window: small.window as u16,
        flags: TcpFlags(TcpFlags::ACK),
        tos: small.tos,
        options: TcpOptions {
            timestamps: (small.tsecr != 0).then_some((small.tsval, small.tsecr)),
            ..TcpOptions::default()
        },
        ..Segment::default()
    });
    cx.count(Counter::OutSegs);
}

/// `tcp_oow_rate_limited()`: whether the answer to this segment is skipped, because one was sent a moment ago
/// (tcp_invalid_ratelimit). `last` is the jiffy of the last one, 0 before the first.
pub(crate) fn oow_limited(
    cx: &mut Cx<'_>,
    seg: &Segment,
    counter: Counter,
    last: &mut u32,
) -> bool {
    let empty = seg.seq == seg.end_seq();
    if !empty && !seg.flags.has(TcpFlags::SYN) {
        return false;
    }
    limited(cx, counter, last)
}

/// `__tcp_oow_rate_limited()`: the same for any segment.
pub(crate) fn limited(cx: &mut Cx<'_>, counter: Counter, last: &mut u32) -> bool {
    let now = cx.jiffies32();
    let limit = cx
        .host
        .clock
        .from_millis(u64::from(cx.host.sysctl.tcp_invalid_ratelimit));
    let age = now.wrapping_sub(*last) as i32;
    if *last != 0 && age >= 0 && (age as u32) < limit {
        cx.count(counter);
        return true;
    }
    *last = now;
    false
}

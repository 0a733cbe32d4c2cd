//! What received frames cost: memory accounting and coalescing.
//!
//! Linux `skb->truesize`, `skb_try_coalesce()`, `tcp_try_coalesce()`, `tcp_queue_rcv()`,
//! `sk_rmem_schedule()`, `sk_mem_charge()`, `sk_mem_uncharge()`. The host has memory enough: only the
//! socket's own limit counts.

use tcplab_plan::profile::Profile;
use tcplab_wire::TcpFlags;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Rcv, RcvQueue, RcvSkb, Stats};
use crate::host::RxTruesize;
use crate::mib::Counter;
use crate::segment::Segment;

/// Bytes of a `struct sk_buff` in memory.
const SK_BUFF: u32 = 256;
/// Bytes of a `struct skb_shared_info`.
pub(super) const SHARED_INFO: u32 = 320;
/// Ethernet's header.
const ETHERNET: u32 = 14;
/// Room that tun leaves in front of a frame (`TUN_RX_PAD`).
const HEADROOM: u32 = 66;
/// Room in front of an IP packet of a TUN device (`NET_SKB_PAD`).
const TUN_HEADROOM: u32 = 64;
/// Sizes are rounded up to a cache line.
pub(super) const CACHE_LINE: u32 = 64;
/// `MAX_SKB_FRAGS`: how many frames one may take over.
const MAX_FRAGS: u8 = 17;
/// Accounted in pages.
const PAGE: i32 = 4096;

/// `SKB_TRUESIZE()`: a buffer of this many bytes with what manages it.
#[inline]
pub(super) const fn skb_truesize(bytes: u32) -> u32 {
    bytes + SK_BUFF + SHARED_INFO
}

/// The longest frame that a TAP device puts into a piece of a page, which another frame can take over
/// (`tun_can_build_skb()`: with XDP_PACKET_HEADROOM it must fit into the page).
const MOST_OF_PAGE: u32 = 4096 - SHARED_INFO - HEADROOM - 256;

/// The buffer of a frame in memory.
struct Buffer {
    truesize: u32,
    /// Bytes more that it would take.
    tailroom: u32,
    /// It is no part of a page.
    is_own: bool,
}

/// Data bytes that fit a buffer allocated for `len` (`alloc_skb()`). SLOB gives whole cache lines.
/// Allocators with fixed sizes give the next larger size.
pub(super) fn buffer_of(profile: &Profile, len: u32) -> u32 {
    let asked = len.next_multiple_of(CACHE_LINE);
    // What an empty segment of the send queue takes shows the allocator.
    if profile.tx_truesize == skb_truesize(profile.tx_header) {
        let taken = asked + SHARED_INFO;
        return match profile.buffers_of_whole_pages && taken >= PAGE as u32 {
            // `get_order()`
            true => taken.next_power_of_two() - SHARED_INFO,
            false => asked,
        };
    }
    // A size that no kmalloc has: heads of skbs have a cache of their own (since 6.3), which small buffers share.
    let head = profile.tx_truesize.saturating_sub(SK_BUFF);
    match !head.is_power_of_two() && asked + SHARED_INFO <= head {
        true => head - SHARED_INFO,
        false => (asked + SHARED_INFO).next_power_of_two() - SHARED_INFO,
    }
}

/// `tun_alloc_skb()`, `__alloc_skb()`: a buffer for `used` bytes. In later releases what goes beyond a page is in pages
/// of its own.
fn own_buffer(profile: &Profile, used: u32) -> Buffer {
    let rest = match profile.tap_frames_in_pages && used >= PAGE as u32 {
        true => used - (PAGE as u32 - SHARED_INFO),
        false => 0,
    };
    let buffer = buffer_of(profile, used - rest);
    let pages = match rest {
        0 => 0,
        _ => rest.next_multiple_of(PAGE as u32),
    };
    Buffer {
        truesize: skb_truesize(buffer) + pages,
        tailroom: match rest {
            0 => buffer - used,
            _ => 0,
        },
        is_own: true,
    }
}

/// Memory of one wire packet with these headers of IP and TCP.
#[inline]
fn frame_memory(cx: &Cx<'_>, headers: u32, payload: u32) -> Buffer {
    let (rule, profile) = (cx.host.rx_truesize, &cx.host.profile);
    let frame = ETHERNET + headers + payload;
    match rule {
        RxTruesize::Kmalloc if frame <= MOST_OF_PAGE => {
            let buffer = (frame + HEADROOM).next_multiple_of(CACHE_LINE);
            Buffer {
                truesize: skb_truesize(buffer),
                tailroom: buffer - frame - HEADROOM,
                is_own: false,
            }
        }
        RxTruesize::Kmalloc => own_buffer(profile, frame + HEADROOM),
        RxTruesize::Tun => own_buffer(profile, frame - ETHERNET + TUN_HEADROOM),
        RxTruesize::Fixed(truesize) => Buffer {
            truesize,
            tailroom: 0,
            is_own: false,
        },
    }
}

impl Rcv {
    /// `skb_set_owner_r()`, or what a joined frame adds.
    #[inline]
    pub(super) fn set_owner(&mut self, bytes: u32) {
        self.rmem_alloc += bytes;
        self.fwd_alloc -= bytes as i32;
    }

    /// `sock_rfree()`: a frame leaves the queues; whole pages are given back.
    #[inline]
    pub(super) fn uncharge(&mut self, bytes: u32) {
        self.rmem_alloc = self.rmem_alloc.saturating_sub(bytes);
        self.mem_uncharge(bytes);
    }

    /// `sk_mem_uncharge()`: for what was received and for what was sent.
    #[inline]
    pub(crate) fn mem_uncharge(&mut self, bytes: u32) {
        self.fwd_alloc += bytes as i32;
        if self.fwd_alloc >= PAGE {
            self.fwd_alloc %= PAGE;
        }
    }

    /// `sk_rmem_schedule()`, `sk_forced_mem_schedule()`: sets whole pages aside for `bytes`.
    #[inline]
    pub(crate) fn forced_mem_schedule(&mut self, bytes: u32) {
        let lacking = bytes as i32 - self.fwd_alloc;
        if lacking > 0 {
            self.fwd_alloc += (lacking + PAGE - 1) / PAGE * PAGE;
        }
    }
}

impl RcvQueue {
    /// `tcp_queue_rcv()`: to the receive queue, joined to its last frame when that is cheap.
    #[inline]
    pub(super) fn queue_rcv(
        &mut self,
        cx: &mut Cx<'_>,
        rcv: &mut Rcv,
        stats: &mut Stats,
        skb: RcvSkb,
    ) {
        self.append_ready(cx, rcv, skb, false);
        rcv.rcv_nxt_update(stats, skb.end_seq);
    }

    /// Appends to the receive queue; `charged`: its memory is counted already.
    #[inline]
    pub(super) fn append_ready(
        &mut self,
        cx: &mut Cx<'_>,
        rcv: &mut Rcv,
        skb: RcvSkb,
        charged: bool,
    ) {
        let last = self.ready.len().checked_sub(1);
        if last.is_some_and(|at| self.join(cx, rcv, false, at, skb)) {
            if charged {
                rcv.uncharge(skb.truesize);
            }
            return;
        }
        self.ready.push_back(skb);
        if !charged {
            rcv.set_owner(skb.truesize);
        }
    }

    /// `tcp_try_coalesce()` with the frame at `at` of the out-of-order or receive queue: true when it took `from`.
    #[inline]
    pub(super) fn join(
        &mut self,
        cx: &mut Cx<'_>,
        rcv: &mut Rcv,
        ofo: bool,
        at: usize,
        from: RcvSkb,
    ) -> bool {
        let queue = if ofo { &mut self.ofo } else { &mut self.ready };
        let Some(to) = queue.get_mut(at).filter(|to| to.end_seq == from.seq) else {
            return false;
        };
        let payload = (from.end_seq - from.seq).saturating_sub(u32::from(from.fin));
        let frags = to.frags & !RcvSkb::OWN_BUFFER;
        let tailroom = if frags == 0 { to.tailroom } else { 0 };
        let delta = if payload <= u32::from(tailroom) {
            // Copied into what its buffer has left; a FIN alone needs nothing.
            to.tailroom = tailroom - payload as u16;
            0
        } else {
            // Its buffer is taken over, its sk_buff is not needed any more. One with OWN_BUFFER counts as too many.
            if frags + from.frags >= MAX_FRAGS {
                return false;
            }
            to.frags += from.frags + 1;
            from.truesize.saturating_sub(SK_BUFF)
        };
        to.truesize += delta;
        to.end_seq = from.end_seq;
        to.fin |= from.fin;
        rcv.set_owner(delta);
        cx.count(Counter::RcvCoalesce);
        true
    }
}

impl Endpoint {
    /// A super-segment that a TUN device takes is one frame, not what GRO has joined.
    fn is_one_frame(cx: &Cx<'_>, seg: &Segment) -> bool {
        seg.gso_size == 0
            || (cx.host.profile.tap_frames_in_pages && cx.host.rx_truesize == RxTruesize::Tun)
    }

    /// `skb->truesize` of what GRO has joined.
    #[inline(never)]
    fn truesize_of_joined(cx: &Cx<'_>, headers: u32, seg: &Segment) -> u32 {
        let size = u32::from(seg.gso_size);
        let full = frame_memory(cx, headers, size).truesize;
        match seg.len % size {
            0 => seg.len / size * full,
            rest => seg.len / size * full + frame_memory(cx, headers, rest).truesize,
        }
    }

    /// The segment as it stands in a queue.
    #[inline]
    pub(super) fn received(&self, cx: &Cx<'_>, seg: &Segment) -> RcvSkb {
        let headers = cx.host.ip_header + seg.header_len();
        let (truesize, tailroom, frags) = if Self::is_one_frame(cx, seg) {
            let buffer = frame_memory(cx, headers, seg.len);
            let own = u32::from(buffer.is_own) * u32::from(RcvSkb::OWN_BUFFER);
            (buffer.truesize, buffer.tailroom, own)
        } else {
            let frags = seg
                .wire_packets()
                .saturating_sub(1)
                .min(u32::from(MAX_FRAGS));
            (Self::truesize_of_joined(cx, headers, seg), 0, frags)
        };
        RcvSkb {
            seq: seg.seq,
            end_seq: seg.end_seq(),
            truesize,
            tailroom: tailroom.min(u16::MAX.into()) as u16,
            frags: frags as u8,
            fin: seg.flags.has(TcpFlags::FIN),
        }
    }

    /// Data or FIN of a SYN become the first frame of the receive queue.
    #[cold]
    pub(crate) fn queue_syn_payload(&mut self, cx: &Cx<'_>, seg: &Segment) {
        let mut skb = self.received(cx, seg);
        skb.seq = seg.seq + 1;
        self.rcv.forced_mem_schedule(skb.truesize);
        self.rcvq.ready.push_back(skb);
        self.rcv.set_owner(skb.truesize);
    }

    /// `tcp_try_rmem_schedule()`: true when the frame may be queued; queues are pruned for it.
    #[inline]
    pub(super) fn try_rmem_schedule(&mut self, cx: &mut Cx<'_>, skb: RcvSkb) -> bool {
        let bytes = skb.truesize;
        if self.rcv.rmem_alloc > self.rcv.rcvbuf
            && !self
                .rcvq
                .prune_queue(cx, &mut self.rcv, &mut self.ack, (&self.neg, skb.seq))
        {
            return false;
        }
        self.rcv.forced_mem_schedule(bytes);
        true
    }
}

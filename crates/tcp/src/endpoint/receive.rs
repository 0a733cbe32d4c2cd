//! The receiving half: what came, what was read, what was ACKed.

use std::collections::VecDeque;

use bitflags::bitflags;
use tcplab_base::{Instant, Seq};

use crate::pack::{packed, packed_enum, packed_flags};

/// Receive sequence space and window (RFC 9293 3.3.1, Linux `struct tcp_sock`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rcv {
    pub(crate) rcv_nxt: Seq,
    /// The first unread byte.
    pub(crate) copied_seq: Seq,
    /// `rcv_nxt` when the last ACK was sent.
    pub(crate) rcv_wup: Seq,
    pub(crate) rcv_wnd: u32,
    /// Target of the advertised window.
    /// How far the largest right edge that was ever offered lies behind the one that stands (`rcv_mwnd_seq`).
    pub(crate) taken_back: u32,
    pub(crate) rcv_ssthresh: u32,
    pub(crate) window_clamp: u32,
    /// `sk_rcvbuf`.
    pub(crate) rcvbuf: u32,
    /// `sk_rmem_alloc`: memory of what is queued.
    pub(crate) rmem_alloc: u32,
    /// `sk_forward_alloc`: memory that is set aside and not used; header prediction wants enough.
    pub(crate) fwd_alloc: i32,
    /// `scaling_ratio` of 6.6 and later, in 1/256.
    pub(crate) scaling_ratio: u8,
    /// SO_RCVBUF was set: no auto-tuning (`SOCK_RCVBUF_LOCK`).
    pub(crate) rcvbuf_locked: bool,
    pub(crate) advmss: u16,
    pub(crate) urg_data: Urgent,
    pub(crate) urg_seq: Seq,
    /// `tcp_header_len`-predicted fast path is on (`pred_flags != 0`).
    pub(crate) pred: bool,
    /// Receiver's own RTT measurement (`rcv_rtt_est`): rtt in 8 us/8, window edge, time.
    pub(crate) rtt_us: u32,
    pub(crate) rtt_seq: Seq,
    pub(crate) rtt_time_us: u64,
    /// Time stamp echo that was last used for it.
    pub(crate) rtt_last_tsecr: u32,
    /// `rcvq_space`: bytes copied in the last RTT, where they were counted from, when.
    pub(crate) space: u32,
    pub(crate) space_seq: Seq,
    pub(crate) space_time_us: u64,
    /// A FIN was received (`Shutdown::RECEIVE` comes with it).
    pub(crate) fin_seq: Option<Seq>,
    /// Keepalive and probes: jiffy of the last segment received (`rcv_tstamp`).
    pub(crate) rcv_tstamp: u32,
}

packed!(Rcv {
    rcv_nxt,
    copied_seq,
    rcv_wup,
    rcv_wnd,
    taken_back,
    rcv_ssthresh,
    window_clamp,
    rcvbuf,
    rmem_alloc,
    fwd_alloc,
    scaling_ratio,
    rcvbuf_locked,
    advmss,
    urg_data,
    urg_seq,
    pred,
    rtt_us,
    rtt_seq,
    rtt_time_us,
    rtt_last_tsecr,
    space,
    space_seq,
    space_time_us,
    fin_seq,
    rcv_tstamp,
});

/// The urgent byte (`TCP_URG_*`), which stands at `urg_seq`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Urgent {
    #[default]
    None,
    /// The pointer came, its byte did not.
    NotYet,
    Valid,
    /// A read with MSG_OOB has taken it.
    Read,
}

packed_enum!(Urgent {
    None,
    NotYet,
    Valid,
    Read,
});

/// A run of received bytes that one or more segments brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RcvSkb {
    pub(crate) seq: Seq,
    /// Behind the last byte; a FIN counts one.
    pub(crate) end_seq: Seq,
    pub(crate) truesize: u32,
    /// Bytes that its buffer would still take.
    pub(crate) tailroom: u16,
    /// Other frames whose buffers it has taken over, and [`RcvSkb::OWN_BUFFER`].
    pub(crate) frags: u8,
    pub(crate) fin: bool,
}

impl RcvSkb {
    /// Its buffer is no part of a page (`skb_head_is_locked()`): no other frame can take it over.
    pub(crate) const OWN_BUFFER: u8 = 0x80;
}

/// `sk_receive_queue` and `out_of_order_queue`.
#[derive(Clone, Debug, Default)]
pub(crate) struct RcvQueue {
    /// In order, not yet read.
    pub(crate) ready: VecDeque<RcvSkb>,
    /// Out of order, sorted by first and by last sequence number; neighbours may overlap.
    pub(crate) ofo: VecDeque<RcvSkb>,
    /// `duplicate_sack` (the DSACK to send) and `selective_acks`, most recent first.
    pub(crate) dsack: Option<(Seq, Seq)>,
    /// Where the last DSACK began; it stays when that was sent.
    pub(crate) dsack_start: Seq,
    pub(crate) sacks: [(Seq, Seq); 4],
    pub(crate) num_sacks: u8,
}

bitflags! {
    /// What is pending for the receiver's ACK (`enum inet_csk_ack_state_t`).
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub(crate) struct Pending: u8 {
        const SCHED = 1;
        const TIMER = 2;
        const PUSHED = 4;
        const PUSHED2 = 8;
        const NOW = 16;
        /// Data were dropped for want of memory: the window closes.
        const NO_MEMORY = 32;
    }
}

packed_flags!(Pending);

/// `inet_connection_sock.icsk_ack`: facts of delayed and quick ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckState {
    pub(crate) pending: Pending,
    /// Credits of immediate ACKs.
    pub(crate) quick: u8,
    /// Interactive mode: a counter up to the profile's threshold.
    pub(crate) pingpong: u8,
    /// SACKs that were held back since the last one was sent (`compressed_ack`).
    pub(crate) compressed: u8,
    /// TCP_DELACK_MAX_US in jiffies (`icsk_delack_max`); 0: the usual 200 ms.
    pub(crate) own_max: u8,
    /// `dup_ack_counter`.
    pub(crate) dup_ack_counter: u8,
    /// `compressed_ack_rcv_nxt`.
    pub(crate) compressed_rcv_nxt: Seq,
    /// Predicted interval of data packets in jiffies; 0: nothing came yet.
    pub(crate) ato: u32,
    /// Jiffy of the last data packet.
    pub(crate) lrcvtime: u32,
    pub(crate) last_seg_size: u16,
    /// Guess of the peer's MSS.
    pub(crate) rcv_mss: u16,
    /// Jiffy of the last out-of-window ACK (rate limit of `tcp_invalid_ratelimit`).
    pub(crate) last_oow_ack_time: u32,
    /// When the last ACK was held back; under profiles with `read_keeps_clock` when the clock was read last
    /// (`tcp_mstamp`).
    pub(crate) stamp: Instant,
    /// Timeouts made the kernel forget the route (`__sk_dst_reset()`): its metric does not count until something is sent.
    pub(crate) route_lost: bool,
}

packed!(AckState {
    pending,
    quick,
    pingpong,
    compressed,
    own_max,
    dup_ack_counter,
    compressed_rcv_nxt,
    ato,
    lrcvtime,
    last_seg_size,
    rcv_mss,
    last_oow_ack_time,
    stamp,
    route_lost,
});

//! The sending half: sequence space, window, buffer, congestion window.

use tcplab_base::Seq;

/// Send sequence space and limits (RFC 9293 3.3.1, Linux `struct tcp_sock`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snd {
    pub(crate) iss: Seq,
    pub(crate) snd_una: Seq,
    pub(crate) snd_nxt: Seq,
    /// Behind the last byte that the application wrote.
    pub(crate) write_seq: Seq,
    /// Behind the last byte sent with PSH.
    pub(crate) pushed_seq: Seq,
    /// Behind the last byte of the last short segment (Minshall's Nagle).
    pub(crate) snd_sml: Seq,
    pub(crate) snd_wl1: Seq,
    pub(crate) snd_wnd: u32,
    pub(crate) max_window: u32,
    /// Urgent mode and pointer (`snd_up`).
    pub(crate) urg_mode: bool,
    pub(crate) snd_up: Seq,
    /// Payload of a full segment now, options taken off (`mss_cache`).
    pub(crate) mss_cache: u32,
    /// `mss_clamp`: what the peer's MSS option allows.
    pub(crate) mss_clamp: u16,
    /// MTU of the path (`icsk_pmtu_cookie`).
    pub(crate) pmtu: u32,
    /// Jiffy of the last data segment sent (`lsndtime`).
    pub(crate) lsndtime: u32,
    /// Received from the peer in SYN: 0 when scaling is off.
    pub(crate) snd_wscale: u8,
    pub(crate) rcv_wscale: u8,
    /// `sk_sndbuf`.
    pub(crate) sndbuf: u32,
    /// `sk_wmem_queued`.
    pub(crate) wmem_queued: u32,
    /// SO_SNDBUF was set.
    pub(crate) sndbuf_locked: bool,
    /// The application met a full buffer (`SOCK_NOSPACE`): it waits to be told.
    pub(crate) nospace: bool,
    /// Congestion window and threshold in packets. One writer: `cc/window.rs`.
    pub(crate) snd_cwnd: u32,
    pub(crate) snd_ssthresh: u32,
    pub(crate) snd_cwnd_cnt: u32,
    pub(crate) snd_cwnd_used: u32,
    pub(crate) snd_cwnd_clamp: u32,
    pub(crate) snd_cwnd_stamp: u32,
    pub(crate) prior_cwnd: u32,
    pub(crate) is_cwnd_limited: bool,
    pub(crate) max_packets_out: u32,
    pub(crate) cwnd_usage_seq: Seq,
    /// `gso_segs` that one super-segment may have.
    pub(crate) max_gso_segs: u16,
}

/// Pacing and rate samples (`sk_pacing_*`, `tcp_rate.c`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tune {
    /// Bytes a second; u64::MAX: not set.
    pub(crate) pacing_rate: u64,
    pub(crate) max_pacing_rate: u64,
    /// 0 none, 1 internal pacing is needed (`SK_PACING_NEEDED`).
    pub(crate) pacing_status: u8,
    pub(crate) pacing_shift: u8,
    /// Time in ns at which the next packet may leave (`tcp_wstamp_ns`).
    pub(crate) wstamp_ns: u64,
    pub(crate) first_tx_us: u64,
    pub(crate) delivered_us: u64,
    pub(crate) app_limited: u32,
    pub(crate) rate_delivered: u32,
    pub(crate) rate_interval_us: u32,
    pub(crate) rate_app_limited: bool,
}

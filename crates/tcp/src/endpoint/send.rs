//! The sending half: sequence space, window, buffer, congestion window.

use tcplab_base::Seq;

use crate::pack::packed;

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
    /// Behind the last urgent byte; `snd_una` when all urgent bytes are ACKed.
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
    /// There is room again, and the owner was not told yet ([`crate::Endpoint::take_write_space`]).
    pub(crate) space_event: bool,
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
    /// Segments of one super-segment at the current size goal (`gso_segs`).
    pub(crate) gso_segs: u16,
}

packed!(Snd {
    iss,
    snd_una,
    snd_nxt,
    write_seq,
    pushed_seq,
    snd_sml,
    snd_wnd,
    max_window,
    snd_up,
    mss_cache,
    mss_clamp,
    pmtu,
    lsndtime,
    snd_wscale,
    rcv_wscale,
    sndbuf,
    wmem_queued,
    sndbuf_locked,
    nospace,
    space_event,
    snd_cwnd,
    snd_ssthresh,
    snd_cwnd_cnt,
    snd_cwnd_used,
    snd_cwnd_clamp,
    snd_cwnd_stamp,
    prior_cwnd,
    is_cwnd_limited,
    max_packets_out,
    cwnd_usage_seq,
    gso_segs,
    // Of the other direction.
    snd_wl1,
});

impl Snd {
    /// `tcp_wnd_end()`: behind the last byte that the peer's window takes.
    #[inline]
    pub(crate) fn wnd_end(&self) -> Seq {
        self.snd_una + self.snd_wnd
    }

    /// `tcp_in_slow_start()`.
    #[inline]
    pub(crate) fn in_slow_start(&self) -> bool {
        self.snd_cwnd < self.snd_ssthresh
    }

    /// `tcp_urg_mode()`: urgent data is not ACKed yet.
    #[inline]
    pub(crate) fn in_urg_mode(&self) -> bool {
        self.snd_una != self.snd_up
    }
}

/// Pacing and rate samples (`sk_pacing_*`, `tcp_rate.c`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tune {
    /// `sk_pacing_rate` is the quotient of these two: each ACK sets it, few connections ask for it, and the
    /// division is slow. A divisor of 0 counts as 1.
    pacing_dividend: u64,
    pacing_divisor: u32,
    /// `sk_max_pacing_rate` in bytes a second; u32::MAX and more: no limit.
    pub(crate) max_pacing_rate: u32,
    /// `SK_PACING_NEEDED`: TCP paces itself.
    pub(crate) pacing_needed: bool,
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

packed!(Tune {
    pacing_dividend,
    pacing_divisor,
    max_pacing_rate,
    pacing_needed,
    pacing_shift,
    wstamp_ns,
    first_tx_us,
    delivered_us,
    app_limited,
    rate_delivered,
    rate_interval_us,
    rate_app_limited,
});

impl Tune {
    /// `sk_pacing_rate` in bytes a second; u64::MAX: not set.
    #[inline]
    pub(crate) fn pacing_rate(&self) -> u64 {
        let rate = match self.pacing_divisor {
            0 => self.pacing_dividend,
            divisor => self.pacing_dividend / u64::from(divisor),
        };
        match self.max_pacing_rate {
            u32::MAX => rate,
            most => rate.min(u64::from(most)),
        }
    }

    /// Sets it to a quotient.
    #[inline]
    pub(crate) fn set_pacing_rate(&mut self, dividend: u64, divisor: u32) {
        self.pacing_dividend = dividend;
        self.pacing_divisor = divisor;
    }
}

//! Round-trip time and retransmission timeout (RFC 6298; Linux `tcp_rtt_estimator()`, `tcp_set_rto()`,
//! `tcp_update_rtt_min()`).

/// Estimator state in Linux's scales: `srtt_us` holds 8 SRTT, the deviations 4 times their value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtt {
    pub(crate) srtt_us: u32,
    pub(crate) mdev_us: u32,
    pub(crate) mdev_max_us: u32,
    pub(crate) rttvar_us: u32,
    pub(crate) rtt_seq: tcplab_base::Seq,
    /// `icsk_rto` in jiffies.
    pub(crate) rto: u32,
    /// `icsk_backoff`.
    pub(crate) backoff: u8,
    /// Windowed minimum (lib/win_minmax.c): three samples of (jiffies, us).
    pub(crate) min: [(u32, u32); 3],
}

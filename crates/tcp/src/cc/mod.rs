//! Congestion control: one file an algorithm, one line of the enum, one row of the table.
//!
//! The calls are those of Linux's `struct tcp_congestion_ops`. `snd_cwnd` and `snd_ssthresh` have one
//! writer, `window.rs` of this folder; `recovery/` calls it.

use tcplab_base::Seq;

use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::queue::Id;
use crate::recovery::CaState;

/// Which algorithm, and its state.
#[derive(Clone, Debug, Default)]
pub(crate) enum Congestion {
    /// RFC 5681 (`tcp_cong.c`).
    #[default]
    Reno,
}

/// `enum tcp_ca_event`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub(crate) enum CaEvent {
    TxStart,
    CwndRestart,
    CompleteCwr,
    Loss,
    EcnNoCe,
    EcnIsCe,
}

/// One ACK's view of delivery (`struct rate_sample`), filled by `recovery/` and `cc/rate.rs`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateSample {
    pub(crate) prior_mstamp_us: u64,
    pub(crate) prior_delivered: u32,
    pub(crate) prior_delivered_ce: u32,
    pub(crate) delivered: i32,
    pub(crate) delivered_ce: i32,
    pub(crate) interval_us: i64,
    pub(crate) snd_interval_us: u32,
    pub(crate) rcv_interval_us: u32,
    pub(crate) rtt_us: i64,
    pub(crate) losses: u32,
    pub(crate) acked_sacked: u32,
    pub(crate) prior_in_flight: u32,
    pub(crate) last_end_seq: Seq,
    pub(crate) is_app_limited: bool,
    pub(crate) is_retrans: bool,
    pub(crate) is_ack_delayed: bool,
}

/// `struct ack_sample`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckSample {
    pub(crate) pkts_acked: u32,
    pub(crate) rtt_us: i32,
    pub(crate) in_flight: u32,
}

impl Endpoint {
    /// `tcp_init_congestion_control()` with the socket's, route's or sysctl's algorithm; an unknown name is Reno.
    pub(crate) fn cc_init(&mut self, _cx: &mut Cx<'_>, _name: &str) {}

    /// The algorithm wants ECN negotiated (DCTCP).
    pub(crate) fn cc_needs_ecn(&self) -> bool {
        false
    }

    /// `ssthresh()`: the threshold after a loss, in packets.
    pub(crate) fn cc_ssthresh(&mut self, _cx: &mut Cx<'_>) -> u32 {
        2
    }

    /// `undo_cwnd()`: the window to go back to.
    pub(crate) fn cc_undo_cwnd(&mut self, _cx: &mut Cx<'_>) -> u32 {
        0
    }

    /// `set_state()`.
    pub(crate) fn cc_set_state(&mut self, _cx: &mut Cx<'_>, state: CaState) {
        self.loss.ca_state = state;
    }

    /// `cwnd_event()`.
    pub(crate) fn cc_event(&mut self, _cx: &mut Cx<'_>, _event: CaEvent) {}

    /// `in_ack_event()` with [`Flag`](crate::recovery::Flag)s.
    pub(crate) fn cc_in_ack_event(&mut self, _cx: &mut Cx<'_>, _flag: u32) {}

    /// `pkts_acked()`.
    pub(crate) fn cc_pkts_acked(&mut self, _cx: &mut Cx<'_>, _sample: &AckSample) {}

    /// `tcp_cong_control()`: PRR's reduction or the algorithm's growth, then the pacing rate.
    pub(crate) fn cong_control(
        &mut self,
        _cx: &mut Cx<'_>,
        _ack: Seq,
        _acked: u32,
        _flag: u32,
        _rs: &RateSample,
    ) {
    }

    /// `tcp_snd_cwnd_set()`: the one writer of `snd_cwnd`.
    pub(crate) fn set_cwnd(&mut self, packets: u32) {
        self.snd.snd_cwnd = packets.max(1);
    }

    /// The one writer of `snd_ssthresh`.
    pub(crate) fn set_ssthresh(&mut self, packets: u32) {
        self.snd.snd_ssthresh = packets;
    }

    /// `tcp_init_cwnd_reduction()`, `tcp_cwnd_reduction()`, `tcp_end_cwnd_reduction()` (PRR) are in `recovery/prr.rs`.
    /// `tcp_init_cwnd()`: the initial window in packets.
    pub(crate) fn init_cwnd(&self, _cx: &Cx<'_>) -> u32 {
        10
    }

    /// `tcp_rate_skb_sent()`.
    pub(crate) fn rate_skb_sent(&mut self, _cx: &mut Cx<'_>, _id: Id) {}

    /// `tcp_rate_skb_delivered()`: a segment was ACKed or SACKed.
    pub(crate) fn rate_skb_delivered(
        &mut self,
        _cx: &mut Cx<'_>,
        _skb: &crate::queue::Skb,
        _rs: &mut RateSample,
    ) {
    }

    /// `tcp_rate_gen()`.
    pub(crate) fn rate_gen(
        &mut self,
        _cx: &mut Cx<'_>,
        _delivered: u32,
        _lost: u32,
        _is_sack_reneg: bool,
        _rs: &mut RateSample,
    ) {
    }

    /// `tcp_rate_check_app_limited()`.
    pub(crate) fn rate_check_app_limited(&mut self, _cx: &mut Cx<'_>) {}
}

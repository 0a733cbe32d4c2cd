//! What the sender believes about its segments: scoreboard, congestion state, RACK-TLP, undo.
//!
//! An ACK is handled in this order (Linux `tcp_ack()`): window, cumulative part, SACK blocks, RACK,
//! RTT, the state machine (`fast_retransmit_alert`), congestion control, what to send now.

use tcplab_base::Seq;

use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::segment::Segment;

use crate::queue::Id;

/// `enum tcp_ca_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub(crate) enum CaState {
    #[default]
    Open,
    Disorder,
    Cwr,
    Recovery,
    Loss,
}

/// Scoreboard and recovery episode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub(crate) ca_state: CaState,
    pub(crate) packets_out: u32,
    pub(crate) sacked_out: u32,
    pub(crate) lost_out: u32,
    pub(crate) retrans_out: u32,
    /// Packets ever marked lost (`tp->lost`).
    pub(crate) lost: u32,
    /// `snd_nxt` when the episode began.
    pub(crate) high_seq: Seq,
    /// `snd_una` when it may still be undone; none: no undo (`undo_marker == 0`).
    pub(crate) undo_marker: Option<Seq>,
    pub(crate) undo_retrans: i32,
    pub(crate) prior_ssthresh: u32,
    /// TSval (or ms) of the first retransmission of the episode.
    pub(crate) retrans_stamp: u32,
    /// `icsk_retransmits`.
    pub(crate) retransmits: u8,
    pub(crate) frto: bool,
    pub(crate) is_sack_reneg: bool,
    pub(crate) reordering: u32,
    /// Highest retransmitted sequence number (`high_seq` of FACK-era kernels is `fackets_out`).
    pub(crate) fackets_out: u32,
    pub(crate) highest_sack: Id,
    pub(crate) retransmit_hint: Id,
    pub(crate) lost_hint: Id,
    pub(crate) lost_cnt_hint: u32,
    /// SACK blocks of the last ACK (`recv_sack_cache`).
    pub(crate) recv_sack_cache: [(Seq, Seq); 4],
    /// Proportional rate reduction (RFC 6937).
    pub(crate) prr_delivered: u32,
    pub(crate) prr_out: u32,
    /// TLP: end of the probe, and whether it was a retransmission.
    pub(crate) tlp_high_seq: Option<Seq>,
    pub(crate) tlp_retrans: bool,
    /// Zero-window probes that were not answered (`icsk_probes_out`), and since when.
    pub(crate) probes_out: u8,
    pub(crate) probes_tstamp: u32,
    /// Challenge ACK for window probes etc. (`rx_opt.num_sacks` of the last one).
    pub(crate) total_retrans_at_syn: u8,
}

impl Default for Loss {
    fn default() -> Self {
        Self {
            ca_state: CaState::Open,
            packets_out: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            lost: 0,
            high_seq: Seq(0),
            undo_marker: None,
            undo_retrans: 0,
            prior_ssthresh: 0,
            retrans_stamp: 0,
            retransmits: 0,
            frto: false,
            is_sack_reneg: false,
            reordering: 3,
            fackets_out: 0,
            highest_sack: Id::NONE,
            retransmit_hint: Id::NONE,
            lost_hint: Id::NONE,
            lost_cnt_hint: 0,
            recv_sack_cache: [(Seq(0), Seq(0)); 4],
            prr_delivered: 0,
            prr_out: 0,
            tlp_high_seq: None,
            tlp_retrans: false,
            probes_out: 0,
            probes_tstamp: 0,
            total_retrans_at_syn: 0,
        }
    }
}

impl Loss {
    /// `tcp_packets_in_flight()`.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }
}

/// RACK (RFC 8985; Linux `struct tcp_rack`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rack {
    /// Transmission time of the latest delivered segment, ns since boot / 1000.
    pub(crate) mstamp_us: u64,
    pub(crate) rtt_us: u32,
    pub(crate) end_seq: Seq,
    pub(crate) last_delivered: u32,
    pub(crate) reo_wnd_steps: u8,
    pub(crate) reo_wnd_persist: u8,
    pub(crate) dsack_seen: bool,
    pub(crate) advanced: bool,
}

/// What an ACK did (`FLAG_*` of tcp_input.c).
pub(crate) struct Flag;

#[allow(missing_docs)]
impl Flag {
    pub(crate) const DATA: u32 = 0x01;
    pub(crate) const WIN_UPDATE: u32 = 0x02;
    pub(crate) const DATA_ACKED: u32 = 0x04;
    pub(crate) const RETRANS_DATA_ACKED: u32 = 0x08;
    pub(crate) const SYN_ACKED: u32 = 0x10;
    pub(crate) const DATA_SACKED: u32 = 0x20;
    pub(crate) const ECE: u32 = 0x40;
    pub(crate) const LOST_RETRANS: u32 = 0x80;
    pub(crate) const SLOWPATH: u32 = 0x100;
    pub(crate) const ORIG_SACK_ACKED: u32 = 0x200;
    pub(crate) const SND_UNA_ADVANCED: u32 = 0x400;
    pub(crate) const DSACKING_ACK: u32 = 0x800;
    pub(crate) const SET_XMIT_TIMER: u32 = 0x1000;
    pub(crate) const SACK_RENEGING: u32 = 0x2000;
    pub(crate) const UPDATE_TS_RECENT: u32 = 0x4000;
    pub(crate) const NO_CHALLENGE_ACK: u32 = 0x8000;
    pub(crate) const ACK_MAYBE_DELAYED: u32 = 0x10000;
    pub(crate) const DSACK_TLP: u32 = 0x20000;
}

impl Endpoint {
    /// `tcp_ack()`: handles the acknowledgment of a segment. 1: it is good; 0: old; negative: it acknowledges what was
    /// not sent (the caller drops the segment).
    pub(crate) fn ack(&mut self, _cx: &mut Cx<'_>, _seg: &Segment, _flag: u32) -> i32 {
        1
    }

    /// The timer that `pending` names is due: RTO, TLP or RACK's reordering (`tcp_write_timer_handler()`).
    pub(crate) fn on_rexmit_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_rearm_rto()`.
    pub(crate) fn rearm_rto(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_schedule_loss_probe()`: true when a probe is armed.
    pub(crate) fn schedule_loss_probe(&mut self, _cx: &mut Cx<'_>, _advancing_rto: bool) -> bool {
        false
    }

    /// `tcp_xmit_retransmit_queue()`.
    pub(crate) fn xmit_retransmit_queue(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_cwnd_reduction()` (PRR).
    pub(crate) fn cwnd_reduction(&mut self, _cx: &Cx<'_>, _acked: u32, _lost: u32, _flag: u32) {}

    /// `tcp_enter_cwr()`.
    pub(crate) fn enter_cwr(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_rtt_estimator()`, `tcp_set_rto()`: a sample in microseconds.
    pub(crate) fn rtt_sample(&mut self, _cx: &mut Cx<'_>, _us: u32) {}

    /// `tcp_synack_rtt_meas()` and the SYN's: the handshake's sample, when it was not retransmitted.
    pub(crate) fn handshake_rtt(&mut self, _cx: &mut Cx<'_>, _us: u32) {}

    /// `tcp_rto_min()` in jiffies.
    pub(crate) fn rto_min(&self, _cx: &Cx<'_>) -> u32 {
        0
    }

    /// `tcp_min_rtt()` in microseconds; `u32::MAX` without a sample.
    pub(crate) fn min_rtt(&self) -> u32 {
        u32::MAX
    }

    /// `tcp_simple_retransmit()`: the MSS shrank.
    pub(crate) fn simple_retransmit(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_clear_retrans()`, scoreboard of a new connection.
    pub(crate) fn clear_retrans(&mut self) {}
}

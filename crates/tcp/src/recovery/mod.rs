//! What the sender believes about its segments: scoreboard, congestion state, RACK-TLP, undo.
//!
//! An ACK is handled in this order (Linux `tcp_ack()`): window, cumulative part, SACK blocks, RACK,
//! RTT, the state machine (`fast_retransmit_alert`), congestion control, what to send now.

mod ack;
mod alert;
mod clean;
mod early;
mod latency;
mod loss;
mod prr;
mod rack;
mod reorder;
mod retransmit;
mod sack;
mod sack_walk;
mod simple;
mod timeout;
mod timer;
mod tlp;
mod undo;
mod window;

use bitflags::bitflags;
use tcplab_base::Seq;

use crate::cc::RateSample;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd, Stats};
use crate::options::Negotiated;
use crate::pack::{packed, packed_enum};
use crate::queue::{Id, SendQueue};

pub(crate) use latency::RecoveryLatency;

/// `enum tcp_ca_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum CaState {
    /// `TCP_CA_Open`: nothing is amiss.
    #[default]
    Open,
    /// `TCP_CA_Disorder`: SACKs or duplicate ACKs have come.
    Disorder,
    /// `TCP_CA_CWR`: the window is reduced for ECN or what the device dropped.
    Cwr,
    /// `TCP_CA_Recovery`: fast recovery (RFC 6675).
    Recovery,
    /// `TCP_CA_Loss`: the retransmission timer has fired.
    Loss,
}

packed_enum!(CaState {
    Open,
    Disorder,
    Cwr,
    Recovery,
    Loss,
});

/// Scoreboard and recovery episode.
#[derive(Clone, Copy, Debug, Default)]
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
    /// The path was seen to reorder: no FACK any more (`tcp_disable_fack()`).
    pub(crate) fack_off: bool,
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
    /// How often it has taken another hash of what it sends (`sk_txhash`).
    pub(crate) rehashes: u16,
}

packed!(Loss {
    ca_state,
    packets_out,
    sacked_out,
    lost_out,
    retrans_out,
    lost,
    high_seq,
    undo_marker,
    undo_retrans,
    prior_ssthresh,
    retrans_stamp,
    retransmits,
    frto,
    is_sack_reneg,
    reordering,
    fack_off,
    highest_sack,
    retransmit_hint,
    lost_hint,
    lost_cnt_hint,
    recv_sack_cache,
    prr_delivered,
    prr_out,
    tlp_high_seq,
    tlp_retrans,
    probes_out,
    probes_tstamp,
    rehashes,
});

impl Loss {
    /// `tcp_packets_in_flight()`.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// `tcp_left_out()`.
    #[inline]
    pub(crate) fn left_out(&self) -> u32 {
        self.sacked_out + self.lost_out
    }

    /// `tcp_clear_all_retrans_hints()`.
    pub(crate) fn clear_hints(&mut self) {
        self.lost_hint = Id::NONE;
        self.lost_cnt_hint = 0;
        self.retransmit_hint = Id::NONE;
    }

    /// `tcp_clear_retrans()`, scoreboard of a new connection.
    pub(crate) fn clear_retrans(&mut self) {
        self.retrans_out = 0;
        self.lost_out = 0;
        self.undo_marker = None;
        self.undo_retrans = -1;
        self.sacked_out = 0;
    }

    /// `tcp_highest_sack_seq()`: the first byte behind the highest SACKed segment.
    #[inline]
    pub(crate) fn highest_sack_seq(&self, queue: &SendQueue, snd: &Snd) -> Seq {
        if self.sacked_out == 0 {
            return snd.snd_una;
        }
        match queue.get(self.highest_sack) {
            Some(skb) => skb.seq.min(snd.snd_nxt),
            None => snd.snd_nxt,
        }
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

packed!(Rack {
    mstamp_us,
    rtt_us,
    end_seq,
    last_delivered,
    reo_wnd_steps,
    reo_wnd_persist,
    dsack_seen,
    advanced,
});

bitflags! {
    /// What an ACK did (`FLAG_*` of tcp_input.c).
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub(crate) struct Flag: u32 {
        const DATA = 0x01;
        const WIN_UPDATE = 0x02;
        const DATA_ACKED = 0x04;
        const RETRANS_DATA_ACKED = 0x08;
        const SYN_ACKED = 0x10;
        const DATA_SACKED = 0x20;
        const ECE = 0x40;
        const LOST_RETRANS = 0x80;
        const SLOWPATH = 0x100;
        const ORIG_SACK_ACKED = 0x200;
        const SND_UNA_ADVANCED = 0x400;
        const DSACKING_ACK = 0x800;
        const SET_XMIT_TIMER = 0x1000;
        const SACK_RENEGING = 0x2000;
        const UPDATE_TS_RECENT = 0x4000;
        const NO_CHALLENGE_ACK = 0x8000;
        const ACK_MAYBE_DELAYED = 0x10000;
        const DSACK_TLP = 0x20000;

        const ACKED = Self::DATA_ACKED.bits() | Self::SYN_ACKED.bits();
        const NOT_DUP = Self::DATA.bits() | Self::WIN_UPDATE.bits() | Self::ACKED.bits();
        const CA_ALERT = Self::DATA_SACKED.bits() | Self::ECE.bits() | Self::DSACKING_ACK.bits();
    }
}

/// What became of a segment's acknowledgment (`tcp_ack()`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Acked {
    /// It is of the window that was sent.
    Good,
    /// Others have overtaken it; only its SACK blocks counted.
    Old,
    /// It acknowledges what was not sent, or is older than any window: the segment is dropped.
    Invalid,
}

/// What one ACK's cumulative part and SACK blocks say (`struct tcp_sacktag_state` with its rate sample).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckWork {
    /// Transmission of the first and of the last newly SACKed segment that was never retransmitted, in us; 0: none.
    pub(super) first_sackt: u64,
    pub(super) last_sackt: u64,
    /// Lowest sequence number that shows reordering.
    pub(super) reord: Seq,
    /// Segments that SACK blocks say were delivered.
    pub(super) sack_delivered: u32,
    /// What the SACK blocks did.
    pub(super) flag: Flag,
    pub(super) mss_now: u32,
    pub(super) rs: RateSample,
}

/// What is to be sent after an ACK (`REXMIT_*`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Rexmit {
    #[default]
    None,
    /// What is marked lost.
    Lost,
    /// New data (F-RTO).
    New,
}

impl Negotiated {
    /// Whether SACK is not in use (`tcp_is_reno()`).
    #[inline]
    pub(crate) fn is_reno(&self) -> bool {
        !self.sack_ok
    }
}

impl Stats {
    /// `tcp_count_delivered()`.
    #[inline]
    pub(super) fn count_delivered(&mut self, packets: u32, ece: bool) {
        self.delivered = self.delivered.wrapping_add(packets);
        if ece {
            self.delivered_ce = self.delivered_ce.wrapping_add(packets);
        }
    }
}

impl Endpoint {
    /// `tcp_is_rack()`.
    #[inline]
    pub(super) fn is_rack(&self, cx: &Cx<'_>) -> bool {
        cx.host.profile.rack_only || cx.host.sysctl.tcp_recovery & 1 != 0
    }

    /// `tcp_time_stamp()`: the milliseconds that retransmission times are told in.
    #[inline]
    pub(crate) fn now_ms(cx: &Cx<'_>) -> u32 {
        cx.host.clock.millis(cx.now)
    }
}

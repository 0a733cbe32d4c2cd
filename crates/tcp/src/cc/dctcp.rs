//! DCTCP (RFC 8257; Linux tcp_dctcp.c): the window falls by the share of marked packets, and the receiver tells each
//! change of marks at once.

use tcplab_base::Seq;

use super::reno::Reno;
use super::{CaEvent, Congestion, CongestionControl, Control, Echo};
use crate::endpoint::{Snd, Stats};
use crate::options::Ecn;
use crate::pack::packed;
use crate::recovery::CaState;

/// Alpha of one.
const MAX_ALPHA: u32 = 1024;
/// Gain of alpha's average: 1/16.
const SHIFT_G: u32 = 4;

/// `struct dctcp`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dctcp {
    old_delivered: u32,
    old_delivered_ce: u32,
    prior_rcv_nxt: Seq,
    /// Share of marked packets in 1/1024.
    alpha: u32,
    next_seq: Seq,
    /// The last data packet came marked.
    ce: bool,
    loss_cwnd: u32,
}

packed!(Dctcp {
    old_delivered,
    old_delivered_ce,
    prior_rcv_nxt,
    alpha,
    next_seq,
    ce,
    loss_cwnd,
});

impl Dctcp {
    fn begin_window(&mut self, snd: &Snd, stats: &Stats) {
        self.next_seq = snd.snd_nxt;
        self.old_delivered = stats.delivered;
        self.old_delivered_ce = stats.delivered_ce;
    }

    /// `dctcp_update_alpha()`: once a window.
    #[cold]
    #[inline(never)]
    fn update_alpha(&mut self, snd: &Snd, stats: &Stats) {
        if snd.snd_una.before(self.next_seq) {
            return;
        }
        let less = match self.alpha >> SHIFT_G {
            0 => self.alpha,
            part => part,
        };
        self.alpha -= less;
        let ce = stats.delivered_ce.wrapping_sub(self.old_delivered_ce);
        if ce > 0 {
            let packets = stats.delivered.wrapping_sub(self.old_delivered).max(1);
            let share = (ce << (10 - SHIFT_G)) / packets;
            self.alpha = (self.alpha + share).min(MAX_ALPHA);
        }
        self.begin_window(snd, stats);
    }

    /// `dctcp_react_to_loss()`: a loss halves the window, as with Reno.
    fn react_to_loss(&mut self, snd: &mut Snd) {
        self.loss_cwnd = snd.snd_cwnd;
        snd.set_ssthresh((snd.snd_cwnd >> 1).max(2));
    }

    /// `dctcp_ece_ack_update()` (RFC 8257 3.2): when marks begin or end, the packets before are ACKed as they were.
    fn ece_ack_update(&mut self, ce: bool, rcv_nxt: Seq) -> Echo {
        let turns = (self.ce != ce).then_some(self.prior_rcv_nxt);
        self.ce = ce;
        self.prior_rcv_nxt = rcv_nxt;
        Echo { ce, turns }
    }
}

impl CongestionControl for Dctcp {
    /// `dctcp_init()`: without ECN it is Reno.
    fn init(&mut self, c: &mut Control<'_, '_>) -> Option<Congestion> {
        if !c.neg.ecn_flags.intersects(Ecn::OK) {
            return Some(Congestion::DctcpReno(Reno));
        }
        *self = Self {
            prior_rcv_nxt: c.rcv.rcv_nxt,
            alpha: MAX_ALPHA,
            ..Self::default()
        };
        self.begin_window(c.snd, c.stats);
        None
    }

    #[inline]
    fn needs_ecn(&self) -> bool {
        true
    }

    /// `dctcp_ssthresh()`.
    fn ssthresh(&mut self, c: &Control<'_, '_>) -> u32 {
        let cwnd = c.snd.snd_cwnd;
        self.loss_cwnd = cwnd;
        (cwnd - (cwnd.wrapping_mul(self.alpha) >> 11).min(cwnd)).max(2)
    }

    /// `dctcp_cwnd_undo()`.
    fn undo_cwnd(&mut self, c: &mut Control<'_, '_>) -> u32 {
        c.snd.snd_cwnd.max(self.loss_cwnd)
    }

    /// `dctcp_state()`.
    fn set_state(&mut self, c: &mut Control<'_, '_>, state: CaState) {
        if state == CaState::Recovery && c.loss.ca_state != CaState::Recovery {
            self.react_to_loss(c.snd);
        }
    }

    /// `dctcp_cwnd_event()`.
    fn cwnd_event(&mut self, c: &mut Control<'_, '_>, event: CaEvent) -> Option<Echo> {
        match event {
            CaEvent::EcnIsCe => Some(self.ece_ack_update(true, c.rcv.rcv_nxt)),
            CaEvent::EcnNoCe => Some(self.ece_ack_update(false, c.rcv.rcv_nxt)),
            CaEvent::Loss => {
                self.react_to_loss(c.snd);
                None
            }
            CaEvent::TxStart | CaEvent::CwndRestart | CaEvent::CompleteCwr => None,
        }
    }

    #[inline]
    fn in_ack_event(&mut self, snd: &Snd, stats: &Stats) {
        self.update_alpha(snd, stats);
    }
}

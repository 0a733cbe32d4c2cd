//! DCTCP (RFC 8257; Linux tcp_dctcp.c): the window falls by the share of marked packets, and the receiver tells each
//! change of marks at once.

use tcplab_base::Seq;

use super::{CaEvent, Congestion};
use crate::cx::Cx;
use crate::endpoint::{AckPending, Endpoint};
use crate::options::Ecn;
use crate::pack::packed;

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
    fn begin_window(&mut self, snd_nxt: Seq, delivered: u32, delivered_ce: u32) {
        self.next_seq = snd_nxt;
        self.old_delivered = delivered;
        self.old_delivered_ce = delivered_ce;
    }

    /// `dctcp_ssthresh()`.
    pub(super) fn ssthresh(&mut self, cwnd: u32) -> u32 {
        self.loss_cwnd = cwnd;
        (cwnd - (cwnd.wrapping_mul(self.alpha) >> 11).min(cwnd)).max(2)
    }

    /// `dctcp_cwnd_undo()`.
    pub(super) fn undo_cwnd(&self, cwnd: u32) -> u32 {
        cwnd.max(self.loss_cwnd)
    }
}

impl Endpoint {
    /// `dctcp_init()`: without ECN it is Reno.
    pub(super) fn dctcp_init(&mut self) {
        if !self.neg.ecn_flags.intersects(Ecn::OK) {
            self.cc = Congestion::Reno;
            return;
        }
        let mut d = Dctcp {
            prior_rcv_nxt: self.rcv.rcv_nxt,
            alpha: MAX_ALPHA,
            ..Dctcp::default()
        };
        d.begin_window(
            self.snd.snd_nxt,
            self.stats.delivered,
            self.stats.delivered_ce,
        );
        self.cc = Congestion::Dctcp(d);
    }

    /// `dctcp_update_alpha()`: once a window.
    #[cold]
    #[inline(never)]
    pub(super) fn dctcp_in_ack(&mut self) {
        let (snd_una, snd_nxt) = (self.snd.snd_una, self.snd.snd_nxt);
        let (all, marked) = (self.stats.delivered, self.stats.delivered_ce);
        let Congestion::Dctcp(d) = &mut self.cc else {
            return;
        };
        if snd_una.before(d.next_seq) {
            return;
        }
        let less = match d.alpha >> SHIFT_G {
            0 => d.alpha,
            part => part,
        };
        d.alpha -= less;
        let ce = marked.wrapping_sub(d.old_delivered_ce);
        if ce > 0 {
            let packets = all.wrapping_sub(d.old_delivered).max(1);
            let share = (ce << (10 - SHIFT_G)) / packets;
            d.alpha = (d.alpha + share).min(MAX_ALPHA);
        }
        d.begin_window(snd_nxt, all, marked);
    }

    /// `dctcp_react_to_loss()`: a loss halves the window, as with Reno.
    pub(super) fn dctcp_on_loss(&mut self) {
        let cwnd = self.snd.snd_cwnd;
        if let Congestion::Dctcp(d) = &mut self.cc {
            d.loss_cwnd = cwnd;
        }
        self.set_ssthresh((cwnd >> 1).max(2));
    }

    /// `dctcp_ece_ack_update()` (RFC 8257 3.2): when marks begin or end, the packets before are ACKed as they were.
    pub(super) fn dctcp_ece(&mut self, cx: &mut Cx<'_>, event: CaEvent) {
        let new = event == CaEvent::EcnIsCe;
        let Congestion::Dctcp(d) = &mut self.cc else {
            return;
        };
        let (old, prior) = (d.ce, d.prior_rcv_nxt);
        d.ce = new;
        d.prior_rcv_nxt = self.rcv.rcv_nxt;
        if old != new {
            if self.ack.pending.intersects(AckPending::TIMER) {
                self.demand_cwr(old);
                self.send_ack_of(cx, prior);
            }
            self.ack.pending |= AckPending::NOW;
        }
        self.demand_cwr(new);
    }

    fn demand_cwr(&mut self, on: bool) {
        match on {
            true => self.neg.ecn_flags |= Ecn::DEMAND_CWR,
            false => self.neg.ecn_flags &= !Ecn::DEMAND_CWR,
        }
    }
}

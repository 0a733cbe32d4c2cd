//! An acknowledgment, in Linux's order (`tcp_ack()`; RFC 9293 3.10.7.4, RFC 5961 5.2).
//!
//! Window, cumulative part, SACK blocks, RACK, RTT, state machine, timer, rate sample, congestion
//! control, retransmission.

use tcplab_base::Seq;
use tcplab_wire::TcpFlags;

use super::{AckWork, Acked, CaState, Flag, Rexmit};
use crate::cc::CongestionControl;
use crate::cx::Cx;
use crate::endpoint::{AckState, Endpoint, State, Stats};
use crate::mib::Counter;
use crate::options::{Ecn, Nagle, Negotiated};
use crate::recovery::Loss;
use crate::segment::Segment;

/// What stood before an ACK was handled.
struct Prior {
    snd_una: Seq,
    packets: u32,
    delivered: u32,
    lost: u32,
    fack: Seq,
    is_sack_reneg: bool,
}

impl Negotiated {
    /// `tcp_ecn_rcv_ecn_echo()`.
    fn is_ecn_echo(&self, seg: &Segment) -> bool {
        seg.flags.has(TcpFlags::ECE)
            && !seg.flags.has(TcpFlags::SYN)
            && self.ecn_flags.intersects(Ecn::OK)
    }

    /// `tcp_ecn_accept_cwr()`: also on a pure ACK, which RFC 3168 6.1.2 does not ask for.
    #[cold]
    #[inline(never)]
    fn accept_cwr(&mut self, ack: &mut AckState, seg: &Segment) {
        self.ecn_flags &= !Ecn::DEMAND_CWR;
        if seg.seq != seg.end_seq() {
            ack.pending |= crate::endpoint::AckPending::NOW;
        }
    }
}

impl Loss {
    /// `tcp_ack_is_dubious()`.
    #[inline]
    fn is_dubious(&self, flag: Flag) -> bool {
        !flag.intersects(Flag::NOT_DUP)
            || flag.intersects(Flag::CA_ALERT)
            || self.ca_state != CaState::Open
    }
}

impl Stats {
    /// `tcp_newly_delivered()`.
    fn newly_delivered(&mut self, cx: &mut Cx<'_>, prior: u32, flag: Flag) -> u32 {
        let delivered = self.delivered.wrapping_sub(prior);
        cx.mib.add(Counter::Delivered, u64::from(delivered));
        if flag.intersects(Flag::ECE) {
            cx.mib.add(Counter::DeliveredCE, u64::from(delivered));
        }
        delivered
    }
}

impl Endpoint {
    /// `tcp_ack()`: handles the acknowledgment of a segment.
    pub(crate) fn ack(&mut self, cx: &mut Cx<'_>, seg: &Segment, flag: Flag) -> Acked {
        let ack = seg.ack;
        if ack.before(self.snd.snd_una) {
            return self.old_ack(cx, seg, flag);
        }
        if ack.after(self.snd.snd_nxt) {
            return self.unsent_acked(cx, flag);
        }
        match self.loss.packets_out == 0 && seg.options.sack.is_empty() {
            true => self.ack_while_idle(cx, seg, flag),
            false => self.ack_of_queue(cx, seg, flag),
        }
        Acked::Good
    }

    /// RFC 9293 3.10.7.4, RFC 5961 5.2: what was not sent is ACKed. The segment is dropped.
    #[cold]
    #[inline(never)]
    fn unsent_acked(&mut self, cx: &mut Cx<'_>, flag: Flag) -> Acked {
        if cx.host.profile.challenges_unsent_ack && !flag.intersects(Flag::NO_CHALLENGE_ACK) {
            self.send_challenge_ack(cx);
        }
        Acked::Invalid
    }

    /// Handles an ACK while nothing is in flight and without SACK blocks: the case of a peer that only sends. Same
    /// result as [`Endpoint::ack_of_queue`], without the steps that have no effect here.
    #[inline(never)]
    fn ack_while_idle(&mut self, cx: &mut Cx<'_>, seg: &Segment, flag: Flag) {
        let mut flag = flag;
        if seg.ack.after(self.snd.snd_una) {
            flag |= Flag::SND_UNA_ADVANCED;
            self.loss.retransmits = 0;
        }
        if flag.intersects(Flag::UPDATE_TS_RECENT) {
            self.neg.replace_ts_recent(cx, &self.rcv, seg.seq);
        }
        flag = self.ack_window(cx, seg, flag);
        self.peer_is_heard(cx, seg);
        self.cc.in_ack_event(&self.snd, &self.stats);
        self.window_opens(cx, flag, seg.ack);
    }

    /// Segments are in flight, or the ACK tells of some that were.
    #[inline(never)]
    fn ack_of_queue(&mut self, cx: &mut Cx<'_>, seg: &Segment, flag: Flag) {
        let ack = seg.ack;
        let mut prior = self.prior();
        let mut flag = flag;
        if ack.after(prior.snd_una) {
            flag |= Flag::SND_UNA_ADVANCED;
            self.loss.retransmits = 0;
        }
        prior.fack = match self.neg.is_reno() {
            true => self.snd.snd_una,
            false => self.loss.highest_sack_seq(&self.queue, &self.snd),
        };
        let mut work = AckWork::default();
        work.rs.prior_in_flight = self.loss.in_flight();
        if flag.intersects(Flag::UPDATE_TS_RECENT) {
            self.neg.replace_ts_recent(cx, &self.rcv, seg.seq);
        }
        flag = self.ack_window(cx, seg, flag);
        if !seg.options.sack.is_empty() && self.neg.sack_ok {
            flag = self.ack_sack(cx, seg, flag, &prior, &mut work);
        }
        self.peer_is_heard(cx, seg);
        match prior.packets {
            0 => self.ack_without_queue(cx, &prior, flag, ack),
            _ => self.ack_with_queue(cx, &prior, flag, ack, &mut work),
        }
    }

    #[inline]
    fn peer_is_heard(&mut self, cx: &Cx<'_>, seg: &Segment) {
        if seg.flags.has(TcpFlags::CWR) {
            self.neg.accept_cwr(&mut self.ack, seg);
        }
        self.error_soft = None;
        self.loss.probes_out = 0;
        self.rcv.rcv_tstamp = cx.jiffies32();
    }

    fn prior(&self) -> Prior {
        Prior {
            snd_una: self.snd.snd_una,
            packets: self.loss.packets_out,
            delivered: self.stats.delivered,
            lost: self.loss.lost,
            fack: self.snd.snd_una,
            is_sack_reneg: self.loss.is_sack_reneg,
        }
    }

    /// The window, and on the slow path ECN's echo.
    #[inline]
    fn ack_window(&mut self, cx: &mut Cx<'_>, seg: &Segment, mut flag: Flag) -> Flag {
        if flag.intersects(Flag::SND_UNA_ADVANCED) && !flag.intersects(Flag::SLOWPATH) {
            // The window is the same, and nothing else is in the header: a pure step forward.
            self.snd.snd_wl1 = seg.seq;
            self.snd.una_update(&mut self.stats, seg.ack);
            cx.count(Counter::HPAcks);
            return flag | Flag::WIN_UPDATE;
        }
        if seg.seq != seg.end_seq() {
            flag |= Flag::DATA;
        } else {
            cx.count(Counter::PureAcks);
        }
        flag |= self.ack_update_window(cx, seg);
        if self.neg.is_ecn_echo(seg) {
            flag |= Flag::ECE;
        }
        flag
    }

    /// The SACK blocks, which header prediction never meets.
    #[inline(never)]
    fn ack_sack(
        &mut self,
        cx: &mut Cx<'_>,
        seg: &Segment,
        mut flag: Flag,
        prior: &Prior,
        work: &mut AckWork,
    ) -> Flag {
        flag |= self.sacktag_write_queue(cx, seg, prior.snd_una, work);
        if work.sack_delivered > 0 {
            self.stats
                .count_delivered(work.sack_delivered, flag.intersects(Flag::ECE));
        }
        flag
    }

    /// Segments were in flight.
    fn ack_with_queue(
        &mut self,
        cx: &mut Cx<'_>,
        prior: &Prior,
        mut flag: Flag,
        ack: Seq,
        work: &mut AckWork,
    ) {
        let mut rexmit = Rexmit::None;
        if self.latency.is_some() {
            self.recovery_acked(cx);
        }
        let ece = flag.intersects(Flag::ECE);
        flag |= self.clean_rtx_queue(cx, prior.fack, prior.snd_una, work, ece);
        self.rack
            .update_reo_wnd(cx, &self.stats, work.rs.prior_delivered);
        self.cc.in_ack_event(&self.snd, &self.stats);
        if self.loss.tlp_high_seq.is_some() {
            self.process_tlp_ack(cx, ack, flag);
        }
        if self.loss.is_dubious(flag) {
            let duplicate = Flag::SND_UNA_ADVANCED | Flag::NOT_DUP | Flag::DSACKING_ACK;
            let dupacks = u32::from(!flag.intersects(duplicate));
            self.fastretrans_alert(cx, prior.snd_una, dupacks, &mut flag, &mut rexmit);
        }
        if flag.intersects(Flag::SET_XMIT_TIMER) {
            self.set_xmit_timer(cx);
        }
        let delivered = self.stats.newly_delivered(cx, prior.delivered, flag);
        let lost = self.loss.lost.wrapping_sub(prior.lost);
        work.rs.is_ack_delayed = flag.intersects(Flag::ACK_MAYBE_DELAYED);
        self.rate_gen(cx, delivered, lost, prior.is_sack_reneg, &mut work.rs);
        self.cong_control(cx, delivered, flag, &work.rs);
        self.xmit_recovery(cx, rexmit);
    }

    /// Nothing was in flight: a window that opens, the answer to a probe.
    #[inline]
    fn window_opens(&mut self, cx: &mut Cx<'_>, flag: Flag, ack: Seq) {
        if self.queue.has_unsent() {
            self.ack_probe(cx);
        }
        if self.loss.tlp_high_seq.is_some() {
            self.process_tlp_ack(cx, ack, flag);
        }
    }

    /// Nothing was in flight, but blocks came: a DSACK may say that the last retransmission was needless.
    #[cold]
    #[inline(never)]
    fn ack_without_queue(&mut self, cx: &mut Cx<'_>, prior: &Prior, mut flag: Flag, ack: Seq) {
        self.cc.in_ack_event(&self.snd, &self.stats);
        if flag.intersects(Flag::DSACKING_ACK) {
            let mut rexmit = Rexmit::None;
            self.fastretrans_alert(cx, prior.snd_una, 0, &mut flag, &mut rexmit);
            self.stats.newly_delivered(cx, prior.delivered, flag);
        }
        self.window_opens(cx, flag, ack);
    }

    /// An ACK that others have overtaken: only its SACK blocks count.
    #[cold]
    #[inline(never)]
    fn old_ack(&mut self, cx: &mut Cx<'_>, seg: &Segment, mut flag: Flag) -> Acked {
        let prior = self.prior();
        // RFC 5961 5.2: one that is older than any window is answered, not used.
        let window = u64::from(self.snd.max_window).min(self.stats.bytes_acked) as u32;
        if seg.ack.before(prior.snd_una - window) {
            if !flag.intersects(Flag::NO_CHALLENGE_ACK) {
                self.send_challenge_ack(cx);
            }
            return Acked::Invalid;
        }
        if flag.intersects(Flag::UPDATE_TS_RECENT) && cx.host.profile.old_ack_sets_echo {
            self.neg.replace_ts_recent(cx, &self.rcv, seg.seq);
        }
        if self.neg.sack_ok && !seg.options.sack.is_empty() {
            let mut work = AckWork::default();
            let mut rexmit = Rexmit::None;
            flag |= self.sacktag_write_queue(cx, seg, prior.snd_una, &mut work);
            self.fastretrans_alert(cx, prior.snd_una, 0, &mut flag, &mut rexmit);
            self.stats.newly_delivered(cx, prior.delivered, flag);
            self.xmit_recovery(cx, rexmit);
        }
        Acked::Old
    }

    /// `tcp_xmit_recovery()`: new data for F-RTO, or what is marked lost.
    #[inline]
    fn xmit_recovery(&mut self, cx: &mut Cx<'_>, rexmit: Rexmit) {
        if rexmit != Rexmit::None {
            self.recovers(cx, rexmit);
        }
    }

    #[cold]
    #[inline(never)]
    fn recovers(&mut self, cx: &mut Cx<'_>, rexmit: Rexmit) {
        if self.state == State::SynSent {
            return;
        }
        if rexmit == Rexmit::New {
            let mss = self.current_mss();
            self.push_frames(cx, mss, Nagle::OFF);
            if self.snd.snd_nxt.after(self.loss.high_seq) {
                return;
            }
            self.loss.frto = false;
        }
        self.xmit_retransmit_queue(cx);
    }
}

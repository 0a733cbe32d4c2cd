//! The state machine of congestion and loss (Linux `tcp_fastretrans_alert()`; RFC 5681 3.2, RFC 6582,
//! RFC 6675, RFC 5682). It decides what is lost and which state follows, not what is sent.

use tcplab_base::Seq;

use super::{CaState, Flag, Rexmit};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd};
use crate::mib::Counter;
use crate::queue::SendQueue;
use crate::recovery::Loss;
use crate::timers::Pending;

impl Loss {
    /// `tcp_force_fast_retransmit()`: more than `reordering` segments were passed.
    pub(super) fn force_fast_retransmit(&self, queue: &SendQueue, snd: &Snd) -> bool {
        let distance = self.reordering.wrapping_mul(snd.mss_cache);
        self.highest_sack_seq(queue, snd)
            .after(snd.snd_una + distance)
    }
}

impl Endpoint {
    /// `tcp_fastretrans_alert()`.
    pub(super) fn fastretrans_alert(
        &mut self,
        cx: &mut Cx<'_>,
        prior_snd_una: Seq,
        dupacks: u32,
        flags: &mut Flag,
        rexmit: &mut Rexmit,
    ) {
        let flag = *flags;
        if self.timers.pending == Pending::EarlyRetrans {
            // 4.6 does so for each ACK: another duplicate begins the wait again.
            self.rearm_rto(cx);
        }
        let mut do_lost = dupacks > 0
            || (flag.intersects(Flag::DATA_SACKED)
                && self.loss.force_fast_retransmit(&self.queue, &self.snd));
        if self.loss.packets_out == 0 {
            self.loss.sacked_out = 0;
        }
        if flag.intersects(Flag::ECE) {
            // Congestion is proven: no undo.
            self.loss.prior_ssthresh = 0;
        }
        if self.check_sack_reneging(cx, flags) {
            return;
        }
        if self.leave_state(cx) {
            return;
        }
        let fast_rexmit = match self.loss.ca_state {
            CaState::Recovery => {
                match self.in_recovery(cx, prior_snd_una, dupacks, flags, flag, &mut do_lost) {
                    true => false,
                    false => return,
                }
            }
            CaState::Loss => {
                self.process_loss(cx, flag, dupacks, rexmit);
                self.identify_packet_loss(cx, flags);
                if self.loss.ca_state != CaState::Open && !flags.intersects(Flag::LOST_RETRANS) {
                    return;
                }
                if !self.maybe_recover(cx, dupacks, flags, flag) {
                    return;
                }
                true
            }
            _ => {
                if !self.maybe_recover(cx, dupacks, flags, flag) {
                    return;
                }
                true
            }
        };
        if !self.is_rack(cx) && do_lost {
            self.update_scoreboard(cx, fast_rexmit);
        }
        *rexmit = Rexmit::Lost;
    }

    /// What ends when `high_seq` is ACKed; true: nothing more to do with this ACK.
    fn leave_state(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.loss.ca_state == CaState::Open {
            self.loss.retrans_stamp = 0;
            return false;
        }
        if self.snd.snd_una.before(self.loss.high_seq) {
            return false;
        }
        match self.loss.ca_state {
            // Held until something above high_seq is ACKed, so that CWR reaches the receiver.
            CaState::Cwr if self.snd.snd_una != self.loss.high_seq => {
                self.end_cwnd_reduction(cx);
                self.cc_set_state(cx, CaState::Open);
            }
            CaState::Recovery => {
                if self.neg.is_reno() {
                    self.loss.sacked_out = 0;
                }
                if self.try_undo_recovery(cx) {
                    return true;
                }
                self.end_cwnd_reduction(cx);
            }
            _ => {}
        }
        false
    }

    /// An ACK in Recovery; false: nothing is to be sent for it.
    fn in_recovery(
        &mut self,
        cx: &mut Cx<'_>,
        prior_snd_una: Seq,
        dupacks: u32,
        flags: &mut Flag,
        flag: Flag,
        do_lost: &mut bool,
    ) -> bool {
        let ece = flag.intersects(Flag::ECE);
        if !flag.intersects(Flag::SND_UNA_ADVANCED) {
            if self.neg.is_reno() {
                self.loss.add_reno_sack(cx, &mut self.stats, dupacks, ece);
            }
        } else if self.try_undo_partial(cx, prior_snd_una, do_lost) {
            return false;
        }
        if self.try_undo_dsack(cx) {
            self.try_to_open(cx, flag);
        }
        self.identify_packet_loss(cx, flags);
        if self.loss.ca_state != CaState::Recovery {
            if !self.time_to_recover(cx, flags) {
                return false;
            }
            // Undone, and yet something is lost: a new episode.
            self.enter_recovery(cx, ece);
        }
        true
    }

    /// Open, Disorder, CWR, or Loss that was undone: enters Recovery when something is lost; true when it did.
    fn maybe_recover(
        &mut self,
        cx: &mut Cx<'_>,
        dupacks: u32,
        flags: &mut Flag,
        flag: Flag,
    ) -> bool {
        let ece = flag.intersects(Flag::ECE);
        if self.neg.is_reno() {
            if flag.intersects(Flag::SND_UNA_ADVANCED) {
                self.loss.sacked_out = 0;
            }
            self.loss.add_reno_sack(cx, &mut self.stats, dupacks, ece);
        }
        if self.loss.ca_state <= CaState::Disorder {
            self.try_undo_dsack(cx);
        }
        self.identify_packet_loss(cx, flags);
        if !self.time_to_recover(cx, flags) {
            self.try_to_open(cx, flag);
            return false;
        }
        if self.loss.ca_state < CaState::Cwr && self.mtup.is_some() && self.mtu_probe_lost(cx) {
            return false;
        }
        self.enter_recovery(cx, ece);
        true
    }

    /// `tcp_check_sack_reneging()`: the ACK stops at something SACKed. The peer gets a moment to repair that.
    fn check_sack_reneging(&mut self, cx: &Cx<'_>, flags: &mut Flag) -> bool {
        let both = Flag::SACK_RENEGING | Flag::SND_UNA_ADVANCED;
        if !flags.contains(both) {
            return false;
        }
        let clock = &cx.host.clock;
        let delay = clock
            .from_micros(u64::from(self.rtt.srtt_us >> 4))
            .max(clock.from_millis(10));
        self.timers
            .arm(cx, Pending::Retrans, delay, cx.host.rto_max());
        *flags &= !Flag::SET_XMIT_TIMER;
        true
    }

    /// `tcp_time_to_recover()`.
    fn time_to_recover(&mut self, cx: &mut Cx<'_>, flags: &mut Flag) -> bool {
        self.loss.lost_out > 0
            || (!self.is_rack(cx)
                && self.loss.dupack_heuristics(cx, &self.neg, &self.queue) > self.loss.reordering)
            || (cx.host.profile.early_retransmit && self.early_retransmit(cx, flags))
    }

    /// `tcp_identify_packet_loss()`.
    fn identify_packet_loss(&mut self, cx: &mut Cx<'_>, flags: &mut Flag) {
        if self.queue.first_sent().is_none() {
            return;
        }
        if self.neg.is_reno() {
            self.newreno_mark_lost(cx, flags.intersects(Flag::SND_UNA_ADVANCED));
        } else if self.is_rack(cx) {
            let before = self.loss.retrans_out;
            if self.rack_mark_lost(cx) {
                *flags &= !Flag::SET_XMIT_TIMER;
            }
            if before > self.loss.retrans_out {
                *flags |= Flag::LOST_RETRANS;
            }
        }
    }

    /// `tcp_try_keep_open()`.
    pub(super) fn try_keep_open(&mut self, cx: &mut Cx<'_>) {
        let state = match self.loss.left_out() > 0 || self.loss.any_retrans_done(&self.queue) {
            true => CaState::Disorder,
            false => CaState::Open,
        };
        if self.loss.ca_state != state {
            self.cc_set_state(cx, state);
            self.loss.high_seq = self.snd.snd_nxt;
        }
    }

    /// `tcp_try_to_open()`.
    fn try_to_open(&mut self, cx: &mut Cx<'_>, flag: Flag) {
        self.loss.retrans_stamp_cleanup(&self.queue);
        if flag.intersects(Flag::ECE) {
            self.enter_cwr(cx);
        }
        if self.loss.ca_state != CaState::Cwr {
            self.try_keep_open(cx);
        }
    }

    /// `tcp_enter_recovery()`.
    pub(super) fn enter_recovery(&mut self, cx: &mut Cx<'_>, ece: bool) {
        self.recovery_begins();
        self.loss.retrans_stamp_cleanup(&self.queue);
        cx.count(match self.neg.is_reno() {
            true => Counter::RenoRecovery,
            false => Counter::SackRecovery,
        });
        self.loss.prior_ssthresh = 0;
        self.loss.init_undo(&self.snd);
        if !self.loss.in_cwnd_reduction() {
            if !ece {
                self.loss.prior_ssthresh = self.snd.current_ssthresh(&self.loss);
            }
            self.init_cwnd_reduction(cx);
        }
        self.cc_set_state(cx, CaState::Recovery);
    }

    /// `tcp_process_loss()`: an ACK in Loss; F-RTO (RFC 5682 3.1) and what follows a real timeout.
    fn process_loss(&mut self, cx: &mut Cx<'_>, flag: Flag, dupacks: u32, rexmit: &mut Rexmit) {
        let advanced = flag.intersects(Flag::SND_UNA_ADVANCED);
        let recovered = !self.snd.snd_una.before(self.loss.high_seq);
        if (advanced || self.request.is_some()) && self.try_undo_loss(cx, false) {
            return;
        }
        if self.loss.frto {
            // Step 3.b: something that was sent once arrived.
            if flag.intersects(Flag::ORIG_SACK_ACKED) && self.try_undo_loss(cx, true) {
                return;
            }
            if self.snd.snd_nxt.after(self.loss.high_seq) {
                if flag.intersects(Flag::DATA_SACKED) || dupacks > 0 {
                    // Step 3.a: the loss was real.
                    self.loss.frto = false;
                }
            } else if advanced && !recovered {
                self.loss.high_seq = self.snd.snd_nxt;
                // Step 2.b: new data, when there is some and the window allows it.
                if self.queue.has_unsent() && self.snd.wnd_end().after(self.snd.snd_nxt) {
                    *rexmit = Rexmit::New;
                    return;
                }
                self.loss.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(cx);
            return;
        }
        if self.neg.is_reno() {
            if self.snd.snd_nxt.after(self.loss.high_seq) && dupacks > 0 {
                // Step 2.b's new data arrived.
                self.loss
                    .add_reno_sack(cx, &mut self.stats, dupacks, flag.intersects(Flag::ECE));
            } else if advanced {
                self.loss.sacked_out = 0;
            }
        }
        *rexmit = Rexmit::Lost;
    }
}

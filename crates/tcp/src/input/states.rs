//! A segment in SYN-RECEIVED (simultaneous open) and in the closing states (RFC 9293 3.10.7.4; Linux
//! `tcp_rcv_state_process()`).

use tcplab_wire::TcpFlags;

use crate::cc::CongestionControl;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Rcv, Shutdown, State};
use crate::mib::Counter;
use crate::recovery::{Acked, Flag};
use crate::segment::{Caqm, Segment};

/// What the ACK field did to the state.
#[derive(PartialEq, Eq)]
enum Step {
    /// Go on with urgent pointer and data.
    On,
    /// All is done.
    Done,
    /// All is done; answer with a reset.
    Reset,
}

impl Rcv {
    /// Payload behind `rcv_nxt`, a FIN not counted.
    fn brings_new_data(&self, seg: &Segment) -> bool {
        let fin = u32::from(seg.flags.has(TcpFlags::FIN));
        (seg.end_seq() - fin).after(self.rcv_nxt)
    }
}

impl Endpoint {
    /// `tcp_rcv_state_process()` for SYN-RECEIVED and all states behind ESTABLISHED; true: answer with a reset.
    pub(super) fn rcv_other_states(&mut self, cx: &mut Cx<'_>, seg: &Segment) -> bool {
        self.neg.saw_tstamp = false;
        if self.request.is_some() && !self.fast_child_takes(cx, seg) {
            return false;
        }
        if !seg.flags.has(TcpFlags::ACK | TcpFlags::RST | TcpFlags::SYN) {
            return false;
        }
        if !self.validate(cx, seg, false) {
            return false;
        }
        if seg.caqm != Caqm::Plain {
            self.caqm_accepted(cx, seg);
        }
        let flags = Flag::SLOWPATH | Flag::UPDATE_TS_RECENT | Flag::NO_CHALLENGE_ACK;
        match self.ack(cx, seg, flags) {
            Acked::Good => {}
            _ if self.state == State::SynRecv => return true,
            Acked::Old => {}
            Acked::Invalid => {
                self.send_challenge_ack(cx);
                return false;
            }
        }
        match self.step_state(cx, seg) {
            Step::On => self.rest_of_segment(cx, seg),
            Step::Done => false,
            Step::Reset => true,
        }
    }

    /// What an acceptable ACK changes.
    fn step_state(&mut self, cx: &mut Cx<'_>, seg: &Segment) -> Step {
        let all_acked = self.snd.snd_una == self.snd.write_seq;
        match self.state {
            State::SynRecv => {
                self.established_after_syn_recv(cx, seg);
                Step::On
            }
            State::FinWait1 if self.request.is_some() => {
                self.fast_child_stands(cx);
                match all_acked {
                    true => self.fin_acked(cx, seg),
                    false => Step::On,
                }
            }
            State::FinWait1 if all_acked => self.fin_acked(cx, seg),
            State::Closing if all_acked => {
                self.enter_time_wait(cx, true, 0);
                Step::Done
            }
            State::LastAck if all_acked => {
                self.update_metrics(cx);
                self.done(cx);
                Step::Done
            }
            _ => Step::On,
        }
    }

    /// The end of a simultaneous open.
    fn established_after_syn_recv(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        self.stats.delivered = self.stats.delivered.wrapping_add(1);
        if self.rtt.srtt_us == 0 {
            // The SYN-ACK was sent again: only its time stamp tells which one was answered.
            let us = self.request.as_ref().and_then(|req| req.synack_rtt(cx));
            self.rtt.handshake(cx, &self.neg, &self.snd, us);
        }
        if self.neg.tstamp_ok {
            self.rcv.advmss = self.rcv.advmss.saturating_sub(12);
        }
        match self.request.is_some() {
            true => self.fast_child_stands(cx),
            false => {
                self.loss.try_undo_spurious_syn(&self.neg);
                self.loss.retrans_stamp = 0;
                self.init_transfer(cx);
                self.rcv.copied_seq = self.rcv.rcv_nxt;
            }
        }
        self.set_state(cx, State::Established);
        self.snd.snd_una = seg.ack;
        self.snd.snd_wnd = u32::from(seg.window) << self.snd.snd_wscale;
        self.snd.snd_wl1 = seg.seq;
        if !self.cc.controls_cwnd() {
            self.tune.update_rate(cx, &self.loss, &self.rtt, &self.snd);
        }
        self.snd.lsndtime = cx.jiffies32();
        self.ack.initialize_rcv_mss(&self.rcv, &self.snd);
        self.rcv.pred = true;
        if self.shutdown.intersects(Shutdown::SEND) {
            // Shut down before it was open: the FIN leaves now. The error of a closed state cannot come here.
            let _ = self.shutdown_write(cx);
        }
    }

    /// FIN-WAIT-1: our FIN is ACKed.
    fn fin_acked(&mut self, cx: &mut Cx<'_>, seg: &Segment) -> Step {
        self.set_state(cx, State::FinWait2);
        self.shutdown |= Shutdown::SEND;
        if !self.is_orphan() {
            return Step::On;
        }
        let data_after_close = seg.end_seq() != seg.seq && self.rcv.brings_new_data(seg);
        if self.options.linger2 >= 0 && data_after_close && seg.flags.has(TcpFlags::FIN) {
            self.fin_out_of_order(cx);
        }
        if self.options.linger2 < 0 || data_after_close {
            self.done(cx);
            cx.count(Counter::AbortOnData);
            return Step::Reset;
        }
        let wait = self.fin_time(cx);
        // The record would not see the FIN of this segment.
        let stay = seg.flags.has(TcpFlags::FIN);
        self.wait_in_fin_wait_2(cx, wait, stay);
        match self.state {
            State::FinWait2 => Step::On,
            _ => Step::Done,
        }
    }

    /// Urgent pointer, payload, and what to send; true: answer with a reset.
    fn rest_of_segment(&mut self, cx: &mut Cx<'_>, seg: &Segment) -> bool {
        self.rcv.urgent(cx, &mut self.rcvq, seg);
        let takes_data = match self.state {
            State::CloseWait | State::Closing | State::LastAck => seg.seq.before(self.rcv.rcv_nxt),
            State::FinWait1 | State::FinWait2 | State::Established => true,
            _ => false,
        };
        if takes_data {
            // RFC 9293 3.6.1: data that nobody will read is answered with a reset.
            if self.state != State::Established
                && self.shutdown.intersects(Shutdown::RECEIVE)
                && seg.end_seq() != seg.seq
                && self.rcv.brings_new_data(seg)
            {
                cx.count(Counter::AbortOnData);
                self.reset(cx);
                return true;
            }
            self.data_queue(cx, seg);
        }
        if self.state != State::Close {
            self.data_snd_check(cx);
            self.ack_snd_check(cx);
        }
        false
    }
}

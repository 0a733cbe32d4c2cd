//! Which segments are acceptable, and what the others get (RFC 9293 3.10.7.4, RFC 5961, RFC 7323 5).
//!
//! Linux `tcp_validate_incoming()`, `tcp_send_dupack()`, `tcp_send_challenge_ack()`, `tcp_reset()`.

use tcplab_base::Seq;
use tcplab_wire::TcpFlags;

use crate::ack::MAX_QUICKACKS;
use crate::cx::Cx;
use crate::endpoint::{AckState, Endpoint, Rcv, RcvQueue, SocketError, State};
use crate::mib::Counter;
use crate::segment::Segment;

impl AckState {
    /// `tcp_oow_rate_limited()`: data is not part of a loop of ACKs.
    fn oow_rate_limited(&mut self, cx: &mut Cx<'_>, seg: &Segment, skipped: Counter) -> bool {
        let data = seg.seq != seg.end_seq() && !seg.flags.has(TcpFlags::SYN);
        !data && self.rate_limited(cx, skipped)
    }

    /// `__tcp_oow_rate_limited()`: one such ACK in `tcp_invalid_ratelimit`.
    fn rate_limited(&mut self, cx: &mut Cx<'_>, skipped: Counter) -> bool {
        let now = cx.jiffies32();
        let limit = cx
            .host
            .clock
            .from_millis(u64::from(cx.host.sysctl.tcp_invalid_ratelimit));
        let last = self.last_oow_ack_time;
        let elapsed = now.wrapping_sub(last) as i32;
        if last != 0 && elapsed >= 0 && (elapsed as u32) < limit {
            cx.count(skipped);
            return true;
        }
        self.last_oow_ack_time = now;
        false
    }
}

impl Rcv {
    /// `tcp_sequence()`: overlaps what we offered. From `rcv_wup`, not `rcv_nxt`: the peer may not know more.
    #[inline]
    fn acceptable(&self, seq: Seq, end_seq: Seq) -> bool {
        end_seq.at_or_after(self.rcv_wup) && seq.at_or_before(self.rcv_nxt + self.largest_window())
    }

    /// The segment ends behind the window that stands.
    #[inline]
    pub(super) fn is_beyond(&self, end_seq: Seq) -> bool {
        end_seq.after(self.rcv_nxt + self.receive_window())
    }
}

impl RcvQueue {
    /// The rest of `tcp_sequence()` where it checks the end: a FIN may lie behind the window, and data when nothing waits
    /// to be read.
    fn takes_end(&self, rcv: &Rcv, seg: &Segment) -> bool {
        let fin = u32::from(seg.flags.has(TcpFlags::FIN));
        let edge = rcv.rcv_nxt + rcv.largest_window();
        (seg.end_seq() - fin).at_or_before(edge) || self.ready.is_empty()
    }
}

impl Endpoint {
    /// `tcp_validate_incoming()`: PAWS, window, RST, SYN; false: drop it, all is done. `syn_is_error`: count a SYN in
    /// TcpInErrs.
    pub(crate) fn validate(&mut self, cx: &mut Cx<'_>, seg: &Segment, syn_is_error: bool) -> bool {
        let rst = seg.flags.has(TcpFlags::RST);
        if self.neg.tstamp_ok {
            self.neg.parse_time_stamp(seg);
        }
        if self.neg.saw_tstamp && self.paws_discard(cx, seg) && !rst {
            if cx.host.profile.syn_before_paws && seg.flags.has(TcpFlags::SYN) {
                self.syn_challenge(cx, syn_is_error);
                return false;
            }
            match cx.host.profile.drops_old_acks && self.rcv.is_old_ack(seg) {
                true => cx.count(Counter::PAWSOldAck),
                false => self.paws_rejects(cx, seg),
            }
            return false;
        }
        if !self.rcv.acceptable(seg.seq, seg.end_seq())
            || (cx.host.profile.checks_segment_end && !self.rcvq.takes_end(&self.rcv, seg))
        {
            self.out_of_window(cx, seg, syn_is_error);
            return false;
        }
        if rst {
            self.reset_in_window(cx, seg);
            return false;
        }
        let passes = cx.host.profile.takes_crossed_synack && self.answers_our_syn(seg);
        if seg.flags.has(TcpFlags::SYN) && !passes {
            self.syn_challenge(cx, syn_is_error);
            return false;
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn paws_rejects(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        cx.count(Counter::PAWSEstab);
        if !self.ack.oow_rate_limited(cx, seg, Counter::ACKSkippedPAWS) {
            self.send_dupack(cx, seg);
        }
    }

    /// A segment outside of the window.
    fn out_of_window(&mut self, cx: &mut Cx<'_>, seg: &Segment, syn_is_error: bool) {
        if seg.flags.has(TcpFlags::RST) {
            if self.reset_after_fin(seg) {
                self.reset(cx);
            }
        } else if seg.flags.has(TcpFlags::SYN) {
            self.syn_challenge(cx, syn_is_error);
        } else {
            if cx.host.profile.checks_segment_end && !seg.end_seq().before(self.rcv.rcv_wup) {
                cx.count(Counter::BeyondWindow);
            }
            if !self.ack.oow_rate_limited(cx, seg, Counter::ACKSkippedSeq) {
                self.send_dupack(cx, seg);
            }
        }
    }

    /// RFC 5961 3.2: only a RST at `rcv_nxt` resets; Linux adds the last SACK block's end, which the peer may take
    /// for `rcv_nxt`.
    fn reset_in_window(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        if seg.seq == self.rcv.rcv_nxt
            || self.reset_after_fin(seg)
            || self.rcvq.highest_sack_end() == Some(seg.seq)
        {
            self.reset(cx);
        } else {
            self.reset_out_of_order(cx);
            self.send_challenge_ack(cx);
        }
    }

    /// `tcp_reset_check()`: a RST with the number of the FIN before it, as Mac OS X sends.
    fn reset_after_fin(&self, seg: &Segment) -> bool {
        seg.seq == self.rcv.rcv_nxt - 1
            && matches!(
                self.state,
                State::CloseWait | State::LastAck | State::Closing
            )
    }

    /// The SYN-ACK of a simultaneous open that repeats the peer's SYN.
    fn answers_our_syn(&self, seg: &Segment) -> bool {
        self.state == State::SynRecv
            && seg.flags.has(TcpFlags::ACK)
            && seg.seq + 1 == seg.end_seq()
            && seg.seq + 1 == self.rcv.rcv_nxt
            && seg.ack == self.snd.snd_nxt
    }

    /// RFC 5961 4.2: a SYN on an open connection gets an ACK.
    fn syn_challenge(&mut self, cx: &mut Cx<'_>, is_error: bool) {
        if is_error {
            cx.count(Counter::InErrs);
        }
        cx.count(Counter::SYNChallenge);
        self.send_challenge_ack(cx);
    }

    /// `tcp_send_dupack()`: an ACK with a DSACK of what has already come.
    fn send_dupack(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        let end_seq = seg.end_seq();
        if end_seq != seg.seq && seg.seq.before(self.rcv.rcv_nxt) {
            cx.count(Counter::DelayedACKLost);
            self.ack.enter_quickack_mode(cx, &self.rcv, MAX_QUICKACKS);
            let tells = self.neg.sack_ok && cx.host.sysctl.tcp_dsack;
            if tells && self.is_spurious(cx, seg.seq) {
                self.rethink_txhash(cx, Counter::DuplicateDataRehash);
            }
            self.dsack_set(cx, seg.seq, end_seq.min(self.rcv.rcv_nxt));
        }
        self.send_ack(cx);
    }

    /// `tcp_reset()`.
    pub(crate) fn reset(&mut self, cx: &mut Cx<'_>) {
        let error = match self.state {
            State::SynSent => SocketError::ConnRefused,
            State::CloseWait => SocketError::Pipe,
            State::Close => return,
            _ => SocketError::ConnReset,
        };
        self.fail(cx, error, false);
    }

    /// `tcp_send_challenge_ack()` (RFC 5961 7), rate-limited.
    pub(crate) fn send_challenge_ack(&mut self, cx: &mut Cx<'_>) {
        if self.ack.rate_limited(cx, Counter::ACKSkippedChallenge) {
            return;
        }
        cx.count(Counter::ChallengeACK);
        self.send_ack(cx);
    }
}

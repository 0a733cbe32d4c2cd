//! RACK: loss by time (RFC 8985 6; Linux net/ipv4/tcp_recovery.c).

use tcplab_base::Seq;

use super::{CaState, Flag, Loss};
use crate::cc::CongestionControl;
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::queue::{Sacked, Skb};
use crate::timers::Pending;

/// Recoveries for which a widened reordering window is kept (`TCP_RACK_RECOVERY_THRESH`).
pub(super) const RECOVERY_THRESH: u8 = 16;
/// sysctl tcp_recovery bits.
const STATIC_REO_WND: u8 = 2;
const NO_DUPTHRESH: u8 = 4;
/// Time added to the reordering timer (`TCP_TIMEOUT_MIN_US`).
pub(super) const TIMEOUT_MIN_US: u32 = 2000;

/// `tcp_skb_sent_after()`: the first was sent later.
#[inline]
fn sent_after(t1: u64, t2: u64, seq1: Seq, seq2: Seq) -> bool {
    t1 > t2 || (t1 == t2 && seq1.after(seq2))
}

impl Endpoint {
    /// `tcp_rack_advance()`, RFC 8985 6.2 step 2: the newest transmission among what was delivered.
    #[inline]
    pub(super) fn rack_advance(&mut self, cx: &Cx<'_>, sacked: u8, end: Seq, sent_us: u64) {
        let rtt = cx.now_us().saturating_sub(sent_us) as u32;
        let retransmitted = sacked & (Sacked::RETRANS | Sacked::EVER_RETRANS) != 0;
        if retransmitted && rtt < self.rtt.min_rtt() {
            // Too fast for the retransmission: the original was delivered.
            return;
        }
        self.rack.advanced = true;
        self.rack.rtt_us = rtt;
        if sent_after(sent_us, self.rack.mstamp_us, end, self.rack.end_seq) {
            self.rack.mstamp_us = sent_us;
            self.rack.end_seq = end;
        }
    }

    /// `tcp_rack_reo_wnd()` in microseconds.
    fn rack_reo_wnd(&self, cx: &Cx<'_>) -> u32 {
        let l: &Loss = &self.loss;
        if self.stats.reord_seen == 0 {
            if l.ca_state >= CaState::Recovery {
                return 0;
            }
            if l.sacked_out >= l.reordering && cx.host.sysctl.tcp_recovery & NO_DUPTHRESH == 0 {
                return 0;
            }
        }
        (self.rtt.min_rtt() >> 2)
            .wrapping_mul(u32::from(self.rack.reo_wnd_steps))
            .min(self.rtt.srtt_us >> 3)
    }

    /// `tcp_rack_skb_timeout()`: microseconds until the segment counts as lost.
    #[inline]
    pub(super) fn rack_skb_timeout(&self, cx: &Cx<'_>, skb: &Skb, reo_wnd: u32) -> i32 {
        let age = cx.now_us().saturating_sub(skb.xmit_us());
        (i64::from(self.rack.rtt_us) + i64::from(reo_wnd) - age as i64)
            .clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }

    /// `tcp_rack_detect_loss()`: marks what is too old; gives the longest wait among the others, in us.
    fn rack_detect_loss(&mut self, cx: &mut Cx<'_>) -> u32 {
        let reo_wnd = self.rack_reo_wnd(cx);
        let mut wait = 0;
        let mut at = self.queue.oldest();
        while let Some(id) = at {
            at = self.queue.later(id);
            let Some(skb) = self.queue.get(id) else { break };
            if skb.is(Sacked::LOST) && !skb.is(Sacked::RETRANS) {
                continue;
            }
            let (mstamp, end) = (self.rack.mstamp_us, self.rack.end_seq);
            if !sent_after(mstamp, skb.xmit_us(), end, skb.end_seq()) {
                break;
            }
            let remaining = self.rack_skb_timeout(cx, skb, reo_wnd);
            if remaining <= 0 {
                self.mark_skb_lost(cx, id);
                self.queue.unlist(id);
            } else {
                wait = wait.max(remaining as u32);
            }
        }
        wait
    }

    /// `tcp_rack_mark_lost()`: true when the reordering timer was armed.
    pub(super) fn rack_mark_lost(&mut self, cx: &mut Cx<'_>) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let wait = self.rack_detect_loss(cx);
        if wait == 0 {
            return false;
        }
        let jiffies = cx
            .host
            .clock
            .from_micros(u64::from(wait) + u64::from(TIMEOUT_MIN_US));
        self.timers
            .arm(cx, Pending::ReoTimeout, jiffies, self.rtt.rto);
        true
    }

    /// `tcp_rack_reo_timeout()`: the wait for reordered segments is over.
    pub(super) fn rack_reo_timeout(&mut self, cx: &mut Cx<'_>) {
        let lost = self.loss.lost;
        let in_flight = self.loss.in_flight();
        self.rack_detect_loss(cx);
        if in_flight != self.loss.in_flight() {
            if self.loss.ca_state != CaState::Recovery {
                self.enter_recovery(cx, false);
                if !self.cc.controls_cwnd() {
                    let lost = self.loss.lost.wrapping_sub(lost);
                    self.cwnd_reduction(1, lost, Flag::empty());
                }
            }
            self.xmit_retransmit_queue(cx);
        }
        if self.timers.pending != Pending::Retrans {
            self.rearm_rto(cx);
        }
    }

    /// `tcp_rack_update_reo_wnd()`: a DSACK that reordering may have caused widens the window by a step a
    /// round trip (RFC 8985 6.2 step 4).
    pub(super) fn rack_update_reo_wnd(&mut self, cx: &Cx<'_>, prior_delivered: u32) {
        if cx.host.sysctl.tcp_recovery & STATIC_REO_WND != 0 || prior_delivered == 0 {
            return;
        }
        let r = &mut self.rack;
        if r.dsack_seen {
            self.rack_dsack_seen(prior_delivered);
        } else if r.reo_wnd_persist == 0 {
            r.reo_wnd_steps = 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn rack_dsack_seen(&mut self, prior_delivered: u32) {
        let r = &mut self.rack;
        if (prior_delivered.wrapping_sub(r.last_delivered) as i32) < 0 {
            r.dsack_seen = false;
        }
        if r.dsack_seen {
            r.reo_wnd_steps = r.reo_wnd_steps.saturating_add(1);
            r.dsack_seen = false;
            r.last_delivered = self.stats.delivered;
            r.reo_wnd_persist = RECOVERY_THRESH;
        } else if r.reo_wnd_persist == 0 {
            r.reo_wnd_steps = 1;
        }
    }

    /// `tcp_newreno_mark_lost()` (RFC 6582): without SACK the head is lost after three duplicates, and each
    /// partial ACK in recovery shows the next one.
    pub(super) fn newreno_mark_lost(&mut self, cx: &mut Cx<'_>, advanced: bool) {
        let l = &self.loss;
        let starts = l.ca_state < CaState::Recovery && l.sacked_out >= l.reordering;
        let goes_on = l.ca_state == CaState::Recovery && advanced;
        if !starts && !goes_on {
            return;
        }
        let Some(id) = self.queue.first_sent() else {
            return;
        };
        let Some(skb) = self.queue.get(id) else {
            return;
        };
        if skb.is(Sacked::LOST) {
            return;
        }
        let mss = u32::from(skb.gso_size);
        if skb.pcount > 1 && skb.len > mss {
            self.fragment(cx, id, mss, mss);
        }
        self.mark_skb_lost(cx, id);
    }
}

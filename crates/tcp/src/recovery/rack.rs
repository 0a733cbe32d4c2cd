//! RACK: loss by time (RFC 8985 6; Linux net/ipv4/tcp_recovery.c).

use tcplab_base::Seq;

use super::{CaState, Flag, Loss};
use crate::cc::CongestionControl;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Stats};
use crate::queue::{Sacked, Skb};
use crate::recovery::Rack;
use crate::rtt::Rtt;
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

impl Rack {
    /// `tcp_rack_advance()`, RFC 8985 6.2 step 2: the newest transmission among what was delivered.
    #[inline]
    pub(super) fn advance(
        &mut self,
        cx: &Cx<'_>,
        rtt: &Rtt,
        sacked: Sacked,
        end: Seq,
        sent_us: u64,
    ) {
        let took = cx.now_us().saturating_sub(sent_us) as u32;
        let retransmitted = sacked.intersects(Sacked::RETRANS | Sacked::EVER_RETRANS);
        if retransmitted && took < rtt.min_rtt() {
            // Too fast for the retransmission: the original was delivered.
            return;
        }
        self.advanced = true;
        self.rtt_us = took;
        if sent_after(sent_us, self.mstamp_us, end, self.end_seq) {
            self.mstamp_us = sent_us;
            self.end_seq = end;
        }
    }

    /// `tcp_rack_reo_wnd()` in microseconds.
    fn reo_wnd(&self, cx: &Cx<'_>, loss: &Loss, rtt: &Rtt, stats: &Stats) -> u32 {
        if stats.reord_seen == 0 {
            if loss.ca_state >= CaState::Recovery {
                return 0;
            }
            if loss.sacked_out >= loss.reordering && cx.host.sysctl.tcp_recovery & NO_DUPTHRESH == 0
            {
                return 0;
            }
        }
        (rtt.min_rtt() >> 2)
            .wrapping_mul(u32::from(self.reo_wnd_steps))
            .min(rtt.srtt_us >> 3)
    }

    /// `tcp_rack_skb_timeout()`: microseconds until the segment counts as lost.
    #[inline]
    pub(super) fn skb_timeout(&self, cx: &Cx<'_>, skb: &Skb, reo_wnd: u32) -> i32 {
        let age = cx.now_us().saturating_sub(skb.xmit_us());
        (i64::from(self.rtt_us) + i64::from(reo_wnd) - age as i64)
            .clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }

    /// `tcp_rack_update_reo_wnd()`: a DSACK that reordering may have caused widens the window by a step a
    /// round trip (RFC 8985 6.2 step 4).
    pub(super) fn update_reo_wnd(&mut self, cx: &Cx<'_>, stats: &Stats, prior_delivered: u32) {
        if cx.host.sysctl.tcp_recovery & STATIC_REO_WND != 0 || prior_delivered == 0 {
            return;
        }
        if self.dsack_seen {
            self.widen(stats, prior_delivered);
        } else if self.reo_wnd_persist == 0 {
            self.reo_wnd_steps = 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn widen(&mut self, stats: &Stats, prior_delivered: u32) {
        if (prior_delivered.wrapping_sub(self.last_delivered) as i32) < 0 {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.reo_wnd_steps = self.reo_wnd_steps.saturating_add(1);
            self.dsack_seen = false;
            self.last_delivered = stats.delivered;
            self.reo_wnd_persist = RECOVERY_THRESH;
        } else if self.reo_wnd_persist == 0 {
            self.reo_wnd_steps = 1;
        }
    }
}

impl Endpoint {
    /// `tcp_rack_detect_loss()`: marks what is too old; gives the longest wait among the others, in us.
    fn rack_detect_loss(&mut self, cx: &mut Cx<'_>) -> u32 {
        let reo_wnd = self.rack.reo_wnd(cx, &self.loss, &self.rtt, &self.stats);
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
            let remaining = self.rack.skb_timeout(cx, skb, reo_wnd);
            if remaining <= 0 {
                self.loss.mark_lost(cx, &mut self.queue, id);
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
                    self.loss
                        .cwnd_reduction(cx, &mut self.snd, 1, lost, Flag::empty());
                }
            }
            self.xmit_retransmit_queue(cx);
        }
        if self.timers.pending != Pending::Retrans {
            self.rearm_rto(cx);
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
        self.loss.mark_lost(cx, &mut self.queue, id);
    }
}

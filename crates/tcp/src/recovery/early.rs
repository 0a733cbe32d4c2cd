//! Retransmissions that Linux made until 4.10, as behaviours of a profile: early retransmit of small windows (RFC
//! 5827; Linux `tcp_time_to_recover()`, `tcp_pause_early_retransmit()`, `tcp_resume_early_retransmit()`) and forward
//! retransmissions (RFC 6675 4, rule 3 of NextSeg; Linux `tcp_can_forward_retransmit()`). Left out: thin streams
//! (`tcp_thin_dupack`), which are off by default.

use super::{CaState, Flag};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Stats};
use crate::mib::Counter;
use crate::options::Negotiated;
use crate::queue::{Id, Sacked, SendQueue};
use crate::recovery::Loss;
use crate::timers::Pending;

/// RFC 5827 2: a small window has fewer segments.
const SMALL_WINDOW: u32 = 4;
/// Reordering that is assumed of a path that has shown none.
const REORDERING: u32 = 3;

impl Loss {
    /// `do_early_retrans`: the sysctl says so, and the path has shown no reordering.
    fn early_retransmit_is_on(&self, cx: &Cx<'_>, stats: &Stats) -> bool {
        let sysctl = &cx.host.sysctl;
        matches!(sysctl.tcp_early_retrans, 1..=3)
            && sysctl.tcp_reordering == REORDERING
            && self.reordering == REORDERING
            && stats.reord_seen == 0
    }

    /// Whether the walk of retransmissions goes on to what is not known to be lost.
    #[inline]
    pub(super) fn has_forward_retransmit(&self, cx: &Cx<'_>, neg: &Negotiated) -> bool {
        cx.host.profile.forward_retransmit && self.ca_state == CaState::Recovery && !neg.is_reno()
    }

    /// A timeout takes everything for lost, what was sent again without being lost as well.
    #[cold]
    pub(super) fn forget_forward_retransmit(&mut self, queue: &mut SendQueue, id: Id) {
        if let Some(skb) = queue.get_mut(id)
            && skb.is(Sacked::RETRANS)
            && !skb.is(Sacked::LOST)
        {
            skb.sacked &= !Sacked::RETRANS;
            let packets = u32::from(skb.pcount);
            self.retrans_out -= packets.min(self.retrans_out);
        }
    }
}

impl Endpoint {
    /// The last two rules of `tcp_time_to_recover()`: too few segments are out for three duplicates, and no new data
    /// can bring more of them.
    #[cold]
    pub(super) fn early_retransmit(&mut self, cx: &mut Cx<'_>, flags: &mut Flag) -> bool {
        let l = &self.loss;
        let enough = (l.packets_out / 2).max(cx.host.sysctl.tcp_reordering);
        if l.packets_out <= l.reordering && l.sacked_out >= enough && !self.may_send_now(cx) {
            return true;
        }
        let l = &self.loss;
        let small = l.retrans_out == 0
            && l.sacked_out > 0
            && l.packets_out > l.sacked_out
            && l.packets_out < SMALL_WINDOW;
        if !small || !self.loss.early_retransmit_is_on(cx, &self.stats) || self.may_send_now(cx) {
            return false;
        }
        if self.pause_early_retransmit(cx, flags) {
            return false;
        }
        self.mark_reno_head(cx);
        true
    }

    /// `tcp_pause_early_retransmit()`: waits a quarter of a round trip for what may only be late (RFC 5827, appendix
    /// A.3); false: not now, recover at once.
    fn pause_early_retransmit(&mut self, cx: &Cx<'_>, flags: &mut Flag) -> bool {
        if cx.host.sysctl.tcp_early_retrans < 2
            || flags.intersects(Flag::ECE)
            || self.rtt.srtt_us == 0
        {
            return false;
        }
        let clock = &cx.host.clock;
        let delay = clock
            .from_micros(u64::from(self.rtt.srtt_us >> 5))
            .max(clock.from_millis(2));
        // An ACK that goes forward starts the timeout again, at its end.
        let rto = match flags.intersects(Flag::SET_XMIT_TIMER) {
            true => self.rtt.rto,
            false => clock.from_micros(self.rtt.rto_delta_us(cx, &self.queue).max(1) as u64),
        };
        if rto <= delay {
            return false;
        }
        self.timers
            .arm(cx, Pending::EarlyRetrans, delay, cx.host.rto_max());
        *flags &= !Flag::SET_XMIT_TIMER;
        true
    }

    /// `tcp_resume_early_retransmit()`: the wait is over.
    #[cold]
    pub(super) fn resume_early_retransmit(&mut self, cx: &mut Cx<'_>) {
        self.rearm_rto(cx);
        if !self.loss.early_retransmit_is_on(cx, &self.stats) || self.loss.packets_out == 0 {
            return;
        }
        self.enter_recovery(cx, false);
        self.mark_reno_head(cx);
        self.update_scoreboard(cx, true);
        self.xmit_retransmit_queue(cx);
    }

    /// Without SACK, the missing segment is the first one.
    fn mark_reno_head(&mut self, cx: &mut Cx<'_>) {
        if let (true, Some(head)) = (self.neg.is_reno(), self.queue.first_sent()) {
            self.loss.mark_lost(cx, &mut self.queue, head);
        }
    }

    /// The second half of 4.6's `tcp_xmit_retransmit_queue()`: all that is lost was sent again, and no new data can
    /// go: what lies below the highest SACKed segment is sent again too, from the first hole on.
    #[cold]
    pub(super) fn forward_retransmit(&mut self, cx: &mut Cx<'_>, most: u32) {
        if self.may_send_now(cx) {
            return;
        }
        let highest = self.loss.highest_sack_seq(&self.queue, &self.snd);
        let mut at = Some(self.loss.retransmit_hint);
        while let Some(id) = at {
            let Some(skb) = self.queue.get(id) else { break };
            self.loss.retransmit_hint = id;
            let room = self.snd.snd_cwnd.saturating_sub(self.loss.in_flight());
            if room == 0 || !skb.seq.before(highest) {
                break;
            }
            if !skb.is(Sacked::ACKED | Sacked::RETRANS)
                && !self.retransmit_one(cx, id, room.min(most), Counter::ForwardRetrans)
            {
                break;
            }
            at = self.queue.next_sent(id);
        }
    }
}

//! Marking segments lost (Linux `tcp_mark_skb_lost()`, `tcp_enter_loss()`, `tcp_mark_head_lost()`).

use super::CaState;
use crate::cc::CaEvent;
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::mib::Counter;
use crate::options::Negotiated;
use crate::queue::{Id, Sacked, SendQueue};
use crate::recovery::Loss;

impl SendQueue {
    fn set_tags(&mut self, id: Id, sacked: Sacked) {
        if let Some(skb) = self.get_mut(id) {
            skb.sacked = sacked;
        }
    }
}

impl Loss {
    /// `tcp_mark_skb_lost()`: the segment, or its retransmission, is lost.
    pub(crate) fn mark_lost(&mut self, cx: &mut Cx<'_>, queue: &mut SendQueue, id: Id) {
        let Some(skb) = queue.get(id).copied() else {
            return;
        };
        if skb.is(Sacked::ACKED) {
            return;
        }
        self.verify_retransmit_hint(queue, id);
        let packets = u32::from(skb.pcount);
        if skb.is(Sacked::LOST) {
            if !skb.is(Sacked::RETRANS) {
                return;
            }
            self.retrans_out -= packets.min(self.retrans_out);
            cx.mib.add(Counter::LostRetransmit, u64::from(packets));
            queue.set_tags(id, skb.sacked & !Sacked::RETRANS);
        } else {
            self.lost_out += packets;
            queue.set_tags(id, skb.sacked | Sacked::LOST);
        }
        self.lost = self.lost.wrapping_add(packets);
    }

    /// `tcp_verify_retransmit_hint()`: the walk of retransmissions must not begin behind this one.
    fn verify_retransmit_hint(&mut self, queue: &SendQueue, id: Id) {
        let hint = self.retransmit_hint;
        let moves = match queue.get(hint).is_some() {
            false => self.retrans_out >= self.lost_out,
            true => queue.is_before(id, hint),
        };
        if moves {
            self.retransmit_hint = id;
        }
    }

    /// `tcp_is_fack()`: what lies more than `reordering` segments below the highest SACKed one is lost (until 4.14).
    pub(super) fn is_fack(&self, cx: &Cx<'_>, neg: &Negotiated) -> bool {
        cx.host.sysctl.tcp_fack && neg.sack_ok && !self.fack_off
    }

    /// `fackets_out`: segments up to the highest SACKed one.
    fn fackets_out(&self, queue: &SendQueue) -> u32 {
        match self.sacked_out {
            0 => 0,
            _ => queue.sent_before(self.highest_sack),
        }
    }

    /// `tcp_dupack_heuristics()`: duplicates that show a loss.
    pub(super) fn dupack_heuristics(
        &self,
        cx: &Cx<'_>,
        neg: &Negotiated,
        queue: &SendQueue,
    ) -> u32 {
        match self.is_fack(cx, neg) {
            true => self.fackets_out(queue),
            false => self.sacked_out + 1,
        }
    }
}

impl Endpoint {
    /// `tcp_timeout_mark_lost()`: all but what was sent so recently that it can still arrive. A peer that
    /// takes back what it SACKed loses all its SACKs (RFC 2018 8).
    fn timeout_mark_lost(&mut self, cx: &mut Cx<'_>) {
        let Some(head) = self.queue.first_sent() else {
            return;
        };
        let reneg = self
            .queue
            .get(head)
            .is_some_and(|skb| skb.is(Sacked::ACKED));
        if reneg {
            cx.count(Counter::SACKReneging);
            self.loss.sacked_out = 0;
            self.loss.is_sack_reneg = true;
            self.join_merged();
        } else if self.neg.is_reno() {
            self.loss.sacked_out = 0;
        }
        let rack = self.is_rack(cx);
        let forward = cx.host.profile.forward_retransmit;
        let mut at = Some(head);
        while let Some(id) = at {
            at = self.queue.next_sent(id);
            let Some(skb) = self.queue.get(id) else { break };
            if reneg {
                let tags = skb.sacked & !Sacked::ACKED;
                if let Some(skb) = self.queue.get_mut(id) {
                    skb.sacked = tags;
                    skb.merged = false;
                }
            } else if forward {
                self.loss.forget_forward_retransmit(&mut self.queue, id);
            } else if rack && id != head && self.rack.skb_timeout(cx, skb, 0) > 0 {
                continue;
            }
            self.loss.mark_lost(cx, &mut self.queue, id);
        }
        self.loss.clear_hints();
    }

    /// The peer takes back what it SACKed: what SACKs have made one segment on Linux (`tcp_shifted_skb()`) is sent again
    /// as one.
    #[cold]
    fn join_merged(&mut self) {
        self.loss.clear_hints();
        let mut at = self.queue.first_sent();
        while let Some(id) = at {
            let next = self.queue.next_sent(id);
            let merged = |next: &Id| self.queue.get(*next).is_some_and(|skb| skb.merged);
            if next.filter(merged).is_none() {
                at = next;
                continue;
            }
            self.loss.highest_sack = self.queue.after_removal(self.loss.highest_sack, id);
            let Some(next) = self.queue.remove_behind(id) else {
                return;
            };
            self.snd
                .wmem_free(&mut self.rcv, next.truesize.saturating_sub(next.len));
            let mss = self.snd.mss_cache as u16;
            if let Some(skb) = self.queue.get_mut(id) {
                skb.len += next.len;
                skb.truesize += next.len;
                skb.pcount += next.pcount;
                if skb.gso_size == 0 {
                    skb.gso_size = mss;
                }
                skb.flags |= next.flags;
                skb.sacked |= next.sacked & Sacked::EVER_RETRANS;
                skb.eor = next.eor;
            }
        }
    }

    /// `tcp_enter_loss()`.
    pub(crate) fn enter_loss(&mut self, cx: &mut Cx<'_>) {
        let state = self.loss.ca_state;
        let new_recovery = state < CaState::Recovery;
        self.recovery_begins();
        self.timeout_mark_lost(cx);
        if state <= CaState::Disorder
            || !self.loss.high_seq.after(self.snd.snd_una)
            || (state == CaState::Loss && self.loss.retransmits == 0)
        {
            self.loss.prior_ssthresh = self.snd.current_ssthresh(&self.loss);
            self.snd.prior_cwnd = self.snd.snd_cwnd;
            let ssthresh = self.cc_ssthresh(cx);
            self.snd.set_ssthresh(ssthresh);
            self.cc_event(cx, CaEvent::Loss);
            self.loss.init_undo(&self.snd);
        }
        self.snd.set_cwnd(self.loss.in_flight() + 1);
        self.snd.snd_cwnd_cnt = 0;
        self.snd.snd_cwnd_stamp = cx.jiffies32();
        // Many duplicates and yet a timeout: the path reorders less than was thought.
        let reordering = cx.host.sysctl.tcp_reordering;
        if state <= CaState::Disorder && self.loss.sacked_out >= reordering {
            self.loss.reordering = self.loss.reordering.min(reordering);
        }
        self.cc_set_state(cx, CaState::Loss);
        self.loss.high_seq = self.snd.snd_nxt;
        self.loss.tlp_high_seq = None;
        self.neg.ecn_queue_cwr();
        // RFC 5682 3.1 step 1, 3.2.
        self.loss.frto = cx.host.sysctl.tcp_frto > 0
            && (new_recovery || self.loss.retransmits > 0)
            && !self.is_mtu_probe_out();
    }

    /// `tcp_update_scoreboard()`: without RACK, by the number of SACKed segments (RFC 6675 5).
    pub(super) fn update_scoreboard(&mut self, cx: &mut Cx<'_>, fast_rexmit: bool) {
        if self.neg.is_reno() {
            return;
        }
        if self.loss.is_fack(cx, &self.neg) {
            let lost = self
                .loss
                .fackets_out(&self.queue)
                .saturating_sub(self.loss.reordering);
            self.mark_head_lost(cx, lost.max(1), false);
            return;
        }
        match self.loss.sacked_out.checked_sub(self.loss.reordering) {
            Some(packets) => self.mark_head_lost(cx, packets, false),
            None if fast_rexmit => self.mark_head_lost(cx, 1, true),
            None => {}
        }
    }

    /// `tcp_mark_head_lost()`: what has more than `packets` fewer SACKed segments above it.
    fn mark_head_lost(&mut self, cx: &mut Cx<'_>, packets: u32, mark_head: bool) {
        let fack = self.loss.is_fack(cx, &self.neg);
        let hint = self.loss.lost_hint;
        let (mut at, mut count) = match self.queue.get(hint) {
            Some(skb) => {
                if mark_head && skb.seq.after(self.snd.snd_una) {
                    return;
                }
                (Some(hint), self.loss.lost_cnt_hint)
            }
            None => (self.queue.first_sent(), 0),
        };
        while let Some(id) = at {
            self.loss.lost_hint = id;
            self.loss.lost_cnt_hint = count;
            let Some(skb) = self.queue.get(id).copied() else {
                break;
            };
            if skb.end_seq().after(self.snd.snd_nxt) {
                break;
            }
            if fack || skb.is(Sacked::ACKED) {
                count += u32::from(skb.pcount);
            }
            if count > packets {
                break;
            }
            if !skb.is(Sacked::LOST) {
                self.loss.mark_lost(cx, &mut self.queue, id);
            }
            if mark_head {
                break;
            }
            at = self.queue.next_sent(id);
        }
    }
}

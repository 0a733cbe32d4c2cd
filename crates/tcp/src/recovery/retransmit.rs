//! Sends again what is marked lost, as far as the congestion window allows (Linux
//! `tcp_xmit_retransmit_queue()`). The hint keeps the walk from starting at the head each time.

use super::CaState;
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::mib::Counter;
use crate::queue::{Id, Sacked};
use crate::timers::Pending;

impl Endpoint {
    /// `tcp_xmit_retransmit_queue()`.
    pub(crate) fn xmit_retransmit_queue(&mut self, cx: &mut Cx<'_>) {
        if self.loss.packets_out == 0 {
            return;
        }
        let head = self.queue.first_sent();
        let hint = self.loss.retransmit_hint;
        let mut at = match self.queue.get(hint).is_some() {
            true => Some(hint),
            false => head,
        };
        let mss = self.current_mss();
        let most = self.tune.tso_segs(cx, &self.cc, &self.rtt, mss);
        let forward = self.loss.has_forward_retransmit(cx, &self.neg);
        let mut hole = false;
        let mut rearm = false;
        while let Some(id) = at {
            if self.tune.pacing_check(cx, &mut self.timers) {
                break;
            }
            if !hole {
                self.loss.retransmit_hint = id;
            }
            let room = self.snd.snd_cwnd.saturating_sub(self.loss.in_flight());
            // What was sent forward counts in retrans_out and is not lost.
            let done = match forward {
                true => self.loss.lost_out == 0,
                false => self.loss.retrans_out >= self.loss.lost_out,
            };
            if room == 0 || done {
                break;
            }
            let Some(skb) = self.queue.get(id) else { break };
            if !skb.is(Sacked::LOST) {
                hole |= !skb.is(Sacked::RETRANS | Sacked::ACKED);
            } else if !skb.is(Sacked::RETRANS | Sacked::ACKED) {
                let counter = match self.loss.ca_state {
                    CaState::Loss => Counter::SlowStartRetrans,
                    _ => Counter::FastRetrans,
                };
                if !self.retransmit_one(cx, id, room.min(most), counter) {
                    break;
                }
                rearm |= head == Some(id) && self.timers.pending != Pending::ReoTimeout;
            }
            at = self.queue.next_sent(id);
        }
        if forward {
            self.forward_retransmit(cx, most);
        }
        if rearm {
            self.timers
                .arm_paced(cx, &self.tune, Pending::Retrans, self.rtt.rto);
        }
    }

    pub(super) fn retransmit_one(
        &mut self,
        cx: &mut Cx<'_>,
        id: Id,
        segs: u32,
        counter: Counter,
    ) -> bool {
        if !self.retransmit_skb(cx, id, segs) {
            return false;
        }
        let packets = self.queue.get(id).map_or(1, |skb| u32::from(skb.pcount));
        cx.mib.add(counter, u64::from(packets));
        if self.loss.in_cwnd_reduction() {
            self.loss.prr_out += packets;
        }
        true
    }
}

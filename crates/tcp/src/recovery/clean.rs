//! The cumulative part of an ACK: the segments that leave the queue, and their news about the path
//! (Linux `tcp_clean_rtx_queue()`). Costs O(segments ACKed).

use tcplab_base::Seq;

use super::{AckWork, Flag};
use crate::cx::Cx;
use crate::endpoint::{Busy, Endpoint};
use crate::queue::{Id, Sacked, Skb, SkbFlags};
use crate::rtt::RttSamples;

/// What the segments that left the queue say.
struct Cleaned {
    flag: Flag,
    /// Transmission of the first and the last one that was neither SACKed nor retransmitted, in us; 0: none.
    first_ackt: u64,
    last_ackt: u64,
    /// The lowest one of these.
    reord: Seq,
    pkts_acked: u32,
    /// No super-segment was ACKed in part.
    fully_acked: bool,
}

impl Endpoint {
    /// `tcp_clean_rtx_queue()`: gives what happened as flags.
    pub(super) fn clean_rtx_queue(
        &mut self,
        cx: &mut Cx<'_>,
        prior_fack: Seq,
        prior_snd_una: Seq,
        work: &mut AckWork,
        ece: bool,
    ) -> Flag {
        let prior_sacked = self.loss.sacked_out;
        let mut done = Cleaned {
            flag: Flag::empty(),
            first_ackt: 0,
            last_ackt: 0,
            reord: self.snd.snd_nxt,
            pkts_acked: 0,
            fully_acked: true,
        };
        self.drop_acked(cx, work, &mut done, ece);
        let head = self.queue.first_sent().and_then(|id| self.queue.get(id));
        let head_xmit = head.map(Skb::xmit_us);
        if head.is_some_and(|skb| skb.is(Sacked::ACKED)) {
            done.flag |= Flag::SACK_RENEGING;
        }
        if head.is_none() {
            self.stats
                .chrono
                .stop(cx, self.queue.is_empty(), Busy::Sends);
        }
        if self.snd.snd_up.at_or_after(prior_snd_una)
            && self.snd.snd_up.at_or_before(self.snd.snd_una)
        {
            self.snd.snd_up = self.snd.snd_una;
        }
        let samples = self.ack_samples(cx, work, &mut done, prior_sacked, prior_snd_una);
        let (cc_rtt, updated) = self
            .rtt
            .ack_update(cx, &self.neg, &self.snd, done.flag, samples);
        work.rs.rtt_us = cc_rtt.map_or(-1, i64::from);
        if done.flag.intersects(Flag::ACKED) {
            done.flag |= Flag::SET_XMIT_TIMER;
            if self.mtup.is_some() {
                self.mtu_probe_acked(cx);
            }
            self.after_acked(cx, &mut done, prior_fack, prior_sacked, ece);
        } else if let (Some(sent), true, Some(rtt)) = (head_xmit, updated, samples.sack) {
            // A SACK of what was sent after the head was: waiting for the head starts again.
            if u64::from(rtt) > cx.now_us().saturating_sub(sent) {
                done.flag |= Flag::SET_XMIT_TIMER;
            }
        }
        self.cc_pkts_acked(cx, work.rs.rtt_us as i32);
        done.flag
    }

    fn drop_acked(&mut self, cx: &mut Cx<'_>, work: &mut AckWork, done: &mut Cleaned, ece: bool) {
        let snd_una = self.snd.snd_una;
        while let Some(id) = self.queue.first_sent() {
            let Some(skb) = self.queue.get(id) else { break };
            if skb.end_seq().after(snd_una) {
                if skb.pcount != 1 && snd_una.after(skb.seq) {
                    self.drop_part(cx, id, work, done, ece);
                }
                break;
            }
            if self.loss.highest_sack == id {
                self.loss.highest_sack = id.behind();
            }
            let Some(skb) = self.queue.pop_first() else {
                break;
            };
            self.snd.wmem_free(&mut self.rcv, skb.truesize);
            self.account_acked(cx, &skb, u32::from(skb.pcount), work, done, ece);
        }
    }

    /// A part of a super-segment was ACKed.
    #[cold]
    #[inline(never)]
    fn drop_part(
        &mut self,
        cx: &mut Cx<'_>,
        id: Id,
        work: &mut AckWork,
        done: &mut Cleaned,
        ece: bool,
    ) {
        let Some(before) = self.queue.get(id).copied() else {
            return;
        };
        let packets = self.tso_acked(id);
        if packets > 0 {
            done.fully_acked = false;
            self.account_acked(cx, &before, packets, work, done, ece);
        }
    }

    /// One segment, or the first `packets` of it, was ACKed.
    fn account_acked(
        &mut self,
        cx: &mut Cx<'_>,
        skb: &Skb,
        packets: u32,
        work: &mut AckWork,
        done: &mut Cleaned,
        ece: bool,
    ) {
        let end = skb.end_seq();
        let sent = skb.xmit_us();
        if skb.is(Sacked::RETRANS | Sacked::EVER_RETRANS) {
            if skb.is(Sacked::RETRANS) {
                self.loss.retrans_out -= packets.min(self.loss.retrans_out);
            }
            done.flag |= Flag::RETRANS_DATA_ACKED;
        } else if !skb.is(Sacked::ACKED) {
            done.last_ackt = sent;
            if done.first_ackt == 0 {
                done.first_ackt = sent;
            }
            done.reord = done.reord.min(skb.seq);
            if !end.after(self.loss.high_seq) {
                done.flag |= Flag::ORIG_SACK_ACKED;
            }
        }
        if skb.is(Sacked::ACKED) {
            self.loss.sacked_out -= packets.min(self.loss.sacked_out);
        } else if self.neg.sack_ok {
            self.stats.count_delivered(packets, ece);
            if !self.neg.is_spurious_retrans(skb) {
                self.rack.advance(cx, &self.rtt, skb.sacked, end, sent);
            }
        }
        if skb.is(Sacked::LOST) {
            self.loss.lost_out -= packets.min(self.loss.lost_out);
        }
        self.loss.packets_out -= packets.min(self.loss.packets_out);
        done.pkts_acked += packets;
        self.tune.rate_skb_delivered(skb, &mut work.rs);
        if !skb.flags.intersects(SkbFlags::SYN) {
            done.flag |= Flag::DATA_ACKED;
        } else {
            done.flag |= Flag::SYN_ACKED;
            self.loss.retrans_stamp = 0;
        }
    }

    /// `tcp_tso_acked()`: takes what is ACKed off a super-segment; gives the whole packets among it.
    fn tso_acked(&mut self, id: Id) -> u32 {
        let snd_una = self.snd.snd_una;
        let Some(skb) = self.queue.get_mut(id) else {
            return 0;
        };
        let before = skb.pcount;
        let bytes = snd_una - skb.seq;
        skb.seq = snd_una;
        skb.len = skb.len.saturating_sub(bytes);
        let freed = bytes.min(skb.truesize);
        skb.truesize -= freed;
        let mss = u32::from(skb.gso_size);
        if skb.len <= mss || mss == 0 {
            skb.pcount = 1;
            skb.gso_size = 0;
        } else {
            skb.pcount = skb.len.div_ceil(mss) as u16;
        }
        let packets = before.saturating_sub(skb.pcount);
        self.snd.wmem_free(&mut self.rcv, freed);
        u32::from(packets)
    }

    /// RTT samples of what was ACKed (without retransmitted segments: Karn) and SACKed.
    fn ack_samples(
        &self,
        cx: &Cx<'_>,
        work: &AckWork,
        done: &mut Cleaned,
        prior_sacked: u32,
        prior_snd_una: Seq,
    ) -> RttSamples {
        let now = cx.now_us();
        let since = |sent: u64| Some(now.saturating_sub(sent) as u32);
        let mut samples = RttSamples::default();
        if done.first_ackt != 0 && !done.flag.intersects(Flag::RETRANS_DATA_ACKED) {
            samples.seq = since(done.first_ackt);
            samples.cc = since(done.last_ackt);
            // One short segment alone over the round trip: the receiver may have delayed its ACK.
            if done.pkts_acked == 1
                && done.fully_acked
                && prior_sacked == 0
                && self.snd.snd_una - prior_snd_una < self.snd.mss_cache
                && work.rs.prior_delivered.wrapping_add(1) == self.stats.delivered
                && !done.flag.intersects(Flag::CA_ALERT | Flag::SYN_ACKED)
            {
                done.flag |= Flag::ACK_MAYBE_DELAYED;
            }
        }
        if work.first_sackt != 0 {
            samples.sack = since(work.first_sackt);
            samples.cc = since(work.last_sackt);
        }
        samples
    }

    #[cold]
    #[inline(never)]
    fn after_acked_without_sack(&mut self, cx: &mut Cx<'_>, done: &mut Cleaned, ece: bool) {
        self.loss
            .remove_reno_sacks(cx, &mut self.stats, done.pkts_acked, ece);
        // Without SACK nobody can tell the original from the retransmission.
        if done.flag.intersects(Flag::RETRANS_DATA_ACKED) {
            done.flag &= !Flag::ORIG_SACK_ACKED;
        }
    }

    /// New data was ACKed: Reno's duplicate count, or reordering that filled a hole.
    fn after_acked(
        &mut self,
        cx: &mut Cx<'_>,
        done: &mut Cleaned,
        prior_fack: Seq,
        prior_sacked: u32,
        ece: bool,
    ) {
        if self.neg.is_reno() {
            return self.after_acked_without_sack(cx, done, ece);
        }
        if done.reord.before(prior_fack) {
            self.check_sack_reordering(cx, done.reord, false);
        }
        let fewer = match self.loss.is_fack(cx, &self.neg) {
            true => done.pkts_acked,
            false => prior_sacked.saturating_sub(self.loss.sacked_out),
        };
        self.loss.lost_cnt_hint -= fewer.min(self.loss.lost_cnt_hint);
    }
}

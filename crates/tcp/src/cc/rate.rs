//! Samples of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation; Linux tcp_rate.c).

use super::RateSample;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Tune};
use crate::queue::{Id, Sacked, Skb};

impl Tune {
    /// `tcp_rate_skb_delivered()`: a segment was ACKed or SACKed; the one that was sent last counts.
    /// The caller sets `delivered_us` of a SACKed one to 0 afterwards, so that it does not count twice.
    #[inline]
    pub(crate) fn rate_skb_delivered(&mut self, skb: &Skb, rs: &mut RateSample) {
        if skb.delivered_us == 0 {
            return;
        }
        let (sent, end) = (skb.xmit_us(), skb.end_seq());
        let first = self.first_tx_us;
        let later = sent > first || (sent == first && end.after(rs.last_end_seq));
        if rs.prior_delivered != 0 && !later {
            return;
        }
        rs.prior_delivered = skb.delivered;
        rs.prior_delivered_ce = skb.delivered_ce;
        rs.prior_mstamp_us = skb.delivered_us;
        rs.is_app_limited = skb.app_limited;
        rs.is_retrans = skb.is(Sacked::RETRANS);
        rs.last_end_seq = end;
        self.first_tx_us = sent;
        rs.interval_us = sent.saturating_sub(skb.first_tx_us) as i64;
    }
}

impl Endpoint {
    /// `tcp_rate_skb_sent()`: notes in a segment that leaves what was delivered until now.
    #[inline]
    pub(crate) fn rate_skb_sent(&mut self, id: Id) {
        let Some(skb) = self.queue.get_mut(id) else {
            return;
        };
        if self.loss.packets_out == 0 {
            let us = skb.xmit_us();
            self.tune.first_tx_us = us;
            self.tune.delivered_us = us;
        }
        skb.first_tx_us = self.tune.first_tx_us;
        skb.delivered_us = self.tune.delivered_us;
        skb.delivered = self.stats.delivered;
        skb.delivered_ce = self.stats.delivered_ce;
        skb.app_limited = self.tune.app_limited != 0;
    }

    /// `tcp_rate_gen()`: the rate of this ACK's flight: what was delivered over the longer of its sending and its ACKing.
    pub(crate) fn rate_gen(
        &mut self,
        cx: &mut Cx<'_>,
        delivered: u32,
        lost: u32,
        is_sack_reneg: bool,
        rs: &mut RateSample,
    ) {
        let total = self.stats.delivered;
        let t = &mut self.tune;
        if t.app_limited != 0 && total.wrapping_sub(t.app_limited) as i32 > 0 {
            t.app_limited = 0;
        }
        let now = cx.now_us();
        if delivered > 0 {
            t.delivered_us = now;
        }
        rs.acked_sacked = delivered;
        rs.losses = lost;
        if rs.prior_mstamp_us == 0 || is_sack_reneg {
            rs.delivered = -1;
            rs.interval_us = -1;
            return;
        }
        rs.delivered = total.wrapping_sub(rs.prior_delivered) as i32;
        rs.delivered_ce = self.stats.delivered_ce.wrapping_sub(rs.prior_delivered_ce) as i32;
        let send = rs.interval_us as u32;
        let ack = now.saturating_sub(rs.prior_mstamp_us) as u32;
        rs.interval_us = i64::from(send.max(ack));
        rs.snd_interval_us = send;
        rs.rcv_interval_us = ack;
        if rs.interval_us < i64::from(self.rtt.min_rtt()) {
            // Shorter than the path: a retransmission whose original was ACKed.
            rs.interval_us = -1;
            return;
        }
        let t = &mut self.tune;
        let faster = u64::from(rs.delivered as u32) * u64::from(t.rate_interval_us)
            >= u64::from(t.rate_delivered) * rs.interval_us as u64;
        if !rs.is_app_limited || faster {
            t.rate_delivered = rs.delivered as u32;
            t.rate_interval_us = rs.interval_us as u32;
            t.rate_app_limited = rs.is_app_limited;
        }
    }

    /// `tcp_rate_check_app_limited()`: the application leaves a gap: less than a segment waits, and the window is open.
    #[inline]
    pub(crate) fn rate_check_app_limited(&mut self) {
        let l = &self.loss;
        if self.snd.write_seq - self.snd.snd_nxt < self.snd.mss_cache
            && l.in_flight() < self.snd.snd_cwnd
            && l.lost_out <= l.retrans_out
        {
            self.tune.app_limited = self.stats.delivered.wrapping_add(l.in_flight()).max(1);
        }
    }
}

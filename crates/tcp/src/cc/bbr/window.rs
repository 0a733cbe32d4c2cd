//! The congestion window: a multiple of the bandwidth-delay product, packet conservation in the first round of a
//! recovery (Linux `bbr_set_cwnd()`, `bbr_inflight()`, `bbr_packets_in_net_at_edt()`).

use super::phase::CWND_MIN_TARGET;
use super::{
    BW_SCALE, BW_UNIT, Bbr, INIT_CWND, Mode, RateSample, SCALE, UNIT, edt_us, tso_segs_goal,
};
use crate::cc::Control;
use crate::recovery::CaState;

/// Time of the rate that an excess of ACKs may add to the window, in us.
const EXTRA_ACKED_MAX_US: u64 = 100_000;

impl Bbr {
    /// `bbr_save_cwnd()`: the window to go back to; one that a loss or the probe for RTT has cut counts only when larger.
    pub(super) fn save_cwnd(&mut self, cwnd: u32) {
        let good = self.prev_ca_state < CaState::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = match good {
            true => cwnd,
            false => self.prior_cwnd.max(cwnd),
        };
    }

    /// `bbr_bdp()` in packets, rounded up.
    fn bdp(&self, bw: u32, gain: u32) -> u32 {
        if self.min_rtt_us == u32::MAX {
            return INIT_CWND;
        }
        let product = u64::from(bw) * u64::from(self.min_rtt_us);
        (((product.wrapping_mul(u64::from(gain)) >> SCALE) + BW_UNIT - 1) >> BW_SCALE) as u32
    }

    /// `bbr_quantization_budget()`: room for three super-segments, even, two more while probing.
    fn quantize(&self, c: &Control<'_, '_>, cwnd: u32) -> u32 {
        let cwnd = (cwnd + 3 * tso_segs_goal(c) + 1) & !1;
        match self.mode == Mode::ProbeBw && self.cycle_idx == 0 {
            true => cwnd + 2,
            false => cwnd,
        }
    }

    /// `bbr_inflight()`.
    pub(super) fn inflight(&self, c: &Control<'_, '_>, bw: u32, gain: u32) -> u32 {
        self.quantize(c, self.bdp(bw, gain))
    }

    /// `bbr_packets_in_net_at_edt()`: what will be in flight when the next segment departs.
    pub(super) fn packets_in_net_at_edt(&self, c: &Control<'_, '_>, in_flight: u32) -> u32 {
        let delivered = ((u64::from(self.bw()) * edt_us(c)) >> BW_SCALE) as u32;
        let at_edt = match self.pacing_gain > UNIT {
            true => in_flight + tso_segs_goal(c),
            false => in_flight,
        };
        at_edt.saturating_sub(delivered)
    }

    /// `bbr_ack_aggregation_cwnd()`.
    fn ack_aggregation_cwnd(&self) -> u32 {
        if !self.full_bw_reached {
            return 0;
        }
        let most = (u64::from(self.bw()) * EXTRA_ACKED_MAX_US / BW_UNIT) as u32;
        self.extra_acked[0].max(self.extra_acked[1]).min(most)
    }

    /// `bbr_set_cwnd_to_recover_or_restore()`: the window, and whether packets are conserved.
    fn recover_or_restore(
        &mut self,
        c: &Control<'_, '_>,
        rs: &RateSample,
        cwnd: u32,
    ) -> (u32, bool) {
        let mut cwnd = cwnd;
        let (prev, state, acked) = (self.prev_ca_state, c.loss.ca_state, rs.acked_sacked);
        if rs.losses > 0 {
            cwnd = cwnd.saturating_sub(rs.losses).max(1);
        }
        if state == CaState::Recovery && prev != CaState::Recovery {
            self.packet_conservation = true;
            self.next_rtt_delivered = c.stats.delivered;
            cwnd = c.loss.in_flight() + acked;
        } else if prev >= CaState::Recovery && state < CaState::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.prev_ca_state = state;
        match self.packet_conservation {
            true => (cwnd.max(c.loss.in_flight() + acked), true),
            false => (cwnd, false),
        }
    }

    /// The window after an ACK that delivered something.
    fn grow(&mut self, c: &Control<'_, '_>, rs: &RateSample, cwnd: u32) -> u32 {
        let (cwnd, conserves) = self.recover_or_restore(c, rs, cwnd);
        if conserves {
            return cwnd;
        }
        let acked = rs.acked_sacked;
        let target = self.bdp(self.bw(), self.cwnd_gain) + self.ack_aggregation_cwnd();
        let target = self.quantize(c, target);
        let cwnd = if self.full_bw_reached {
            (cwnd + acked).min(target)
        } else if cwnd < target || c.stats.delivered < INIT_CWND {
            cwnd + acked
        } else {
            cwnd
        };
        cwnd.max(CWND_MIN_TARGET)
    }

    /// `bbr_set_cwnd()`.
    pub(super) fn set_cwnd(&mut self, c: &mut Control<'_, '_>, rs: &RateSample) {
        let mut cwnd = c.snd.snd_cwnd;
        if rs.acked_sacked > 0 {
            cwnd = self.grow(c, rs, cwnd);
        }
        cwnd = cwnd.min(c.snd.snd_cwnd_clamp);
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(CWND_MIN_TARGET);
        }
        c.snd.set_cwnd(cwnd);
    }
}

//! BBR's model of the path: rounds, the maximum delivery rate of ten rounds, how far a burst of ACKs exceeds that
//! rate, whether the pipe is full (Linux `bbr_update_bw()`, `bbr_update_ack_aggregation()`,
//! `bbr_check_full_bw_reached()`).

use super::{BW_UNIT, Bbr, RateSample, SCALE, UNIT};
use crate::cc::Control;

/// Rounds of the rate's window: a gain cycle and two.
const BW_RTTS: u32 = 10;
/// A rate that grew by a quarter is growth; three rounds without it, and the pipe is full.
const FULL_BW_THRESHOLD: u32 = UNIT * 5 / 4;
const FULL_BW_ROUNDS: u8 = 3;
/// Rounds after which an excess of ACKs is forgotten; two such windows are kept.
const EXTRA_ACKED_RTTS: u8 = 5;
const EPOCH_ACKED_MAX: u32 = 1 << 20;

impl Bbr {
    /// `bbr_update_bw()`.
    pub(super) fn update_bw(&mut self, c: &Control<'_, '_>, rs: &RateSample) {
        self.round_start = false;
        if rs.delivered < 0 || rs.interval_us <= 0 {
            return;
        }
        if rs.prior_delivered.wrapping_sub(self.next_rtt_delivered) as i32 >= 0 {
            self.next_rtt_delivered = c.stats.delivered;
            self.rtt_cnt = self.rtt_cnt.wrapping_add(1);
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.police(c, rs);
        let bw = rs.delivered as u64 * BW_UNIT / rs.interval_us as u64;
        // A sample that the application limits counts only if it exceeds the known rate.
        if !rs.is_app_limited || bw >= u64::from(self.max_bw()) {
            self.bw.update(BW_RTTS, self.rtt_cnt, bw as u32);
        }
    }

    /// `bbr_update_ack_aggregation()`: packets ACKed beyond the rate since the epoch began.
    pub(super) fn update_ack_aggregation(&mut self, c: &Control<'_, '_>, rs: &RateSample) {
        if rs.acked_sacked == 0 || rs.delivered < 0 || rs.interval_us <= 0 {
            return;
        }
        if self.round_start {
            self.extra_acked_win_rtts = (self.extra_acked_win_rtts + 1).min(0x1f);
            if self.extra_acked_win_rtts >= EXTRA_ACKED_RTTS {
                self.extra_acked_win_rtts = 0;
                self.extra_acked_win_idx ^= 1;
                self.extra_acked[self.extra_acked_win_idx & 1] = 0;
            }
        }
        let epoch_us = c.tune.delivered_us.saturating_sub(self.ack_epoch_mstamp);
        let mut expected =
            (u64::from(self.bw()).wrapping_mul(epoch_us & u64::from(u32::MAX)) / BW_UNIT) as u32;
        if self.ack_epoch_acked <= expected
            || self.ack_epoch_acked + rs.acked_sacked >= EPOCH_ACKED_MAX
        {
            self.ack_epoch_acked = 0;
            self.ack_epoch_mstamp = c.tune.delivered_us;
            expected = 0;
        }
        self.ack_epoch_acked = (self.ack_epoch_acked + rs.acked_sacked).min(EPOCH_ACKED_MAX - 1);
        // extra_acked has 16 bits in the kernel.
        let extra = self
            .ack_epoch_acked
            .wrapping_sub(expected)
            .min(c.snd.snd_cwnd);
        let slot = &mut self.extra_acked[self.extra_acked_win_idx & 1];
        if extra > *slot {
            *slot = extra & 0xffff;
        }
    }

    /// `bbr_check_full_bw_reached()`.
    pub(super) fn check_full_bw(&mut self, rs: &RateSample) {
        if self.full_bw_reached || !self.round_start || rs.is_app_limited {
            return;
        }
        let threshold = (u64::from(self.full_bw) * u64::from(FULL_BW_THRESHOLD)) >> SCALE;
        if u64::from(self.max_bw()) >= threshold {
            self.full_bw = self.max_bw();
            self.full_bw_cnt = 0;
            return;
        }
        self.full_bw_cnt += 1;
        self.full_bw_reached = self.full_bw_cnt >= FULL_BW_ROUNDS;
    }
}

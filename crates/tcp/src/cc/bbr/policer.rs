//! The long-term rate: two lossy intervals of the same rate mean a token-bucket policer, and BBR then keeps that rate
//! for 48 rounds (Linux `bbr_lt_bw_sampling()`).

use super::{BW_UNIT, Bbr, Mode, RateSample, SCALE, UNIT, bytes_a_second};
use crate::cc::Control;
use crate::pack::packed;

/// Rounds of an interval at least; four times as many at most.
const INTERVAL_MIN_RTTS: u8 = 4;
/// Lost of delivered that makes an interval lossy, in 1/256.
const LOSS_THRESHOLD: u32 = 50;
/// Two rates are one when they differ by an eighth, or by 4 kbit/s.
const RATIO: u32 = UNIT / 8;
const DIFFERENCE: u64 = 4000 / 8;
/// Rounds for which the long-term rate is kept.
const KEEP_RTTS: u8 = 48;

/// The `lt_` fields of `struct bbr`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    rtt_cnt: u8,
    pub(super) in_use: bool,
    pub(super) bw: u32,
    last_delivered: u32,
    /// In ms.
    last_stamp: u32,
    last_lost: u32,
}

packed!(Policer {
    sampling,
    rtt_cnt,
    in_use,
    bw,
    last_delivered,
    last_stamp,
    last_lost,
});

impl Policer {
    /// `bbr_reset_lt_bw_sampling_interval()`.
    pub(super) fn begin(&mut self, c: &Control<'_, '_>) {
        self.last_stamp = (c.tune.delivered_us / 1000) as u32;
        self.last_delivered = c.stats.delivered;
        self.last_lost = c.loss.lost;
        self.rtt_cnt = 0;
    }

    /// `bbr_reset_lt_bw_sampling()`.
    pub(super) fn reset(&mut self, c: &Control<'_, '_>) {
        self.bw = 0;
        self.in_use = false;
        self.sampling = false;
        self.begin(c);
    }
}

impl Bbr {
    /// `bbr_lt_bw_sampling()`.
    pub(super) fn police(&mut self, c: &Control<'_, '_>, rs: &RateSample) {
        if self.policer.in_use {
            if self.mode == Mode::ProbeBw && self.round_start {
                self.policer.rtt_cnt += 1;
                if self.policer.rtt_cnt >= KEEP_RTTS {
                    self.policer.reset(c);
                    self.reset_probe_bw(c);
                }
            }
            return;
        }
        if !self.policer.sampling {
            // Sampling begins at the first loss, when the bucket is empty.
            if rs.losses == 0 {
                return;
            }
            self.policer.begin(c);
            self.policer.sampling = true;
        }
        if rs.is_app_limited {
            self.policer.reset(c);
            return;
        }
        if self.round_start {
            self.policer.rtt_cnt += 1;
        }
        if self.policer.rtt_cnt < INTERVAL_MIN_RTTS {
            return;
        }
        if self.policer.rtt_cnt > 4 * INTERVAL_MIN_RTTS {
            self.policer.reset(c);
            return;
        }
        // An interval ends with a loss, when the bucket is empty again.
        if rs.losses > 0 {
            self.end_interval(c);
        }
    }

    fn end_interval(&mut self, c: &Control<'_, '_>) {
        let p = &mut self.policer;
        let lost = c.loss.lost.wrapping_sub(p.last_lost);
        let delivered = c.stats.delivered.wrapping_sub(p.last_delivered);
        let few = lost.wrapping_shl(SCALE) < LOSS_THRESHOLD.wrapping_mul(delivered);
        if delivered == 0 || few {
            return;
        }
        let ms = ((c.tune.delivered_us / 1000) as u32).wrapping_sub(p.last_stamp);
        if (ms as i32) < 1 {
            return;
        }
        if ms >= u32::MAX / 1000 {
            p.reset(c);
            return;
        }
        let bw = (u64::from(delivered) * BW_UNIT / (u64::from(ms) * 1000)) as u32;
        if p.bw != 0 {
            let diff = bw.abs_diff(p.bw);
            let near = diff.wrapping_mul(UNIT) <= RATIO.wrapping_mul(p.bw);
            if near || bytes_a_second(c, u64::from(diff), UNIT) <= DIFFERENCE {
                p.bw = (bw.wrapping_add(p.bw)) >> 1;
                p.in_use = true;
                p.rtt_cnt = 0;
                self.pacing_gain = UNIT;
                return;
            }
        }
        p.bw = bw;
        p.begin(c);
    }
}

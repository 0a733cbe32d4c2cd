//! Start-up, drain, probing for rate in a cycle of eight gains, probing for RTT (Linux `bbr_check_drain()`,
//! `bbr_update_cycle_phase()`, `bbr_update_min_rtt()`, `bbr_update_gains()`).

use tcplab_base::Random;

use super::{Bbr, HIGH_GAIN, Mode, RateSample, UNIT};
use crate::cc::Control;

const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
const CWND_GAIN: u32 = UNIT * 2;
/// Pacing gains of a cycle: look for more, drain what that queued, cruise.
const CYCLE: [u32; 8] = [
    UNIT * 5 / 4,
    UNIT * 3 / 4,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
];
/// A cycle begins at one of these many phases by chance; never at the draining one.
const CYCLE_RANDOM: u64 = 7;
/// Seconds for which a shortest RTT holds.
const MIN_RTT_WINDOW_S: u32 = 10;
/// Milliseconds of probing for RTT.
const PROBE_RTT_MS: u64 = 200;
/// Packets in flight meanwhile.
pub(super) const CWND_MIN_TARGET: u32 = 4;

impl Bbr {
    /// `bbr_reset_probe_bw_mode()`. The kernel's random number is not reproducible; ours follows from the host's secret
    /// and the time.
    pub(super) fn reset_probe_bw(&mut self, c: &Control<'_, '_>) {
        self.mode = Mode::ProbeBw;
        let mut random = Random::stream(c.cx.host.secret ^ c.cx.now_us(), "bbr");
        self.cycle_idx = 7 - random.below(CYCLE_RANDOM) as u8;
        self.advance_cycle(c);
    }

    fn advance_cycle(&mut self, c: &Control<'_, '_>) {
        self.cycle_idx = (self.cycle_idx + 1) & 7;
        self.cycle_mstamp = c.tune.delivered_us;
    }

    /// `bbr_reset_mode()`.
    fn reset_mode(&mut self, c: &Control<'_, '_>) {
        match self.full_bw_reached {
            true => self.reset_probe_bw(c),
            false => self.mode = Mode::Startup,
        }
    }

    /// `bbr_update_cycle_phase()`.
    pub(super) fn update_cycle_phase(&mut self, c: &Control<'_, '_>, rs: &RateSample) {
        if self.mode == Mode::ProbeBw && self.is_next_phase(c, rs) {
            self.advance_cycle(c);
        }
    }

    /// `bbr_is_next_cycle_phase()`: a phase lasts an RTT; probing goes on until the queue shows it, draining ends when
    /// the queue is gone.
    fn is_next_phase(&self, c: &Control<'_, '_>, rs: &RateSample) -> bool {
        let length = c.tune.delivered_us.saturating_sub(self.cycle_mstamp) as u32;
        let full = length > self.min_rtt_us;
        if self.pacing_gain == UNIT {
            return full;
        }
        let in_flight = self.packets_in_net_at_edt(c, rs.prior_in_flight);
        let bw = self.max_bw();
        if self.pacing_gain > UNIT {
            let target = self.inflight(c, bw, self.pacing_gain);
            return full && (rs.losses > 0 || in_flight >= target);
        }
        full || in_flight <= self.inflight(c, bw, UNIT)
    }

    /// `bbr_check_drain()`: the threshold to be set when draining begins.
    pub(super) fn check_drain(&mut self, c: &Control<'_, '_>) -> Option<u32> {
        let mut threshold = None;
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            threshold = Some(self.inflight(c, self.max_bw(), UNIT));
        }
        if self.mode == Mode::Drain
            && self.packets_in_net_at_edt(c, c.loss.in_flight())
                <= self.inflight(c, self.max_bw(), UNIT)
        {
            self.reset_probe_bw(c);
        }
        threshold
    }

    /// `bbr_update_gains()`.
    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.in_use => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[usize::from(self.cycle_idx & 7)], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }
}

impl Bbr {
    /// `bbr_check_probe_rtt_done()`.
    pub(super) fn check_probe_rtt_done(&mut self, c: &mut Control<'_, '_>) {
        let done = self.probe_rtt_done_stamp;
        if done == 0 || c.cx.jiffies32().wrapping_sub(done) as i32 <= 0 {
            return;
        }
        self.min_rtt_stamp = c.cx.jiffies32();
        c.snd.set_cwnd(c.snd.snd_cwnd.max(self.prior_cwnd));
        self.reset_mode(c);
    }

    /// `bbr_update_min_rtt()`: keeps the shortest RTT, and goes down to four packets when it was not seen for 10 s.
    pub(super) fn update_min_rtt(&mut self, c: &mut Control<'_, '_>, rs: &RateSample) {
        let now = c.cx.jiffies32();
        let until = self
            .min_rtt_stamp
            .wrapping_add(MIN_RTT_WINDOW_S * c.cx.host.clock.hz);
        let expired = now.wrapping_sub(until) as i32 > 0;
        let shorter = (rs.rtt_us as u64) < u64::from(self.min_rtt_us);
        if rs.rtt_us >= 0 && (shorter || (expired && !rs.is_ack_delayed)) {
            self.min_rtt_us = rs.rtt_us as u32;
            self.min_rtt_stamp = now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(c.snd.snd_cwnd);
            self.probe_rtt_done_stamp = 0;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(c);
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// 200 ms and a round with four packets in flight.
    fn probe_rtt(&mut self, c: &mut Control<'_, '_>) {
        // Rates during this phase do not show the path's.
        let in_flight = c.loss.in_flight();
        c.tune.app_limited = c.stats.delivered.wrapping_add(in_flight).max(1);
        if self.probe_rtt_done_stamp == 0 {
            if in_flight <= CWND_MIN_TARGET {
                let ticks = c.cx.host.clock.from_millis(PROBE_RTT_MS);
                self.probe_rtt_done_stamp = c.cx.jiffies32().wrapping_add(ticks);
                self.probe_rtt_round_done = false;
                self.next_rtt_delivered = c.stats.delivered;
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(c);
        }
    }
}

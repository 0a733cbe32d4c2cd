//! Start-up, drain, probing for rate in a cycle of eight gains, probing for RTT (Linux `bbr_check_drain()`,
//! `bbr_update_cycle_phase()`, `bbr_update_min_rtt()`, `bbr_update_gains()`).

use tcplab_base::Random;

use super::{Bbr, HIGH_GAIN, Mode, RateSample, UNIT, View};
use crate::cx::Cx;
use crate::endpoint::Endpoint;

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
    pub(super) fn reset_probe_bw(&mut self, cx: &Cx<'_>, view: &View) {
        self.mode = Mode::ProbeBw;
        let mut random = Random::stream(cx.host.secret ^ view.now_us, "bbr");
        self.cycle_idx = 7 - random.below(CYCLE_RANDOM) as u8;
        self.advance_cycle(view);
    }

    fn advance_cycle(&mut self, view: &View) {
        self.cycle_idx = (self.cycle_idx + 1) & 7;
        self.cycle_mstamp = view.delivered_us;
    }

    /// `bbr_reset_mode()`.
    fn reset_mode(&mut self, cx: &Cx<'_>, view: &View) {
        match self.full_bw_reached {
            true => self.reset_probe_bw(cx, view),
            false => self.mode = Mode::Startup,
        }
    }

    /// `bbr_update_cycle_phase()`.
    pub(super) fn update_cycle_phase(&mut self, view: &View, rs: &RateSample) {
        if self.mode == Mode::ProbeBw && self.is_next_phase(view, rs) {
            self.advance_cycle(view);
        }
    }

    /// `bbr_is_next_cycle_phase()`: a phase lasts an RTT; probing goes on until the queue shows it, draining ends when
    /// the queue is gone.
    fn is_next_phase(&self, view: &View, rs: &RateSample) -> bool {
        let length = view.delivered_us.saturating_sub(self.cycle_mstamp) as u32;
        let full = length > self.min_rtt_us;
        if self.pacing_gain == UNIT {
            return full;
        }
        let in_flight = self.packets_in_net_at_edt(view, rs.prior_in_flight);
        let bw = self.max_bw();
        if self.pacing_gain > UNIT {
            let target = self.inflight(view, bw, self.pacing_gain);
            return full && (rs.losses > 0 || in_flight >= target);
        }
        full || in_flight <= self.inflight(view, bw, UNIT)
    }

    /// `bbr_check_drain()`: the threshold to be set when draining begins.
    pub(super) fn check_drain(&mut self, cx: &Cx<'_>, view: &View) -> Option<u32> {
        let mut threshold = None;
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            threshold = Some(self.inflight(view, self.max_bw(), UNIT));
        }
        if self.mode == Mode::Drain
            && self.packets_in_net_at_edt(view, view.in_flight)
                <= self.inflight(view, self.max_bw(), UNIT)
        {
            self.reset_probe_bw(cx, view);
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

impl Endpoint {
    /// `bbr_check_probe_rtt_done()`.
    pub(super) fn bbr_check_probe_rtt_done(&mut self, cx: &Cx<'_>, view: &View) {
        let Some(bbr) = self.bbr() else {
            return;
        };
        let done = bbr.probe_rtt_done_stamp;
        if done == 0 || view.now.wrapping_sub(done) as i32 <= 0 {
            return;
        }
        bbr.min_rtt_stamp = view.now;
        let prior = bbr.prior_cwnd;
        bbr.reset_mode(cx, view);
        self.set_cwnd(self.snd.snd_cwnd.max(prior));
    }

    /// `bbr_update_min_rtt()`: keeps the shortest RTT, and goes down to four packets when it was not seen for 10 s.
    pub(super) fn bbr_update_min_rtt(&mut self, cx: &Cx<'_>, view: &View, rs: &RateSample) {
        let cwnd = self.snd.snd_cwnd;
        let Some(bbr) = self.bbr() else {
            return;
        };
        let until = bbr.min_rtt_stamp.wrapping_add(MIN_RTT_WINDOW_S * view.hz);
        let expired = view.now.wrapping_sub(until) as i32 > 0;
        let shorter = (rs.rtt_us as u64) < u64::from(bbr.min_rtt_us);
        if rs.rtt_us >= 0 && (shorter || (expired && !rs.is_ack_delayed)) {
            bbr.min_rtt_us = rs.rtt_us as u32;
            bbr.min_rtt_stamp = view.now;
        }
        if expired && !bbr.idle_restart && bbr.mode != Mode::ProbeRtt {
            bbr.mode = Mode::ProbeRtt;
            bbr.save_cwnd(cwnd);
            bbr.probe_rtt_done_stamp = 0;
        }
        if bbr.mode == Mode::ProbeRtt {
            self.bbr_probe_rtt(cx, view);
        }
        if rs.delivered > 0
            && let Some(bbr) = self.bbr()
        {
            bbr.idle_restart = false;
        }
    }

    /// 200 ms and a round with four packets in flight.
    fn bbr_probe_rtt(&mut self, cx: &Cx<'_>, view: &View) {
        // The rates of this time say nothing of the path.
        self.tune.app_limited = view.delivered.wrapping_add(view.in_flight).max(1);
        let Some(bbr) = self.bbr() else {
            return;
        };
        if bbr.probe_rtt_done_stamp == 0 {
            if view.in_flight <= CWND_MIN_TARGET {
                let ticks = cx.host.clock.from_millis(PROBE_RTT_MS);
                bbr.probe_rtt_done_stamp = view.now.wrapping_add(ticks);
                bbr.probe_rtt_round_done = false;
                bbr.next_rtt_delivered = view.delivered;
            }
            return;
        }
        bbr.probe_rtt_round_done |= bbr.round_start;
        if bbr.probe_rtt_round_done {
            self.bbr_check_probe_rtt_done(cx, view);
        }
    }
}

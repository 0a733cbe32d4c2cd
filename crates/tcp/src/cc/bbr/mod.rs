//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00; Linux tcp_bbr.c): paces at the largest recent
//! delivery rate, its estimate of the bottleneck, with about two bandwidth-delay products in flight.
//!
//! - `model.rs`: the model of the path
//! - `window.rs`: the window
//! - `phase.rs`: start-up, drain, probing for rate, probing for RTT
//! - `policer.rs`: the long-term rate of a policed path

mod max;
mod model;
mod phase;
mod policer;
mod window;

use super::window::INIT_CWND;
use super::{CaEvent, Congestion, CongestionControl, Control, Echo, INFINITE_SSTHRESH, RateSample};
use crate::endpoint::Tune;
use crate::pack::{packed, packed_enum};
use crate::recovery::CaState;
use crate::sysctl::Sysctl;
use max::WindowedMax;

/// Rates are packets a microsecond, times 2^24.
const BW_SCALE: u32 = 24;
const BW_UNIT: u64 = 1 << BW_SCALE;
/// Gains are in 1/256.
const SCALE: u32 = 8;
const UNIT: u32 = 1 << SCALE;
/// 2/ln 2: the smallest gain that doubles the rate each round.
const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;
/// Below this rate in bytes a second super-segments have one segment.
const MIN_TSO_RATE: u64 = 1_200_000 >> 3;

/// `enum bbr_mode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

packed_enum!(Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
});

/// `struct bbr`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bbr {
    mode: Mode,
    prev_ca_state: CaState,
    min_rtt_us: u32,
    min_rtt_stamp: u32,
    /// The jiffy at which probing for RTT ends; 0: not known yet.
    probe_rtt_done_stamp: u32,
    probe_rtt_round_done: bool,
    bw: WindowedMax,
    rtt_cnt: u32,
    next_rtt_delivered: u32,
    cycle_mstamp: u64,
    packet_conservation: bool,
    round_start: bool,
    idle_restart: bool,
    has_seen_rtt: bool,
    pacing_gain: u32,
    cwnd_gain: u32,
    cycle_idx: u8,
    full_bw_reached: bool,
    full_bw_cnt: u8,
    full_bw: u32,
    prior_cwnd: u32,
    policer: policer::Policer,
    ack_epoch_mstamp: u64,
    ack_epoch_acked: u32,
    extra_acked: [u32; 2],
    extra_acked_win_rtts: u8,
    extra_acked_win_idx: usize,
}

packed!(Bbr {
    mode,
    prev_ca_state,
    min_rtt_us,
    min_rtt_stamp,
    probe_rtt_done_stamp,
    probe_rtt_round_done,
    bw,
    rtt_cnt,
    next_rtt_delivered,
    cycle_mstamp,
    packet_conservation,
    round_start,
    idle_restart,
    has_seen_rtt,
    pacing_gain,
    cwnd_gain,
    cycle_idx,
    full_bw_reached,
    full_bw_cnt,
    full_bw,
    prior_cwnd,
    policer,
    ack_epoch_mstamp,
    ack_epoch_acked,
    extra_acked,
    extra_acked_win_rtts,
    extra_acked_win_idx,
});

impl Bbr {
    /// `bbr_max_bw()`.
    fn max_bw(&self) -> u32 {
        self.bw.get()
    }

    /// `bbr_bw()`: the rate that is believed now.
    fn bw(&self) -> u32 {
        match self.policer.in_use {
            true => self.policer.bw,
            false => self.max_bw(),
        }
    }
}

/// `bbr_rate_bytes_per_sec()`: 1 % below the rate, so that a queue drains.
fn bytes_a_second(c: &Control<'_, '_>, bw: u64, gain: u32) -> u64 {
    let rate = (bw * u64::from(c.snd.mss_cache) * u64::from(gain)) >> SCALE;
    rate.wrapping_mul(1_000_000 / 100 * 99) >> BW_SCALE
}

/// Time between now and the next departure, in us.
fn edt_us(c: &Control<'_, '_>) -> u64 {
    c.tune.wstamp_ns.saturating_sub(c.cx.now_ns()) / 1000
}

/// `bbr_min_tso_segs()`.
fn min_tso_segs(tune: &Tune) -> u32 {
    match tune.pacing_rate() < MIN_TSO_RATE {
        true => 1,
        false => 2,
    }
}

/// `bbr_tso_segs_goal()`.
fn tso_segs_goal(c: &Control<'_, '_>) -> u32 {
    let most = u64::from(65_535 - c.cx.host.profile.tx_header);
    let bytes = (c.tune.pacing_rate() >> c.tune.pacing_shift).min(most);
    let segs = (bytes / u64::from(c.snd.mss_cache).max(1)) as u32;
    segs.max(min_tso_segs(c.tune)).min(0x7f)
}

impl Bbr {
    /// `bbr_init_pacing_rate_from_rtt()`: the high gain times the window an RTT, 1 ms when none is known.
    fn pace_from_rtt(&mut self, c: &mut Control<'_, '_>) {
        let srtt = c.rtt.srtt_us;
        self.has_seen_rtt |= srtt != 0;
        let rtt_us = match srtt {
            0 => 1000,
            srtt => (srtt >> 3).max(1),
        };
        let bw = u64::from(c.snd.snd_cwnd) * BW_UNIT / u64::from(rtt_us);
        // The kernel hands this rate on as 32 bits.
        let rate = bytes_a_second(c, bw & u64::from(u32::MAX), HIGH_GAIN);
        c.tune.set_pacing_rate(rate, 0);
    }

    /// `bbr_set_pacing_rate()`: never slower before the pipe is full.
    fn set_pacing_rate(&mut self, c: &mut Control<'_, '_>, bw: u32, gain: u32) {
        let rate = bytes_a_second(c, u64::from(bw), gain);
        if !self.has_seen_rtt && c.rtt.srtt_us != 0 {
            self.pace_from_rtt(c);
        }
        if self.full_bw_reached || rate > c.tune.pacing_rate() {
            c.tune.set_pacing_rate(rate, 0);
        }
    }

    /// `bbr_cwnd_event()` of the first segment after a pause.
    #[cold]
    #[inline(never)]
    fn tx_start(&mut self, c: &mut Control<'_, '_>) {
        if c.tune.app_limited == 0 {
            return;
        }
        self.idle_restart = true;
        self.ack_epoch_mstamp = c.cx.now_us();
        self.ack_epoch_acked = 0;
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(c, self.bw(), UNIT),
            Mode::ProbeRtt => self.check_probe_rtt_done(c),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// `bbr_main()`: an ACK's sample.
    #[cold]
    #[inline(never)]
    fn main(&mut self, c: &mut Control<'_, '_>, rs: &RateSample) {
        self.update_bw(c, rs);
        self.update_ack_aggregation(c, rs);
        self.update_cycle_phase(c, rs);
        self.check_full_bw(rs);
        if let Some(threshold) = self.check_drain(c) {
            c.snd.set_ssthresh(threshold);
        }
        self.update_min_rtt(c, rs);
        self.update_gains();
        self.set_pacing_rate(c, self.bw(), self.pacing_gain);
        self.set_cwnd(c, rs);
    }
}

impl CongestionControl for Bbr {
    /// `bbr_init()`.
    fn init(&mut self, c: &mut Control<'_, '_>) -> Option<Congestion> {
        c.snd.set_ssthresh(INFINITE_SSTHRESH);
        *self = Self {
            min_rtt_us: c.rtt.min_rtt(),
            min_rtt_stamp: c.cx.jiffies32(),
            next_rtt_delivered: c.stats.delivered,
            ack_epoch_mstamp: c.cx.now_us(),
            ..Self::default()
        };
        self.policer.begin(c);
        self.pace_from_rtt(c);
        // SK_PACING_NEEDED: there is no sch_fq below.
        c.tune.pacing_needed = true;
        None
    }

    #[inline]
    fn controls_cwnd(&self) -> bool {
        true
    }

    fn min_tso_segs(&self, tune: &Tune, _: &Sysctl) -> u32 {
        min_tso_segs(tune)
    }

    /// `bbr_sndbuf_expand()`.
    fn sndbuf_factor(&self) -> u32 {
        3
    }

    /// `bbr_ssthresh()`: remembers the window; the threshold stays.
    fn ssthresh(&mut self, c: &Control<'_, '_>) -> u32 {
        self.save_cwnd(c.snd.snd_cwnd);
        c.snd.snd_ssthresh
    }

    /// `bbr_undo_cwnd()`: the slow-down was for nothing; looks for a full pipe again.
    fn undo_cwnd(&mut self, c: &mut Control<'_, '_>) -> u32 {
        self.full_bw = 0;
        self.full_bw_cnt = 0;
        self.policer.reset(c);
        c.snd.snd_cwnd
    }

    /// `bbr_set_state()`.
    fn set_state(&mut self, c: &mut Control<'_, '_>, state: CaState) {
        if state != CaState::Loss {
            return;
        }
        self.prev_ca_state = CaState::Loss;
        self.full_bw = 0;
        self.round_start = true;
        let rs = RateSample {
            losses: 1,
            ..RateSample::default()
        };
        self.police(c, &rs);
    }

    fn cwnd_event(&mut self, c: &mut Control<'_, '_>, event: CaEvent) -> Option<Echo> {
        if event == CaEvent::TxStart {
            self.tx_start(c);
        }
        None
    }

    fn cong_control(&mut self, c: &mut Control<'_, '_>, rs: &RateSample) {
        self.main(c, rs);
    }

    fn memory(&self) -> usize {
        size_of::<Self>()
    }
}

//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00; Linux tcp_bbr.c): paces at the bottleneck's rate as
//! the largest recent delivery rate shows it, with about two bandwidth-delay products in flight.
//!
//! `model.rs` holds what is known of the path, `window.rs` the window, `phase.rs` the machine of start-up, drain,
//! probing for rate and probing for RTT, `policer.rs` the long-term rate of a policed path.

mod max;
mod model;
mod phase;
mod policer;
mod window;

use super::window::INIT_CWND;
use super::{INFINITE_SSTHRESH, RateSample};
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::pack::{packed, packed_enum};
use crate::recovery::CaState;
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

/// What BBR reads of its connection, copied so that its own state can be borrowed.
#[derive(Clone, Copy)]
struct View {
    now: u32,
    now_us: u64,
    hz: u32,
    cwnd: u32,
    in_flight: u32,
    delivered: u32,
    delivered_us: u64,
    lost: u32,
    mss: u64,
    pacing_rate: u64,
    pacing_shift: u8,
    /// Time between now and the next departure, in us.
    edt_us: u64,
    tx_header: u32,
    ca_state: CaState,
}

impl View {
    /// `bbr_rate_bytes_per_sec()`: 1 % below the rate, so that a queue drains.
    fn bytes_a_second(&self, bw: u64, gain: u32) -> u64 {
        let rate = (bw * self.mss * u64::from(gain)) >> SCALE;
        rate.wrapping_mul(1_000_000 / 100 * 99) >> BW_SCALE
    }

    fn min_tso_segs(&self) -> u32 {
        if self.pacing_rate < MIN_TSO_RATE {
            1
        } else {
            2
        }
    }

    /// `bbr_tso_segs_goal()`.
    fn tso_segs_goal(&self) -> u32 {
        let most = u64::from(65_535 - self.tx_header);
        let bytes = (self.pacing_rate >> self.pacing_shift).min(most);
        let segs = (bytes / self.mss.max(1)) as u32;
        segs.max(self.min_tso_segs()).min(0x7f)
    }
}

impl Endpoint {
    fn bbr_view(&self, cx: &Cx<'_>) -> View {
        View {
            now: cx.jiffies32(),
            now_us: cx.now_us(),
            hz: cx.host.clock.hz,
            cwnd: self.snd.snd_cwnd,
            in_flight: self.loss.in_flight(),
            delivered: self.stats.delivered,
            delivered_us: self.tune.delivered_us,
            lost: self.loss.lost,
            mss: u64::from(self.snd.mss_cache),
            pacing_rate: self.tune.pacing_rate(),
            pacing_shift: self.tune.pacing_shift,
            edt_us: self.tune.wstamp_ns.saturating_sub(cx.now_ns()) / 1000,
            tx_header: cx.host.profile.tx_header,
            ca_state: self.loss.ca_state,
        }
    }

    fn bbr(&mut self) -> Option<&mut Bbr> {
        match &mut self.cc {
            super::Congestion::Bbr(bbr) => Some(bbr),
            _ => None,
        }
    }

    /// `bbr_init()`.
    pub(super) fn bbr_init(&mut self, cx: &Cx<'_>) {
        let view = self.bbr_view(cx);
        let min_rtt_us = self.min_rtt();
        self.set_ssthresh(INFINITE_SSTHRESH);
        if let Some(bbr) = self.bbr() {
            *bbr = Bbr {
                min_rtt_us,
                min_rtt_stamp: view.now,
                next_rtt_delivered: view.delivered,
                ack_epoch_mstamp: view.now_us,
                ..Bbr::default()
            };
            bbr.policer.begin(&view);
        }
        self.bbr_pace_from_rtt(&view);
        // SK_PACING_NEEDED: there is no sch_fq below.
        self.tune.pacing_status = 1;
    }

    /// `bbr_init_pacing_rate_from_rtt()`: the high gain times the window an RTT, 1 ms when none is known.
    fn bbr_pace_from_rtt(&mut self, view: &View) {
        let srtt = self.rtt.srtt_us;
        if let Some(bbr) = self.bbr() {
            bbr.has_seen_rtt |= srtt != 0;
        }
        let rtt_us = match srtt {
            0 => 1000,
            srtt => (srtt >> 3).max(1),
        };
        let bw = u64::from(view.cwnd) * BW_UNIT / u64::from(rtt_us);
        // The kernel hands this rate on as 32 bits.
        let rate = view.bytes_a_second(bw & u64::from(u32::MAX), HIGH_GAIN);
        self.tune.set_pacing_rate(rate, 0);
    }

    /// `bbr_set_pacing_rate()`: never slower before the pipe is full.
    fn bbr_set_pacing_rate(&mut self, view: &View, bw: u32, gain: u32) {
        let rate = view.bytes_a_second(u64::from(bw), gain);
        let srtt = self.rtt.srtt_us;
        let Some(bbr) = self.bbr() else {
            return;
        };
        let full = bbr.full_bw_reached;
        if !bbr.has_seen_rtt && srtt != 0 {
            self.bbr_pace_from_rtt(view);
        }
        if full || rate > self.tune.pacing_rate() {
            self.tune.set_pacing_rate(rate, 0);
        }
    }

    /// `bbr_min_tso_segs()`.
    pub(super) fn bbr_min_tso_segs(&self) -> u32 {
        if self.tune.pacing_rate() < MIN_TSO_RATE {
            1
        } else {
            2
        }
    }

    /// `bbr_ssthresh()`: remembers the window; the threshold stays.
    pub(super) fn bbr_ssthresh(&mut self) -> u32 {
        let cwnd = self.snd.snd_cwnd;
        if let Some(bbr) = self.bbr() {
            bbr.save_cwnd(cwnd);
        }
        self.snd.snd_ssthresh
    }

    /// `bbr_undo_cwnd()`: the slow-down was for nothing; looks for a full pipe again.
    pub(super) fn bbr_undo_cwnd(&mut self, cx: &Cx<'_>) -> u32 {
        let view = self.bbr_view(cx);
        if let Some(bbr) = self.bbr() {
            bbr.full_bw = 0;
            bbr.full_bw_cnt = 0;
            bbr.policer.reset(&view);
        }
        view.cwnd
    }

    /// `bbr_set_state()`.
    pub(super) fn bbr_set_state(&mut self, cx: &Cx<'_>, state: CaState) {
        if state != CaState::Loss {
            return;
        }
        let view = self.bbr_view(cx);
        if let Some(bbr) = self.bbr() {
            bbr.prev_ca_state = CaState::Loss;
            bbr.full_bw = 0;
            bbr.round_start = true;
            let rs = RateSample {
                losses: 1,
                ..RateSample::default()
            };
            bbr.police(cx, &view, &rs);
        }
    }

    /// `bbr_cwnd_event()` of the first segment after a pause.
    #[cold]
    #[inline(never)]
    pub(super) fn bbr_tx_start(&mut self, cx: &Cx<'_>) {
        if self.tune.app_limited == 0 {
            return;
        }
        let view = self.bbr_view(cx);
        let Some(bbr) = self.bbr() else {
            return;
        };
        bbr.idle_restart = true;
        bbr.ack_epoch_mstamp = view.now_us;
        bbr.ack_epoch_acked = 0;
        let (mode, bw) = (bbr.mode, bbr.bw());
        match mode {
            Mode::ProbeBw => self.bbr_set_pacing_rate(&view, bw, UNIT),
            Mode::ProbeRtt => self.bbr_check_probe_rtt_done(cx, &view),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// `bbr_main()`: an ACK's sample.
    #[cold]
    #[inline(never)]
    pub(super) fn bbr_main(&mut self, cx: &Cx<'_>, rs: &RateSample) {
        let view = self.bbr_view(cx);
        let Some(bbr) = self.bbr() else {
            return;
        };
        bbr.update_bw(cx, &view, rs);
        bbr.update_ack_aggregation(&view, rs);
        bbr.update_cycle_phase(&view, rs);
        bbr.check_full_bw(rs);
        let drains = bbr.check_drain(cx, &view);
        if let Some(threshold) = drains {
            self.set_ssthresh(threshold);
        }
        self.bbr_update_min_rtt(cx, &view, rs);
        let Some(bbr) = self.bbr() else {
            return;
        };
        bbr.update_gains();
        let (bw, pacing_gain) = (bbr.bw(), bbr.pacing_gain);
        self.bbr_set_pacing_rate(&view, bw, pacing_gain);
        self.bbr_set_cwnd(cx, rs);
    }
}

//! CUBIC (RFC 9438; Linux tcp_cubic.c). HyStart is in `hystart.rs`.
//!
//! Linux differs from the RFC: beta is 717/1024, C is 41 * 10 / 1024 with an RTT of 100 ms in its unit. Time is in
//! 1/1024 s from jiffies. The estimated Reno window grows by the number of ACKed packets.

use tcplab_base::Seq;

use super::hystart::LOW_WINDOW;
use super::{CaEvent, Congestion, CongestionControl, Control, Echo, RateSample};
use crate::cx::Cx;
use crate::pack::packed;
use crate::recovery::CaState;

/// Scale of [`BETA`].
const BETA_SCALE: u32 = 1024;
/// Multiplicative decrease, 0.7.
const BETA: u32 = 717;
/// C of RFC 9438 5 in 1/1024, for an RTT of 100 ms.
const CUBE_RTT_SCALE: u64 = 410;
/// 2^40 / `CUBE_RTT_SCALE`: from packets below the old maximum to the cube of the time K.
const CUBE_FACTOR: u64 = (1 << 40) / CUBE_RTT_SCALE;
/// Time is counted in 2^-10 s.
const TIME_BITS: u32 = 10;
/// Eighths of a packet that a Reno flow with CUBIC's beta gains for each packet of the window (RFC 9438 4.3).
const RENO_SCALE: u32 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);

/// `struct bictcp`; times are jiffies or microseconds as Linux has them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cubic {
    /// Packets to be ACKed for one packet more.
    cnt: u32,
    pub(super) last_max_cwnd: u32,
    last_cwnd: u32,
    last_time: u32,
    origin_point: u32,
    k: u32,
    /// The shortest RTT in us; 0: none yet.
    pub(super) delay_min: u32,
    /// The jiffy at which this curve began; 0: none.
    pub(super) epoch_start: u32,
    ack_cnt: u32,
    tcp_cwnd: u32,
    pub(super) sample_cnt: u8,
    /// HyStart has found the end of slow start.
    pub(super) found: bool,
    pub(super) round_start: u32,
    pub(super) end_seq: Seq,
    pub(super) last_ack: u32,
    pub(super) curr_rtt: u32,
}

packed!(Cubic {
    cnt,
    last_max_cwnd,
    last_cwnd,
    last_time,
    origin_point,
    k,
    delay_min,
    epoch_start,
    ack_cnt,
    tcp_cwnd,
    sample_cnt,
    found,
    round_start,
    end_seq,
    last_ack,
    curr_rtt,
});

impl Cubic {
    /// `bictcp_reset()`: forgets the curve, not the round of HyStart.
    fn reset(&mut self) {
        *self = Self {
            sample_cnt: self.sample_cnt,
            round_start: self.round_start,
            end_seq: self.end_seq,
            last_ack: self.last_ack,
            curr_rtt: self.curr_rtt,
            ..Self::default()
        };
    }

    /// `bictcp_hystart_reset()`: a round begins.
    pub(super) fn new_round(&mut self, now_us: u32, snd_nxt: Seq) {
        self.round_start = now_us;
        self.last_ack = now_us;
        self.end_seq = snd_nxt;
        self.curr_rtt = u32::MAX;
        self.sample_cnt = 0;
    }

    /// `CA_EVENT_TX_START`: the curve stands still while nothing is sent.
    fn tx_start(&mut self, now: u32, lsndtime: u32) {
        let idle = now.wrapping_sub(lsndtime) as i32;
        if self.epoch_start != 0 && idle > 0 {
            self.epoch_start = self.epoch_start.wrapping_add(idle as u32);
            if self.epoch_start.wrapping_sub(now) as i32 > 0 {
                self.epoch_start = now;
            }
        }
    }

    /// `bictcp_update()`: how many packets are to be ACKed for one more.
    fn update(&mut self, cx: &Cx<'_>, cwnd: u32, acked: u32) {
        let (now, hz) = (cx.jiffies32(), cx.host.clock.hz);
        self.ack_cnt = self.ack_cnt.wrapping_add(acked);
        let since = now.wrapping_sub(self.last_time) as i32;
        if self.last_cwnd == cwnd && since <= (hz / 32) as i32 {
            return;
        }
        if self.epoch_start == 0 || now != self.last_time {
            self.last_cwnd = cwnd;
            self.last_time = now;
            if self.epoch_start == 0 {
                self.begin_epoch(now, cwnd, acked);
            }
            self.follow_curve(cx, now, cwnd);
        }
        self.follow_reno(cwnd);
        // At most one packet more for two ACKed ones.
        self.cnt = self.cnt.max(2);
    }

    #[cold]
    #[inline(never)]
    fn begin_epoch(&mut self, now: u32, cwnd: u32, acked: u32) {
        self.epoch_start = now;
        self.ack_cnt = acked;
        self.tcp_cwnd = cwnd;
        if self.last_max_cwnd <= cwnd {
            self.k = 0;
            self.origin_point = cwnd;
        } else {
            self.k = cubic_root(CUBE_FACTOR * u64::from(self.last_max_cwnd - cwnd));
            self.origin_point = self.last_max_cwnd;
        }
    }

    /// RFC 9438 4.2: W(t) = C * (t - K)^3 + W_max, one RTT ahead.
    #[cold]
    #[inline(never)]
    fn follow_curve(&mut self, cx: &Cx<'_>, now: u32, cwnd: u32) {
        let clock = cx.host.clock;
        let mut t = i64::from(now.wrapping_sub(self.epoch_start) as i32) as u64;
        t = t.wrapping_add(u64::from(clock.from_micros(u64::from(self.delay_min))));
        t = (t << TIME_BITS) / u64::from(clock.hz);
        let k = u64::from(self.k);
        let offs = t.abs_diff(k);
        let cube = CUBE_RTT_SCALE
            .wrapping_mul(offs)
            .wrapping_mul(offs)
            .wrapping_mul(offs);
        let delta = (cube >> (10 + 3 * TIME_BITS)) as u32;
        let target = match t < k {
            true => self.origin_point.wrapping_sub(delta),
            false => self.origin_point.wrapping_add(delta),
        };
        self.cnt = match target > cwnd {
            true => cwnd / (target - cwnd),
            false => cwnd.wrapping_mul(100),
        };
        if self.last_max_cwnd == 0 {
            // Nothing is known of the path yet: at least 5 % an RTT.
            self.cnt = self.cnt.min(20);
        }
    }

    /// RFC 9438 4.3: never slower than Reno.
    fn follow_reno(&mut self, cwnd: u32) {
        let delta = cwnd.wrapping_mul(RENO_SCALE) >> 3;
        if delta > 0 && self.ack_cnt > delta {
            let steps = (self.ack_cnt - 1) / delta;
            self.ack_cnt -= steps * delta;
            self.tcp_cwnd += steps;
        }
        if self.tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
        }
    }
}

/// Cube roots of the numbers below 64, in 1/64; those of a Newton step's start.
const ROOTS: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168,
    170, 173, 176, 179, 181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213,
    215, 217, 219, 221, 222, 224, 225, 227, 229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245,
    246, 248, 250, 251, 252, 254,
];

/// The cube root as Linux computes it (`cubic_root()`): a table and one Newton step, 0.2 % off on average.
pub(super) fn cubic_root(a: u64) -> u32 {
    let bits = 64 - a.leading_zeros();
    let root = |at: u64| u32::from(ROOTS.get(at as usize).copied().unwrap_or(u8::MAX));
    if bits < 7 {
        return (root(a) + 35) >> 6;
    }
    // A third of the bits.
    let b = ((bits * 84) >> 8) - 1;
    let x = ((root(a >> (b * 3)) + 10) << b) >> 6;
    let x = u64::from(x);
    let x = 2 * x + a / (x * (x - 1)).max(1);
    ((x as u32).wrapping_mul(341)) >> 10
}

impl Cubic {
    /// The threshold after a loss at this window.
    pub(super) fn threshold(&mut self, cwnd: u32) -> u32 {
        self.epoch_start = 0;
        // RFC 9438 4.7, fast convergence: a flow that did not reach its old maximum gives room to others.
        self.last_max_cwnd = match cwnd < self.last_max_cwnd {
            true => cwnd.wrapping_mul(BETA_SCALE + BETA) / (2 * BETA_SCALE),
            false => cwnd,
        };
        (cwnd.wrapping_mul(BETA) / BETA_SCALE).max(2)
    }
}

impl CongestionControl for Cubic {
    /// `cubictcp_init()`.
    fn init(&mut self, c: &mut Control<'_, '_>) -> Option<Congestion> {
        *self = Self::default();
        self.new_round(c.cx.now_us() as u32, c.snd.snd_nxt);
        None
    }

    /// `cubictcp_recalc_ssthresh()`.
    fn ssthresh(&mut self, c: &Control<'_, '_>) -> u32 {
        self.threshold(c.snd.snd_cwnd)
    }

    /// `cubictcp_state()`: after a timeout all begins anew.
    fn set_state(&mut self, c: &mut Control<'_, '_>, state: CaState) {
        if state == CaState::Loss {
            self.reset();
            self.new_round(c.cx.now_us() as u32, c.snd.snd_nxt);
        }
    }

    #[inline]
    fn cwnd_event(&mut self, c: &mut Control<'_, '_>, event: CaEvent) -> Option<Echo> {
        if event == CaEvent::TxStart {
            self.tx_start(c.cx.jiffies32(), c.snd.lsndtime);
        }
        None
    }

    /// `cubictcp_acked()`: an RTT sample.
    fn pkts_acked(&mut self, c: &mut Control<'_, '_>, rtt_us: i32) {
        if rtt_us < 0 {
            return;
        }
        let since = c.cx.jiffies32().wrapping_sub(self.epoch_start) as i32;
        if self.epoch_start != 0 && since < c.cx.host.clock.hz as i32 {
            // Delays in the second after a reduction come from the old queue.
            return;
        }
        let delay = (rtt_us as u32).max(1);
        if self.delay_min == 0 || self.delay_min > delay {
            self.delay_min = delay;
        }
        let counts = !c.cx.host.profile.hystart_rounds_from_16 || c.snd.snd_cwnd >= LOW_WINDOW;
        if !self.found && c.snd.in_slow_start() && counts {
            self.hystart_update(c, delay);
        }
    }

    /// `cubictcp_cong_avoid()`.
    fn cong_avoid(&mut self, c: &mut Control<'_, '_>, acked: u32, _: &RateSample) {
        let acked = c.snd.slow_start_first(acked);
        if acked > 0 {
            self.update(c.cx, c.snd.snd_cwnd, acked);
            c.snd.cong_avoid_ai(self.cnt, acked);
        }
    }
}

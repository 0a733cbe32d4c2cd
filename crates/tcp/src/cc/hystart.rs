//! HyStart: leaves slow start before the queue overflows (Ha and Rhee 2011; Linux `hystart_update()`).

use super::Control;
use super::cubic::Cubic;
use crate::cx::Cx;
use crate::endpoint::Tune;
use crate::mib::Counter;

/// Below this window it does not look.
pub(super) const LOW_WINDOW: u32 = 16;
/// Longest gap between ACKs of one train, in us.
const ACK_DELTA_US: i32 = 2000;
/// Samples of a round before its delay counts.
const MIN_SAMPLES: u8 = 8;
/// Bounds of the rise of delay that counts, in us.
const DELAY_MIN_US: u32 = 4000;
const DELAY_MAX_US: u32 = 16_000;

/// `hystart_ack_delay()`: what bursts of super-segments may add to a train, at most 1 ms.
fn ack_delay(cx: &Cx<'_>, tune: &Tune) -> u32 {
    match tune.pacing_rate() {
        0 => 0,
        rate => (u64::from(cx.host.gso_max_size()) * 4_000_000 / rate).min(1000) as u32,
    }
}

impl Cubic {
    /// `hystart_update()`: a round's train of ACKs is as long as half of the RTT, or its delay has risen by an eighth.
    #[inline(never)]
    pub(super) fn hystart_update(&mut self, c: &mut Control<'_, '_>, delay: u32) {
        let now = c.cx.now_us() as u32;
        let paced = c.tune.pacing_needed;
        let cwnd = c.snd.snd_cwnd;
        if c.snd.snd_una.after(self.end_seq) {
            self.new_round(now, c.snd.snd_nxt);
        }
        if cwnd < LOW_WINDOW {
            return;
        }
        let mut train = false;
        if now.wrapping_sub(self.last_ack) as i32 <= ACK_DELTA_US {
            self.last_ack = now;
            let length = i64::from(now.wrapping_sub(self.round_start) as i32);
            let shift = u32::from(!paced);
            let delay_min = self.delay_min;
            let longer = |extra: u32| length > i64::from(delay_min.wrapping_add(extra) >> shift);
            // What bursts add takes two divisions: it is asked for when the train is long without it.
            train = longer(0) && longer(ack_delay(c.cx, c.tune));
        }
        self.curr_rtt = self.curr_rtt.min(delay);
        let mut slow = false;
        if self.sample_cnt < MIN_SAMPLES {
            self.sample_cnt += 1;
        } else {
            let rise = (self.delay_min >> 3).clamp(DELAY_MIN_US, DELAY_MAX_US);
            slow = self.curr_rtt > self.delay_min + rise;
        }
        self.found |= train || slow;
        if train {
            c.cx.count(Counter::HystartTrainDetect);
            c.cx.mib.add(Counter::HystartTrainCwnd, u64::from(cwnd));
        }
        if slow {
            c.cx.count(Counter::HystartDelayDetect);
            c.cx.mib.add(Counter::HystartDelayCwnd, u64::from(cwnd));
        }
        if train || slow {
            c.snd.set_ssthresh(cwnd);
        }
    }
}

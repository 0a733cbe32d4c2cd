//! HyStart: leaves slow start before the queue overflows (Ha and Rhee 2011; Linux `hystart_update()`).

use super::Congestion;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Tune};
use crate::mib::Counter;
use crate::output::gso_max_size;

/// Below this window it does not look.
const LOW_WINDOW: u32 = 16;
/// ACKs that are closer than this belong to one train, in us.
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
        rate => (u64::from(gso_max_size(cx)) * 4_000_000 / rate).min(1000) as u32,
    }
}

impl Endpoint {
    /// `hystart_update()`: a round's train of ACKs is as long as half of the RTT, or its delay has risen by an eighth.
    #[inline(never)]
    pub(super) fn hystart_update(&mut self, cx: &mut Cx<'_>, delay: u32) {
        let now = cx.now_us() as u32;
        let paced = self.tune.pacing_status != 0;
        let (snd_una, snd_nxt, cwnd) = (self.snd.snd_una, self.snd.snd_nxt, self.snd.snd_cwnd);
        let Congestion::Cubic(cubic) = &mut self.cc else {
            return;
        };
        if snd_una.after(cubic.end_seq) {
            cubic.new_round(now, snd_nxt);
        }
        if cwnd < LOW_WINDOW {
            return;
        }
        let mut train = false;
        if now.wrapping_sub(cubic.last_ack) as i32 <= ACK_DELTA_US {
            cubic.last_ack = now;
            let length = i64::from(now.wrapping_sub(cubic.round_start) as i32);
            let shift = u32::from(!paced);
            let delay_min = cubic.delay_min;
            let longer = |extra: u32| length > i64::from(delay_min.wrapping_add(extra) >> shift);
            // What bursts add takes two divisions: it is asked for when the train is long without it.
            train = longer(0) && longer(ack_delay(cx, &self.tune));
        }
        cubic.curr_rtt = cubic.curr_rtt.min(delay);
        let mut slow = false;
        if cubic.sample_cnt < MIN_SAMPLES {
            cubic.sample_cnt += 1;
        } else {
            let rise = (cubic.delay_min >> 3).clamp(DELAY_MIN_US, DELAY_MAX_US);
            slow = cubic.curr_rtt > cubic.delay_min + rise;
        }
        cubic.found |= train || slow;
        if train {
            cx.count(Counter::HystartTrainDetect);
            cx.mib.add(Counter::HystartTrainCwnd, u64::from(cwnd));
        }
        if slow {
            cx.count(Counter::HystartDelayDetect);
            cx.mib.add(Counter::HystartDelayCwnd, u64::from(cwnd));
        }
        if train || slow {
            self.set_ssthresh(cwnd);
        }
    }
}

//! COBALT: CoDel (RFC 8289) and BLUE side by side, for one flow.

use tcplab_base::{Duration, Instant, Random};

use super::autorate::LONG_AGO;

/// The settings of a tin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Params {
    pub interval_ns: u64,
    pub target_ns: u64,
    /// Time that the longest packet takes at the tin's rate.
    pub mtu_time_ns: u64,
}

/// BLUE's steps: 1/256 up, 1/4096 down, in 2^-32.
const P_UP: u32 = 1 << 24;
const P_DOWN: u32 = 1 << 20;

/// The state of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cobalt {
    /// How often it has dropped: sets the time to the next drop.
    pub count: u32,
    /// 1 / sqrt(count) in 2^-32; 0 in a flow that has never dropped, which makes its first drop come one packet after
    /// the target is passed, not one interval (as in the kernel).
    rec_inv_sqrt: u32,
    pub drop_next: Instant,
    blue_timer: Instant,
    /// BLUE's chance in 2^-32.
    pub p_drop: u32,
    dropping: bool,
}

/// What shall happen to a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub drop: bool,
    pub marked: bool,
}

impl Default for Cobalt {
    fn default() -> Self {
        Self {
            count: 0,
            rec_inv_sqrt: 0,
            drop_next: Instant::from_nanos(0),
            blue_timer: LONG_AGO,
            p_drop: 0,
            dropping: false,
        }
    }
}

impl Cobalt {
    /// Whether its state is the initial one again (`drop_next` may lie in the past).
    pub fn is_at_rest(&self, now: Instant) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }

    /// A packet was dropped for lack of memory. True: BLUE begins to work.
    pub fn queue_full(&mut self, params: &Params, now: Instant) -> bool {
        let mut begins = false;
        if since(now, self.blue_timer) > params.target_ns as i64 {
            begins = self.p_drop == 0;
            self.p_drop = self.p_drop.saturating_add(P_UP);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
        begins
    }

    /// The queue is empty. True: BLUE ends its work.
    pub fn queue_empty(&mut self, params: &Params, now: Instant) -> bool {
        let mut ends = false;
        if self.p_drop != 0 && since(now, self.blue_timer) > params.target_ns as i64 {
            self.p_drop = self.p_drop.saturating_sub(P_DOWN);
            self.blue_timer = now;
            ends = self.p_drop == 0;
        }
        self.dropping = false;
        if self.count != 0 && now >= self.drop_next {
            self.count -= 1;
            self.schedule_from(self.drop_next, params);
        }
        ends
    }

    /// A packet has come to the head. `since` is when it entered, `mark` marks it when it can be marked.
    pub fn on_dequeue(
        &mut self,
        params: &Params,
        now: Instant,
        entered: Instant,
        bulk_flows: u64,
        mut mark: impl FnMut() -> bool,
        draws: &mut Random,
    ) -> Verdict {
        let sojourn = since(now, entered) as u64;
        let over_target = sojourn > params.target_ns
            && sojourn > params.mtu_time_ns * bulk_flows * 2
            && sojourn > params.mtu_time_ns * 4;
        let mut late = since(now, self.drop_next);
        let mut due = self.count != 0 && late >= 0;
        let mut verdict = Verdict::default();
        if over_target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = now + control(params.interval_ns, self.rec_inv_sqrt);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        if due && self.dropping {
            verdict.marked = mark();
            verdict.drop = !verdict.marked;
            self.count = self.count.saturating_add(1);
            self.schedule_from(self.drop_next, params);
            late = since(now, self.drop_next);
        } else {
            while due {
                self.count -= 1;
                self.schedule_from(self.drop_next, params);
                late = since(now, self.drop_next);
                due = self.count != 0 && late >= 0;
            }
        }
        if self.p_drop != 0 {
            verdict.drop |= (draws.below(1 << 32) as u32) < self.p_drop;
        }
        // An idle state times out by the same field.
        if self.count == 0 {
            self.drop_next = now + Duration::from_nanos(params.interval_ns as i64);
        } else if late > 0 && !verdict.drop {
            self.drop_next = now;
        }
        verdict
    }

    /// The count has changed: the next drop follows from it.
    fn schedule_from(&mut self, from: Instant, params: &Params) {
        self.rec_inv_sqrt = match CACHE.get(self.count as usize) {
            Some(known) => *known,
            None => newton(self.rec_inv_sqrt, self.count),
        };
        self.drop_next = from + control(params.interval_ns, self.rec_inv_sqrt);
    }
}

fn since(now: Instant, then: Instant) -> i64 {
    now.since(then).as_nanos()
}

/// `interval / sqrt(count)`; of the interval, 32 bits are used (`reciprocal_scale`).
fn control(interval_ns: u64, rec_inv_sqrt: u32) -> Duration {
    let scaled = (u64::from(interval_ns as u32) * u64::from(rec_inv_sqrt)) >> 32;
    Duration::from_nanos(scaled as i64)
}

/// One step of Newton towards 1 / sqrt(count).
const fn newton(inverse: u32, count: u32) -> u32 {
    let square = ((inverse as u64 * inverse as u64) >> 32) as u32;
    let value = (3_u64 << 32).wrapping_sub(count as u64 * square as u64) >> 2;
    (value.wrapping_mul(inverse as u64) >> 31) as u32
}

const CACHED: usize = 16;

/// 1 / sqrt of small counts: one step of Newton would be far off there.
const CACHE: [u32; CACHED] = cache();

const fn cache() -> [u32; CACHED] {
    let mut out = [u32::MAX; CACHED];
    let (mut value, mut count) = (u32::MAX, 1);
    while count < CACHED {
        let mut step = 0;
        while step < 4 {
            value = newton(value, count as u32);
            step += 1;
        }
        out[count] = value;
        count += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_one_over_the_square_root() {
        for (count, value) in CACHE.iter().enumerate().skip(1) {
            let right = (count as f64).sqrt().recip();
            let is = f64::from(*value) / 2_f64.powi(32);
            assert!((is - right).abs() < 0.001, "{count}: {is} for {right}");
        }
    }

    #[test]
    fn a_standing_queue_is_dropped_from_ever_faster_and_forgiven_step_by_step() {
        let params = Params {
            interval_ns: 100_000_000,
            target_ns: 5_000_000,
            mtu_time_ns: 100_000,
        };
        let mut draws = Random::stream(1, "t");
        let (mut flow, mut drops) = (Cobalt::default(), Vec::new());
        let ms = |n: i64| Instant::from_nanos(n * 1_000_000);
        for t in 0..1_000 {
            let entered = ms(t - 10);
            if flow
                .on_dequeue(&params, ms(t), entered, 0, || false, &mut draws)
                .drop
            {
                drops.push(t);
            }
        }
        let gaps: Vec<i64> = drops.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(
            gaps.is_sorted_by(|a, b| a + 1 >= *b) && gaps.len() > 20,
            "{gaps:?}"
        );
        let count = flow.count;
        // Each packet below the target takes back what was due since the last one.
        flow.on_dequeue(&params, ms(1_200), ms(1_199), 0, || false, &mut draws);
        assert!(
            flow.count < count && flow.count > 0,
            "{} of {count}",
            flow.count
        );
    }
}

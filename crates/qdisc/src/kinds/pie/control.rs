//! The chance of a drop: how it follows the delay, and what it decides (RFC 8033 4, 5; sch_pie.c, pie_drop_early(),
//! pie_process_dequeue(), pie_calculate_probability()). Sums wrap where the kernel's do.

use tcplab_base::{Instant, Random};

use super::settings::Settings;

/// Units of 64 ns (`psched_time_t`).
pub(super) type Ticks = u64;

const SHIFT: u32 = 6;
pub(super) const TICKS_PER_S: u64 = 1_000_000_000 >> SHIFT;

/// `psched_get_time()`.
pub(super) fn ticks(now: Instant) -> Ticks {
    now.as_nanos().cast_unsigned() >> SHIFT
}

/// In microseconds, as pie_dump_stats() cuts it.
pub(super) fn to_us(ticks: Ticks) -> u32 {
    ((ticks << SHIFT) as u32) / 1_000
}

const fn of_us(us: u32) -> Ticks {
    (us as u64 * 1_000) >> SHIFT
}

/// `MAX_PROB`: always.
const ALWAYS: u64 = u64::MAX >> 8;
/// RFC 8033 4.1, MAX_BURST: time without drops after the queue was idle.
const BURST: Ticks = of_us(150_000);
/// RFC 8033 5.2: from this delay on, the chance grows faster.
const LONG: Ticks = of_us(250_000);
/// Bytes that leave in a measurement of the rate (`QUEUE_THRESHOLD`).
const MEASURED: u64 = 16_384;
/// Fraction bits of a rate in bytes a tick (`PIE_SCALE`).
pub(super) const SCALE: u32 = 8;

/// What the settings say, in the kernel's units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Params {
    target: Ticks,
    alpha: u64,
    beta: u64,
    bytemode: bool,
    /// The longest frame.
    mtu: u32,
    pub dq_rate_estimator: bool,
}

impl Params {
    pub fn new(settings: &Settings, frame: u32) -> Self {
        let weight = |of: u32| (u64::from(of) * (ALWAYS / TICKS_PER_S)) >> 4;
        Self {
            target: of_us(settings.target_us),
            alpha: weight(settings.alpha),
            beta: weight(settings.beta),
            bytemode: settings.bytemode,
            mtu: frame.clamp(1, 1 << 20),
            dq_rate_estimator: settings.dq_rate_estimator,
        }
    }
}

/// The state (`struct pie_vars`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    pub delay: Ticks,
    old_delay: Ticks,
    /// What is left of [`BURST`].
    burst: Ticks,
    /// The chance, in parts of [`ALWAYS`].
    pub chance: u64,
    /// Sum of the chances since the last drop.
    sum: u64,
    /// When the last packet left, or the measurement began.
    since: Option<Ticks>,
    /// Bytes of the measurement that runs.
    measured: Option<u64>,
    /// Mean rate at which packets leave, in bytes a tick with [`SCALE`].
    pub rate: u32,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            delay: 0,
            old_delay: 0,
            burst: BURST,
            chance: 0,
            sum: 0,
            since: None,
            measured: None,
            rate: 0,
        }
    }
}

impl Control {
    /// Whether a packet of so many bytes is to be dropped or marked, as so many wait.
    pub fn strikes(&mut self, params: &Params, backlog: u64, len: u32, draws: &mut Random) -> bool {
        let is_calm = self.delay < params.target / 2 && self.chance < ALWAYS / 5;
        if self.burst > 0 || is_calm || backlog < 2 * u64::from(params.mtu) {
            return false;
        }
        let chance = match params.bytemode && len <= params.mtu {
            true => u64::from(len).wrapping_mul(self.chance / u64::from(params.mtu)),
            false => self.chance,
        };
        self.sum = match chance {
            0 => 0,
            _ => self.sum.wrapping_add(chance),
        };
        // RFC 8033 5.4: drops lie neither too near nor too far from each other.
        if self.sum < ALWAYS / 100 * 85 {
            return false;
        }
        if self.sum >= ALWAYS / 2 * 17 {
            return true;
        }
        let strikes = draws.below(1 << 56) < chance;
        if strikes {
            self.sum = 0;
        }
        strikes
    }

    /// A packet was dropped as it came.
    pub fn on_drop(&mut self) {
        self.sum = 0;
    }

    /// Linux marks up to a chance of a tenth and drops beyond it.
    pub fn may_mark(&self) -> bool {
        self.chance <= ALWAYS / 10
    }

    /// A packet of so many bytes that came at a time leaves, and so many wait behind it.
    pub fn on_dequeue(
        &mut self,
        params: &Params,
        now: Ticks,
        (came, len): (Ticks, u32),
        backlog: u64,
    ) {
        let passed = match params.dq_rate_estimator {
            true => self.measure(now, len, backlog),
            false => {
                self.delay = if backlog > 0 {
                    now.wrapping_sub(came)
                } else {
                    0
                };
                let since = self.since.replace(now);
                since.map(|since| now.wrapping_sub(since) as u32)
            }
        };
        self.burst = self.burst.saturating_sub(passed.unwrap_or(0).into());
    }

    /// The rate at which packets leave; how long it was measured, when that ends.
    fn measure(&mut self, now: Ticks, len: u32, backlog: u64) -> Option<u32> {
        let has_queue = backlog >= MEASURED;
        if has_queue && self.measured.is_none() {
            (self.since, self.measured) = (Some(now), Some(0));
        }
        let bytes = self.measured.as_mut()?;
        *bytes += u64::from(len);
        if *bytes < MEASURED {
            return None;
        }
        let passed = now.wrapping_sub(self.since?) as u32;
        let rate = ((*bytes << SCALE) as u32).checked_div(passed)?;
        self.rate = match self.rate {
            0 => rate,
            mean => (mean - (mean >> 3)).wrapping_add(rate >> 3),
        };
        match has_queue {
            true => (self.since, self.measured) = (Some(now), Some(0)),
            false => self.measured = None,
        }
        Some(passed)
    }

    /// The timer: the chance follows the delay.
    pub fn adapt(&mut self, params: &Params, backlog: u64) {
        let (delay, old) = match params.dq_rate_estimator {
            true => {
                self.old_delay = self.delay;
                let scaled = (backlog as u32) << SCALE;
                (
                    scaled.checked_div(self.rate).unwrap_or(0).into(),
                    self.delay,
                )
            }
            false => (self.delay, self.old_delay),
        };
        let delta = self.delta(params, delay, old);
        let before = self.chance;
        self.chance = before.wrapping_add_signed(delta);
        let is_over = delta > 0 && self.chance < before;
        if is_over {
            self.chance = ALWAYS;
        } else if delta <= 0 && self.chance > before {
            self.chance = 0;
        }
        // RFC 8033 5.2: the chance decays while nothing waits. Linux: not with a backlog that no delay is known of.
        if delay == 0 && old == 0 && backlog == 0 && !is_over {
            self.chance -= self.chance / 64;
        }
        self.delay = delay;
        let is_low = |delay| delay < params.target / 2;
        let has_rate = !params.dq_rate_estimator || self.rate > 0;
        if is_low(delay) && is_low(self.old_delay) && self.chance == 0 && has_rate {
            *self = Self {
                delay,
                old_delay: self.old_delay,
                chance: 0,
                ..Self::default()
            };
        }
        if !params.dq_rate_estimator {
            self.old_delay = delay;
        }
    }

    /// What is added to the chance.
    fn delta(&self, params: &Params, delay: Ticks, old: Ticks) -> i64 {
        let shift = self.damping();
        let part = |weight: u64, by: Ticks| (weight >> shift).wrapping_mul(by);
        let target = part(params.alpha, delay.wrapping_sub(params.target));
        let change = part(params.beta, delay.wrapping_sub(old));
        let delta = target.wrapping_add(change).cast_signed();
        // RFC 8033 5.2: no step of more than 2 % once the chance is high, and 2 % more at a long delay.
        let step = (ALWAYS / 50).cast_signed();
        let delta = match delta > step && self.chance >= ALWAYS / 10 {
            true => (ALWAYS / 100 * 2).cast_signed(),
            false => delta,
        };
        match delay > LONG {
            true => delta.wrapping_add(step),
            false => delta,
        }
    }

    /// RFC 8033 4.2: a small chance moves in small steps. Halvings of the weights: one below a tenth, two more for each
    /// further power of ten.
    fn damping(&self) -> u32 {
        if self.chance >= ALWAYS / 10 {
            return 0;
        }
        let powers = [100, 1_000, 10_000, 100_000, 1_000_000];
        let below = |power: &&u64| self.chance < ALWAYS / **power;
        1 + 2 * powers.iter().take_while(below).count() as u32
    }
}

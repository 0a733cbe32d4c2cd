//! The kernel's tick: time in jiffies, and when a timer of the timer wheel fires.
//!
//! Linux: `jiffies`, `calc_index()` of kernel/time/timer.c. A timer never fires early: it fires at
//! the tick after the one it was set for. Beyond 63 ticks it fires at a multiple of 8 ticks, beyond
//! 504 at a multiple of 64, and so on.

use tcplab_base::Instant;

const NANOS: i64 = 1_000_000_000;

/// How a host counts ticks. What is asked for with each packet is a multiplication: a division of 64 bits takes up to
/// ninety cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks a second (CONFIG_HZ).
    pub(crate) hz: u32,
    /// Nanoseconds from the host's boot to the run's start.
    pub(crate) boot_ns: i64,
    tick_ns: i64,
    tick_us: u32,
    /// 200 ms in whole ticks, in microseconds.
    usual_floor_us: u32,
    /// 2^64 / `tick_us`, rounded up: the high word of a product with it is the quotient ([`Clock::from_micros`]).
    by_tick_us: u64,
}

impl Clock {
    /// TCP_RTO_MIN_US or TCP_DELACK_MAX_US of so many nanoseconds in ticks (`usecs_to_jiffies()`), if a socket takes it:
    /// two ticks (`TCP_TIMEOUT_MIN`) to 200 ms.
    pub fn timer_bound(&self, ns: i64) -> Option<u8> {
        let ticks = self.from_micros(u64::try_from(ns).ok()?.div_ceil(1000));
        let ticks = (2..=self.hz / 5).contains(&ticks).then_some(ticks)?;
        u8::try_from(ticks).ok()
    }

    /// `hz`: ticks a second (CONFIG_HZ; up to 100,000 are taken). `boot_ns`: nanoseconds from the host's boot to the
    /// run's start.
    pub const fn new(hz: u32, boot_ns: i64) -> Self {
        let hz = match hz {
            0 => 1,
            1..=100_000 => hz,
            _ => 100_000,
        };
        let tick_us = 1_000_000 / hz;
        Self {
            hz,
            boot_ns,
            tick_ns: NANOS / hz as i64,
            tick_us,
            usual_floor_us: 200_000_u32.div_ceil(tick_us) * tick_us,
            by_tick_us: u64::MAX / tick_us as u64 + 1,
        }
    }

    /// Nanoseconds of one tick.
    #[inline]
    pub const fn tick_ns(&self) -> i64 {
        self.tick_ns
    }

    /// `INITIAL_JIFFIES`: the count wraps a 32-bit word five minutes after boot.
    const fn at_boot(&self) -> u64 {
        (1_u64 << 32) - 300 * self.hz as u64
    }

    /// The jiffies at `now`.
    #[inline]
    pub const fn jiffies(&self, now: Instant) -> u64 {
        let since_boot = now.as_nanos() + self.boot_ns;
        self.at_boot()
            .wrapping_add((since_boot / self.tick_ns) as u64)
    }

    /// When the tick with this number begins.
    #[inline]
    pub const fn time_of(&self, jiffies: u64) -> Instant {
        let ticks = jiffies.wrapping_sub(self.at_boot()) as i64;
        Instant::from_nanos(
            ticks
                .saturating_mul(self.tick_ns)
                .saturating_sub(self.boot_ns),
        )
    }

    /// When a timer set in jiffy `jiffy` to expire at jiffy `expires` fires, and its level in the timer wheel. `ran`:
    /// timers have run in this jiffy, so the wheel's clock stands at the next one.
    #[inline]
    pub(crate) fn fires(&self, jiffy: u64, expires: u64, ran: bool) -> (Instant, u32) {
        let (tick, level) = wheel(jiffy + u64::from(ran), expires);
        (self.time_of(tick.max(jiffy + 1)), level)
    }

    /// `usecs_to_jiffies()`: rounded up.
    #[inline]
    pub const fn from_micros(&self, us: u64) -> u32 {
        // Exact while the dividend times the error of the reciprocal, less than 2^20, stays within a word.
        if us >> 43 == 0 {
            let up = us + self.tick_us as u64 - 1;
            return ((up as u128 * self.by_tick_us as u128) >> 64) as u32;
        }
        us.div_ceil(self.tick_us as u64) as u32
    }

    /// 200 ms (TCP_RTO_MIN) in microseconds, as the kernel counts them in ticks: asked for at each sample.
    #[inline]
    pub(crate) const fn usual_floor_us(&self) -> u32 {
        self.usual_floor_us
    }

    /// `msecs_to_jiffies()`: rounded up.
    #[inline]
    pub const fn from_millis(&self, ms: u64) -> u32 {
        self.from_micros(ms * 1000)
    }

    /// `jiffies_to_usecs()`.
    #[inline]
    pub const fn micros(&self, jiffies: u32) -> u32 {
        jiffies.saturating_mul(self.tick_us)
    }

    /// The clock of time stamps: milliseconds since boot (`tcp_clock_ts()`).
    #[inline]
    pub const fn millis(&self, now: Instant) -> u32 {
        ((now.as_nanos() + self.boot_ns) / 1_000_000) as u32
    }
}

/// The tick at which the wheel runs a timer that is set for `expires` when its clock is `clk`, and its level there.
fn wheel(clk: u64, expires: u64) -> (u64, u32) {
    const LEVELS: u32 = 9;
    let delta = expires.wrapping_sub(clk) as i64;
    if delta < 0 {
        // Already over: as soon as timers run.
        return (clk, 0);
    }
    let mut level = 0;
    while level + 1 < LEVELS && delta >= 63_i64 << (3 * level) {
        level += 1;
    }
    let shift = 3 * level;
    (((expires >> shift) + 1) << shift, level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_fires_at_the_tick_after_and_far_ones_at_coarse_ticks() {
        assert_eq!(wheel(1000, 1010), (1011, 0));
        assert_eq!(wheel(1000, 1000 + 62), (1063, 0));
        // 75 ticks away: level 1, a multiple of 8.
        assert_eq!(wheel(1000, 1075), (1080, 1));
        assert_eq!(wheel(1000, 1080), (1088, 1));
        let clock = Clock::new(1000, 0);
        let now = Instant::from_nanos(7_500_000);
        let j = clock.jiffies(now);
        let at = |expires, ran| clock.jiffies(clock.fires(j, expires, ran).0) - j;
        assert_eq!((at(j - 1, false), at(j - 1, true)), (1, 1));
        assert_eq!((at(j, false), at(j + 1, false)), (1, 2));
    }

    #[test]
    fn timer_set_by_another_is_one_tick_nearer() {
        let clock = Clock::new(1000, 0);
        let now = Instant::from_nanos(0);
        let j = clock.jiffies(now);
        let at = |ran| clock.jiffies(clock.fires(j, j + 504, ran).0);
        assert_eq!(at(true) % 8, 0);
        assert_eq!((at(false) % 64, at(false) > at(true)), (0, true));
    }

    #[test]
    fn ticks_and_times_convert_both_ways() {
        let clock = Clock::new(250, 1_000_000);
        let j = clock.jiffies(Instant::from_nanos(2_999_999));
        assert_eq!(clock.jiffies(Instant::from_nanos(3_000_000)), j + 1);
        assert_eq!(clock.time_of(j + 1), Instant::from_nanos(3_000_000));
        assert_eq!(clock.from_micros(1), 1);
        assert_eq!(clock.from_millis(200), 50);
        assert_eq!(clock.micros(50), 200_000);
    }

    #[test]
    fn microseconds_become_jiffies_without_a_division_but_exactly() {
        for hz in [1, 7, 100, 250, 300, 1000, 1024, 100_000] {
            let clock = Clock::new(hz, 0);
            let tick = 1_000_000 / u64::from(hz);
            for at in [0, 1, 77, 4_294_967, 1 << 30, (1 << 43) / tick - 1, 1 << 44] {
                for us in [at * tick, at * tick + 1, (at * tick).saturating_sub(1)] {
                    assert_eq!(
                        clock.from_micros(us),
                        us.div_ceil(tick) as u32,
                        "{us} us at {hz}"
                    );
                }
            }
        }
    }
}

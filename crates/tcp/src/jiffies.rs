//! The kernel's tick: time in jiffies, and when a timer of the timer wheel fires.
//!
//! Linux: `jiffies`, `calc_index()` of kernel/time/timer.c. A timer never fires early: it fires at
//! the tick after the one it was set for, and one further away than 63 ticks at a multiple of 8
//! ticks, further away than 504 at a multiple of 64, and so on.

use tcplab_base::Instant;

const NANOS: i64 = 1_000_000_000;

/// How a host counts ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks a second (CONFIG_HZ).
    pub hz: u32,
    /// Nanoseconds from the host's boot to the run's start.
    pub boot_ns: i64,
}

impl Clock {
    /// Nanoseconds of one tick.
    #[inline]
    pub const fn tick_ns(&self) -> i64 {
        match self.hz {
            1000 => 1_000_000,
            250 => 4_000_000,
            hz => NANOS / hz as i64,
        }
    }

    /// `INITIAL_JIFFIES`: the count wraps a 32-bit word five minutes after boot.
    const fn at_boot(&self) -> u64 {
        (1_u64 << 32) - 300 * self.hz as u64
    }

    /// The jiffies at `now`.
    #[inline]
    pub const fn jiffies(&self, now: Instant) -> u64 {
        let since_boot = now.as_nanos() + self.boot_ns;
        // A division by a constant is a multiplication, and this is asked many times a packet.
        let ticks = match self.hz {
            1000 => since_boot / 1_000_000,
            250 => since_boot / 4_000_000,
            _ => since_boot / self.tick_ns(),
        };
        self.at_boot().wrapping_add(ticks as u64)
    }

    /// `tcp_jiffies32`.
    #[inline]
    pub const fn jiffies32(&self, now: Instant) -> u32 {
        self.jiffies(now) as u32
    }

    /// When the tick with this number begins.
    #[inline]
    pub const fn time_of(&self, jiffies: u64) -> Instant {
        let ticks = jiffies.wrapping_sub(self.at_boot()) as i64;
        Instant::from_nanos(
            ticks
                .saturating_mul(self.tick_ns())
                .saturating_sub(self.boot_ns),
        )
    }

    /// When a timer fires that is set at `now` to expire at the jiffy `expires`, and the level of the wheel in which it
    /// waits; `ran`: timers ran in this jiffy, and the wheel's own clock stands at the next one.
    #[inline]
    pub(crate) fn fires(&self, now: Instant, expires: u64, ran: bool) -> (Instant, u32) {
        let jiffy = self.jiffies(now);
        let (tick, level) = wheel(jiffy + u64::from(ran), expires);
        (self.time_of(tick.max(jiffy + 1)), level)
    }

    /// `usecs_to_jiffies()`: rounded up.
    #[inline]
    pub const fn from_micros(&self, us: u64) -> u32 {
        match self.hz {
            1000 => us.div_ceil(1000) as u32,
            250 => us.div_ceil(4000) as u32,
            hz => us.div_ceil(1_000_000 / hz as u64) as u32,
        }
    }

    /// `msecs_to_jiffies()`: rounded up.
    #[inline]
    pub const fn from_millis(&self, ms: u64) -> u32 {
        self.from_micros(ms * 1000)
    }

    /// `jiffies_to_usecs()`.
    #[inline]
    pub const fn micros(&self, jiffies: u32) -> u32 {
        let us_a_tick = match self.hz {
            1000 => 1000,
            250 => 4000,
            hz => 1_000_000 / hz,
        };
        jiffies.saturating_mul(us_a_tick)
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
        let clock = Clock {
            hz: 1000,
            boot_ns: 0,
        };
        let now = Instant::from_nanos(7_500_000);
        let j = clock.jiffies(now);
        let at = |expires, ran| clock.jiffies(clock.fires(now, expires, ran).0) - j;
        assert_eq!((at(j - 1, false), at(j - 1, true)), (1, 1));
        assert_eq!((at(j, false), at(j + 1, false)), (1, 2));
    }

    #[test]
    fn a_timer_that_another_one_sets_is_one_tick_nearer() {
        let clock = Clock {
            hz: 1000,
            boot_ns: 0,
        };
        let now = Instant::from_nanos(0);
        let j = clock.jiffies(now);
        let at = |ran| clock.jiffies(clock.fires(now, j + 504, ran).0);
        assert_eq!(at(true) % 8, 0);
        assert_eq!((at(false) % 64, at(false) > at(true)), (0, true));
    }

    #[test]
    fn ticks_and_times_convert_both_ways() {
        let clock = Clock {
            hz: 250,
            boot_ns: 1_000_000,
        };
        let j = clock.jiffies(Instant::from_nanos(2_999_999));
        assert_eq!(clock.jiffies(Instant::from_nanos(3_000_000)), j + 1);
        assert_eq!(clock.time_of(j + 1), Instant::from_nanos(3_000_000));
        assert_eq!(clock.from_micros(1), 1);
        assert_eq!(clock.from_millis(200), 50);
        assert_eq!(clock.micros(50), 200_000);
    }
}

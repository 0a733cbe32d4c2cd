//! The kernel's timer of `pie` (pie_timer()), in jiffies, with the rounding of the timer wheel (kernel/time/timer.c,
//! calc_wheel_index()).

use tcplab_base::Instant;

/// Ticks of the kernel's clock in a second: those of Debian's kernels.
const HZ: i64 = 250;
const NS: i64 = 1_000_000_000 / HZ;
const US: u32 = 1_000_000 / HZ as u32;

/// The jiffy at which it is due; none: no packet has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timer(Option<i64>);

impl Timer {
    /// Whether it was due up to now; if so, it is set again.
    pub fn takes(&mut self, now: Instant, tupdate_us: u32) -> bool {
        let jiffy = now.as_nanos() / NS;
        let due = *self.0.get_or_insert_with(|| after(jiffy, HZ / 2));
        let is_due = due <= jiffy;
        if is_due {
            self.0 = Some(after(due, jiffies(tupdate_us)));
        }
        is_due
    }

    /// What was due up to now is left out.
    pub fn skip(&mut self, now: Instant, tupdate_us: u32) {
        let jiffy = now.as_nanos() / NS;
        if let Some(due) = &mut self.0
            && *due <= jiffy
        {
            // From the second time on, the steps are of one length.
            let step = after(*due, jiffies(tupdate_us)) - *due;
            *due += ((jiffy - *due) / step + 1) * step;
        }
    }
}

/// `usecs_to_jiffies()`.
fn jiffies(us: u32) -> i64 {
    us.div_ceil(US).into()
}

/// When a timer comes that is set at a jiffy for so many later: never early, so one tick later, and of the wheel's coarser
/// ticks where it is far away.
fn after(jiffy: i64, delay: i64) -> i64 {
    let is_beyond = |level: &u32| delay > 63 << (3 * level);
    let shift = 3 * (0..8).take_while(is_beyond).count();
    (((jiffy + delay) >> shift) + 1) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_a_tick_of_the_wheel_late() {
        // 15 ms are 4 ticks of 4 ms.
        assert_eq!(jiffies(15_000), 4);
        for (jiffy, delay, right) in [
            (0, 4, 5),
            (7, 4, 12),
            (0, 63, 64),
            (0, 64, 72),
            (3, 125, 136),
            (2, 125, 128),
            (0, 505, 512),
            (8, 505, 576),
        ] {
            assert_eq!(after(jiffy, delay), right, "{jiffy} + {delay}");
        }
    }

    #[test]
    fn skipping_ticks_equals_taking_them() {
        let at = |jiffy: i64| Instant::from_nanos(jiffy * NS);
        for tupdate_us in [1, 15_000, 300_000] {
            let mut timers = [Timer::default(); 2];
            for timer in &mut timers {
                assert!(!timer.takes(at(5), tupdate_us));
                assert!(timer.takes(at(136), tupdate_us));
            }
            while timers[0].takes(at(4_321), tupdate_us) {}
            timers[1].skip(at(4_321), tupdate_us);
            assert_eq!(timers[0].0, timers[1].0, "{tupdate_us}");
        }
    }
}

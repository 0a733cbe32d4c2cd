//! The shaper: each packet moves the time of the next one by its own length.

use tcplab_base::{Duration, Instant};

use super::rate::Rate;
use super::tin::Tin;

/// The clock of the whole link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shaper {
    pub rate: Rate,
    next: Instant,
    /// The same at two thirds of the rate, without the charge for drops: an upper bound of the wait.
    failsafe: Instant,
}

impl Default for Shaper {
    fn default() -> Self {
        Self {
            rate: Rate::default(),
            next: Instant::from_nanos(0),
            failsafe: Instant::from_nanos(0),
        }
    }
}

fn ns(n: u64) -> Duration {
    Duration::from_nanos(n as i64)
}

impl Shaper {
    /// When the next packet may go; none: now.
    #[inline]
    pub fn held_until(&self, now: Instant) -> Option<Instant> {
        (self.next > now && self.failsafe > now).then(|| self.next.min(self.failsafe))
    }

    /// A packet comes into an empty qdisc. True: it has to wait.
    pub fn wake(&mut self, now: Instant) -> bool {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
            return false;
        }
        self.held_until(now).is_some()
    }

    /// A packet of `len` bytes, as charged, goes, or is dropped and charged all the same.
    #[inline]
    pub fn charge(&mut self, tin: &mut Tin, len: u32, now: Instant, dropped: bool) {
        if self.rate.is_unlimited() {
            return;
        }
        let of_tin = ns(tin.rate.time_ns(len));
        let whole = self.rate.time_ns(len);
        if tin.time_next < now {
            tin.time_next = tin.time_next + of_tin;
        } else if tin.time_next < now + of_tin {
            tin.time_next = now + of_tin;
        }
        self.next = self.next + ns(whole);
        if !dropped {
            self.failsafe = self.failsafe + ns(whole + (whole >> 1));
        }
    }
}

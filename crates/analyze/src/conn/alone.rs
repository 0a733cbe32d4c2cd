//! How long data waited for an ACK while little else was in flight, as with requests and answers.
//!
//! The receiver may hold such an ACK until a timer fires or its next message carries the ACK. Linux
//! and Windows hold it for [`HELD_US`] at most (Linux: `TCP_DELACK_MAX`; RFC 9293 3.8.6.3 allows
//! less than 0.5 s), regardless of the program. Any longer wait was spent on the path.

use tcplab_base::{Duration, Instant};

use super::load::TIMES;
use super::moment::Moment;

/// The longest that an ACK is held back.
pub(crate) const HELD_US: u32 = 200_000;
/// Margin for the error of the clocks, a timer tick and jitter; on a long path one round trip.
const BLUR_US: u32 = 20_000;
/// So many in a row, each sent after the ACK of the one before.
const ROW: u32 = 3;

/// The waits of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alone {
    /// The shortest time from data to ACK, microseconds.
    pub least_us: u32,
    /// The last two times from data to ACK, and when the last ACK came; the most that one was at once
    /// longer than both before it, microseconds.
    last_us: [u32; 2],
    last: Moment,
    pub leap_us: u32,
    /// Those in a row now that were too long for a timer: how many, since when, the longest, the first packet.
    row: u32,
    since: Moment,
    /// When the last of them ended.
    counted: Moment,
    most_us: u32,
    first: u64,
    /// The longest such row: how long, its longest wait, its first packet.
    pub longest: Duration,
    pub worst_us: u32,
    pub packet: u64,
}

impl Alone {
    /// The shortest time from data to ACK so far.
    pub(crate) fn new(least_us: u32) -> Self {
        Self {
            least_us,
            ..Self::default()
        }
    }

    /// An ACK came `us` after its data.
    pub(crate) fn answered(&mut self, us: u32, now: Instant, number: u64) {
        self.least_us = self.least_us.min(us);
        let idle_us = self.least_us;
        // One that was sent late in the round trip of another is ACKed soon. In a long time any queue grows.
        let [before, last] = self.last_us;
        let grew = us.saturating_sub(before.max(last));
        let gap = self.last.get().map(|at| now.since(at).as_micros_u32());
        if gap.is_some_and(|gap| gap <= grew.saturating_mul(2)) {
            self.leap_us = self.leap_us.max(grew);
        }
        self.last_us = [last, us];
        self.last.set(now);
        let waited = us.saturating_sub(idle_us);
        let held = HELD_US.saturating_add(BLUR_US.max(idle_us));
        if waited < held.max(idle_us.saturating_mul(TIMES)) {
            self.row = 0;
            return;
        }
        let sent = now - Duration::from_micros(us.into());
        if self.row == 0 {
            self.since.set(sent);
            (self.most_us, self.first) = (0, number);
        } else if self.counted.get().is_some_and(|at| sent < at) {
            // One stall holds up all that was on its way.
            return;
        }
        self.row += 1;
        self.counted.set(now);
        self.most_us = self.most_us.max(us);
        let long = self.since.get().map_or(Duration::ZERO, |at| now.since(at));
        if self.row >= ROW && long > self.longest {
            self.longest = long;
            (self.worst_us, self.packet) = (self.most_us, self.first);
        }
    }
}

#[cfg(test)]
impl Alone {
    /// Messages of which each waits so many milliseconds for its ACK, and follows it 20 ms later.
    pub(crate) fn of_waits(ms: &[u32]) -> Self {
        let mut alone = Self::new(u32::MAX);
        let mut now = Instant::from_nanos(0);
        for (number, ms) in (1..).zip(ms) {
            now = now + Duration::from_millis(i64::from(*ms) + 20);
            alone.answered(ms * 1000, now, number);
        }
        alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_that_a_timer_may_hold_proves_no_wait() {
        for held in [[40, 240, 279, 279, 279, 40], [5, 205, 224, 224, 224, 5]] {
            assert_eq!(Alone::of_waits(&held).longest, Duration::ZERO, "{held:?}");
        }
        let [short, long] = [[5, 210, 225, 225, 225, 5], [150, 350, 510, 510, 510, 150]];
        assert_eq!(Alone::of_waits(&short).longest, Duration::from_millis(715));
        assert_eq!(Alone::of_waits(&long).longest, Duration::from_millis(1570));
        let queued = Alone::of_waits(&[40, 150, 250, 341, 380, 400, 300, 40]);
        assert_eq!(
            queued.longest,
            Duration::from_millis(341 + 380 + 400 + 300 + 60)
        );
        assert_eq!((queued.worst_us, queued.packet), (400_000, 4));
        assert_eq!(queued.leap_us, 110_000);
        // Three that were sent at once met one stall.
        let mut stall = Alone::of_waits(&[40]);
        for (number, us) in [(7, 900_000), (8, 899_000), (9, 898_000)] {
            stall.answered(us, Instant::from_nanos(2_000_000_000), number);
        }
        assert_eq!(stall.longest, Duration::ZERO);
        // Two in a row are no habit.
        assert_eq!(
            Alone::of_waits(&[40, 400, 400, 40, 400, 400]).longest,
            Duration::ZERO
        );
    }
}

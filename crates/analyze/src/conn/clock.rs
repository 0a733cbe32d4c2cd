//! How fast the time stamps of one side run (RFC 7323 5.4): 1 ms on Linux since 4.13, a jiffy
//! before. The sender's own clock tells how long it was silent, also when the path held its packets.

use tcplab_base::{Duration, Instant, Seq};

use super::moment::Moment;

/// Ticks in use, in nanoseconds.
const TICKS: [i64; 4] = [1_000_000, 4_000_000, 10_000_000, 100_000_000];
/// A tick is measured over at least this long.
const ENOUGH: Duration = Duration::from_millis(100);

/// The clock of one side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TsClock {
    /// First time stamp, and when it passed.
    first: u32,
    at: Moment,
    /// Time stamp of the last packet with data.
    last: u32,
}

impl TsClock {
    /// A packet with data passes.
    pub(crate) fn tick(&mut self, tsval: u32, now: Instant) {
        if self.at.is_none() {
            self.first = tsval;
            self.at.set(now);
        }
        if Seq(tsval).at_or_after(Seq(self.last)) || self.last == 0 {
            self.last = tsval;
        }
    }

    /// A time stamp on data was seen.
    pub(crate) fn runs(&self) -> bool {
        self.at.is_some()
    }

    /// Newest time stamp on data.
    pub(crate) fn newest(&self) -> u32 {
        self.last
    }

    /// How long the side had been silent, by its own clock, when it sent `tsval`.
    pub(crate) fn silence(&self, tsval: u32, now: Instant) -> Duration {
        let Some(tick) = self.tick_length(tsval, now) else {
            return Duration::ZERO;
        };
        let ticks = Seq(tsval).distance(Seq(self.last)).max(0);
        Duration::from_nanos(i64::from(ticks) * tick)
    }

    fn tick_length(&self, tsval: u32, now: Instant) -> Option<i64> {
        let at = self.at.get()?;
        let (ticks, length) = (Seq(tsval).distance(Seq(self.first)), now.since(at));
        if ticks <= 0 || length < ENOUGH {
            return None;
        }
        let measured = length.as_nanos() / i64::from(ticks);
        TICKS
            .into_iter()
            .find(|t| (t * 2 / 3..t * 3 / 2).contains(&measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_read_from_the_senders_clock() {
        let at = |ms: i64| Instant::from_nanos(ms * 1_000_000);
        let mut c = TsClock::default();
        c.tick(1000, at(0));
        c.tick(1500, at(500));
        // The path held the packet sent at 800 ms until 1200 ms.
        assert_eq!(c.silence(1800, at(1000)), Duration::from_millis(300));
        assert_eq!(
            c.silence(9000, at(501)),
            Duration::ZERO,
            "no clock runs like that"
        );
        let mut jiffies = TsClock::default();
        jiffies.tick(100, at(0));
        jiffies.tick(110, at(100));
        assert_eq!(jiffies.silence(130, at(300)), Duration::from_millis(200));
    }
}

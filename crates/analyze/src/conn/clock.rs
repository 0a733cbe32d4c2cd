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
        self.between(self.last, tsval, now)
            .unwrap_or(Duration::ZERO)
    }

    /// Time from one time stamp to a later one, by the side's own clock; `None` while its rate is not known.
    pub(crate) fn between(&self, earlier: u32, tsval: u32, now: Instant) -> Option<Duration> {
        let tick = self.tick_length(tsval, now)?;
        let ticks = Seq(tsval).distance(Seq(earlier)).max(0);
        Some(Duration::from_nanos(i64::from(ticks) * tick))
    }

    /// First time stamp on data, and when it passed.
    pub(crate) fn began(&self) -> Option<(u32, Instant)> {
        Some((self.first, self.at.get()?))
    }

    /// Length of a tick in nanoseconds, when it is one of those in use.
    pub(crate) fn tick_length(&self, tsval: u32, now: Instant) -> Option<i64> {
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

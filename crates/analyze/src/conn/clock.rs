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
        tick_length((self.first, self.at.get()?), (tsval, now))
    }
}

/// From one packet's time stamp and the moment in which it passed to those of a later one.
fn tick_length(first: (u32, Instant), later: (u32, Instant)) -> Option<i64> {
    let (ticks, length) = (Seq(later.0).distance(Seq(first.0)), later.1.since(first.1));
    if ticks <= 0 || length < ENOUGH {
        return None;
    }
    let measured = length.as_nanos() / i64::from(ticks);
    TICKS
        .into_iter()
        .find(|t| (t * 2 / 3..t * 3 / 2).contains(&measured))
}

/// How long packets of one side were under way to the capture, beside the one that came soonest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OneWay {
    /// The time stamp of that one, and when it passed.
    tsval: u32,
    at: Moment,
}

/// Clocks run apart by 100 in a million at most: after this a packet that is late by [`NEAR_US`] at most is the new measure.
const RENEWED: Duration = Duration::from_secs(10);
const NEAR_US: u32 = 5_000;
/// An older measure is none.
const STALE: Duration = Duration::from_secs(60);

impl OneWay {
    /// A packet with this time stamp passes.
    pub(crate) fn see(&mut self, tsval: u32, now: Instant) {
        let Some(at) = self.at.get() else {
            (self.tsval, _) = (tsval, self.at.set(now));
            return;
        };
        let late = self.late(tsval, now);
        let old = now.since(at) >= RENEWED && late.is_some_and(|ns| ns / 1000 <= NEAR_US.into());
        if old || late.is_some_and(|ns| ns < 0) {
            (self.tsval, _) = (tsval, self.at.set(now));
        }
    }

    /// How much longer than that one a packet was under way, microseconds, at least; `None` while the rate of the clock is
    /// not known.
    pub(crate) fn late_us(&self, tsval: u32, now: Instant) -> Option<u32> {
        let at = self.at.get()?;
        let tick = self.tick_length(tsval, now)?;
        let sure = self.late(tsval, now)?.saturating_sub(tick);
        let fresh = now.since(at) < STALE;
        fresh.then(|| u32::try_from(sure / 1000).unwrap_or(0))
    }

    /// The time stamp of that one, and when it passed.
    pub(crate) fn soonest(&self) -> Option<(u32, Instant)> {
        Some((self.tsval, self.at.get()?))
    }

    /// Length of a tick in nanoseconds, when it is one of those in use.
    pub(crate) fn tick_length(&self, tsval: u32, now: Instant) -> Option<i64> {
        tick_length(self.soonest()?, (tsval, now))
    }

    /// Nanoseconds.
    fn late(&self, tsval: u32, now: Instant) -> Option<i64> {
        let at = self.at.get()?;
        let tick = self.tick_length(tsval, now)?;
        let ticks = i64::from(Seq(tsval).distance(Seq(self.tsval)));
        Some(now.since(at).as_nanos() - ticks * tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_was_longer_under_way_shows_by_its_time_stamp() {
        let at = |ms: i64| Instant::from_nanos(ms * 1_000_000);
        let mut way = OneWay::default();
        way.see(7000, at(0));
        assert_eq!(way.late_us(7050, at(80)), None, "too soon to know the tick");
        assert_eq!(way.late_us(7200, at(200)), Some(0));
        // It left 30 ms before it would have, had it come as soon as the first one.
        assert_eq!(way.late_us(7200, at(230)), Some(29_000));
        // One that came sooner is the new measure.
        way.see(7300, at(290));
        assert_eq!(way.late_us(7500, at(500)), Some(9_000));
        // Clocks run apart: a measure that nothing renewed is none.
        assert_eq!(way.late_us(67_410, at(60_400)), None);
        way.see(19_013, at(12_006));
        assert_eq!(way.late_us(74_013, at(67_009)), Some(2_000));
    }

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

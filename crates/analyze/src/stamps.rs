//! Time stamps that are wrong: a few records far ahead of, or behind, their place in the file.
//!
//! Packets after a jump ahead wait until the next ones show which stamps are right. Where the file goes back at once to
//! where it was, those that jumped lose their stamps. A jump that stays is a pause, or a clock that was set.

use tcplab_base::{Duration, Instant};
use tcplab_wire::TcpPacket;

use crate::Analyzer;

/// Stamps that are less far off are packets of several queues, or waits.
const FAR: Duration = Duration::from_millis(500);
/// A file comes back within this: smaller steps back are packets out of order.
const NEAR: Duration = Duration::from_millis(100);
/// So many records may be off together.
const SOON: u64 = 8;

/// Records whose stamps are in doubt.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// Those since a jump ahead.
    ahead: Vec<(u64, Instant, TcpPacket)>,
    back: Option<Back>,
}

/// A jump back that the range of times does not show yet.
#[derive(Clone, Copy, Debug)]
struct Back {
    /// Where it came from, where it went, and after how many packets.
    from: Instant,
    to: Instant,
    packets: u64,
}

impl Doubts {
    /// Whether a stamp has to be looked at.
    #[inline]
    pub(crate) fn has(&self, last: Option<Instant>, time: Option<Instant>) -> bool {
        let far = || matches!((last, time), (Some(l), Some(t)) if after(l, t) >= FAR);
        !self.ahead.is_empty() || far()
    }

    /// The stamps go back from `from` to `to`. Whether that is so far that it may be a mistake.
    #[cold]
    pub(crate) fn goes_back(&mut self, from: Instant, to: Instant, packets: u64) -> bool {
        let far = after(to, from) >= FAR;
        if far {
            self.back = Some(Back { from, to, packets });
        }
        far
    }

    /// Where the stamps went back to and stayed.
    pub(crate) fn earliest(&self) -> Option<Instant> {
        self.back.map(|back| back.to)
    }

    /// The file is where it was before it went back.
    fn comes_again(&mut self, now: Instant, packets: u64) {
        let is_soon = |b: &Back| packets < b.packets + SOON && after(now, b.from) < FAR;
        if self.back.as_ref().is_some_and(is_soon) {
            self.back = None;
        }
    }
}

/// From `a` to `b`.
#[inline]
fn after(a: Instant, b: Instant) -> Duration {
    Duration::from_nanos(b.as_nanos().saturating_sub(a.as_nanos()))
}

impl Analyzer {
    /// A packet whose stamp, or that of one before it, is in doubt.
    #[cold]
    pub(crate) fn doubt(&mut self, number: u64, time: Option<Instant>, packet: &TcpPacket) {
        let (Some(now), Some(base)) = (time, self.last) else {
            self.settle_stamps();
            self.take(number, time, false, packet);
            return;
        };
        let Some(first) = self.doubts.ahead.first().map(|held| held.1) else {
            self.doubts.comes_again(now, self.totals.tcp_packets);
            self.doubts.ahead.push((number, now, *packet));
            return;
        };
        let gap = after(base, first).as_nanos();
        let by = after(base, now);
        if by.as_nanos() > -NEAR.as_nanos() && by.as_nanos() < gap / 10 {
            let end = now.max(base);
            for (number, at, packet) in std::mem::take(&mut self.doubts.ahead) {
                let at = (base + after(first, at)).clamp(base, end);
                self.take(number, Some(at), true, &packet);
            }
            self.packet(number, time, packet);
        } else if self.doubts.ahead.len() as u64 >= SOON || by < Duration::ZERO {
            self.settle_stamps();
            self.packet(number, time, packet);
        } else {
            self.doubts.ahead.push((number, now, *packet));
        }
    }

    /// No other packet tells: the stamps in doubt are taken as they are.
    pub(crate) fn settle_stamps(&mut self) {
        for (number, at, packet) in std::mem::take(&mut self.doubts.ahead) {
            self.take(number, Some(at), false, &packet);
        }
    }
}

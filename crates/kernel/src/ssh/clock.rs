//! How far a clock is from another one: Cristian's method, the shortest of several round trips.

use serde::{Deserialize, Serialize};
use tcplab_base::Instant;

/// A far clock, seen from here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offset {
    /// Far clock minus near clock in nanoseconds.
    pub offset_ns: i64,
    /// The true value lies at most this far away: half the round trip.
    pub error_ns: i64,
}

impl Offset {
    /// Asked at `sent`, answered with `far`, heard at `heard`, all in nanoseconds.
    pub(super) fn of(sent: i64, far: i64, heard: i64) -> Self {
        let trip = heard.saturating_sub(sent).max(0);
        Self {
            offset_ns: far.saturating_sub(sent).saturating_sub(trip / 2),
            error_ns: trip / 2 + 1,
        }
    }
}

/// CLOCK_REALTIME: that of captures.
pub(crate) fn real_time() -> Instant {
    tcplab_os::clock::read(nix::time::ClockId::CLOCK_REALTIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_true_offset_lies_within_the_error() {
        // The far clock is 1,000 ahead; the way there takes a part of the trip of 100.
        for there in 0..=100 {
            let found = Offset::of(50, 50 + there + 1_000, 150);
            assert!((found.offset_ns - 1_000).abs() <= found.error_ns, "{there}");
        }
    }
}

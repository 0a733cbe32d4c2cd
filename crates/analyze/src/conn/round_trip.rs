//! The round trip of the whole path, wherever the capture was taken.
//!
//! A capture point cuts the path in two. The handshake measures both halves (RFC 9293 3.5): their sum is the round trip.
//! Later, data and its ACK measure the half between the capture and the receiver, and only where the ACK was sent at
//! once; the half between the capture and the sender is the shortest answer of that sender.

use super::finish::rtt;
use super::{Connection, Dir};
use crate::report::{RoundTrip, RoundTripFrom, Rtt};

impl Connection {
    /// The round trip of the path, by the best evidence there is; `both` are the round trips of each side's
    /// data.
    pub(super) fn round_trip(&self, both: [Option<RoundTrip>; 2]) -> Option<RoundTrip> {
        if let Some(us) = self.handshake.round_trip_us() {
            return Some(one(us, RoundTripFrom::Handshake));
        }
        if let Some(best) = both.into_iter().flatten().max_by_key(|r| r.us.samples) {
            return Some(best);
        }
        let [a, b] = &self.dirs;
        let known = a.knows_path() && b.knows_path();
        known.then(|| {
            one(
                a.path_us.saturating_add(b.path_us),
                RoundTripFrom::TimeStamps,
            )
        })
    }
}

impl super::Handshake {
    /// The sum of both halves. Karn's rule: nothing may have been sent twice.
    fn round_trip_us(&self) -> Option<u32> {
        let once = self.syns_again == 0 && self.synacks_again == 0;
        let sum = self.server_rtt_us?.saturating_add(self.client_rtt_us?);
        once.then_some(sum)
    }
}

/// The round trip of one side's data. `None` where the capture is nearer to the receiver: the larger half would be a
/// constant.
pub(super) fn of_data(sender: &mut Dir) -> Option<RoundTrip> {
    let near = sender.path_or_zero();
    if !sender.knows_path() || u64::from(sender.srtt_us) * 2 < u64::from(near) {
        return None;
    }
    let half = rtt(sender.rtt.as_mut()?.prompt());
    let far_enough = half.samples > 0 && half.min >= near;
    far_enough.then(|| RoundTrip {
        us: Rtt {
            min: half.min.saturating_add(near),
            p50: half.p50.saturating_add(near),
            p95: half.p95.saturating_add(near),
            max: half.max.saturating_add(near),
            samples: half.samples,
        },
        from: RoundTripFrom::Acks,
    })
}

/// A single sample.
fn one(us: u32, from: RoundTripFrom) -> RoundTrip {
    let us = Rtt {
        min: us,
        p50: us,
        p95: us,
        max: us,
        samples: 1,
    };
    RoundTrip { us, from }
}

//! CLOCK_MONOTONIC, which a benchmark measures on.

use nix::time::{ClockId, clock_gettime};
use tcplab_base::Instant;

/// Now. The clock cannot fail.
#[inline]
pub(super) fn now() -> Instant {
    let t = clock_gettime(ClockId::CLOCK_MONOTONIC);
    t.map_or(Instant::default(), |t| {
        Instant::from_nanos(
            t.tv_sec()
                .saturating_mul(1_000_000_000)
                .saturating_add(t.tv_nsec()),
        )
    })
}

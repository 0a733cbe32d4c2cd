//! The clock of a probe: nanoseconds since it began, and the date of its beginning.
#![expect(
    clippy::disallowed_methods,
    reason = "a probe measures on the clock on the wall"
)]

use std::time;

use tcplab_base::Instant;

/// When a probe began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    begun: time::Instant,
    unix_ns: i64,
}

impl Clock {
    /// Begins now.
    pub(super) fn start() -> Self {
        let since = time::SystemTime::now().duration_since(time::UNIX_EPOCH);
        Self {
            begun: time::Instant::now(),
            unix_ns: since.map_or(0, nanos),
        }
    }

    /// Time since the beginning; it never goes back.
    pub(super) fn now(&self) -> Instant {
        Instant::from_nanos(nanos(self.begun.elapsed()))
    }

    /// The beginning in nanoseconds since 1970.
    pub(super) fn unix_ns(&self) -> i64 {
        self.unix_ns
    }
}

fn nanos(d: time::Duration) -> i64 {
    i64::try_from(d.as_nanos()).unwrap_or(i64::MAX)
}

//! A reader that is slow: it begins late, or reads at an interval. Its window closes, and the sender probes
//! (RFC 9293 3.8.6.1).

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::Reading;

use crate::program::{Result, Step};

/// Reads until the peer has ended, then closes.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    bytes: u64,
    every: Duration,
    /// From the connection to the first read; none: it is over.
    after: Option<Duration>,
}

impl Reader {
    pub(crate) fn new(reading: &Reading, bytes: u64) -> Self {
        Self {
            bytes,
            every: Duration::from_nanos(reading.every_ns),
            after: Some(Duration::from_nanos(reading.after_ns)),
        }
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result) -> Step {
        if let Some(after) = self.after.take() {
            return Step::Until(now + after);
        }
        match last {
            Result::End => Step::Close,
            Result::Got(_) if self.every > Duration::from_nanos(0) => Step::Until(now + self.every),
            _ => Step::ReadSome(self.bytes),
        }
    }
}

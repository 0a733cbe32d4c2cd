//! A reader that is slow: it stops for a time, or reads at an interval. Its window closes, and the sender probes
//! (RFC 9293 3.8.6.1).

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::Reading;

use crate::program::{Result, Step};

/// Reads until the peer has ended, then closes.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    bytes: u64,
    every: Duration,
    /// The pause that is to come, and the bytes before it.
    pause: Option<(u64, Duration)>,
}

impl Reader {
    pub(crate) fn new(reading: &Reading, bytes: u64) -> Self {
        let pause = (reading.pause_at, Duration::from_nanos(reading.pause_ns));
        Self {
            bytes,
            every: Duration::from_nanos(reading.every_ns),
            pause: Some(pause).filter(|_| reading.pause_ns > 0),
        }
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result) -> Step {
        if let (Result::Got(bytes), Some((left, _))) = (last, &mut self.pause) {
            *left = left.saturating_sub(bytes);
        }
        let most = match (last, self.pause) {
            (Result::End, _) => return Step::Close,
            (_, Some((0, pause))) => {
                self.pause = None;
                return Step::Until(now + pause);
            }
            (_, Some((left, _))) => left.min(self.bytes),
            (_, None) => self.bytes,
        };
        match last {
            Result::Got(_) if self.every > Duration::from_nanos(0) => Step::Until(now + self.every),
            _ => Step::ReadSome(most),
        }
    }
}

//! `--trend`: what came in each second.

use tcplab_base::quantity::rate;
use tcplab_base::{Duration, Instant};

use super::report::Connection;
use super::run::Probe;

const SECOND: Duration = Duration::from_secs(1);

/// The seconds of one connection.
pub(super) struct Trend {
    /// When the second ends.
    pub(super) next: Instant,
    /// Bytes that were told.
    told: u64,
}

impl Trend {
    pub(super) fn new(begun: Instant) -> Self {
        Self {
            next: begun + SECOND,
            told: 0,
        }
    }

    /// Tells of each second that has ended.
    pub(super) fn tell(&mut self, probe: &Probe, of: &mut Connection) {
        while probe.now() >= self.next {
            let bytes = of.traffic.read_bytes - self.told;
            self.told = of.traffic.read_bytes;
            self.next = self.next + SECOND;
            of.trend_bytes.push(bytes);
            let number = of.trend_bytes.len();
            let rate = rate(bytes as f64 * 8.0);
            probe.say(&format!("second {number}: {bytes} bytes, {rate}"));
        }
    }
}

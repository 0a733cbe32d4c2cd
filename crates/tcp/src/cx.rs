//! What a call into an endpoint uses beside the endpoint's own state.

use tcplab_base::Instant;

use crate::host::HostConfig;
use crate::metrics::Metrics;
use crate::mib::{Counter, Mib};
use crate::segment::Segment;

/// The time, the host, and where segments and counts go. Every entry of [`Endpoint`](crate::Endpoint) takes one.
#[derive(Debug)]
pub struct Cx<'a> {
    /// Now.
    pub now: Instant,
    /// The host's settings.
    pub host: &'a HostConfig,
    /// The host's counters.
    pub mib: &'a mut Mib,
    /// Segments that leave, in their order.
    pub out: &'a mut Vec<Segment>,
    /// What the host remembers of its peers.
    pub(crate) metrics: &'a mut Metrics,
}

impl Cx<'_> {
    /// Counts one event.
    #[inline]
    pub fn count(&mut self, counter: Counter) {
        self.mib.add(counter, 1);
    }

    /// `tcp_jiffies32`.
    #[inline]
    pub fn jiffies32(&self) -> u32 {
        self.host.clock.jiffies32(self.now)
    }

    /// The tick's number.
    #[inline]
    pub fn jiffies(&self) -> u64 {
        self.host.clock.jiffies(self.now)
    }

    /// `ktime_get_seconds()`: whole seconds since boot.
    #[inline]
    pub fn seconds(&self) -> u32 {
        ((self.now.as_nanos() + self.host.clock.boot_ns) / 1_000_000_000) as u32
    }

    /// `tcp_mstamp` in microseconds: time on virtual stacks does not move while a packet is handled.
    #[inline]
    pub fn now_us(&self) -> u64 {
        ((self.now.as_nanos() + self.host.clock.boot_ns) / 1000) as u64
    }

    /// `tcp_clock_cache`: the same in nanoseconds.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        (self.now.as_nanos() + self.host.clock.boot_ns) as u64
    }
}

//! What the connections of one group did in one arm, as integers: sums add in any order to the same.

use tcplab_base::Duration;
use tcplab_plan::population::Drawn;
use tcplab_sim::World;
use tcplab_tcp::Counter;

/// Smaller responses also count by themselves (4 KB in the netdev message).
pub(crate) const SMALL_BYTES: u64 = 4_096;

/// The counters of a server that are summed, in the order of [`Sums::counters`].
pub(crate) const COUNTERS: [Counter; 16] = [
    Counter::OutSegs,
    Counter::RetransSegs,
    Counter::Timeouts,
    Counter::LossProbes,
    Counter::LossProbeRecovery,
    Counter::DSACKRecv,
    Counter::FullUndo,
    Counter::PartialUndo,
    Counter::LossUndo,
    Counter::DSACKUndo,
    Counter::SpuriousRTOs,
    Counter::AbortOnTimeout,
    Counter::RecovLat,
    Counter::RecovCnt,
    Counter::RecovLat2,
    Counter::RecovCnt2,
];

/// A time in microseconds.
pub(crate) fn microseconds(took: Duration) -> u32 {
    let us = (took.as_nanos() / 1_000).max(0);
    u32::try_from(us).unwrap_or(u32::MAX)
}

/// Sums over connections, and the times of their responses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) connections: u64,
    /// Connections with a segment that the server sent again.
    pub(crate) lossy: u64,
    /// Time of all responses of these, in microseconds.
    pub(crate) lossy_us: u64,
    /// Responses that were asked for.
    pub(crate) requests: u64,
    /// By [`COUNTERS`].
    pub(crate) counters: [u64; COUNTERS.len()],
    /// Microseconds of each response that was ACKed whole: the small ones, the others.
    pub(crate) small_us: Vec<u32>,
    pub(crate) large_us: Vec<u32>,
    /// Microseconds of each recovery that came to its end.
    pub(crate) recovery_us: Vec<u32>,
}

impl Sums {
    /// Adds what one connection did; gives the time of all its responses.
    pub(crate) fn add(&mut self, world: &World, server: usize, drawn: &Drawn) -> u64 {
        self.connections += 1;
        for (sum, counter) in self.counters.iter_mut().zip(COUNTERS) {
            *sum += world.counter(server, counter);
        }
        self.requests += drawn.responses.len() as u64;
        self.recovery_us.extend(world.recoveries(server));
        let mut all = 0;
        for response in world.responses() {
            let us = microseconds(response.took);
            all += u64::from(us);
            match response.bytes < SMALL_BYTES {
                true => self.small_us.push(us),
                false => self.large_us.push(us),
            }
        }
        if world.counter(server, Counter::RetransSegs) > 0 {
            self.lossy += 1;
            self.lossy_us += all;
        }
        all
    }
}

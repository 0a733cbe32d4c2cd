//! What the connections of one group did in one arm, as integers: sums add in any order to the same.

use tcplab_base::Duration;
use tcplab_plan::population::Drawn;
use tcplab_sim::{Response, World};
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

/// The same responses in two arms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Both {
    pub(crate) count: u64,
    /// Their times in this arm, in microseconds.
    pub(crate) us: u64,
    /// And in the baseline.
    pub(crate) baseline_us: u64,
}

/// Sums over connections, and the times of their responses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) connections: u64,
    /// Connections with a segment that the server sent again.
    pub(crate) lossy: u64,
    /// Time of all responses of these, in microseconds.
    pub(crate) lossy_us: u64,
    /// Connections that the limit of a run ended.
    pub(crate) cut_short: u64,
    /// Responses that were asked for.
    pub(crate) requests: u64,
    /// Of these, the small ones.
    pub(crate) small_requests: u64,
    /// Responses that finished in this arm and in the baseline: the small ones, the others.
    pub(crate) both: [Both; 2],
    /// By [`COUNTERS`].
    pub(crate) counters: [u64; COUNTERS.len()],
    /// Microseconds of each response that was ACKed whole: the small ones, the others.
    pub(crate) small_us: Vec<u32>,
    pub(crate) large_us: Vec<u32>,
    /// Microseconds of each recovery that came to its end.
    pub(crate) recovery_us: Vec<u32>,
}

impl Sums {
    /// Adds what one connection did.
    pub(crate) fn add(&mut self, world: &World, server: usize, drawn: &Drawn) {
        self.connections += 1;
        self.cut_short += u64::from(world.is_cut_short());
        for (sum, counter) in self.counters.iter_mut().zip(COUNTERS) {
            *sum += world.counter(server, counter);
        }
        self.requests += drawn.responses.len() as u64;
        let small = drawn.responses.iter().filter(|n| **n < SMALL_BYTES);
        self.small_requests += small.count() as u64;
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
    }

    /// Adds a connection's responses that finished both in this arm and in the baseline; gives how much longer they
    /// took here, in microseconds. Requests come one after the other: the first response of both is the same one.
    pub(crate) fn pair(&mut self, own: &[Response], baseline: &[Response]) -> i64 {
        let mut longer = 0;
        for (own, theirs) in own.iter().zip(baseline) {
            let both = &mut self.both[usize::from(own.bytes >= SMALL_BYTES)];
            let (us, baseline_us) = (microseconds(own.took), microseconds(theirs.took));
            both.count += 1;
            both.us += u64::from(us);
            both.baseline_us += u64::from(baseline_us);
            longer += i64::from(us) - i64::from(baseline_us);
        }
        longer
    }
}

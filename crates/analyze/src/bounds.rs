//! Settings of the analyser, and limits on the memory that its connections take.
//!
//! The capture decides how many connections are open at once and how much each has in flight, so
//! both are bounded. One limit is on the number of connections. Only a part of them may have barely
//! begun, as after a flood of SYNs or a scan. The other limit is on their total memory. A
//! connection dropped early is reported as far as it was read, and counted.

use tcplab_wire::CaqmUnits;

use crate::slots::Slots;
use crate::trace::Rows;

/// What the analyser may be told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The packets that get a [`crate::trace::Row`]; when there are any, [`crate::Output::Trace`] follows each stream.
    pub rows: Rows,
    /// Most rows held at once of each kind (see [`Rows`]), over all streams.
    pub max_rows: Option<usize>,
    /// Most connections held at once; an inactive one is handed out early. About a quarter of them, at least
    /// 2,048, may have barely begun, and all together may take 1 KiB for each, at least 16 MiB: one with much in flight counts as many.
    /// So many ended connections are remembered.
    pub max_streams: Option<usize>,
    /// Key of the flow table's hash; any number, it never shows in the results.
    pub hash_seed: u64,
    /// What CAQM's hints stand for; no packet says it.
    pub caqm: CaqmUnits,
}

/// Bytes for each connection of [`Options::max_streams`].
const EACH: usize = 1024;
/// The memory of all connections is not limited below this, bytes.
const LEAST: usize = 16 << 20;
/// Most bytes that a packet adds on average: a connection, or the doubling of a list.
const GROWTH: usize = 4096;
/// Packets between two weighings, at least: a weighing looks at every connection.
const RARELY: usize = 65_536;
/// Connections that are handed out after one packet, at most: they wait in memory until they are taken.
const AT_ONCE: usize = 16;

/// Watches the memory of the connections.
#[derive(Debug)]
pub(crate) struct Scales {
    budget: Option<usize>,
    /// Number of the packet at which they are weighed next.
    pub next: u64,
    /// Bytes that are too many.
    excess: usize,
}

impl Scales {
    pub(crate) fn new(max_streams: Option<usize>) -> Self {
        let budget = max_streams.map(|n| n.saturating_mul(EACH).max(LEAST));
        Self {
            budget,
            next: budget.map_or(u64::MAX, |b| (b / GROWTH) as u64),
            excess: 0,
        }
    }

    /// Weighs the connections after packet `number`; gives those that must go.
    #[cold]
    pub(crate) fn weigh(&mut self, number: u64, slots: &mut Slots) -> Vec<u32> {
        let budget = self.budget.unwrap_or(usize::MAX);
        if self.excess == 0 {
            let weight = slots.weight();
            // A little more than is too much, so that the next look need not come at once.
            self.excess = weight.saturating_sub(budget);
            self.excess += if self.excess > 0 { budget / 8 } else { 0 };
            let packets = (budget.saturating_sub(weight) / GROWTH).max(RARELY);
            self.next = number.saturating_add(packets as u64);
        }
        let mut gone = Vec::new();
        while self.excess > 0 && gone.len() < AT_ONCE {
            let Some(index) = slots.inactive() else {
                self.excess = 0;
                break;
            };
            self.excess = self.excess.saturating_sub(slots.weight_of(index));
            gone.push(index);
        }
        if self.excess > 0 {
            self.next = number;
        } else if self.next <= number {
            self.next = number.saturating_add(RARELY as u64);
        }
        gone
    }
}

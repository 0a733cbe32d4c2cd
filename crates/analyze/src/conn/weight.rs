//! The memory that a connection takes, about: what the bound of all of them is made of. The rows of a trace have a
//! bound of their own.

use tcplab_base::Samples;

use super::{AckStats, Connection, Dir};
use crate::budget::Tracker;

/// A connection of which only one side has sent, and no more than this, has barely begun: a SYN and the
/// retransmissions of it that Linux allows by default (`tcp_syn_retries`, 6).
const FEW: u32 = 7;

impl Connection {
    /// Whether only one side has sent, and only a few packets.
    pub(crate) fn barely_begun(&self) -> bool {
        let [a, b] = [self.dirs[0].packets, self.dirs[1].packets];
        a.min(b) == 0 && a.max(b) <= FEW
    }

    /// Bytes, about.
    pub(crate) fn weight(&self) -> usize {
        let time = self.tracker.as_deref().map_or(0, Tracker::weight);
        let turns = self.turns.as_deref().map_or(0, size_of_val);
        let sides = self.dirs.iter().map(Dir::weight).sum::<usize>();
        size_of::<Self>() + turns + sides + time
    }
}

impl Dir {
    fn weight(&self) -> usize {
        let acks = self.acks.as_deref().map_or(0, AckStats::weight);
        let rtt = self.rtt.as_deref().map_or(0, |r| {
            size_of_val(r)
                + r.by_ack.heap_bytes()
                + r.by_ts.heap_bytes()
                + r.prompt
                    .as_deref()
                    .map_or(0, |p| size_of_val(p) + p.heap_bytes())
                + r.load.as_deref().map_or(0, size_of_val)
        });
        let loss = self.loss.as_deref().map_or(0, |l| l.weight());
        let rare = self.rare.as_deref().map_or(0, size_of_val);
        let rounds = self.rounds.as_deref().map_or(0, size_of_val);
        self.flight.weight() + rounds + acks + rtt + loss + rare
    }
}

impl AckStats {
    fn weight(&self) -> usize {
        let evidence = self.evidence.as_deref().map_or(0, |e| {
            size_of_val(e)
                + [&e.delayed_us, &e.since_last_us]
                    .map(Samples::heap_bytes)
                    .iter()
                    .sum::<usize>()
        });
        let modes = self.modes.iter().count().saturating_sub(1);
        size_of::<Self>()
            + self.immediate_us.heap_bytes()
            + evidence
            + modes * size_of::<super::ack::Stretch>()
    }
}

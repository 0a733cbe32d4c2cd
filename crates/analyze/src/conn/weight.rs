//! The memory that a connection takes, about: what the bound of all of them is made of. The rows of a trace have a
//! bound of their own.

use tcplab_base::Samples;

use super::dir::Seldom;
use super::load::Load;
use super::{AckStats, Connection, Dir, Icmp};
use crate::budget::Tracker;

impl Connection {
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
        let acks = self.acks.as_ref().map_or(0, AckStats::weight);
        let rtt = self.rtt.as_ref().map_or(0, |r| {
            r.by_ack.heap_bytes()
                + r.by_ts.heap_bytes()
                + r.prompt
                    .as_deref()
                    .map_or(0, |p| size_of_val(p) + p.heap_bytes())
                + r.load.as_deref().map_or(0, Load::weight)
        });
        let loss = self.loss.as_deref().map_or(0, |l| l.weight());
        let rare = self.rare.as_deref().map_or(0, |r| {
            size_of_val(r) + r.seldom.as_deref().map_or(0, Seldom::weight)
        });
        let rounds = self.rounds.as_deref().map_or(0, size_of_val);
        self.flight.weight() + rounds + acks + rtt + loss + rare
    }
}

impl Seldom {
    fn weight(&self) -> usize {
        let ignored = self.ignored.as_deref().map_or(0, size_of_val);
        let recent = self.recent.as_deref().map_or(0, size_of_val);
        size_of::<Self>() + self.icmp.as_deref().map_or(0, Icmp::weight) + ignored + recent
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
        self.immediate_us.heap_bytes() + evidence + modes * size_of::<super::ack::Stretch>()
    }
}

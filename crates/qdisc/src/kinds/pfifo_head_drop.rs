//! `pfifo_head_drop` (sch_fifo.c, pfifo_tail_enqueue()): a queue of so many packets; at the limit, the first packet gives
//! way to the one that comes.

use std::collections::VecDeque;

use tcplab_base::Instant;

use super::fifo::Pfifo;
use crate::discipline::{Configure, Discipline, Words};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use crate::words::{Lexer, Wrong};

/// The settings: those of `pfifo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings(pub Pfifo);

impl Words for Settings {
    const NAME: &'static str = "pfifo_head_drop";
    const SUPPORTED: &'static str = "`limit`; at the limit, drops the first packet";
    const WORDS: &'static [&'static str] = Pfifo::WORDS;
    const EXAMPLES: &'static [&'static str] =
        &["pfifo_head_drop limit 9 -> pfifo_head_drop limit 3"];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        Pfifo::parse(words).map(Self)
    }

    fn options(&self) -> Option<Vec<u8>> {
        self.0.options()
    }
}

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct HeadDrop<P> {
    limit: u32,
    queue: VecDeque<P>,
    stats: Stats,
}

impl<P: Packet> Configure<Settings> for HeadDrop<P> {
    fn new(settings: &Settings, _device: Device, _seed: u64, _name: &str) -> Self {
        Self {
            limit: settings.0.limit_pkts(),
            queue: VecDeque::new(),
            stats: Stats::default(),
        }
    }

    /// What waits stays, as with `pfifo`: a packet that comes takes the place of one.
    fn change(&mut self, settings: &Settings, _device: Device) -> bool {
        self.limit = settings.0.limit_pkts();
        true
    }
}

impl<P: Packet> Discipline<P> for HeadDrop<P> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, packet: P) -> bool {
        let len = packet.size();
        if self.limit == 0 {
            self.stats.drops(len);
            return false;
        }
        let fits = self.stats.qlen < self.limit;
        if !fits && let Some(first) = self.queue.pop_front() {
            self.stats.takes(first.size());
            self.stats.drops(first.size());
        }
        self.stats.enters(len);
        self.queue.push_back(packet);
        // Linux: NET_XMIT_CN when another one was dropped.
        fits
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant) -> Dequeued<P> {
        let Some(packet) = self.queue.pop_front() else {
            return Dequeued::Empty;
        };
        self.stats.takes(packet.size());
        self.stats.leaves(packet.size());
        Dequeued::Packet(packet)
    }

    fn stats(&self) -> Stats {
        self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Qdisc;

    fn pushed(words: &str, frames: u8) -> (Vec<bool>, Vec<u8>, Stats) {
        let settings = crate::Settings::parse(words).unwrap();
        let mut qdisc: Qdisc<Vec<u8>> = Qdisc::new(&settings, Device::new(1_500), 1, "test");
        let now = Instant::from_nanos(0);
        let taken = (0..frames)
            .map(|n| qdisc.enqueue(now, vec![n; 60]))
            .collect();
        let mut left = Vec::new();
        while let Dequeued::Packet(frame) = qdisc.dequeue(now) {
            left.push(frame[0]);
        }
        (taken, left, qdisc.stats())
    }

    #[test]
    fn the_first_gives_way_at_the_limit() {
        let (taken, left, stats) = pushed("pfifo_head_drop limit 2", 4);
        assert_eq!(taken, [true, true, false, false]);
        assert_eq!(left, [2, 3]);
        assert_eq!((stats.drops, stats.dropped_bytes), (2, 120));
        let (taken, left, stats) = pushed("pfifo_head_drop limit 0", 2);
        assert_eq!((taken, left, stats.drops), (vec![false; 2], vec![], 2));
    }
}

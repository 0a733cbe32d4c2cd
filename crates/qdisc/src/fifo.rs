//! `pfifo` and `bfifo`: a queue with a limit; what does not fit is dropped at its tail.

use std::collections::VecDeque;

use crate::packet::Packet;
use crate::stats::Stats;

/// A plain queue.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<P> {
    limit: Limit,
    queue: VecDeque<P>,
    pub(crate) stats: Stats,
}

/// When it is full.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    Packets(u32),
    Bytes(u32),
}

impl<P: Packet> Fifo<P> {
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            queue: VecDeque::new(),
            stats: Stats::default(),
        }
    }

    /// Other limits; what waits stays.
    pub fn change(&mut self, limit: Limit) {
        self.limit = limit;
    }

    pub fn enqueue(&mut self, packet: P) -> bool {
        let len = packet.size();
        let fits = match self.limit {
            Limit::Packets(n) => self.stats.qlen < n,
            Limit::Bytes(n) => self.stats.backlog + u64::from(len) <= u64::from(n),
        };
        match fits {
            true => {
                self.stats.enters(len);
                self.queue.push_back(packet);
            }
            false => self.stats.drops(len),
        }
        fits
    }

    /// Drops what waits.
    pub fn clear(&mut self) {
        for packet in self.queue.drain(..) {
            self.stats.takes(packet.size());
            self.stats.drops(packet.size());
        }
    }

    /// Drops what is longer than this.
    pub fn drop_longer(&mut self, most: u32) {
        let stats = &mut self.stats;
        self.queue.retain(|packet| {
            let len = packet.size();
            if len > most {
                stats.takes(len);
                stats.drops(len);
            }
            len <= most
        });
    }

    /// Bytes of the first packet.
    pub fn first_len(&self) -> Option<u32> {
        self.queue.front().map(Packet::size)
    }

    pub fn dequeue(&mut self) -> Option<P> {
        let packet = self.queue.pop_front()?;
        self.stats.takes(packet.size());
        self.stats.leaves(packet.size());
        Some(packet)
    }
}

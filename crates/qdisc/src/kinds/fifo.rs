//! `pfifo` and `bfifo` (tc-bfifo(8)): a queue with a limit; what does not fit is dropped at its tail.

use std::collections::VecDeque;

use crate::packet::Packet;
use crate::stats::Stats;
use crate::words::{Words, Wrong};

/// A plain queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Packets of `pfifo`, bytes of `bfifo`; none: the interface's transmit queue length, which is 1,000 packets of
    /// its MTU and header.
    pub limit: Option<u32>,
}

/// txqueuelen of an Ethernet device (linux/netdevice.h).
const TX_QUEUE_LEN: u32 = 1_000;

pub(crate) const KNOWN: [&str; 1] = ["limit"];

impl Settings {
    pub(crate) fn packets<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        Self::parse(words, Words::unsigned)
    }

    pub(crate) fn bytes<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        Self::parse(words, Words::size)
    }

    fn parse<'a>(
        words: &mut Words<'a>,
        limit: impl Fn(&mut Words<'a>) -> Result<u32, Wrong<'a>>,
    ) -> Result<Self, Wrong<'a>> {
        let mut fifo = Self { limit: None };
        while let Some(word) = words.next() {
            match word {
                "limit" => fifo.limit = Some(limit(words)?),
                _ => return Err(Wrong::unknown(word, "a word of a FIFO", &KNOWN)),
            }
        }
        Ok(fifo)
    }

    /// The limit of a `pfifo`.
    pub fn limit_pkts(&self) -> u32 {
        self.limit.unwrap_or(TX_QUEUE_LEN)
    }

    /// The limit of a `bfifo` on a device with frames of this many bytes at most, header included.
    pub fn limit_bytes(&self, frame: u32) -> u32 {
        self.limit.unwrap_or(TX_QUEUE_LEN.saturating_mul(frame))
    }
}

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

//! `pfifo` and `bfifo` (tc-bfifo(8)): a queue with a limit; what does not fit is dropped at its tail.

use std::collections::VecDeque;

use tcplab_base::Instant;

use crate::discipline::{Configure, Discipline, Words};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use crate::words::{Lexer, Wrong};

/// The settings of `pfifo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pfifo {
    /// Packets that may wait; none: the interface's transmit queue length, 1,000.
    pub limit: Option<u32>,
}

/// The settings of `bfifo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bfifo {
    /// Bytes that may wait; none: 1,000 packets of the interface's MTU and header.
    pub limit: Option<u32>,
}

/// txqueuelen of an Ethernet device (linux/netdevice.h).
const TX_QUEUE_LEN: u32 = 1_000;

impl Words for Pfifo {
    const NAME: &'static str = "pfifo";
    const SUPPORTED: &'static str = "`limit`";
    const WORDS: &'static [&'static str] = &["limit"];
    const EXAMPLES: &'static [&'static str] = &["pfifo limit 5 -> pfifo limit 3"];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let limit = limit(words, Self::WORDS, Lexer::unsigned)?;
        Ok(Self { limit })
    }

    fn options(&self) -> Option<Vec<u8>> {
        options(self.limit)
    }
}

impl Words for Bfifo {
    const NAME: &'static str = "bfifo";
    const SUPPORTED: &'static str = "`limit`";
    const WORDS: &'static [&'static str] = &["limit"];
    const EXAMPLES: &'static [&'static str] = &["bfifo limit 5000 -> bfifo limit 100"];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let limit = limit(words, Self::WORDS, Lexer::size)?;
        Ok(Self { limit })
    }

    fn options(&self) -> Option<Vec<u8>> {
        options(self.limit)
    }
}

fn limit<'a>(
    words: &mut Lexer<'a>,
    known: &'static [&'static str],
    value: impl Fn(&mut Lexer<'a>) -> Result<u32, Wrong<'a>>,
) -> Result<Option<u32>, Wrong<'a>> {
    let mut limit = None;
    while let Some(word) = words.next_word() {
        match word {
            "limit" => limit = Some(value(words)?),
            _ => return Err(Wrong::unknown(word, "a word of a FIFO", known)),
        }
    }
    Ok(limit)
}

/// `struct tc_fifo_qopt`; without it, txqueuelen is the limit.
fn options(limit: Option<u32>) -> Option<Vec<u8>> {
    Some(limit?.to_ne_bytes().to_vec())
}

impl Pfifo {
    /// The limit in packets.
    pub fn limit_pkts(&self) -> u32 {
        self.limit.unwrap_or(TX_QUEUE_LEN)
    }
}

impl Bfifo {
    /// The limit in bytes on a device with frames of this many bytes at most, header included.
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

    /// Another limit; what waits stays.
    pub fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    /// A packet comes; false: it was dropped.
    pub fn push(&mut self, packet: P) -> bool {
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

    /// Drops packets longer than `most`.
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

    /// The first packet leaves.
    pub fn pop(&mut self) -> Option<P> {
        let packet = self.queue.pop_front()?;
        self.stats.takes(packet.size());
        self.stats.leaves(packet.size());
        Some(packet)
    }
}

impl<P: Packet> Configure<Pfifo> for Fifo<P> {
    fn new(settings: &Pfifo, _device: Device, _seed: u64, _name: &str) -> Self {
        Self::new(Limit::Packets(settings.limit_pkts()))
    }

    fn change(&mut self, settings: &Pfifo, _device: Device) -> bool {
        self.set_limit(Limit::Packets(settings.limit_pkts()));
        true
    }
}

impl<P: Packet> Configure<Bfifo> for Fifo<P> {
    fn new(settings: &Bfifo, device: Device, _seed: u64, _name: &str) -> Self {
        Self::new(Limit::Bytes(settings.limit_bytes(device.frame())))
    }

    fn change(&mut self, settings: &Bfifo, device: Device) -> bool {
        self.set_limit(Limit::Bytes(settings.limit_bytes(device.frame())));
        true
    }
}

impl<P: Packet> Discipline<P> for Fifo<P> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, packet: P) -> bool {
        self.push(packet)
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant) -> Dequeued<P> {
        self.pop().map_or(Dequeued::Empty, Dequeued::Packet)
    }

    fn stats(&self) -> Stats {
        self.stats
    }
}

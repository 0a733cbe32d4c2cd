//! `tbf` (sch_tbf.c): a queue of so many bytes behind one or two token buckets. Tokens are nanoseconds.

use tcplab_base::{Duration, Instant};
use tcplab_plan::qdisc::Tbf as Settings;

use crate::fifo::{Fifo, Limit};
use crate::packet::Packet;
use crate::psched::Rate;
use crate::qdisc::Dequeued;
use crate::stats::Stats;

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Tbf<P> {
    rate: Bucket,
    peak: Option<Bucket>,
    /// The longest packet that a bucket can pay for.
    max_size: u32,
    queue: Fifo<P>,
    /// When tokens were counted last; none: never, the buckets are full.
    counted: Option<Instant>,
    too_long: Stats,
    overlimits: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate: Rate,
    depth: i64,
    tokens: i64,
}

impl Bucket {
    fn new(rate: Rate, burst: u32) -> Self {
        let depth = rate.time(burst);
        Self {
            rate,
            depth,
            tokens: depth,
        }
    }

    /// What would be left after a packet of so many bytes.
    fn after(&self, gained: i64, len: u32) -> i64 {
        self.tokens.saturating_add(gained).min(self.depth) - self.rate.time(len)
    }
}

impl<P: Packet> Tbf<P> {
    pub fn new(settings: &Settings) -> Self {
        let mut tbf = Self {
            rate: Bucket::new(Rate::new(settings.rate, settings.link), 0),
            peak: None,
            max_size: 0,
            queue: Fifo::new(Limit::Bytes(settings.limit)),
            counted: None,
            too_long: Stats::default(),
            overlimits: 0,
        };
        tbf.change(settings);
        tbf
    }

    /// Other settings fill the buckets. What waits stays, but for what the new buckets cannot pay for. (DEVIATION: the
    /// kernel keeps that too, and stands still for ever.)
    pub fn change(&mut self, settings: &Settings) {
        self.rate = Bucket::new(Rate::new(settings.rate, settings.link), settings.burst);
        self.max_size = settings.burst;
        self.peak = settings.peak.map(|peak| {
            self.max_size = self.max_size.min(peak.burst);
            Bucket::new(Rate::new(peak.rate, settings.link), peak.burst)
        });
        self.queue.change(Limit::Bytes(settings.limit));
        self.queue.drop_longer(self.max_size);
    }

    /// A super-segment that is too long goes in pieces (`tbf_segment()`).
    pub fn enqueue(&mut self, packet: P) -> bool {
        let len = packet.size();
        if len <= self.max_size {
            return self.queue.enqueue(packet);
        }
        let mut pieces = Vec::new();
        let is_split = packet.split(&mut |piece| pieces.push(piece));
        if !is_split || pieces.iter().any(|piece| piece.size() > self.max_size) {
            self.too_long.drops(len);
            return false;
        }
        let taken = pieces
            .into_iter()
            .filter_map(|piece| self.queue.enqueue(piece).then_some(()));
        taken.count() > 0
    }

    pub fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        let Some(len) = self.queue.first_len() else {
            return Dequeued::Empty;
        };
        let gained = self.counted.map_or(0, |then| now.since(then).as_nanos());
        let gained = gained.min(self.rate.depth);
        let left = self.rate.after(gained, len);
        let peak_left = self.peak.map_or(0, |peak| peak.after(gained, len));
        if left < 0 || peak_left < 0 {
            self.overlimits += 1;
            return Dequeued::Wait(now + Duration::from_nanos((-left).max(-peak_left)));
        }
        self.counted = Some(now);
        self.rate.tokens = left;
        if let Some(peak) = &mut self.peak {
            peak.tokens = peak_left;
        }
        self.queue
            .dequeue()
            .map_or(Dequeued::Empty, Dequeued::Packet)
    }

    pub fn stats(&self) -> Stats {
        let queue = self.queue.stats;
        Stats {
            drops: queue.drops + self.too_long.drops,
            dropped_bytes: queue.dropped_bytes + self.too_long.dropped_bytes,
            overlimits: self.overlimits,
            ..queue
        }
    }
}

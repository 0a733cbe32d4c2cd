//! `tbf` (sch_tbf.c): a queue of so many bytes, or another qdisc, behind one or two token buckets. Tokens are nanoseconds.

mod settings;

pub use settings::Settings;

use tcplab_base::{Duration, Instant};

use crate::Kind;
use crate::discipline::{Configure, Discipline, Named};
use crate::kinds::fifo::{Fifo, Limit};
use crate::packet::Packet;
use crate::peek::Peek;
use crate::psched::Rate;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Tbf<P> {
    rate: Bucket,
    peak: Option<Bucket>,
    /// The longest packet that a bucket can pay for.
    max_size: u32,
    queue: Queue<P>,
    child: Option<Kind>,
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

/// The waiting packets. A FIFO can be inspected without removing a packet.
#[derive(Clone, Debug)]
enum Queue<P> {
    Fifo(Fifo<P>),
    Child(Box<Peek<P>>),
}

/// The FIFO that some settings make; none: another qdisc.
fn fifo(settings: &Settings, device: Device) -> Option<Limit> {
    match settings.child.as_deref() {
        None => Some(Limit::Bytes(settings.limit)),
        Some(Kind::Pfifo(fifo)) => Some(Limit::Packets(fifo.limit_pkts())),
        Some(Kind::Bfifo(fifo)) => Some(Limit::Bytes(fifo.limit_bytes(device.frame()))),
        Some(_) => None,
    }
}

impl<P: Packet> Configure<Settings> for Tbf<P> {
    fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        let child = settings.child.as_deref();
        let queue = match (fifo(settings, device), child) {
            (None, Some(kind)) => {
                let device = device.shaped(settings.rate);
                Queue::Child(Box::new(Peek::new(kind, device, seed, name)))
            }
            (limit, _) => Queue::Fifo(Fifo::new(limit.unwrap_or(Limit::Bytes(settings.limit)))),
        };
        let mut tbf = Self {
            rate: Bucket::new(Rate::new(settings.rate, settings.link), 0),
            peak: None,
            max_size: 0,
            queue,
            child: child.cloned(),
            counted: None,
            too_long: Stats::default(),
            overlimits: 0,
        };
        tbf.set(settings);
        tbf
    }

    /// Other settings fill the buckets. Waiting packets stay, except those that the new buckets cannot pay for.
    /// (DEVIATION: the kernel keeps these too, and stands still for ever.) False: the child is of another kind.
    fn change(&mut self, settings: &Settings, device: Device) -> bool {
        match (&mut self.queue, fifo(settings, device), &settings.child) {
            (Queue::Fifo(queue), Some(limit), _) => queue.set_limit(limit),
            (Queue::Child(queue), None, Some(kind)) => {
                let device = device.shaped(settings.rate);
                let is_new = self.child.as_ref() != Some(kind) || kind.asks_rate();
                if is_new && !queue.change(kind, device) {
                    return false;
                }
            }
            _ => return false,
        }
        self.child = settings.child.as_deref().cloned();
        self.set(settings);
        true
    }
}

impl<P: Packet> Discipline<P> for Tbf<P> {
    /// A super-segment that is too long goes in pieces (`tbf_segment()`).
    fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        let len = packet.size();
        if len <= self.max_size {
            return self.queue.enqueue(now, packet);
        }
        let mut pieces = Vec::new();
        let is_split = packet.split(&mut |piece| pieces.push(piece));
        if !is_split || pieces.iter().any(|piece| piece.size() > self.max_size) {
            self.too_long.drops(len);
            return false;
        }
        let taken = pieces
            .into_iter()
            .filter_map(|piece| self.queue.enqueue(now, piece).then_some(()));
        taken.count() > 0
    }

    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        let len = loop {
            match self.queue.next_len(now) {
                Dequeued::Packet(len) if len > self.max_size => self.drop_next(len),
                Dequeued::Packet(len) => break len,
                Dequeued::Wait(at) => return Dequeued::Wait(at),
                Dequeued::Empty => return Dequeued::Empty,
            }
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
        let packet = self.queue.take();
        packet.map_or(Dequeued::Empty, Dequeued::Packet)
    }

    fn stats(&self) -> Stats {
        let queue = self.queue.stats();
        Stats {
            packets: queue.packets - self.too_long.packets,
            bytes: queue.bytes - self.too_long.bytes,
            drops: queue.drops + self.too_long.drops,
            dropped_bytes: queue.dropped_bytes + self.too_long.dropped_bytes,
            overlimits: self.overlimits,
            ..queue
        }
    }

    fn own(&self) -> Named {
        self.queue.counted().0
    }

    fn tins(&self) -> Vec<Named> {
        self.queue.counted().1
    }
}

impl<P: Packet> Tbf<P> {
    /// Sets the buckets.
    fn set(&mut self, settings: &Settings) {
        self.rate = Bucket::new(Rate::new(settings.rate, settings.link), settings.burst);
        self.max_size = settings.burst;
        self.peak = settings.peak.map(|peak| {
            self.max_size = self.max_size.min(peak.burst);
            Bucket::new(Rate::new(peak.rate, settings.link), peak.burst)
        });
        if let Queue::Fifo(queue) = &mut self.queue {
            queue.drop_longer(self.max_size);
        }
    }

    /// A child's packet came before the bucket became too small for it.
    fn drop_next(&mut self, len: u32) {
        self.queue.take();
        self.too_long.drops(len);
        // What the child holds to have left.
        self.too_long.leaves(len);
    }
}

impl<P: Packet> Queue<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        match self {
            Self::Fifo(queue) => queue.push(packet),
            Self::Child(queue) => queue.enqueue(now, packet),
        }
    }

    fn next_len(&mut self, now: Instant) -> Dequeued<u32> {
        match self {
            Self::Fifo(queue) => queue.first_len().map_or(Dequeued::Empty, Dequeued::Packet),
            Self::Child(queue) => queue.next_len(now),
        }
    }

    /// The packet that was looked at.
    fn take(&mut self) -> Option<P> {
        match self {
            Self::Fifo(queue) => queue.pop(),
            Self::Child(queue) => queue.take(),
        }
    }

    fn counted(&self) -> (Named, Vec<Named>) {
        match self {
            Self::Fifo(_) => Default::default(),
            Self::Child(queue) => queue.counted(),
        }
    }

    fn stats(&self) -> Stats {
        match self {
            Self::Fifo(queue) => queue.stats,
            Self::Child(queue) => queue.stats(),
        }
    }
}

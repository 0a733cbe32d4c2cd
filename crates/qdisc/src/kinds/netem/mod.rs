//! `netem` (sch_netem.c): delay with jitter, loss, duplicates, corruption, reordering, a rate, slots.
//!
//! Each kind of draw has a stream of its own. A child qdisc is left out.

mod loss;
mod netlink;
mod random;
mod settings;
mod slot;
mod spread;
mod table;
mod words;

pub use settings::{Chance, Loss, Rate, Settings};

use std::collections::VecDeque;

use tcplab_base::{Duration, Instant, Random};

use crate::discipline::{Configure, Discipline, Named};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use crate::timed::Timed;
use random::{Correlated, Event};
use slot::Slots;
use spread::Spread;

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Netem<P> {
    limit: u32,
    ecn: bool,
    rate: Option<Rate>,
    has_duplicates: bool,
    chances: Chances,
    slots: Option<Slots>,
    reorder: Reorder,
    queue: Timed<P>,
    /// Packets that overtake, the last that came first, each with its time.
    ahead: VecDeque<(Instant, P)>,
    stats: Stats,
    own: Own,
    /// Seed and name of its streams.
    streams: (u64, String),
}

/// What it did to packets.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    /// Packets that overtook others.
    requeues: u64,
    /// Packets that were marked in place of a loss; tc counts them as drops.
    marked: u64,
    /// Copies made.
    duplicated: u64,
    /// Packets that were damaged.
    corrupted: u64,
}

#[derive(Clone, Debug)]
struct Chances {
    loss: loss::Loss,
    delay: Spread,
    duplicate: Event,
    corrupt: Event,
    /// Which bit is flipped of a packet without a checksum.
    places: Random,
}

/// Which packets overtake.
#[derive(Clone, Debug)]
struct Reorder {
    gap: u32,
    /// Packets since the last one.
    counter: u32,
    probability: u32,
    draws: Correlated,
}

impl Reorder {
    fn new(gap: u32, chance: Chance, draws: Random) -> Self {
        Self {
            gap,
            counter: 0,
            probability: chance.probability,
            draws: Correlated::new(draws, chance.correlation),
        }
    }

    fn overtakes(&mut self) -> bool {
        let overtakes =
            self.gap > 0 && self.counter >= self.gap - 1 && self.probability >= self.draws.next();
        self.counter = match overtakes {
            true => 0,
            false => self.counter.wrapping_add(1),
        };
        overtakes
    }
}

impl<P: Packet> Configure<Settings> for Netem<P> {
    fn new(settings: &Settings, _device: Device, seed: u64, name: &str) -> Self {
        // With a seed of its own, it does the same on every link.
        let streams = (seed, name.to_owned());
        let (seed, name) = settings.seed.map_or((seed, name), |own| (own, "netem"));
        let stream = |what: &str| Random::stream(seed, &format!("{name}/{what}"));
        let delay = [settings.latency_ns, settings.jitter_ns];
        let (by, correlation) = (settings.distribution, settings.delay_correlation);
        Self {
            limit: settings.limit,
            ecn: settings.ecn,
            rate: settings.rate,
            has_duplicates: true,
            chances: Chances {
                loss: loss::Loss::new(&settings.loss, stream("loss")),
                delay: Spread::new(delay, by, correlation, stream("delay")),
                duplicate: Event::new(settings.duplicate, stream("duplicate")),
                corrupt: Event::new(settings.corrupt, stream("corrupt")),
                places: stream("places"),
            },
            slots: settings
                .slot
                .as_ref()
                .and_then(|slot| Slots::new(slot, stream("slot"))),
            reorder: Reorder::new(settings.gap, settings.reorder, stream("reorder")),
            queue: Timed::default(),
            ahead: VecDeque::new(),
            stats: Stats::default(),
            own: Own::default(),
            streams,
        }
    }

    /// Other settings, and draws from the start; what waits keeps its time.
    fn change(&mut self, settings: &Settings, device: Device) -> bool {
        let (seed, name) = self.streams.clone();
        let old = std::mem::replace(self, Self::new(settings, device, seed, &name));
        self.queue = old.queue;
        self.ahead = old.ahead;
        self.stats = old.stats;
        self.own = old.own;
        true
    }
}

impl<P: Packet> Discipline<P> for Netem<P> {
    /// True when the packet is queued or lost on its way: the sender does not see a loss.
    fn enqueue(&mut self, now: Instant, mut packet: P) -> bool {
        let is_twice = self.has_duplicates && self.chances.duplicate.happens();
        if self.chances.loss.loses() {
            if self.ecn && packet.set_ce() {
                // The kernel counts a mark as a drop.
                self.stats.drops += 1;
                self.own.marked += 1;
            } else if !is_twice {
                self.stats.drops(packet.size());
                return true;
            } else {
                // One of the two is lost.
                return self.admit(now, packet, None);
            }
        }
        let copy = is_twice.then(|| packet.clone());
        self.admit(now, packet, copy)
    }

    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        if let Some((_, packet)) = self.ahead.pop_front() {
            return self.leaves(packet);
        }
        let Some(at) = self.queue.first() else {
            return Dequeued::Empty;
        };
        let slot = self.slots.as_mut().map(|slots| slots.for_packet(now, at));
        let at = slot.map_or(at, |slot| at.max(slot));
        if at > now {
            return Dequeued::Wait(at);
        }
        let Some(packet) = self.queue.pop() else {
            return Dequeued::Empty;
        };
        if let Some(slots) = &mut self.slots {
            slots.takes(now, packet.size());
        }
        self.leaves(packet)
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    /// tc shows the first only, among the counters of every qdisc.
    fn own(&self) -> Named {
        vec![
            ("requeues", self.own.requeues),
            ("ecn_mark", self.own.marked),
            ("duplicated", self.own.duplicated),
            ("corrupted", self.own.corrupted),
        ]
    }
}

impl<P: Packet> Netem<P> {
    fn admit(&mut self, now: Instant, mut packet: P, copy: Option<P>) -> bool {
        let mut rest = Vec::new();
        if self.chances.corrupt.happens() {
            // Of a super-segment, the first packet is corrupted; the others come after it.
            let mut pieces = Vec::new();
            if packet.split(&mut |piece| pieces.push(piece)) && !pieces.is_empty() {
                rest = pieces.split_off(1);
                packet = pieces.swap_remove(0);
            }
            self.corrupt(&mut packet);
        }
        if self.stats.qlen >= self.limit {
            for packet in rest.iter().chain([&packet]) {
                self.stats.drops(packet.size());
            }
            return false;
        }
        if let Some(copy) = copy {
            self.own.duplicated += 1;
            self.stats.copied_bytes += u64::from(copy.size());
            // The copy runs the same risks, but that of a copy.
            self.has_duplicates = false;
            self.enqueue(now, copy);
            self.has_duplicates = true;
        }
        self.store(now, packet);
        for packet in rest {
            self.enqueue(now, packet);
        }
        true
    }

    /// Damages it.
    fn corrupt(&mut self, packet: &mut P) {
        let byte = self.chances.places.below(u64::from(packet.size())) as u32;
        let bit = self.chances.places.below(8) as u8;
        if packet.size() > 0 {
            packet.corrupt(byte, bit);
            self.own.corrupted += 1;
        }
    }

    /// Into the queue, at its time; one that overtakes goes to the front.
    fn store(&mut self, now: Instant, packet: P) {
        let len = packet.size();
        self.stats.enters(len);
        if self.reorder.overtakes() {
            self.own.requeues += 1;
            self.ahead.push_front((now, packet));
            return;
        }
        let mut delay = self.chances.delay.next();
        let mut from = now;
        if let Some(rate) = self.rate {
            // Behind the last one; the delay passes while it waits for that.
            let ahead = self.ahead.back().map(|(at, _)| *at);
            if let Some(last) = self.queue.last().max(ahead) {
                delay = (delay - last.since(now).as_nanos()).max(0);
                from = last;
            }
            delay = delay.saturating_add(time(rate, len));
        }
        self.queue.push(from + Duration::from_nanos(delay), packet);
    }

    fn leaves(&mut self, packet: P) -> Dequeued<P> {
        let len = packet.size();
        self.stats.takes(len);
        self.stats.leaves(len);
        Dequeued::Packet(packet)
    }
}

/// Nanoseconds of a packet (`packet_time_ns()`). A negative overhead leaves no less than nothing.
fn time(rate: Rate, len: u32) -> i64 {
    let mut len = (i64::from(len) + i64::from(rate.packet_overhead)).max(0) as u64;
    if rate.cell_size > 0 {
        let cells = len.div_ceil(u64::from(rate.cell_size));
        let cell = i64::from(rate.cell_size) + i64::from(rate.cell_overhead);
        len = cells.saturating_mul(cell.max(0) as u64);
    }
    let ns = u128::from(len) * 1_000_000_000 / u128::from(rate.bytes.max(1));
    i64::try_from(ns).unwrap_or(i64::MAX)
}

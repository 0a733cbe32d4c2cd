//! CAKE (tc-cake(8)): a shaper without bursts, tins, flow isolation, COBALT for each flow, the ACK filter.

mod autorate;
mod cobalt;
mod counters;
mod dequeue;
mod diffserv;
mod enqueue;
mod flow;
mod hosts;
mod isolation;
mod netlink;
mod overflow;
mod overhead;
mod rate;
mod settings;
mod shaper;
mod tin;
mod words;

pub use settings::{AckFilter, Framing, Settings};

use tcplab_base::{Instant, Random};

use crate::discipline::{Configure, Discipline, Named};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use crate::store::{Store, Waiting};

use autorate::Autorate;
use diffserv::Plan;
use flow::QUEUES;
use isolation::{Hashes, Isolation};
use overflow::{Overflow, Which};
use overhead::Overhead;
use shaper::Shaper;
use tin::Tin;

/// The places where a flow with this hash may be: its own, then the others of its set of eight.
fn ways(hash: u32) -> impl Iterator<Item = usize> {
    const WAYS: usize = 8;
    let place = hash as usize % QUEUES;
    let (set, inner) = (place - place % WAYS, place % WAYS);
    (0..WAYS).map(move |n| set + (inner + n) % WAYS)
}

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Cake<P> {
    plan: Plan,
    isolation: Isolation,
    filter: AckFilter,
    wash: bool,
    split: bool,
    ingress: bool,
    autorate_on: bool,
    settings: Settings,
    frame: u32,
    tins: Vec<Tin>,
    tin: usize,
    shaper: Shaper,
    overhead: Overhead,
    overflow: Overflow,
    autorate: Autorate,
    memory: Memory,
    store: Store<P>,
    stats: Stats,
    draws: Random,
    key: u64,
}

/// Bytes of memory.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    used: u32,
    most: u32,
    limit: u32,
}

/// The least limit that follows from the rate.
const LEAST_MEMORY: u64 = 4 << 20;
/// Packets of the longest kind that the limit holds at most, when it follows from the rate.
const PACKETS: u64 = 10_240;

impl<P: Packet> Configure<Settings> for Cake<P> {
    fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        let mut draws = Random::stream(seed, name);
        let rate = settings.bandwidth_bps.unwrap_or(0) / 8;
        let mut cake = Self {
            plan: Plan::new(settings.tins),
            isolation: Isolation::new(settings.flows),
            filter: settings.ack_filter,
            wash: settings.wash,
            split: settings.split_gso,
            ingress: settings.ingress,
            autorate_on: settings.autorate,
            settings: settings.clone(),
            frame: device.frame(),
            tins: Vec::new(),
            tin: 0,
            shaper: Shaper::default(),
            overhead: Overhead::new(settings),
            overflow: Overflow::default(),
            autorate: Autorate::new(rate),
            memory: Memory::default(),
            store: Store::default(),
            stats: Stats::default(),
            key: draws.below(u64::MAX),
            draws,
        };
        cake.set_rate(rate);
        cake
    }

    /// Other settings; packets in tins that are no more are dropped.
    fn change(&mut self, settings: &Settings, device: Device) -> bool {
        self.plan = Plan::new(settings.tins);
        self.isolation = Isolation::new(settings.flows);
        self.filter = settings.ack_filter;
        self.wash = settings.wash;
        self.split = settings.split_gso;
        self.ingress = settings.ingress;
        self.autorate_on = settings.autorate;
        self.settings = settings.clone();
        self.frame = device.frame();
        self.overhead = Overhead::new(settings);
        self.set_rate(settings.bandwidth_bps.unwrap_or(0) / 8);
        for tin in self.plan.tins()..self.tins.len() {
            self.clear(tin);
        }
        true
    }
}

impl<P: Packet> Discipline<P> for Cake<P> {
    #[inline]
    fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        self.arrives(now, packet)
    }

    #[inline]
    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        self.next(now)
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn own(&self) -> Named {
        let of = (self.memory, self.overhead, self.autorate.peak);
        counters::named(&counters::WHOLE, &of)
    }

    fn tins(&self) -> Vec<Named> {
        let tins = self.plan.order.iter().map(|n| &self.tins[usize::from(*n)]);
        tins.map(|tin| counters::named(&counters::TIN, tin))
            .collect()
    }
}

impl<P: Packet> Cake<P> {
    /// Sets the rate in bytes a second, and what follows from it.
    fn set_rate(&mut self, rate: u64) {
        while self.tins.len() < self.plan.tins() {
            self.tins.push(Tin::default());
        }
        let (target, interval) = (
            self.settings.target_ns as u64,
            self.settings.interval_ns as u64,
        );
        for (tin, (rate, weight)) in self.tins.iter_mut().zip(self.plan.shares(rate)) {
            tin.rate = rate::Rate::new(rate);
            tin.params = tin.rate.cobalt(self.frame, target, interval);
            tin.flow_quantum = tin.rate.flow_quantum();
            tin.quantum = weight;
        }
        self.shaper.rate = self.tins[0].rate;
        let most = PACKETS * u64::from(self.frame);
        let limit = match self.settings.memlimit_bytes {
            Some(bytes) if bytes > 0 => u64::from(bytes).min(most.max(u64::from(bytes))),
            _ if rate == 0 => most,
            _ => {
                let us = self.settings.interval_ns as u64 / 1_000;
                (rate.saturating_mul(us) / 250_000)
                    .max(LEAST_MEMORY)
                    .min(most)
            }
        };
        self.memory.limit = u32::try_from(limit).unwrap_or(u32::MAX);
    }

    /// Drops what waits in a tin.
    fn clear(&mut self, tin: usize) {
        for flow in 0..QUEUES {
            while let Some(waiting) = self.take_head(tin, flow) {
                self.stats.drops(waiting.len);
            }
        }
    }

    /// Takes the packet at the head of a queue.
    #[inline]
    fn take_head(&mut self, tin: usize, n: usize) -> Option<Waiting<P>> {
        let flow = self.tins[tin].flows.get_mut(n);
        let waiting = self.store.pop(&mut flow.chain)?;
        self.shorten(tin, n, &waiting);
        if self.overflow.is_kept() {
            let tins = &self.tins;
            let which = Which {
                tin: tin as u8,
                flow: n as u16,
            };
            self.overflow.shrank(which, |which| backlog(tins, which));
        }
        Some(waiting)
    }

    /// A packet has left a queue.
    #[inline]
    fn shorten(&mut self, tin: usize, n: usize, waiting: &Waiting<P>) {
        let tin = &mut self.tins[tin];
        tin.flows.get_mut(n).backlog -= waiting.len;
        tin.backlog -= waiting.len;
        self.memory.used -= waiting.truesize;
        self.stats.takes(waiting.len);
    }

    /// When the shaper lets the next packet go; none: now.
    #[inline]
    fn held_until(&self, now: Instant) -> Option<Instant> {
        self.shaper.held_until(now)
    }
}

/// Bytes in a queue; 0 for unused tins.
fn backlog(tins: &[Tin], which: Which) -> u32 {
    let tin = tins.get(usize::from(which.tin));
    tin.map_or(0, |tin| tin.flows.get(usize::from(which.flow)).backlog)
}

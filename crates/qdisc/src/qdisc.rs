//! Any discipline, by its settings.

use tcplab_base::Instant;
use tcplab_plan::outcome::QdiscCount;
use tcplab_plan::qdisc::{Kind, Qdisc as Settings};

use crate::cake::Cake;
use crate::fifo::{Fifo, Limit};
use crate::packet::{ETHERNET, Packet};
use crate::report;
use crate::stats::{Stats, Xstats};

/// The interface that a qdisc sends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Bytes of the longest IP packet.
    pub mtu: u32,
}

impl Device {
    /// Bytes of the longest frame (`psched_mtu`).
    pub(crate) fn frame(self) -> u32 {
        self.mtu + ETHERNET
    }
}

/// An answer of [`Qdisc::dequeue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeued<P> {
    /// A packet.
    Packet(P),
    /// Packets wait, and none may leave before this time.
    Wait(Instant),
    /// Nothing waits.
    Empty,
}

/// A queueing discipline.
#[derive(Clone, Debug)]
pub struct Qdisc<P> {
    kind: &'static str,
    any: Any<P>,
}

#[derive(Clone, Debug)]
enum Any<P> {
    Fifo(Fifo<P>),
    Cake(Box<Cake<P>>),
}

impl<P: Packet> Qdisc<P> {
    /// A qdisc with draws and hashes from the stream `NAME` of this seed.
    pub fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        let any = match settings.kind() {
            Kind::Pfifo(fifo) => Any::Fifo(Fifo::new(Limit::Packets(fifo.limit_pkts()))),
            Kind::Bfifo(fifo) => {
                Any::Fifo(Fifo::new(Limit::Bytes(fifo.limit_bytes(device.frame()))))
            }
            Kind::Cake(cake) => Any::Cake(Box::new(Cake::new(cake, device, seed, name))),
        };
        Self {
            kind: settings.kind().name(),
            any,
        }
    }

    /// Other settings, as `tc qdisc change` sets them; false: it is of another kind, and nothing has changed. What waits
    /// stays, but for tins of CAKE that are no more.
    pub fn change(&mut self, settings: &Settings, device: Device) -> bool {
        match (&mut self.any, settings.kind()) {
            (Any::Fifo(fifo), Kind::Pfifo(new)) => fifo.change(Limit::Packets(new.limit_pkts())),
            (Any::Fifo(fifo), Kind::Bfifo(new)) => {
                fifo.change(Limit::Bytes(new.limit_bytes(device.frame())));
            }
            (Any::Cake(cake), Kind::Cake(new)) => cake.change(new, device),
            _ => return false,
        }
        true
    }

    /// A packet arrives. False: it was dropped (or another one of its flow in its place, as in the kernel's
    /// NET_XMIT_CN).
    #[inline]
    pub fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        match &mut self.any {
            Any::Fifo(fifo) => fifo.enqueue(packet),
            Any::Cake(cake) => cake.enqueue(now, packet),
        }
    }

    /// The interface asks for a packet. After `Wait`, and after `Empty` and an arrival, it is to ask again.
    #[inline]
    pub fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        match &mut self.any {
            Any::Fifo(fifo) => fifo.dequeue().map_or(Dequeued::Empty, Dequeued::Packet),
            Any::Cake(cake) => cake.dequeue(now),
        }
    }

    /// All that it counts, as plain data.
    pub fn report(&self) -> QdiscCount {
        report::of(self.kind, self.stats(), &self.xstats())
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        match &self.any {
            Any::Fifo(fifo) => fifo.stats,
            Any::Cake(cake) => cake.stats(),
        }
    }

    /// What only its kind counts.
    pub fn xstats(&self) -> Xstats {
        match &self.any {
            Any::Fifo(_) => Xstats::None,
            Any::Cake(cake) => Xstats::Cake(cake.cake_stats()),
        }
    }
}

//! Any discipline, by its settings.

use crate::Settings;
use crate::count::QdiscCount;
use crate::kinds::Kind;
use tcplab_base::Instant;

use crate::kinds::cake::Cake;
use crate::kinds::caqm::Caqm;
use crate::kinds::codel::{CodelQueue, FqCodel};
use crate::kinds::fifo::{Fifo, Limit};
use crate::kinds::fq::Fq;
use crate::kinds::htb::Htb;
use crate::kinds::netem::Netem;
use crate::kinds::prio::Prio;
use crate::kinds::red::Red;
use crate::kinds::tbf::Tbf;
use crate::packet::{ETHERNET, Packet};
use crate::report;
use crate::stats::{Stats, Xstats};

/// The interface that a qdisc sends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Bytes of the longest IP packet.
    pub mtu: u32,
    /// Bits a second that it sends; none: it does not know.
    pub rate_bps: Option<u64>,
    /// Bytes that the wire needs for a frame beside its own.
    pub overhead: u32,
}

impl Device {
    /// An interface with this MTU that knows nothing of its wire.
    pub const fn new(mtu: u32) -> Self {
        Self {
            mtu,
            rate_bps: None,
            overhead: 0,
        }
    }

    /// The same in front of a shaper of so many bytes a second.
    pub(crate) fn shaped(self, bytes_per_s: u64) -> Self {
        Self {
            rate_bps: Some(bytes_per_s.saturating_mul(8)),
            ..self
        }
    }

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
    Netem(Box<Netem<P>>),
    Tbf(Box<Tbf<P>>),
    Codel(Box<CodelQueue<P>>),
    FqCodel(Box<FqCodel<P>>),
    Fq(Box<Fq<P>>),
    Red(Box<Red<P>>),
    Prio(Box<Prio<P>>),
    Htb(Box<Htb<P>>),
    Caqm(Box<Caqm<P>>),
}

impl<P: Packet> Qdisc<P> {
    /// A qdisc with draws and hashes from the stream `NAME` of this seed.
    pub fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        Self::of_kind(settings.kind(), device, seed, name)
    }

    pub(crate) fn of_kind(kind: &Kind, device: Device, seed: u64, name: &str) -> Self {
        let frame = device.frame();
        let any = match kind {
            Kind::Pfifo(fifo) => Any::Fifo(Fifo::new(Limit::Packets(fifo.limit_pkts()))),
            Kind::Bfifo(fifo) => {
                Any::Fifo(Fifo::new(Limit::Bytes(fifo.limit_bytes(device.frame()))))
            }
            Kind::Cake(cake) => Any::Cake(Box::new(Cake::new(cake, device, seed, name))),
            Kind::Netem(netem) => Any::Netem(Box::new(Netem::new(netem, seed, name))),
            Kind::Tbf(tbf) => Any::Tbf(Box::new(Tbf::new(tbf, device, seed, name))),
            Kind::Codel(codel) => Any::Codel(Box::new(CodelQueue::new(codel, frame))),
            Kind::FqCodel(fq) => Any::FqCodel(Box::new(FqCodel::new(fq, frame, seed, name))),
            Kind::Fq(fq) => Any::Fq(Box::new(Fq::new(fq, frame, seed, name))),
            Kind::Red(red) => Any::Red(Box::new(Red::new(red, seed, name))),
            Kind::Prio(prio) => Any::Prio(Box::new(Prio::new(prio, device, seed, name))),
            Kind::Htb(htb) => Any::Htb(Box::new(Htb::new(htb, device, seed, name))),
            Kind::Caqm(caqm) => Any::Caqm(Box::new(Caqm::new(caqm, device, seed, name))),
        };
        Self {
            kind: kind.name(),
            any,
        }
    }

    /// Other settings, as `tc qdisc change` sets them; false: it is of another kind (or `fq_codel` with another number of
    /// flows, which the kernel refuses), and nothing has changed. What waits stays, but for what is beyond a new limit,
    /// the queue of `red`, and tins of CAKE and bands of `prio` that are no more.
    pub fn change(&mut self, settings: &Settings, device: Device) -> bool {
        self.change_kind(settings.kind(), device)
    }

    pub(crate) fn change_kind(&mut self, kind: &Kind, device: Device) -> bool {
        let frame = device.frame();
        match (&mut self.any, kind) {
            (Any::Fifo(fifo), Kind::Pfifo(new)) => fifo.change(Limit::Packets(new.limit_pkts())),
            (Any::Fifo(fifo), Kind::Bfifo(new)) => {
                fifo.change(Limit::Bytes(new.limit_bytes(device.frame())));
            }
            (Any::Cake(cake), Kind::Cake(new)) => cake.change(new, device),
            (Any::Netem(netem), Kind::Netem(new)) => netem.change(new),
            (Any::Tbf(tbf), Kind::Tbf(new)) => return tbf.change(new, device),
            (Any::Codel(codel), Kind::Codel(new)) => codel.change(new, frame),
            (Any::FqCodel(fq), Kind::FqCodel(new)) => return fq.change(new, frame),
            (Any::Fq(fq), Kind::Fq(new)) => fq.change(new, frame),
            (Any::Red(red), Kind::Red(new)) => red.change(new),
            (Any::Prio(prio), Kind::Prio(new)) => return prio.change(new, device),
            (Any::Htb(htb), Kind::Htb(new)) => return htb.change(new, device),
            (Any::Caqm(caqm), Kind::Caqm(new)) => caqm.change(new, device),
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
            Any::Netem(netem) => netem.enqueue(now, packet),
            Any::Tbf(tbf) => tbf.enqueue(now, packet),
            Any::Codel(codel) => codel.enqueue(now, packet),
            Any::FqCodel(fq) => fq.enqueue(now, packet),
            Any::Fq(fq) => fq.enqueue(now, packet),
            Any::Red(red) => red.enqueue(now, packet),
            Any::Prio(prio) => prio.enqueue(now, packet),
            Any::Htb(htb) => htb.enqueue(now, packet),
            Any::Caqm(caqm) => caqm.enqueue(now, packet),
        }
    }

    /// The interface asks for a packet. After `Wait`, and after `Empty` and an arrival, it is to ask again.
    #[inline]
    pub fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        match &mut self.any {
            Any::Fifo(fifo) => fifo.dequeue().map_or(Dequeued::Empty, Dequeued::Packet),
            Any::Cake(cake) => cake.dequeue(now),
            Any::Netem(netem) => netem.dequeue(now),
            Any::Tbf(tbf) => tbf.dequeue(now),
            Any::Codel(codel) => codel.dequeue(now),
            Any::FqCodel(fq) => fq.dequeue(now),
            Any::Fq(fq) => fq.dequeue(now),
            Any::Red(red) => red.dequeue(now),
            Any::Prio(prio) => prio.dequeue(now),
            Any::Htb(htb) => htb.dequeue(now),
            Any::Caqm(caqm) => caqm.dequeue(now),
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
            Any::Netem(netem) => netem.stats(),
            Any::Tbf(tbf) => tbf.stats(),
            Any::Codel(codel) => codel.stats(),
            Any::FqCodel(fq) => fq.stats(),
            Any::Fq(fq) => fq.stats(),
            Any::Red(red) => red.stats(),
            Any::Prio(prio) => prio.stats(),
            Any::Htb(htb) => htb.stats(),
            Any::Caqm(caqm) => caqm.stats(),
        }
    }

    /// What only its kind counts.
    pub fn xstats(&self) -> Xstats {
        match &self.any {
            Any::Fifo(_) | Any::Tbf(_) | Any::Prio(_) => Xstats::None,
            Any::Netem(netem) => Xstats::Netem(netem.netem_stats()),
            Any::Codel(codel) => Xstats::Codel(codel.codel_stats()),
            Any::FqCodel(fq) => Xstats::FqCodel(fq.fq_codel_stats()),
            Any::Fq(fq) => Xstats::Fq(fq.fq_stats()),
            Any::Red(red) => Xstats::Red(red.red_stats()),
            Any::Htb(htb) => Xstats::Htb(htb.htb_stats()),
            Any::Caqm(caqm) => Xstats::Caqm(caqm.caqm_stats()),
            Any::Cake(cake) => Xstats::Cake(cake.cake_stats()),
        }
    }
}

//! Any discipline, by its settings.

use tcplab_base::Instant;

use crate::Settings;
use crate::count::QdiscCount;
use crate::discipline::Named;
use crate::kinds::{Kind, Queue};
use crate::packet::{ETHERNET, Packet};
use crate::stats::Stats;

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
    /// An interface with this MTU and an unknown wire.
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
    queue: Queue<P>,
}

impl<P: Packet> Qdisc<P> {
    /// A qdisc with draws and hashes from the stream `NAME` of this seed.
    pub fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        Self::of_kind(settings.kind(), device, seed, name)
    }

    pub(crate) fn of_kind(kind: &Kind, device: Device, seed: u64, name: &str) -> Self {
        Self {
            kind: kind.name(),
            queue: Queue::new(kind, device, seed, name),
        }
    }

    /// Applies other settings as `tc qdisc change` does. Returns false, without changes, when `settings` is of another
    /// kind, or an `fq_codel` with another number of flows, which the kernel refuses. Waiting packets stay, except
    /// those beyond a new limit, the queue of `red`, and packets in removed CAKE tins and `prio` bands.
    pub fn change(&mut self, settings: &Settings, device: Device) -> bool {
        self.change_kind(settings.kind(), device)
    }

    pub(crate) fn change_kind(&mut self, kind: &Kind, device: Device) -> bool {
        self.queue.change(kind, device)
    }

    /// A packet arrives. False: it was dropped (or another one of its flow in its place, as in the kernel's
    /// NET_XMIT_CN).
    #[inline]
    pub fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        self.queue.enqueue(now, packet)
    }

    /// The interface asks for a packet. After `Wait`, and after `Empty` and an arrival, it is to ask again.
    #[inline]
    pub fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        self.queue.dequeue(now)
    }

    /// All that it counts, as plain data.
    pub fn report(&self) -> QdiscCount {
        QdiscCount::new(self.kind, self.stats(), (self.own(), self.tins()))
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        self.queue.stats()
    }

    /// What only its kind counts, by tc's names.
    pub fn own(&self) -> Named {
        self.queue.own()
    }

    /// The same of its tins, lowest priority first.
    pub(crate) fn tins(&self) -> Vec<Named> {
        self.queue.tins()
    }
}

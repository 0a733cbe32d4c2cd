//! A qdisc whose next packet can be looked at (`qdisc_peek_dequeued()`): it is taken out for that, and kept.

use crate::Kind;
use tcplab_base::Instant;

use crate::discipline::Named;
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device, Qdisc};
use crate::stats::Stats;

/// The qdisc, and the packet that was looked at.
#[derive(Clone, Debug)]
pub(crate) struct Peek<P> {
    qdisc: Qdisc<P>,
    next: Option<P>,
}

impl<P: Packet> Peek<P> {
    pub fn new(kind: &Kind, device: Device, seed: u64, name: &str) -> Self {
        Self {
            qdisc: Qdisc::of_kind(kind, device, seed, name),
            next: None,
        }
    }

    pub fn change(&mut self, kind: &Kind, device: Device) -> bool {
        self.qdisc.change_kind(kind, device)
    }

    pub fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        self.qdisc.enqueue(now, packet)
    }

    /// Bytes of the next packet.
    pub fn next_len(&mut self, now: Instant) -> Dequeued<u32> {
        if self.next.is_none() {
            match self.qdisc.dequeue(now) {
                Dequeued::Packet(packet) => self.next = Some(packet),
                Dequeued::Wait(at) => return Dequeued::Wait(at),
                Dequeued::Empty => return Dequeued::Empty,
            }
        }
        let len = self.next.as_ref().map(Packet::size);
        len.map_or(Dequeued::Empty, Dequeued::Packet)
    }

    /// The packet that was looked at.
    pub fn take(&mut self) -> Option<P> {
        self.next.take()
    }

    /// What only its kind counts, and the same of its tins.
    pub fn counted(&self) -> (Named, Vec<Named>) {
        (self.qdisc.own(), self.qdisc.tins())
    }

    /// The packet that was looked at still waits.
    pub fn stats(&self) -> Stats {
        let mut stats = self.qdisc.stats();
        if let Some(packet) = &self.next {
            let len = packet.size();
            stats.packets -= 1;
            stats.bytes -= u64::from(len);
            stats.enters(len);
        }
        stats
    }
}

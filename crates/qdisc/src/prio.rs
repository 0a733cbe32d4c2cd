//! `prio` (sch_prio.c): bands by a packet's priority, each a `pfifo`; the first that has a packet is served.

use tcplab_plan::qdisc::Prio as Settings;

use crate::fifo::{Fifo, Limit};
use crate::packet::Packet;
use crate::qdisc::Dequeued;
use crate::stats::Stats;

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Prio<P> {
    bands: Vec<Fifo<P>>,
    map: [u8; 16],
    /// What bands that are no more have done.
    gone: Stats,
}

/// Packets of a band: the transmit queue length of an Ethernet device.
const LIMIT: Limit = Limit::Packets(1_000);

impl<P: Packet> Prio<P> {
    pub fn new(settings: &Settings) -> Self {
        let mut prio = Self {
            bands: Vec::new(),
            map: settings.priomap,
            gone: Stats::default(),
        };
        prio.change(settings);
        prio
    }

    /// Other settings; what waits in bands that are no more is dropped.
    pub fn change(&mut self, settings: &Settings) {
        let bands = usize::from(settings.bands);
        self.map = settings.priomap;
        for mut band in self.bands.drain(bands.min(self.bands.len())..) {
            band.clear();
            self.gone = self.gone.and(band.stats);
        }
        self.bands.resize_with(bands, || Fifo::new(LIMIT));
    }

    pub fn enqueue(&mut self, packet: P) -> bool {
        let band = self.map[usize::from(packet.priority() & 15)];
        self.bands[usize::from(band)].enqueue(packet)
    }

    pub fn dequeue(&mut self) -> Dequeued<P> {
        let packet = self.bands.iter_mut().find_map(Fifo::dequeue);
        packet.map_or(Dequeued::Empty, Dequeued::Packet)
    }

    pub fn stats(&self) -> Stats {
        self.bands
            .iter()
            .fold(self.gone, |sum, band| sum.and(band.stats))
    }
}

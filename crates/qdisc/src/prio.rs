//! `prio` (sch_prio.c): bands by a packet's priority, each a `pfifo` or another qdisc; the first that has a packet is
//! served.

use tcplab_base::Instant;
use tcplab_plan::qdisc::{Kind, Prio as Settings};

use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device, Qdisc};
use crate::stats::Stats;

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Prio<P> {
    bands: Vec<Qdisc<P>>,
    map: [u8; 16],
    /// What is in each band.
    kind: Kind,
    /// What bands that are no more have done.
    gone: Stats,
    /// The seed and the name of bands' streams.
    streams: (u64, String),
}

impl<P: Packet> Prio<P> {
    pub fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        let mut prio = Self {
            bands: Vec::new(),
            map: settings.priomap,
            kind: (*settings.child).clone(),
            gone: Stats::default(),
            streams: (seed, name.to_owned()),
        };
        prio.set_bands(settings, device);
        prio
    }

    /// Other settings; what waits in bands that are no more is dropped. False: the bands are of another kind.
    pub fn change(&mut self, settings: &Settings, device: Device) -> bool {
        if self.kind != *settings.child {
            // One that refuses them is the first.
            let mut bands = self.bands.iter_mut();
            if !bands.all(|band| band.change_kind(&settings.child, device)) {
                return false;
            }
        }
        self.kind = (*settings.child).clone();
        self.set_bands(settings, device);
        true
    }

    fn set_bands(&mut self, settings: &Settings, device: Device) {
        let bands = usize::from(settings.bands);
        self.map = settings.priomap;
        for band in self.bands.drain(bands.min(self.bands.len())..) {
            self.gone = self.gone.and(band.stats().dropped());
        }
        let (seed, name) = &self.streams;
        for n in self.bands.len()..bands {
            let name = format!("{name}/{n}");
            let band = Qdisc::of_kind(&settings.child, device, *seed, &name);
            self.bands.push(band);
        }
    }

    pub fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        let band = self.map[usize::from(packet.priority() & 15)];
        self.bands[usize::from(band)].enqueue(now, packet)
    }

    pub fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        let mut wait: Option<Instant> = None;
        for band in &mut self.bands {
            match band.dequeue(now) {
                Dequeued::Packet(packet) => return Dequeued::Packet(packet),
                Dequeued::Wait(at) => wait = Some(wait.map_or(at, |wait| wait.min(at))),
                Dequeued::Empty => {}
            }
        }
        wait.map_or(Dequeued::Empty, Dequeued::Wait)
    }

    /// Bands' own waits are not overlimits of this one.
    pub fn stats(&self) -> Stats {
        let sum = |sum: Stats, band: &Qdisc<P>| sum.and(band.stats());
        Stats {
            overlimits: 0,
            ..self.bands.iter().fold(self.gone, sum)
        }
    }
}

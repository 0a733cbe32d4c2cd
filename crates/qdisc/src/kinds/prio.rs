//! `prio` (tc-prio(8), sch_prio.c): bands by a packet's priority, each a `pfifo` or another qdisc; the first that has a
//! packet is served.

use tcplab_base::Instant;

use super::Kind;
use super::fifo::Pfifo;
use crate::count::COUNTERS;
use crate::discipline::{Configure, Discipline, Named, Words};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device, Qdisc};
use crate::stats::Stats;
use crate::words::{Lexer, Wrong, begins_with_digit};

/// The settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Number of bands.
    pub bands: u8,
    /// The band of each priority of a packet (`skb->priority`).
    pub priomap: [u8; 16],
    /// What queues in each band: `pfifo`, unless the words say another.
    pub child: Box<Kind>,
}

impl Words for Settings {
    const NAME: &'static str = "prio";
    const SUPPORTED: &'static str =
        "bands and priomap; each band is a pfifo, or the qdisc of `child KIND WORDS`";
    const WORDS: &'static [&'static str] = &["bands", "priomap", "child"];
    const EXAMPLES: &'static [&'static str] = &[
        "prio -> prio bands 2 priomap 0 1 1 1 0 1 0 0 1 1 1 1 1 1 1 1",
        "prio child codel limit 5 -> prio bands 2 priomap 0 1 1 1 0 1 0 0 1 1 1 1 1 1 1 1 child codel limit 3",
        "prio bands 4 child cake bandwidth 1mbit -> prio child cake bandwidth 5mbit",
        "prio child caqm limit 9000 rate 1mbit -> prio child caqm limit 5000",
        "prio bands 4 -> prio bands 3",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut prio = Self {
            bands: 3,
            priomap: [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
            child: Box::new(Kind::Pfifo(Pfifo { limit: None })),
        };
        while let Some(word) = words.next_word() {
            match word {
                "bands" => prio.bands = u8::try_from(words.number(2, 16)?).unwrap_or(16),
                "priomap" => prio.read_map(words)?,
                "child" => *prio.child = Kind::child(words)?,
                _ => return Err(Wrong::unknown(word, "a word of prio", Self::WORDS)),
            }
        }
        if let Some(band) = prio.priomap.iter().find(|band| **band >= prio.bands) {
            let why = format!(
                "prio: `priomap` names band {band}, but there are only {} bands (from 0): write all 16 entries",
                prio.bands
            );
            return Err(Wrong::new(words.whole(), why));
        }
        Ok(prio)
    }

    /// A band is a `pfifo` of itself.
    fn child(&self) -> Option<(&Kind, u8)> {
        let own = matches!(*self.child, Kind::Pfifo(Pfifo { limit: None }));
        (!own).then_some((&*self.child, self.bands))
    }

    fn asks_rate(&self) -> bool {
        self.child.asks_rate()
    }

    /// `struct tc_prio_qopt`.
    fn options(&self) -> Option<Vec<u8>> {
        let mut bytes = i32::from(self.bands).to_ne_bytes().to_vec();
        bytes.extend_from_slice(&self.priomap);
        Some(bytes)
    }
}

impl Settings {
    /// What is not said stays as it was.
    fn read_map<'a>(&mut self, words: &mut Lexer<'a>) -> Result<(), Wrong<'a>> {
        let mut n = 0;
        while let Some(word) = words.peek().filter(|word| begins_with_digit(word)) {
            let band = word.parse().ok().filter(|band| *band < 16);
            match (self.priomap.get_mut(n), band) {
                (Some(place), Some(band)) => *place = band,
                (None, _) => return Err(Wrong::new(word, "`priomap` takes 16 bands at most")),
                (_, None) => return Err(Wrong::new(word, format!("`{word}` is not a band"))),
            }
            words.next_word();
            n += 1;
        }
        Ok(())
    }
}

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Prio<P> {
    bands: Vec<Qdisc<P>>,
    map: [u8; 16],
    /// What is in each band.
    kind: Kind,
    /// Counters of bands that no longer exist.
    gone: Stats,
    gone_own: Named,
    /// The seed and the name of bands' streams.
    streams: (u64, String),
}

impl<P: Packet> Configure<Settings> for Prio<P> {
    fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        let mut prio = Self {
            bands: Vec::new(),
            map: settings.priomap,
            kind: (*settings.child).clone(),
            gone: Stats::default(),
            gone_own: Named::new(),
            streams: (seed, name.to_owned()),
        };
        prio.set_bands(settings, device);
        prio
    }

    /// Other settings; what waits in bands that are no more is dropped. False: the bands are of another kind.
    fn change(&mut self, settings: &Settings, device: Device) -> bool {
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
}

impl<P: Packet> Discipline<P> for Prio<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        let band = self.map[usize::from(packet.priority() & 15)];
        self.bands[usize::from(band)].enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
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
    fn stats(&self) -> Stats {
        let sum = |sum: Stats, band: &Qdisc<P>| sum.and(band.stats());
        Stats {
            overlimits: 0,
            ..self.bands.iter().fold(self.gone, sum)
        }
    }

    fn own(&self) -> Named {
        let mut own = self.gone_own.clone();
        self.bands.iter().for_each(|band| add(&mut own, band.own()));
        own
    }

    fn tins(&self) -> Vec<Named> {
        self.bands.iter().flat_map(Qdisc::tins).collect()
    }
}

/// Adds the counters that can be added.
fn add(own: &mut Named, more: Named) {
    for (name, n) in more {
        match own.iter_mut().find(|known| known.0 == name) {
            Some(known) => known.1 += n,
            None if COUNTERS.contains(&name) => own.push((name, n)),
            None => {}
        }
    }
}

impl<P: Packet> Prio<P> {
    fn set_bands(&mut self, settings: &Settings, device: Device) {
        let bands = usize::from(settings.bands);
        self.map = settings.priomap;
        for band in self.bands.drain(bands.min(self.bands.len())..) {
            self.gone = self.gone.and(band.stats().dropped());
            add(&mut self.gone_own, band.own());
        }
        let (seed, name) = &self.streams;
        for n in self.bands.len()..bands {
            let name = format!("{name}/{n}");
            let band = Qdisc::of_kind(&settings.child, device, *seed, &name);
            self.bands.push(band);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Kind;

    #[test]
    fn maps() {
        let read =
            crate::Settings::parse("prio bands 4 priomap 1 2 3 0 child codel limit 5").unwrap();
        let Kind::Prio(prio) = read.kind() else {
            panic!("no prio")
        };
        assert!(matches!(&*prio.child, Kind::Codel(codel) if codel.limit == 5));
        assert_eq!(
            prio.priomap,
            [1, 2, 3, 0, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
        );
        for (text, word) in [
            ("prio bands 2", "prio bands 2"),
            ("prio bands 17", "17"),
            ("prio priomap 5", "prio priomap 5"),
            ("prio priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 9", "9"),
            ("prio priomap 99", "99"),
            ("prio child prio", "prio"),
            ("prio child", "child"),
        ] {
            assert_eq!(
                crate::Settings::parse(text).expect_err(text).word,
                word,
                "{text}"
            );
        }
    }
}

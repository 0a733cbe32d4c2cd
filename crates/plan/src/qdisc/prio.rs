//! `prio` (tc-prio(8)): bands, each a `pfifo` or another qdisc, served in their order.

use super::words::{Words, Wrong, begins_with_digit};
use super::{Fifo, Kind};

/// The settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Prio {
    /// Number of bands.
    pub bands: u8,
    /// The band of each priority of a packet (`skb->priority`).
    pub priomap: [u8; 16],
    /// What queues in each band: `pfifo`, unless the words say another.
    pub child: Box<Kind>,
}

pub(super) const KNOWN: [&str; 3] = ["bands", "priomap", "child"];

impl Prio {
    pub(super) fn parse<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        let mut prio = Self {
            bands: 3,
            priomap: [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
            child: Box::new(Kind::Pfifo(Fifo { limit: None })),
        };
        while let Some(word) = words.next() {
            match word {
                "bands" => prio.bands = u8::try_from(words.number(2, 16)?).unwrap_or(16),
                "priomap" => prio.read_map(words)?,
                "child" => *prio.child = super::child::child(words)?,
                _ => return Err(Wrong::unknown(word, "a word of prio", &KNOWN)),
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

    /// What is not said stays as it was.
    fn read_map<'a>(&mut self, words: &mut Words<'a>) -> Result<(), Wrong<'a>> {
        let mut n = 0;
        while let Some(word) = words.peek().filter(|word| begins_with_digit(word)) {
            let band = word.parse().ok().filter(|band| *band < 16);
            match (self.priomap.get_mut(n), band) {
                (Some(place), Some(band)) => *place = band,
                (None, _) => return Err(Wrong::new(word, "`priomap` takes 16 bands at most")),
                (_, None) => return Err(Wrong::new(word, format!("`{word}` is not a band"))),
            }
            words.next();
            n += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Qdisc};

    #[test]
    fn maps() {
        let read = Qdisc::parse("prio bands 4 priomap 1 2 3 0 child codel limit 5").unwrap();
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
            assert_eq!(Qdisc::parse(text).expect_err(text).word, word, "{text}");
        }
    }
}

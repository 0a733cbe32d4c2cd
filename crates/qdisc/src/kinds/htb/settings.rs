//! `htb` (tc-htb(8)) with the one class that everything goes through, and what queues there.
//!
//! tc needs three commands for this; here it is one line, the words of the class and then those of its child:
//! `htb rate 30mbit burst 15k child fq_codel quantum 300`.

use crate::kinds::{Kind, fifo};
use crate::link_layer::{LinkLayer, byte_rate, size_with_cell};
use crate::words::{Words, Wrong};

/// The settings, as tc gives them to the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Bytes a second.
    pub rate: u64,
    /// Bytes a second at most. The only class cannot borrow, so a ceiling above the rate does nothing.
    pub ceil: u64,
    /// The bucket of the rate, in the kernel's ticks of 64 ns.
    pub buffer_ticks: u32,
    /// The bucket of the ceiling.
    pub cbuffer_ticks: u32,
    /// What a packet costs.
    pub link: LinkLayer,
    /// What queues: `pfifo`, unless the words say another.
    pub child: Box<Kind>,
}

pub(crate) const KNOWN: [&str; 14] = [
    "rate",
    "ceil",
    "burst",
    "buffer",
    "maxburst",
    "cburst",
    "cbuffer",
    "cmaxburst",
    "quantum",
    "prio",
    "mpu",
    "overhead",
    "linklayer",
    "child",
];

/// Bytes of a bucket that no word sets: tc adds what goes in one of the kernel's ticks, of which there are a milliard a
/// second.
const MTU: u64 = 1_600;
const HZ: u64 = 1_000_000_000;

impl Settings {
    pub(crate) fn parse<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        let (mut rate, mut ceil, mut burst, mut cburst) = (None, None, None, None);
        let mut link = LinkLayer::default();
        let mut child = Kind::Pfifo(fifo::Settings { limit: None });
        while let Some(word) = words.next() {
            match word {
                "rate" => rate = Some(byte_rate(words)?),
                "ceil" => ceil = Some(byte_rate(words)?),
                "burst" | "buffer" | "maxburst" => burst = Some(size_with_cell(words)?),
                "cburst" | "cbuffer" | "cmaxburst" => cburst = Some(size_with_cell(words)?),
                // Shares among classes, of which there is one.
                "quantum" => _ = words.count(u32::MAX)?,
                "prio" => _ = words.number(0, 7)?,
                // The words of the child are the rest.
                "child" => child = Kind::child(words)?,
                _ if link.take(word, words)? => {}
                _ => return Err(Wrong::unknown(word, "a word of htb", &KNOWN)),
            }
        }
        let missing = || Wrong::new(words.whole(), "htb: `rate` is missing");
        let rate = rate.ok_or_else(missing)?;
        let ceil = ceil.unwrap_or(rate);
        Ok(Self {
            rate,
            ceil,
            buffer_ticks: ticks(rate, burst),
            cbuffer_ticks: ticks(ceil, cburst),
            link,
            child: Box::new(child),
        })
    }
}

/// Time that a bucket takes at this rate: tc cuts it to microseconds and the kernel's ticks.
fn ticks(rate: u64, bucket: Option<u32>) -> u32 {
    let bytes = bucket.map_or(rate / HZ + MTU, u64::from);
    let us = u128::from(bytes) * 1_000_000 / u128::from(rate);
    u32::try_from(us * 1_000 / 64).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Settings {
        match crate::Settings::parse(text).unwrap().kind() {
            Kind::Htb(htb) => htb.clone(),
            _ => panic!("{text} is not a htb"),
        }
    }

    /// Buckets that tc 6.1 sends for these words.
    #[test]
    fn buckets() {
        for (text, buckets) in [
            ("htb rate 10mbit", [0x4e20, 0x4e20]),
            (
                "htb rate 10mbit ceil 20mbit burst 5k cburst 6k",
                [0xfa00, 0x95f6],
            ),
            ("htb rate 10gbit", [15, 15]),
            (
                "htb rate 1mbit mpu 64 overhead 10 linklayer atm burst 5k",
                [0x9c400, 0x30d40],
            ),
            ("htb rate 1mbit ceil 2mbit", [0x30d40, 0x186a0]),
        ] {
            let htb = read(text);
            assert_eq!([htb.buffer_ticks, htb.cbuffer_ticks], buckets, "{text}");
        }
    }

    #[test]
    fn children() {
        let htb = read("htb rate 30mbit child fq_codel quantum 300");
        assert!(matches!(*htb.child, Kind::FqCodel(fq) if fq.quantum == Some(300)));
        for (text, word) in [
            ("htb ceil 5mbit", "htb ceil 5mbit"),
            ("htb rate 1mbit child", "child"),
            ("htb rate 1mbit child htb rate 1mbit", "htb"),
            ("htb rate 1mbit child cake dealy", "dealy"),
        ] {
            assert_eq!(
                crate::Settings::parse(text).expect_err(text).word,
                word,
                "{text}"
            );
        }
    }
}

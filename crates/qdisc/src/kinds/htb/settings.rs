//! `htb` (tc-htb(8)) with one class for all packets, and its child qdisc.
//!
//! tc needs three commands for this. Here it is one line: the words of the class, then the child's: `htb rate
//! 30mbit burst 15k child fq_codel quantum 300`.

use super::CLASS;
use crate::discipline::Words;
use crate::kinds::{Kind, fifo::Pfifo};
use crate::link_layer::{LinkLayer, byte_rate, is_high, size_with_cell, spec};
use crate::netlink::{Attributes, Message, ROOT, handle};
use crate::words::{Lexer, Wrong};

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

/// `enum TCA_HTB_*` (linux/pkt_sched.h).
const PARMS: u16 = 1;
const INIT: u16 = 2;
const RATE64: u16 = 6;
const CEIL64: u16 = 7;

/// `struct tc_htb_glob`: the protocol's version, r2q, the default class.
const GLOBAL: [u32; 5] = [3, 10, 1, 0, 0];

/// The default size of a bucket, in bytes: tc adds the bytes sent in one tick of the kernel's clock, at 10^9 ticks a
/// second, to [`MTU`].
const MTU: u64 = 1_600;
const HZ: u64 = 1_000_000_000;

impl Words for Settings {
    const NAME: &'static str = "htb";
    const SUPPORTED: &'static str =
        "one class: `htb rate RATE [ceil RATE] [burst SIZE] [cburst SIZE] [...] child KIND WORDS`";
    const WORDS: &'static [&'static str] = &[
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
    const EXAMPLES: &'static [&'static str] = &[
        "htb rate 1mbit -> htb rate 1mbit ceil 500kbit burst 1 child pfifo limit 3",
        "htb rate 2mbit ceil 1mbit child fq_codel limit 5 -> htb rate 1mbit child fq_codel flows 1024 limit 2",
        "htb rate 1mbit ceil 2mbit child cake -> htb rate 5mbit child cake",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let (mut rate, mut ceil, mut burst, mut cburst) = (None, None, None, None);
        let mut link = LinkLayer::default();
        let mut child = Kind::Pfifo(Pfifo { limit: None });
        while let Some(word) = words.next_word() {
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
                _ => return Err(Wrong::unknown(word, "a word of htb", Self::WORDS)),
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

    fn child(&self) -> Option<(&Kind, u8)> {
        Some((&self.child, 1))
    }

    fn options(&self) -> Option<Vec<u8>> {
        let mut out = Attributes::default();
        out.words(INIT, &GLOBAL);
        Some(out.bytes())
    }

    /// The class stands between the two.
    fn messages(&self) -> Vec<Message> {
        let mut root = Message::qdisc(ROOT, Self::NAME, self.options());
        root.handle = handle(0);
        let class = Message {
            is_class: true,
            handle: CLASS,
            ..Message::qdisc(root.handle, Self::NAME, Some(self.class()))
        };
        vec![root, class, self.child.at(CLASS)]
    }
}

impl Settings {
    /// `TCA_OPTIONS` of the class.
    fn class(&self) -> Vec<u8> {
        let mut out = Attributes::default();
        for (kind, rate) in [(RATE64, self.rate), (CEIL64, self.ceil)] {
            if is_high(rate) {
                out.u64(kind, rate);
            }
        }
        // struct tc_htb_opt; the quantum, the level and the priority are nothing to one class.
        let mut parms = spec(self.rate, self.link);
        parms.extend(spec(self.ceil, self.link));
        for word in [self.buffer_ticks, self.cbuffer_ticks, 0, 0, 0] {
            parms.extend_from_slice(&word.to_ne_bytes());
        }
        out.put(PARMS, &parms);
        out.bytes()
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

//! `caqm`: the egress queue of a switch that shares out window (CAQM). tc lacks this qdisc; the words are tcplab's,
//! in tc's style and units.
//!
//! Names and defaults follow the reference model of UB, and otherwise `docs/caqm.md`.

use tcplab_base::quantity::NUMBER;

use crate::discipline::Words;
use crate::words::{Lexer, Wrong, quantity, time};

/// The settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes that may wait.
    pub limit: u32,
    /// Packets that may wait; `None`: bytes alone are limited.
    pub packets: Option<u32>,
    /// Q_t: bytes of queue at which there is nothing left to grant.
    pub qt: u32,
    /// Lambda: the part of the free window that is granted, in billionths (10^-9).
    pub lambda_ppb: u32,
    /// The chance that a packet that asks for more than there is gives window to others, in billionths (10^-9).
    pub p_ppb: u32,
    /// T: the period in nanoseconds; none: the time of 16 full frames, at least 500 ns.
    pub t_ns: Option<i64>,
    /// Bytes of window that a mark takes away.
    pub beta: u32,
    /// Bytes of window that a unit of a hint stands for.
    pub unit: u32,
    /// Eta: the part of the rate that is shared out, in billionths (10^-9).
    pub target_ppb: u32,
    /// The wire's rate in bits a second; `None`: the link's.
    pub rate: Option<u64>,
    /// Bytes that the wire needs for a frame beside its own; none: what the link says.
    pub overhead: Option<u32>,
    /// Marks say that they were made at the last switch before the receiver.
    pub last_hop: bool,
    /// When a packet is judged.
    pub at: At,
    /// The EtherType of the tag.
    pub ethertype: u16,
}

/// When a packet is judged: where it enters the queue, or where it leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum At {
    /// By what waits when it comes.
    Enqueue,
    /// By what waits when it goes.
    #[default]
    Dequeue,
}

/// Q_t of the public test report, `0x8f`: the switch counts it in KiB.
const QT: u32 = 0x8f * 1_024;
const ONE: u32 = 1_000_000_000;
/// The longest period: what is counted in one fits into 64 bits at any rate.
const MOST_T: i64 = 1_000_000_000;

impl Default for Settings {
    fn default() -> Self {
        Self {
            limit: 4 << 20,
            packets: None,
            qt: QT,
            lambda_ppb: ONE / 2,
            p_ppb: ONE / 10,
            t_ns: None,
            beta: 512,
            unit: 8,
            target_ppb: ONE,
            rate: None,
            overhead: None,
            last_hop: false,
            at: At::Dequeue,
            ethertype: 0x8200,
        }
    }
}

impl Words for Settings {
    const NAME: &'static str = "caqm";
    const SUPPORTED: &'static str =
        "CAQM, a switch's egress queue that shares out window; not in tc, [below](#caqm)";
    const WORDS: &'static [&'static str] = &[
        "limit",
        "packets",
        "qt",
        "lambda",
        "p",
        "t",
        "beta",
        "unit",
        "target",
        "rate",
        "overhead",
        "last_hop",
        "nolast_hop",
        "at",
        "enqueue",
        "dequeue",
        "ethertype",
    ];
    const EXAMPLES: &'static [&'static str] =
        &["caqm limit 5000 packets 6 rate 1mbit -> caqm limit 900 packets 3 qt 0 at enqueue"];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut caqm = Self::default();
        while let Some(word) = words.next_word() {
            match word {
                "limit" => caqm.limit = words.size()?,
                "packets" => caqm.packets = Some(words.count(u32::MAX)?),
                "qt" => caqm.qt = target_queue(words)?,
                "lambda" => caqm.lambda_ppb = part(word, words)?,
                "p" => caqm.p_ppb = part(word, words)?,
                "t" => caqm.t_ns = Some(period(words)?),
                "beta" => caqm.beta = words.size()?,
                "unit" => caqm.unit = words.count(1_024)?,
                "target" => caqm.target_ppb = part(word, words)?,
                "rate" => caqm.rate = Some(words.rate()?.max(1)),
                "overhead" => caqm.overhead = Some(words.number(0, 256)? as u32),
                "last_hop" => caqm.last_hop = true,
                "nolast_hop" => caqm.last_hop = false,
                "at" => caqm.at = at(words)?,
                "ethertype" => caqm.ethertype = ethertype(words)?,
                _ => return Err(Wrong::unknown(word, "a word of caqm", Self::WORDS)),
            }
        }
        Ok(caqm)
    }

    fn asks_rate(&self) -> bool {
        self.rate.is_none()
    }

    fn not_in_kernels(&self) -> Option<&'static str> {
        Some("`caqm` is tcplab's own")
    }

    fn options(&self) -> Option<Vec<u8>> {
        None
    }
}

/// A size; a hexadecimal number is the value of a switch's register, which counts KiB.
fn target_queue<'a>(words: &mut Lexer<'a>) -> Result<u32, Wrong<'a>> {
    if !words.peek().is_some_and(|word| word.starts_with("0x")) {
        return words.size();
    }
    let word = words.value()?;
    let kib = u32::from_str_radix(&word[2..], 16).ok();
    kib.and_then(|kib| kib.checked_mul(1_024)).ok_or_else(|| {
        let why = format!(
            "`qt` takes a size, such as 143k, or a switch's register in KiB, such as 0x8f, not `{word}`"
        );
        Wrong::new(word, why)
    })
}

/// A number from 0 to 1.
fn part<'a>(key: &str, words: &mut Lexer<'a>) -> Result<u32, Wrong<'a>> {
    let word = words.value()?;
    let value = quantity(word, &NUMBER)?;
    u32::try_from(value)
        .ok()
        .filter(|value| *value <= ONE)
        .ok_or_else(|| {
            let why = format!("`{key}` must be between 0 and 1, not `{word}`");
            Wrong::new(word, why)
        })
}

fn period<'a>(words: &mut Lexer<'a>) -> Result<i64, Wrong<'a>> {
    let word = words.value()?;
    match time(word)? {
        ns @ 1..=MOST_T => Ok(ns),
        _ => Err(Wrong::new(
            word,
            format!("`t` must be between 1ns and 1s, not `{word}`"),
        )),
    }
}

fn at<'a>(words: &mut Lexer<'a>) -> Result<At, Wrong<'a>> {
    const PLACES: [&str; 2] = ["enqueue", "dequeue"];
    match words.value()? {
        "enqueue" => Ok(At::Enqueue),
        "dequeue" => Ok(At::Dequeue),
        other => Err(Wrong::unknown(
            other,
            "a time at which caqm judges",
            &PLACES,
        )),
    }
}

/// Below 0x0600 the field is a length (IEEE 802.3 3.2.6), and the types of IP and VLANs are taken.
fn ethertype<'a>(words: &mut Lexer<'a>) -> Result<u16, Wrong<'a>> {
    const TAKEN: [u16; 5] = [0x0800, 0x86dd, 0x0806, 0x8100, 0x88a8];
    let mut ahead = words.clone();
    let word = ahead.value()?;
    let value = words.unsigned()?;
    u16::try_from(value)
        .ok()
        .filter(|value| *value >= 0x0600 && !TAKEN.contains(value))
        .ok_or_else(|| {
            let why = format!(
                "`ethertype` takes 0x0600 to 0xffff without those of IP, ARP and VLANs, such as 0x8200, not `{word}`"
            );
            Wrong::new(word, why)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn read(text: &str) -> Settings {
        let qdisc =
            crate::Settings::parse(text).unwrap_or_else(|wrong| panic!("{text}: {}", wrong.why));
        match qdisc.kind() {
            Kind::Caqm(caqm) => caqm.clone(),
            _ => panic!("{text} is not a caqm"),
        }
    }

    #[test]
    fn words() {
        assert_eq!(read("caqm"), Settings::default());
        assert_eq!(read("caqm qt 0x8f"), read("caqm qt 143k"));
        assert_eq!(read("caqm qt 0").qt, 0);
        assert_eq!(
            read(
                "caqm limit 2m packets 900 qt 16k lambda 0.25 p 0 t 20us beta 1k unit 16 target 0.98 rate 10gbit \
                 overhead 24 last_hop at enqueue ethertype 0x88b5"
            ),
            Settings {
                limit: 2 << 20,
                packets: Some(900),
                qt: 16_384,
                lambda_ppb: 250_000_000,
                p_ppb: 0,
                t_ns: Some(20_000),
                beta: 1_024,
                unit: 16,
                target_ppb: 980_000_000,
                rate: Some(10_000_000_000),
                overhead: Some(24),
                last_hop: true,
                at: At::Enqueue,
                ethertype: 0x88b5,
            }
        );
    }

    #[test]
    fn what_is_refused() {
        for (text, word, why) in [
            ("caqm qt 0xzz", "0xzz", "such as 0x8f"),
            ("caqm qt 0xffffff", "0xffffff", "such as 0x8f"),
            ("caqm lambda 1.5", "1.5", "between 0 and 1"),
            ("caqm p -1", "-1", "no number"),
            ("caqm t 0", "0", "between 1ns and 1s"),
            ("caqm t 2s", "2s", "between 1ns and 1s"),
            ("caqm ethertype 0x05ff", "0x05ff", "0x0600 to"),
            ("caqm ethertype 0x0800", "0x0800", "those of IP"),
            ("caqm ethertype 65536", "65536", "0x0600 to"),
            ("caqm at night", "night", "enqueue, dequeue"),
            ("caqm unit 0", "0", "from 1 to 1024"),
            ("caqm alpha 1", "alpha", "a word of caqm"),
            ("caqm ethertype", "ethertype", "needs a value"),
        ] {
            let wrong = crate::Settings::parse(text).expect_err(text);
            assert!(wrong.word == word && wrong.why.contains(why), "{wrong:?}");
        }
    }
}

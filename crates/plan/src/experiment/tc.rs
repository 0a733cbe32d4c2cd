//! Words of tc(8) for a link: read for tcplab's own link, written for the kernel's.
//!
//! tcplab's link is a FIFO with a rate, a delay with jitter and random loss. It takes the words of
//! netem and pfifo for these and refuses the others by name.

use tcplab_base::quantity;

use tcplab_qdisc::words::{Lexer, Wrong, begins_with_digit, percent};

/// What a link does to frames one way; what is not said is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    pub rate_bps: Option<u64>,
    pub delay_ns: Option<i64>,
    pub jitter_ns: Option<i64>,
    pub limit_pkts: Option<u32>,
    pub loss_ppb: Option<u32>,
}

const NETEM: [&str; 4] = ["delay", "rate", "loss", "limit"];

impl Shape {
    /// Reads the words for tcplab's link.
    pub fn parse(text: &str) -> Result<Self, Wrong<'_>> {
        let mut words = Lexer::new(text);
        let mut shape = Self::default();
        let (what, known): (_, &[&str]) = match words.next_word() {
            Some("netem") => ("a word of netem", &NETEM),
            Some("pfifo") => ("a word of pfifo", &["limit"]),
            Some(word) => return Err(unknown(word, "the kind of a queue", &["netem", "pfifo"])),
            None => return Err(Wrong::new(text, "the text is empty")),
        };
        while let Some(word) = words.next_word() {
            match word {
                _ if !known.contains(&word) => return Err(unknown(word, what, known)),
                "delay" => {
                    shape.delay_ns = Some(words.time()?);
                    shape.jitter_ns = words.take_time()?.or(shape.jitter_ns);
                }
                "rate" => shape.rate_bps = Some(words.rate()?),
                "loss" => {
                    words.take("random");
                    shape.loss_ppb = Some(loss(words.value_of(word)?)?);
                }
                _ => shape.limit_pkts = Some(limit(words.value()?)?),
            }
            if let Some(more) = words.take_value() {
                let why = format!(
                    "tcplab's link treats each frame independently: remove the correlation `{more}`"
                );
                return Err(Wrong::new(more, why));
            }
        }
        Ok(shape)
    }

    /// The same in words of the kernel's netem; none when there is nothing to say.
    pub fn to_netem(&self) -> Option<String> {
        let mut words = String::new();
        if let Some(n) = self.limit_pkts {
            words += &format!(" limit {n}");
        }
        if let Some(delay) = self.delay_ns.or(self.jitter_ns.map(|_| 0)) {
            words += &format!(" delay {}", time(delay));
        }
        if let Some(jitter) = self.jitter_ns {
            words += &format!(" {}", time(jitter));
        }
        if let Some(ppb) = self.loss_ppb {
            words += &format!(" loss random {}", quantity::percent(ppb.into()));
        }
        if let Some(rate) = self.rate_bps {
            words += &format!(" rate {rate}bit");
        }
        (!words.is_empty()).then(|| format!("netem{words}"))
    }

    /// The key that both say.
    pub fn twice(&self, other: &Self) -> Option<&'static str> {
        let both = [
            ("rate", self.rate_bps.and(other.rate_bps).is_some()),
            ("delay", self.delay_ns.and(other.delay_ns).is_some()),
            ("jitter", self.jitter_ns.and(other.jitter_ns).is_some()),
            ("limit", self.limit_pkts.and(other.limit_pkts).is_some()),
            ("loss", self.loss_ppb.and(other.loss_ppb).is_some()),
        ];
        let said = both.into_iter().find(|(_, is_twice)| *is_twice);
        said.map(|(key, _)| key)
    }

    /// This, with what `other` says where this says nothing.
    pub fn or(&self, other: &Self) -> Self {
        Self {
            rate_bps: self.rate_bps.or(other.rate_bps),
            delay_ns: self.delay_ns.or(other.delay_ns),
            jitter_ns: self.jitter_ns.or(other.jitter_ns),
            limit_pkts: self.limit_pkts.or(other.limit_pkts),
            loss_ppb: self.loss_ppb.or(other.loss_ppb),
        }
    }
}

fn loss(value: &str) -> Result<u32, Wrong<'_>> {
    if begins_with_digit(value) {
        return percent(value);
    }
    Err(Wrong {
        known: &["random"],
        ..Wrong::new(
            value,
            format!("tcplab's link loses frames independently: it does not support `loss {value}`"),
        )
    })
}

fn limit(value: &str) -> Result<u32, Wrong<'_>> {
    match value.parse() {
        Ok(n) if (1..=crate::rules::MAX_LIMIT).contains(&n) => Ok(n),
        _ => Err(Wrong::new(
            value,
            format!("`{value}` is not a number of packets"),
        )),
    }
}

/// The place in the file names the words that may stand there.
fn unknown<'a>(word: &'a str, what: &str, known: &'static [&'static str]) -> Wrong<'a> {
    Wrong {
        known,
        ..Wrong::new(word, format!("`{word}` is not {what}"))
    }
}

fn time(ns: i64) -> String {
    match ns % 1_000 {
        0 => format!("{}us", ns / 1_000),
        _ => format!("{ns}ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_shape_and_words_again() {
        let text = "netem limit 100 delay 25ms 1ms loss random 0.1% rate 10mbit";
        let shape = Shape::parse(text).unwrap();
        assert_eq!(
            shape,
            Shape {
                rate_bps: Some(10_000_000),
                delay_ns: Some(25_000_000),
                jitter_ns: Some(1_000_000),
                limit_pkts: Some(100),
                loss_ppb: Some(1_000_000),
            }
        );
        let words = shape.to_netem().unwrap();
        assert_eq!(
            words,
            "netem limit 100 delay 25000us 1000us loss random 0.1% rate 10000000bit"
        );
        assert_eq!(Shape::parse(&words), Ok(shape));
        assert_eq!(Shape::default().to_netem(), None);
        assert_eq!(Shape::parse("pfifo limit 7").unwrap().limit_pkts, Some(7));
        assert_eq!(
            Shape::parse("netem loss 1").unwrap().loss_ppb,
            Some(10_000_000)
        );
    }

    #[test]
    fn other_words_are_refused_by_name() {
        for (text, word, why) in [
            ("netm delay 1ms", "netm", "is not the kind of a queue"),
            ("fq_codel", "fq_codel", "is not the kind"),
            ("netem delay", "delay", "needs a value"),
            ("netem dealy 1ms", "dealy", "is not a word of netem"),
            ("netem delay 1ms 1ms 25%", "25%", "the correlation"),
            ("netem delay 1xs", "1xs", "is no time"),
            ("netem loss gemodel 1% 10%", "gemodel", "`loss gemodel`"),
            ("netem loss 1% 25%", "25%", "the correlation"),
            (
                "netem delay 1ms distribution normal",
                "distribution",
                "is not a word",
            ),
            ("netem limit 0", "0", "not a number of packets"),
            ("pfifo delay 1ms", "delay", "is not a word of pfifo"),
            ("", "", "the text is empty"),
        ] {
            let error = Shape::parse(text).expect_err(text);
            assert_eq!(error.word, word, "{text}");
            let why = why.to_lowercase();
            assert!(
                error.why.to_lowercase().contains(&why),
                "{text}: {}",
                error.why
            );
        }
    }
}

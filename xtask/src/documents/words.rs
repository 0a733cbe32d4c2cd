//! Texts of the small languages: expressions, distributions, words of qdiscs, sizes.

use tcplab_plan::dist::{Dist, Kind};
use tcplab_plan::measure::Expression;
use tcplab_plan::point::Direction;
use tcplab_qdisc::{KINDS as QDISCS, Settings};

/// What a distribution may be of.
const KINDS: [Kind; 6] = [
    Kind::Time,
    Kind::Rate,
    Kind::Size,
    Kind::Number,
    Kind::Chance,
    Kind::Buffer,
];

/// The forms that a distribution is written in.
const FORMS: [&str; 6] = [
    "uniform(",
    "exponential(",
    "lognormal(",
    "pareto(",
    "geometric(",
    "table(",
];

/// What a word of a synopsis stands for.
const STANDS_FOR: [(&str, &str); 14] = [
    ("TIME", "1ms"),
    ("JITTER", "1ms"),
    ("RATE", "1mbit"),
    ("PERCENT", "1%"),
    ("SIZE", "10k"),
    ("NUMBER", "0.5"),
    ("N", "10"),
    ("KIND", "pfifo"),
    ("WORDS", ""),
    ("A", "1"),
    ("B", "2"),
    ("C", "3"),
    ("M", "2"),
    ("S", "1"),
];

/// What is wrong with an expression of `--bad`.
pub fn expression(text: &str) -> Option<String> {
    Expression::parse(text).err().map(|e| e.to_string())
}

/// What is wrong with a distribution: it is one of no quantity. A list of draws (`20 of DISTRIBUTION`) is one, too.
pub fn distribution(text: &str) -> Option<String> {
    let counted = text.split_once(" of ");
    let text = match counted.filter(|(n, _)| n.parse::<u32>().is_ok()) {
        Some((_, dist)) => dist,
        None => text,
    };
    let read = KINDS.map(|kind| Dist::parse(text, kind).err());
    match read.iter().any(Option::is_none) {
        true => None,
        false => read.into_iter().flatten().next().map(|e| e.to_string()),
    }
}

/// What is wrong with one way of a link.
pub fn way(text: &str) -> Option<String> {
    Direction::parse("way", text).err().map(|e| e.to_string())
}

/// Whether a code span is in one of the languages that [`span`] reads.
pub fn is_known(text: &str) -> bool {
    is_distribution(text) || is_qdisc(text)
}

/// What is wrong with such a code span.
pub fn span(text: &str) -> Option<String> {
    if is_distribution(text) {
        return distribution(&filled(text));
    }
    let text = filled(&text.replace(['[', ']'], "").replace("...", ""));
    Settings::parse(text.trim()).err().map(|e| e.why)
}

fn is_distribution(text: &str) -> bool {
    FORMS.iter().any(|form| text.contains(form))
}

/// A kind of qdisc and more words.
fn is_qdisc(text: &str) -> bool {
    let kind = text.split_once(' ').map(|(kind, _)| kind);
    kind.is_some_and(|kind| QDISCS.contains(&kind))
}

/// The text with values in place of words that stand for some.
fn filled(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        let found = STANDS_FOR.iter().find(|(name, _)| *name == word);
        out.push_str(found.map_or(&word, |(_, value)| value));
        out.push(c);
        word.clear();
    }
    out.trim_end().to_owned()
}

/// Sizes that a line tells the bytes of (`"1k"` is 1024), each with what is wrong with it.
pub fn told_sizes(line: &str) -> Vec<Option<String>> {
    let places = line.match_indices("\"` is ");
    places
        .filter_map(|(place, between)| {
            let (_, text) = line[..place].rsplit_once("`\"")?;
            let rest = &line[place + between.len()..];
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            let bytes: i64 = digits.parse().ok()?;
            let right = Dist::parse(text, Kind::Size) == Ok(Dist::fixed(Kind::Size, bytes));
            Some((!right).then(|| format!("`{text}` is not {bytes} bytes")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_known_languages_are_read() {
        for right in [
            "cake bandwidth 30mbit ack-filter",
            "netem delay TIME [JITTER] rate RATE loss PERCENT limit N",
            "htb rate RATE [ceil RATE] [...] child KIND WORDS",
            "uniform(A..B)",
            "table(0% A, 50% B, 100% C)",
        ] {
            assert!(is_known(right), "{right}");
            assert_eq!(span(right), None, "{right}");
        }
        for wrong in ["cake bandwith 30mbit", "uniform(A, B)"] {
            assert!(is_known(wrong) && span(wrong).is_some(), "{wrong}");
        }
        assert!(!is_known("cake") && !is_known("fq_codel.rs") && !is_known("tcplab run"));
    }

    #[test]
    fn sizes_are_compared_where_bytes_are_told() {
        assert_eq!(
            told_sizes("`\"1k\"` is 1024, `\"1 kB\"` is 1000"),
            [None, None]
        );
        assert!(told_sizes("`\"1k\"` is 1000")[0].is_some());
        assert_eq!(told_sizes("`k` is 1"), []);
    }

    #[test]
    fn a_distribution_is_one_of_some_quantity() {
        assert_eq!(distribution("10% 1% | else 0%"), None);
        assert_eq!(distribution("exponential(mean 2ms + 3% rtt)"), None);
        assert!(distribution("lognormal(median 2ms)").is_some());
    }
}

//! Hostile distributions: an error with its place, or a distribution whose text gives it back and
//! whose draws stay within bounds.

use proptest::prelude::*;
use tcplab_base::Random;
use tcplab_plan::dist::{Base, Dist, Kind};

const KINDS: [(Kind, i64); 6] = [
    (Kind::Time, 1_000_000_000_000_000),
    (Kind::Rate, 10_000_000_000_000),
    (Kind::Size, 1 << 50),
    (Kind::Number, 1_000_000_000),
    (Kind::Chance, 1_000_000_000),
    (Kind::Buffer, 1 << 50),
];

const TEXTS: [&str; 8] = [
    "lognormal(median 80ms, sigma 0.668) clip 5ms..1500ms",
    "(60% lognormal(median 2.5kB, sigma 0.9) | else pareto(minimum 1kB, alpha 1.1)) clip 100B..3MB",
    "exponential(mean 2ms + 3% rtt) + uniform(1ms..2ms)",
    "50% uniform(0.5 bdp..4 bdp) | 50% uniform(100ms..250ms) clip 15kB..",
    "10% 1% | 2% uniform(5%..10%) | else 0%",
    "geometric(mean 3) clip ..12",
    "table(0% 1mbit, 50% 12mbit, 100% 1gbit)",
    "100% ((1 clip 2..) clip ..3) + 4",
];

/// Words that are likely to mean something where they land.
const PIECES: [&str; 32] = [
    "(",
    ")",
    "|",
    "+",
    ",",
    "..",
    ".",
    "%",
    "clip",
    "else",
    "rtt",
    "bdp",
    "mean",
    "sigma",
    "uniform(",
    "exponential(mean ",
    "pareto(minimum ",
    "table(0% ",
    "geometric(mean 1)",
    "0",
    "1",
    "0%",
    "100%",
    "999999999",
    "1000000s",
    "0.000000001",
    "18446744073709551616",
    "ms",
    "é",
    "µs",
    " ",
    "-",
];

const BASES: [Base; 3] = [
    Base {
        rtt_ns: 80_000_000,
        rate_bps: 12_000_000,
    },
    Base {
        rtt_ns: i64::MIN,
        rate_bps: 0,
    },
    Base {
        rtt_ns: i64::MAX,
        rate_bps: u64::MAX,
    },
];

fn try_text(text: &str) {
    for (kind, max) in KINDS {
        match Dist::parse(text, kind) {
            Ok(dist) => {
                let canonical = dist.to_string();
                assert_eq!(
                    Dist::parse(&canonical, kind).as_ref(),
                    Ok(&dist),
                    "{text}: {canonical}"
                );
                let mut random = Random::stream(1, text);
                for base in &BASES {
                    for _ in 0..20 {
                        let drawn = dist.draw(&mut random, base);
                        assert!((0..=max).contains(&drawn), "{text}: {drawn}");
                    }
                    assert!(!dist.mean(base).is_some_and(f64::is_nan), "{text}");
                }
            }
            Err(error) => {
                assert!(
                    text.get(error.start..error.end).is_some(),
                    "{text}: {error:?}"
                );
                assert!(!error.message.is_empty() && error.message.len() < 1_000);
            }
        }
    }
}

#[test]
fn the_texts_are_distributions_of_some_kind() {
    for text in TEXTS {
        try_text(text);
        let good = KINDS
            .iter()
            .any(|(kind, _)| Dist::parse(text, *kind).is_ok());
        assert!(good, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_texts(
        which in 0..TEXTS.len(),
        edits in prop::collection::vec((0_usize..200, 0_usize..12, 0..PIECES.len()), 1..5),
    ) {
        let mut text = TEXTS[which].to_owned();
        for (at, cut, piece) in edits {
            let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let (start, end) = (floor(at), floor(at + cut));
            text.replace_range(start..end, PIECES[piece]);
        }
        try_text(&text);
    }

    #[test]
    fn texts_of_pieces(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let words: Vec<&str> = pieces.iter().map(|at| PIECES[*at]).collect();
        try_text(&words.concat());
        try_text(&words.join(" "));
    }

    #[test]
    fn any_text(text in "\\PC{0,100}") {
        try_text(&text);
    }
}

//! wrk and wrk2 (`--latency` for the percentiles).

use tcplab_base::quantity::{Quantity, SIZE, TIME};

use super::builder::Builder;
use super::{ImportError, Input};
use crate::metrics::{Arm, Better, Metric};

pub(super) fn is(text: &str) -> bool {
    text.contains("Requests/sec:") && text.contains(" threads and ")
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let mut builder = Builder::new(input);
    "wrk".clone_into(&mut builder.source().tool);
    let mut requests = None;
    // wrk prints the lines of errors only if there were some.
    let (mut socket_errors, mut bad_answers) = (0.0, 0.0);
    for line in input.text.lines().map(str::trim) {
        if let Some(url) = line
            .strip_prefix("Running ")
            .and_then(|l| l.split_once(" @ "))
        {
            builder.source().settings.insert("url".into(), url.1.into());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let metric =
            |what: &str, unit: &str, better| Metric::new(format!("wrk {what}"), unit, better);
        match words.as_slice() {
            ["Requests/sec:", rate] => {
                builder.value(metric("requests", "1/s", Better::Higher), rate.parse().ok());
            }
            ["Transfer/sec:", rate] => {
                builder.value(metric("transfer", "B/s", Better::Higher), SIZES.read(rate));
            }
            ["Latency", mean, _, _, _] => {
                builder.value(metric("latency mean", "ms", Better::Lower), ms(mean));
            }
            [percent, time] if ms(time).is_some() && is_percent(percent) => {
                let name = format!("latency p{}", plain(percent));
                builder.value(metric(&name, "ms", Better::Lower), ms(time));
            }
            [count, "requests", "in", ..] => requests = count.parse::<f64>().ok(),
            ["Socket", "errors:", rest @ ..] => {
                let numbers = rest
                    .iter()
                    .filter_map(|w| w.trim_end_matches(',').parse::<f64>().ok());
                socket_errors = numbers.sum();
            }
            ["Non-2xx", "or", "3xx", "responses:", count] => {
                bad_answers = count.parse().unwrap_or(f64::NAN);
            }
            _ => {}
        }
    }
    for (what, count) in [
        ("socket errors", socket_errors),
        ("non-2xx or 3xx responses", bad_answers),
    ] {
        builder.value(
            Metric::new(format!("wrk {what}"), "", Better::Lower),
            Some(count),
        );
    }
    if bad_answers > 0.0 && requests == Some(bad_answers) {
        builder.no_success("no request succeeded (2xx, 3xx): the rate counts errors only");
    }
    Ok(builder.done())
}

fn is_percent(word: &str) -> bool {
    let number = word.strip_suffix('%').and_then(|w| w.parse::<f64>().ok());
    number.is_some_and(|n| (0.0..=100.0).contains(&n))
}

/// `99.000%` of wrk2 and `99%` of wrk are `99`.
fn plain(percent: &str) -> String {
    let number = percent.trim_end_matches('%').parse::<f64>();
    number.map_or_else(|_| percent.to_owned(), |n| n.to_string())
}

/// Times as wrk writes them, in microseconds.
const TIMES: Quantity = Quantity {
    units: &[
        ("us", 1),
        ("ms", 1_000),
        ("s", 1_000_000),
        ("m", 60_000_000),
        ("h", 3_600_000_000),
    ],
    ..TIME
};

/// Sizes: wrk counts in powers of 1,024.
const SIZES: Quantity = Quantity {
    units: &[
        ("KB", 1 << 10),
        ("MB", 1 << 20),
        ("GB", 1 << 30),
        ("TB", 1 << 40),
        ("B", 1),
    ],
    bare: None,
    ..SIZE
};

/// A time with its unit, in milliseconds.
fn ms(word: &str) -> Option<f64> {
    TIMES.read(word).map(|us| us / 1e3)
}

//! wrk and wrk2 (`--latency` for the percentiles).

use tcplab_base::quantity::{Quantity, SIZE, TIME};

use super::builder::Builder;
use super::{ImportError, Input, reports};
use crate::metrics::{Arm, Better, Metric};

pub(super) fn is(text: &str) -> bool {
    text.contains("Requests/sec:") && text.contains(" threads and ")
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    reports::each(input, |line| url(line).is_some(), report)
}

/// `Running 30s test @ http://127.0.0.1/`, the first line of a report.
fn url(line: &str) -> Option<&str> {
    let (_, url) = line.trim().strip_prefix("Running ")?.split_once(" @ ")?;
    Some(url)
}

/// What a report says of requests that failed; wrk prints these lines only if there were some.
#[derive(Default)]
struct Requests {
    all: Option<f64>,
    socket_errors: f64,
    bad_answers: f64,
}

fn metric(what: &str, unit: &str, better: Better) -> Metric {
    Metric::new(format!("wrk {what}"), unit, better)
}

fn report(text: &str, builder: &mut Builder) {
    "wrk".clone_into(&mut builder.source().tool);
    let mut requests = Requests::default();
    for line in text.lines().map(str::trim) {
        if let Some(url) = url(line) {
            builder.source().settings.insert("url".into(), url.into());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        figure(&words, &mut requests, builder);
    }
    if builder.arm.metrics.is_empty() {
        return;
    }
    for (what, count) in [
        ("socket errors", requests.socket_errors),
        ("non-2xx or 3xx responses", requests.bad_answers),
    ] {
        builder.value(metric(what, "", Better::Lower), Some(count));
    }
    if requests.bad_answers > 0.0 && requests.all == Some(requests.bad_answers) {
        builder.no_success("no request succeeded (2xx, 3xx): the rate counts errors only");
    }
}

fn figure(words: &[&str], requests: &mut Requests, builder: &mut Builder) {
    match words {
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
        [count, "requests", "in", ..] => requests.all = count.parse().ok(),
        ["Socket", "errors:", rest @ ..] => {
            let number = |word: &&str| word.trim_end_matches(',').parse::<f64>().ok();
            requests.socket_errors = rest.iter().filter_map(number).sum();
        }
        ["Non-2xx", "or", "3xx", "responses:", count] => {
            requests.bad_answers = count.parse().unwrap_or(f64::NAN);
        }
        _ => {}
    }
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

//! wrk and wrk2 (`--latency` for the percentiles).

use super::builder::Builder;
use super::{ImportError, Input};
use crate::metrics::{Arm, Better, Metric, RemarkKind};

pub(super) fn is(text: &str) -> bool {
    text.contains("Requests/sec:") && text.contains(" threads and ")
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let mut builder = Builder::new(input);
    "wrk".clone_into(&mut builder.source().tool);
    let mut requests = None;
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
                builder.value(metric("transfer", "B/s", Better::Higher), bytes(rate));
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
                let errors = Some(numbers.sum());
                builder.value(metric("socket errors", "", Better::Lower), errors);
            }
            ["Non-2xx", "or", "3xx", "responses:", count] => {
                let count = count.parse().ok();
                builder.value(metric("non-2xx or 3xx responses", "", Better::Lower), count);
                if count.is_some() && count == requests {
                    let text = "no answer was right (2xx, 3xx): the rate is that of errors";
                    builder.arm.remark(RemarkKind::Failed, input.name, text);
                }
            }
            _ => {}
        }
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

/// A time with its unit, in milliseconds.
fn ms(word: &str) -> Option<f64> {
    let units = [
        ("us", 1e-3),
        ("ms", 1.0),
        ("s", 1e3),
        ("m", 6e4),
        ("h", 3.6e6),
    ];
    scaled(word, &units)
}

/// A size with its unit, in bytes (wrk counts in powers of 1,024).
fn bytes(word: &str) -> Option<f64> {
    let units = [
        ("KB", 1_024.0),
        ("MB", 1_048_576.0),
        ("GB", 1_073_741_824.0),
        ("TB", 1_099_511_627_776.0),
        ("B", 1.0),
    ];
    scaled(word, &units)
}

fn scaled(word: &str, units: &[(&str, f64)]) -> Option<f64> {
    let at = word.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = word.split_at(at);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    Some(number.parse::<f64>().ok()? * factor)
}

//! ApacheBench: lines with a name, a colon and a figure.

use super::builder::Builder;
use super::{ImportError, Input, reports};
use crate::metrics::{Arm, Better, Metric};

pub(super) fn is(text: &str) -> bool {
    text.contains("This is ApacheBench") || text.contains("Requests per second:")
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    // Some logs lack ab's banner.
    let first = match input.text.contains(BANNER) {
        true => BANNER,
        false => "Server Software:",
    };
    reports::each(input, |line| line.starts_with(first), report)
}

const BANNER: &str = "This is ApacheBench, Version ";

fn report(text: &str, builder: &mut Builder) {
    "ab".clone_into(&mut builder.source().tool);
    let mut name = String::from("ab");
    let mut answers = Answers::default();
    for line in text.lines() {
        if let Some(version) = line.strip_prefix(BANNER) {
            let version = version.split_whitespace().next().unwrap_or_default();
            builder.source().tool = format!("ab {version}");
        }
        if let Some((key, value)) = line.split_once(':') {
            let value = value.trim();
            if SETTINGS.contains(&key) {
                builder.source().settings.insert(key.into(), value.into());
            }
            if key == "Document Path" {
                name = format!("ab {value}");
            }
            figure(key, value, &name, &mut answers, builder);
        } else if let Some((percent, ms)) = served(line) {
            let metric = Metric::new(format!("{name} latency p{percent}"), "ms", Better::Lower);
            builder.value(metric, Some(ms));
        }
    }
    if builder.arm.metrics.is_empty() {
        return;
    }
    let metric = Metric::new(format!("{name} non-2xx responses"), "", Better::Lower);
    builder.value(metric, Some(answers.bad));
    if answers.bad > 0.0 && answers.all == Some(answers.bad) {
        builder.no_success("no request succeeded (2xx): the rate counts errors only");
    }
}

const SETTINGS: [&str; 4] = [
    "Server Software",
    "Server Hostname",
    "Document Path",
    "Concurrency Level",
];

/// Answers of the server. ab prints those that are not 2xx only if there were some.
#[derive(Default)]
struct Answers {
    all: Option<f64>,
    bad: f64,
}

fn figure(key: &str, value: &str, name: &str, answers: &mut Answers, builder: &mut Builder) {
    let number = value
        .split_whitespace()
        .next()
        .and_then(|word| word.parse::<f64>().ok());
    let metric =
        |what: &str, unit: &str, better| Metric::new(format!("{name} {what}"), unit, better);
    match key {
        "Requests per second" => builder.value(metric("requests", "1/s", Better::Higher), number),
        // The second line of that name is the first by the concurrency.
        "Time per request" if !value.contains("across all") => {
            builder.value(metric("time per request", "ms", Better::Lower), number);
        }
        // ab's Kbyte is 1,024 bytes.
        "Transfer rate" => builder.value(metric("transfer rate", "KiB/s", Better::Higher), number),
        "Complete requests" => answers.all = number,
        "Failed requests" => builder.value(metric("failed requests", "", Better::Lower), number),
        "Non-2xx responses" => answers.bad = number.unwrap_or(f64::NAN),
        _ => {}
    }
}

/// `  99%     21`.
fn served(line: &str) -> Option<(&str, f64)> {
    let mut words = line.split_whitespace();
    let percent = words.next()?.strip_suffix('%')?;
    percent.parse::<u32>().ok()?;
    Some((percent, words.next()?.parse().ok()?))
}

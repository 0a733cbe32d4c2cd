//! netperf's omni output: `-o` is CSV behind the banner, `-k` is `KEY=VALUE`, a line each.

use tcplab_base::quantity::binary;

use super::builder::Builder;
use super::csv_cells::cells;
use super::netperf::test;
use super::{ImportError, Input};
use crate::metrics::{Arm, Better, Metric};

/// Upper bound: netperf has fewer selectors.
const MOST_PAIRS: usize = 1_000;

pub(super) fn is(text: &str) -> bool {
    text.lines()
        .any(|line| is_heading(line) || line.starts_with("THROUGHPUT="))
}

fn is_heading(line: &str) -> bool {
    line.contains("Throughput,")
        || line.ends_with(",Throughput")
        || line.contains(",Throughput Units")
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let mut builder = Builder::new(input);
    "netperf".clone_into(&mut builder.source().tool);
    let mut name = String::from("netperf");
    let mut heading: Vec<String> = Vec::new();
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (at, line) in input.text.lines().enumerate() {
        if let Some(test) = test(line) {
            run(&name, &std::mem::take(&mut pairs), &mut builder);
            (name, heading) = (test, Vec::new());
        } else if is_heading(line) {
            heading = cells(line, ',').iter().map(|cell| key(cell)).collect();
        } else if let Some((word, value)) = line.split_once('=') {
            // A key that comes again begins the next run.
            if pairs.iter().any(|(own, _)| own == word) {
                run(&name, &std::mem::take(&mut pairs), &mut builder);
            }
            if pairs.len() < MOST_PAIRS {
                pairs.push((word.to_owned(), value.trim().to_owned()));
            }
        } else if !heading.is_empty() && line.contains(',') {
            let values = cells(line, ',');
            if values.len() != heading.len() {
                return Err(ImportError::new(
                    input,
                    format!("line {}", at + 1),
                    format!("{} cells under a header of {}", values.len(), heading.len()),
                    "give netperf's unmodified output; each selection (`-o`) needs its own header",
                ));
            }
            let pairs: Vec<_> = heading.iter().cloned().zip(values).collect();
            run(&name, &pairs, &mut builder);
        }
    }
    run(&name, &pairs, &mut builder);
    Ok(builder.done())
}

/// The heading of CSV as the selector of `-k`, for those that are used here.
fn key(heading: &str) -> String {
    let known = [
        ("Throughput", "THROUGHPUT"),
        ("Throughput Units", "THROUGHPUT_UNITS"),
        ("Local Send Size", "LOCAL_SEND_SIZE"),
        ("Request Size Bytes", "REQUEST_SIZE"),
        ("Response Size Bytes", "RESPONSE_SIZE"),
        ("Minimum Latency Microseconds", "MIN_LATENCY"),
        ("Maximum Latency Microseconds", "MAX_LATENCY"),
        ("Mean Latency Microseconds", "MEAN_LATENCY"),
        ("50th Percentile Latency Microseconds", "P50_LATENCY"),
        ("90th Percentile Latency Microseconds", "P90_LATENCY"),
        ("99th Percentile Latency Microseconds", "P99_LATENCY"),
        ("Stddev Latency Microseconds", "STDDEV_LATENCY"),
        ("Local Transport Retransmissions", "LOCAL_TRANSPORT_RETRANS"),
    ];
    let found = known.iter().find(|(own, _)| *own == heading);
    found.map_or(heading, |(_, key)| key).to_owned()
}

fn run(test: &str, pairs: &[(String, String)], builder: &mut Builder) {
    let text = |key: &str| {
        pairs
            .iter()
            .find(|(own, _)| own == key)
            .map(|(_, v)| v.as_str())
    };
    let number = |key: &str| text(key)?.parse::<f64>().ok().filter(|n| n.is_finite());
    let mut name = test.to_owned();
    match (
        number("REQUEST_SIZE"),
        number("RESPONSE_SIZE"),
        number("LOCAL_SEND_SIZE"),
    ) {
        (Some(request), Some(response), _) => name += &format!(" {request}/{response} B"),
        (_, _, Some(sent)) if sent > 0.0 => name += &format!(" {}", binary(sent)),
        _ => {}
    }
    let unit = match text("THROUGHPUT_UNITS") {
        Some("Trans/s") | None => "1/s",
        Some(unit) => unit,
    };
    let metric =
        |what: &str, unit: &str, better| Metric::new(format!("{name}{what}"), unit, better);
    builder.value(metric("", unit, Better::Higher), number("THROUGHPUT"));
    for (key, what) in [
        ("MIN_LATENCY", " latency min"),
        ("MEAN_LATENCY", " latency mean"),
        ("P50_LATENCY", " latency p50"),
        ("P90_LATENCY", " latency p90"),
        ("P99_LATENCY", " latency p99"),
        ("MAX_LATENCY", " latency max"),
    ] {
        // What was not measured is -1.
        let value = number(key).filter(|v| *v >= 0.0);
        builder.value(metric(what, "us", Better::Lower), value);
    }
    let again = number("LOCAL_TRANSPORT_RETRANS").filter(|v| *v >= 0.0);
    builder.value(metric(" retransmissions", "segments", Better::Lower), again);
}

//! lmbench: lines such as `TCP latency using localhost: 15.7700 microseconds`, and behind a heading in quotes tables of
//! sizes and rates (`bw_tcp` alone prints `0.065536 3040.16 MB/sec`).

use tcplab_base::quantity::binary;

use super::builder::Builder;
use super::{ImportError, Input};
use crate::metrics::{Arm, Better, Metric};

pub(super) fn is(text: &str) -> bool {
    text.starts_with("[lmbench")
        || text
            .lines()
            .any(|line| named(line).is_some() || sized(line, "").is_some())
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let mut builder = Builder::new(input);
    "lmbench".clone_into(&mut builder.source().tool);
    let mut table = String::new();
    for line in input.text.lines().map(str::trim) {
        if line.starts_with('[') {
            about(line, &mut builder);
        } else if line.starts_with('"') || line.contains(" bandwidth using ") {
            line.trim_matches('"').clone_into(&mut table);
        } else if line.is_empty() {
            table.clear();
        } else if let Some((metric, value)) = named(line).or_else(|| sized(line, &table)) {
            builder.value(metric, Some(value));
        }
    }
    Ok(builder.done())
}

/// `[OS: x86_64-linux-gnu]`, `[lmbench3.0 results for Linux ...]`.
fn about(line: &str, builder: &mut Builder) {
    let inner = line.trim_start_matches('[').trim_end_matches(']');
    if let Some(system) = inner.split_once(" results for ") {
        let source = builder.source();
        system.0.clone_into(&mut source.tool);
        system.1.clone_into(&mut source.system);
    }
}

/// A name, a colon, a figure and its unit.
fn named(line: &str) -> Option<(Metric, f64)> {
    let (name, rest) = line.rsplit_once(':')?;
    let mut words = rest.split_whitespace();
    let value: f64 = words.next()?.parse().ok()?;
    let unit = words.next()?;
    let (unit, better) = unit_of(unit)?;
    let name = name.trim();
    let is_plain = !name.is_empty() && !name.starts_with(['[', '{', '"', '#']);
    (is_plain && value.is_finite()).then(|| (Metric::new(name, unit, better), value))
}

fn unit_of(word: &str) -> Option<(&'static str, Better)> {
    match word {
        "microseconds" => Some(("us", Better::Lower)),
        "nanoseconds" => Some(("ns", Better::Lower)),
        "milliseconds" => Some(("ms", Better::Lower)),
        "MB/sec" => Some(("MB/s", Better::Higher)),
        "KB/sec" => Some(("KB/s", Better::Higher)),
        _ => None,
    }
}

/// `0.065536 3040.16 MB/sec`: megabytes a message, and the rate.
fn sized(line: &str, table: &str) -> Option<(Metric, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [megabytes, value, unit] = words.as_slice() else {
        return None;
    };
    let bytes = (megabytes.parse::<f64>().ok()? * 1e6).round();
    let (unit, better) = unit_of(unit)?;
    let table = match table {
        "" => "bandwidth",
        table => table,
    };
    let value = value.parse().ok().filter(|v: &f64| v.is_finite())?;
    Some((
        Metric::new(format!("{table} {}", binary(bytes)), unit, better),
        value,
    ))
}

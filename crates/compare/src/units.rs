//! Units that differ only by their prefix: Mbit/s and Gbit/s, us and ms, KB/s and MB/s, by name as tools write them.
//!
//! Unlisted units are unknown. Different quantities are never converted: bits to bytes, or a rate to an amount.
//! Prefixes of bytes are decimal (1 MB = 1,000 KB), those with an `i` binary (1 MiB = 1,024 KiB).

use crate::metrics::{Metric, Run};

/// What is measured, before any prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Bits,
    Bytes,
    Seconds,
    Hertz,
}

/// A quantity with a prefix, a second or not.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    quantity: Quantity,
    is_per_second: bool,
    /// In the smallest unit of the quantity: a whole number, so that powers of ten stay exact.
    scale: f64,
}

const PER_SECOND: [&str; 3] = ["/sec", "/s", "ps"];
const BITS: [&str; 3] = ["bits", "bit", "b"];
const BYTES: [&str; 3] = ["Bytes", "bytes", "B"];
/// In nanoseconds.
const TIMES: [(&str, f64); 12] = [
    ("ns", 1.0),
    ("nsec", 1.0),
    ("us", 1e3),
    ("usec", 1e3),
    ("\u{b5}s", 1e3),
    ("\u{3bc}s", 1e3),
    ("microseconds", 1e3),
    ("ms", 1e6),
    ("msec", 1e6),
    ("s", 1e9),
    ("sec", 1e9),
    ("min", 6e10),
];

/// Prefixes of bits, bytes and Hz; `10^6` is netperf's.
fn prefix(text: &str) -> Option<f64> {
    Some(match text {
        "" => 1.0,
        "k" | "K" | "10^3" => 1e3,
        "M" | "10^6" => 1e6,
        "G" | "10^9" => 1e9,
        "T" => 1e12,
        "Ki" => 1_024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        _ => return None,
    })
}

fn parse(text: &str) -> Option<Unit> {
    let unit = |quantity, is_per_second, scale| Unit {
        quantity,
        is_per_second,
        scale,
    };
    if let Some((_, scale)) = TIMES.iter().find(|(name, _)| *name == text) {
        return Some(unit(Quantity::Seconds, false, *scale));
    }
    if let Some(before) = text.strip_suffix("Hz") {
        return Some(unit(Quantity::Hertz, false, prefix(before)?));
    }
    let rate = PER_SECOND.iter().find_map(|end| text.strip_suffix(end));
    let amount = rate.unwrap_or(text);
    let named = |names: [&'static str; 3], quantity| {
        names
            .into_iter()
            .find_map(|name| prefix(amount.strip_suffix(name)?))
            .map(|scale| unit(quantity, rate.is_some(), scale))
    };
    named(BITS, Quantity::Bits).or_else(|| named(BYTES, Quantity::Bytes))
}

/// Factor and divisor that convert a value from one unit to the other; `None` for different quantities.
pub(crate) fn ratio(from: &str, to: &str) -> Option<(f64, f64)> {
    if from == to {
        return Some((1.0, 1.0));
    }
    let (from, to) = (parse(from)?, parse(to)?);
    let is_same = (from.quantity, from.is_per_second) == (to.quantity, to.is_per_second);
    is_same.then_some((from.scale, to.scale))
}

/// The metric in another unit of the same quantity.
pub(crate) fn convert(metric: &Metric, to: &str) -> Option<Metric> {
    let (by, over) = ratio(&metric.unit, to)?;
    let run = |run: &Run| Run {
        value: run.value.map(|value| value * by / over),
        ..run.clone()
    };
    Some(Metric {
        unit: to.to_owned(),
        runs: metric.runs.iter().map(run).collect(),
        ..metric.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        for (from, to, value, gives) in [
            ("Mbit/s", "Gbit/s", 1_500.0, 1.5),
            ("Gbit/s", "Mbit/s", 1.5, 1_500.0),
            ("us", "ms", 250.0, 0.25),
            ("ms", "us", 0.25, 250.0),
            ("KB/s", "MB/s", 2_500.0, 2.5),
            ("MB/s", "KB/s", 2.5, 2_500.0),
            ("KiB", "MiB", 1_536.0, 1.5),
            ("MiB", "KiB", 1.5, 1_536.0),
            ("MiB/s", "MB/s", 1.0, 1.048_576),
            ("10^6bits/s", "Gbit/s", 941.0, 0.941),
            ("bits/s", "Mbps", 5e6, 5.0),
            ("MHz", "GHz", 2_400.0, 2.4),
            ("s", "min", 90.0, 1.5),
            ("\u{b5}s", "us", 7.0, 7.0),
            ("transactions/s", "transactions/s", 7.0, 7.0),
        ] {
            let (by, over) = ratio(from, to).unwrap_or_else(|| panic!("{from} to {to}"));
            assert_eq!(value * by / over, gives, "{from} to {to}");
        }
    }

    #[test]
    fn other_quantities_are_refused() {
        for (from, to) in [
            ("Mbit/s", "MB/s"),
            ("MB", "MB/s"),
            ("ms", "1/s"),
            ("ms", "MHz"),
            ("mbit/s", "Mbit/s"),
            ("requests/s", "krequests/s"),
            ("", "s"),
            ("%", "s"),
            ("Pbit/s", "Gbit/s"),
            ("min", "MiB"),
        ] {
            assert_eq!(ratio(from, to), None, "{from} to {to}");
            assert_eq!(ratio(to, from), None, "{to} to {from}");
        }
    }
}

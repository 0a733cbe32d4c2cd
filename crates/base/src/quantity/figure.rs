//! Writing a quantity: for people with a few digits in the unit that fits, and exactly where it is read again.

use crate::Duration;

/// Units from the smallest to the largest, and which power of ten of the smallest each of them is.
pub type Scale = [(&'static str, u32)];

/// Powers of 1000 of a byte.
pub const BYTES: &Scale = &[
    ("B", 0),
    ("kB", 3),
    ("MB", 6),
    ("GB", 9),
    ("TB", 12),
    ("PB", 15),
    ("EB", 18),
];

/// Powers of 1000 of a bit a second.
pub const BITS_PER_SECOND: &Scale = &[
    ("bit/s", 0),
    ("kbit/s", 3),
    ("Mbit/s", 6),
    ("Gbit/s", 9),
    ("Tbit/s", 12),
    ("Pbit/s", 15),
    ("Ebit/s", 18),
];

/// Times, from microseconds on.
pub const MICROSECONDS: &Scale = &[("us", 0), ("ms", 3), ("s", 6)];

/// Times, from nanoseconds on.
pub const NANOSECONDS: &Scale = &[("ns", 0), ("us", 3), ("ms", 6), ("s", 9)];

/// How many digits a figure has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// Three, zeros included, so that columns are even: `1.00 MB`.
    Three,
    /// At most four, without zeros at the end of a fraction: `4.695 Gbit/s`, `1 MB`.
    Four,
}

/// `value`, which counts the smallest unit of `scale`, in the unit that gives it no more than three digits before the point.
pub fn figure(value: f64, scale: &Scale, digits: Digits) -> String {
    let rounds_by = match digits {
        Digits::Three => 2_000.0,
        Digits::Four => 20_000.0,
    };
    // What would round to 1,000 of a unit is one of the next.
    let fits = |(_, power): &&(&str, u32)| {
        let one = ten_to(*power);
        value.abs() >= one - one / rounds_by
    };
    let found = scale.iter().rev().find(fits).or(scale.first());
    let (unit, power) = found.copied().unwrap_or(("", 0));
    let value = value / ten_to(power);
    let number = match digits {
        Digits::Three if power == 0 && value.fract() == 0.0 => format!("{value:.0}"),
        Digits::Three => rounded(value, 2),
        Digits::Four => without_zeros(rounded(value, 3)),
    };
    match unit {
        "" => number,
        unit => format!("{number} {unit}"),
    }
}

/// With so many decimals below 10, and one fewer for each digit more before the point.
fn rounded(value: f64, most: usize) -> String {
    let (mut decimals, mut end, mut half) = (most, 10.0, 0.5 / ten_to(most as u32));
    while decimals > 0 && value.abs() >= end - half {
        decimals -= 1;
        end *= 10.0;
        half *= 10.0;
    }
    format!("{value:.decimals$}")
}

fn without_zeros(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Exact up to the largest power of a [`Scale`].
fn ten_to(power: u32) -> f64 {
    10_u64.pow(power) as f64
}

/// Bytes with three digits: `0 B`, `999 B`, `1.02 MB`.
pub fn bytes(n: u64) -> String {
    figure(n as f64, BYTES, Digits::Three)
}

/// Bits a second with four digits.
pub fn rate(bps: f64) -> String {
    figure(bps, BITS_PER_SECOND, Digits::Four)
}

/// A time with three digits, as [`micros`] has it.
pub fn time(d: Duration) -> String {
    micros(d.as_micros().max(0).unsigned_abs())
}

/// Microseconds with three digits: `21 us`, `40.9 ms`, `12.3 s`, `10 min 41 s`, `1 h 02 min`.
pub fn micros(us: u64) -> String {
    const SECOND: u64 = 1_000_000;
    const MINUTE: u64 = 60 * SECOND;
    let nearest = |unit: u64| us.saturating_add(unit / 2) / unit;
    match us {
        // 999.5 ms and more would print as 1000 ms.
        0..999_500 => figure(us as f64, MICROSECONDS, Digits::Three),
        _ if us < 10 * MINUTE => figure(us as f64 / 1e6, &[("s", 0)], Digits::Three),
        _ if nearest(SECOND) < 3600 => {
            format!("{} min {:02} s", nearest(SECOND) / 60, nearest(SECOND) % 60)
        }
        _ => format!("{} h {:02} min", nearest(MINUTE) / 60, nearest(MINUTE) % 60),
    }
}

/// `1234567` as `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Whole KiB and MiB, else bytes, as benchmarks name their messages: `64 B`, `16 KiB`.
pub fn binary(bytes: f64) -> String {
    let whole = |one: f64| bytes >= one && bytes % one == 0.0;
    match bytes {
        _ if whole(1_048_576.0) => format!("{} MiB", bytes / 1_048_576.0),
        _ if whole(1_024.0) => format!("{} KiB", bytes / 1_024.0),
        _ => format!("{bytes} B"),
    }
}

/// Exactly, in the largest unit that is not larger than the value: `1.5 Gbit/s` with a space between.
pub fn exact(n: u64, between: &str, scale: &Scale) -> String {
    let fits = |(_, power): &&(&str, u32)| 10_u64.pow(*power) <= n;
    let found = scale.iter().rev().find(fits).or(scale.first());
    let (unit, power) = found.copied().unwrap_or(("", 0));
    format!("{}{between}{unit}", decimal(n, power))
}

/// `n` / 10^`decimals`, exactly, without zeros at the end.
pub fn decimal(n: u64, decimals: u32) -> String {
    let one = 10_u64.pow(decimals);
    let width = decimals as usize;
    match format!("{:0width$}", n % one).trim_end_matches('0') {
        "" => (n / one).to_string(),
        part => format!("{}.{part}", n / one),
    }
}

/// A part in billionths as a percentage, exactly: `0.1%`.
pub fn percent(ppb: u64) -> String {
    decimal(ppb, 7) + "%"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_the_right_unit() {
        for (n, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.00 kB"),
            (999_499, "999 kB"),
            (999_500, "1.00 MB"),
            (1_026_048, "1.03 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(n), text);
        }
        for (us, text) in [
            (21, "21 us"),
            (40_969, "41.0 ms"),
            (999_499, "999 ms"),
            (999_999, "1.00 s"),
            (31_000_000, "31 s"),
            (12_345_678, "12.3 s"),
            (599_600_000, "600 s"),
            (641_300_000, "10 min 41 s"),
            (900_000_000, "15 min 00 s"),
            (3_599_700_000, "1 h 00 min"),
            (3_720_000_000, "1 h 02 min"),
        ] {
            assert_eq!(micros(us), text);
        }
        assert_eq!(rate(30_000_000.0), "30 Mbit/s");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!((count(0), count(999)), ("0".into(), "999".into()));
    }

    #[test]
    fn four_digits_without_zeros() {
        for (value, scale, text) in [
            (4_695_123_456.789, BITS_PER_SECOND, "4.695 Gbit/s"),
            (999_960_000.0, BITS_PER_SECOND, "1 Gbit/s"),
            (999_900_000.0, BITS_PER_SECOND, "999.9 Mbit/s"),
            (0.0, BITS_PER_SECOND, "0 bit/s"),
            (133_181.0, BYTES, "133.2 kB"),
            (999.0, BYTES, "999 B"),
            (12e6, BYTES, "12 MB"),
            (646.0, MICROSECONDS, "646 us"),
            (12_575.3, MICROSECONDS, "12.58 ms"),
            (1_507_800.0, MICROSECONDS, "1.508 s"),
            (-20.5, MICROSECONDS, "-20.5 us"),
        ] {
            assert_eq!(figure(value, scale, Digits::Four), text, "{value}");
        }
    }

    #[test]
    fn exactly() {
        assert_eq!(exact(2_500_000_000, " ", BITS_PER_SECOND), "2.5 Gbit/s");
        assert_eq!(exact(0, " ", BYTES), "0 B");
        assert_eq!(
            (percent(1), percent(1_000_000_000)),
            ("0.0000001%".into(), "100%".into())
        );
    }
}

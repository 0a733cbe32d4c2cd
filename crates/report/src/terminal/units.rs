//! Figures as people read them.

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

/// A count with its noun: `1 stream`, `2 streams`.
pub fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Bytes with three digits: `0 B`, `999 B`, `1.02 MB` (powers of 1000).
pub fn bytes(n: u64) -> String {
    scaled(n as f64, 1000.0, &["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

/// Bits per second with three digits.
pub fn rate(bps: u64) -> String {
    let units = [
        "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Pbit/s", "Ebit/s",
    ];
    scaled(bps as f64, 1000.0, &units)
}

/// Microseconds with three digits: `21 us`, `40.9 ms`, `12.3 s`, `1 h 02 min`.
pub fn micros(us: u64) -> String {
    const MINUTE: u64 = 60_000_000;
    match us {
        // 999.5 ms and more would print as 1000 ms.
        0..999_500 => scaled(us as f64, 1000.0, &["us", "ms"]),
        _ if us < 10 * MINUTE => scaled(us as f64 / 1e6, 1000.0, &["s"]),
        _ if us < 60 * MINUTE => format!("{} min", us / MINUTE),
        _ => format!("{} h {:02} min", us / MINUTE / 60, us / MINUTE % 60),
    }
}

fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    // 999.5 would print as 1000.
    while value >= step - 0.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let decimals = match value {
        _ if value == value.trunc() && unit == 0 => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {}", units.get(unit).unwrap_or(&""))
}

/// Numbers in a row, shortened: `1, 2, 3, ... (17 in all)`.
pub fn some_of(numbers: &[u64], shown: usize) -> String {
    let mut text: Vec<String> = numbers.iter().take(shown).map(u64::to_string).collect();
    if numbers.len() > shown {
        text.push("...".into());
    }
    text.join(", ")
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
            (999_999, "1.00 s"),
            (12_345_678, "12.3 s"),
            (3_720_000_000, "1 h 02 min"),
        ] {
            assert_eq!(micros(us), text);
        }
        assert_eq!(rate(30_000_000), "30.0 Mbit/s");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!((count(0), count(999)), ("0".into(), "999".into()));
        assert_eq!(plural(1, "stream"), "1 stream");
        assert_eq!(some_of(&[1, 2, 3], 2), "1, 2, ...");
    }
}

//! The units of each quantity.
//!
//! Rates are tc(8)'s: `kbit` is 1,000 bits a second, `kibit` 1,024, and `kbps` is kilo*bytes* a second. A rate of a key
//! may also be written as people write it, `Mbit/s`. Sizes follow socket programs: `k` is 1,024 bytes, `kB` is 1,000.

use super::figure::{BITS_PER_SECOND, exact};
use super::parse::{Quantity, number};

/// The longest time, 1,000,000 s, in nanoseconds.
pub const MAX_TIME_NS: u64 = 1_000_000_000_000_000;

const NS: u64 = 1;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// A time, in nanoseconds.
pub const TIME: Quantity = Quantity {
    what: "time",
    write: "write a number and ns, us, ms, s, m or h, such as \"100ms\"",
    units: &[
        ("ns", NS),
        ("us", US),
        ("µs", US),
        ("ms", MS),
        ("s", S),
        ("m", 60 * S),
        ("min", 60 * S),
        ("h", 3_600 * S),
    ],
    bare: None,
    case: true,
    exact: &[],
    max: MAX_TIME_NS,
    max_text: "1000000s",
};

/// A time in tc's words, in nanoseconds: a number alone is microseconds (tc(8), UNITS).
pub const TC_TIME: Quantity = Quantity {
    what: "time",
    write: "write a number and us, ms or s, such as 25ms",
    units: &[
        ("ns", NS),
        ("nsec", NS),
        ("nsecs", NS),
        ("us", US),
        ("usec", US),
        ("usecs", US),
        ("ms", MS),
        ("msec", MS),
        ("msecs", MS),
        ("s", S),
        ("sec", S),
        ("secs", S),
    ],
    bare: Some(US),
    case: false,
    exact: &[],
    max: MAX_TIME_NS,
    max_text: "1000000s",
};

/// A size, in bytes.
pub const SIZE: Quantity = Quantity {
    what: "size",
    write: "write bytes, or a number and k (1024), kB (1000), m, MB, g or GB, such as \"64k\"",
    units: &[
        ("B", 1),
        ("k", 1 << 10),
        ("K", 1 << 10),
        ("KiB", 1 << 10),
        ("kB", 1_000),
        ("KB", 1_000),
        ("m", 1 << 20),
        ("M", 1 << 20),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("g", 1 << 30),
        ("G", 1 << 30),
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
    ],
    bare: Some(1),
    case: true,
    exact: &[],
    max: 1 << 50,
    max_text: "1048576g",
};

/// A size in tc's words, in bytes: its units count in 1,024 (tc(8), UNITS).
pub const TC_SIZE: Quantity = Quantity {
    what: "size",
    write: "write bytes, or a number and kb, mb or gb, such as 32kb",
    units: &[
        ("b", 1),
        ("k", 1 << 10),
        ("kb", 1 << 10),
        ("m", 1 << 20),
        ("mb", 1 << 20),
        ("g", 1 << 30),
        ("gb", 1 << 30),
        ("kbit", 1 << 7),
        ("mbit", 1 << 17),
        ("gbit", 1 << 27),
    ],
    bare: Some(1),
    case: false,
    exact: &[],
    max: u32::MAX as u64,
    max_text: "4294967295",
};

/// A rate, in bits a second, in tc's words.
pub const TC_RATE: Quantity = Quantity {
    what: "rate",
    write: "write a number and bit, kbit, mbit, gbit (or bps, kbps, mbps for bytes a second), such as \"30mbit\"",
    units: &[
        ("bit", 1),
        ("kbit", 1_000),
        ("mbit", 1_000_000),
        ("gbit", 1_000_000_000),
        ("tbit", 1_000_000_000_000),
        ("kibit", 1 << 10),
        ("mibit", 1 << 20),
        ("gibit", 1 << 30),
        ("tibit", 1 << 40),
        ("bps", 8),
        ("kbps", 8_000),
        ("mbps", 8_000_000),
        ("gbps", 8_000_000_000),
        ("tbps", 8_000_000_000_000),
        ("kibps", 8 << 10),
        ("mibps", 8 << 20),
        ("gibps", 8 << 30),
        ("tibps", 8 << 40),
    ],
    bare: Some(1),
    case: false,
    exact: &[],
    max: 10_000_000_000_000,
    max_text: "10tbit",
};

/// A rate of a key, in bits a second: tc's words, and bits and bytes a second as people write them.
pub const RATE: Quantity = Quantity {
    write: "write a number and bit, kbit, mbit, gbit or Mbit/s (or bps, kbps, mbps for bytes a second, as tc does), such as \
            \"30mbit\"",
    exact: &[
        ("bit/s", 1),
        ("b/s", 1),
        ("kbit/s", 1_000),
        ("Kbit/s", 1_000),
        ("kb/s", 1_000),
        ("Kb/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("mbit/s", 1_000_000),
        ("Mb/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("gbit/s", 1_000_000_000),
        ("Gb/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
        ("Tb/s", 1_000_000_000_000),
        ("B/s", 8),
        ("kB/s", 8_000),
        ("KB/s", 8_000),
        ("MB/s", 8_000_000),
        ("GB/s", 8_000_000_000),
        ("TB/s", 8_000_000_000_000),
    ],
    ..TC_RATE
};

/// A chance, in billionths.
pub const PERCENT: Quantity = Quantity {
    what: "percentage",
    write: "write a number and %, such as \"0.1%\"",
    units: &[("%", 10_000_000)],
    bare: None,
    case: true,
    exact: &[],
    max: 1_000_000_000,
    max_text: "100%",
};

/// A percentage in tc's words: the sign may be left out.
pub const TC_PERCENT: Quantity = Quantity {
    bare: Some(10_000_000),
    ..PERCENT
};

/// A plain number, in billionths.
pub const NUMBER: Quantity = Quantity {
    what: "number",
    write: "write digits, such as \"3\" or \"0.668\"",
    units: &[],
    bare: Some(1_000_000_000),
    case: true,
    exact: &[],
    max: 1_000_000_000_000_000_000,
    max_text: "1000000000",
};

/// Nobody means a slower line by `bps`, bits a second.
const SLOWEST: u64 = 80_000;

/// Explains a rate such as `50mbps` or `50Mbps`: it looks like bits a second, but tc(8) reads bytes
/// a second. `None` for other rates.
pub fn bytes_a_second(text: &str) -> Option<String> {
    let (_, _, unit) = number(text)?;
    let unit = unit.trim().to_ascii_lowercase();
    let prefix = unit.strip_suffix("bps")?;
    let bits = TC_RATE.parse(text).ok()?;
    let is_slow = bits < SLOWEST;
    if !matches!(prefix, "k" | "m" | "g" | "t") && (is_slow || !prefix.is_empty()) {
        return None;
    }
    let figure = text[..text.len() - unit.len()].trim();
    let short = exact(bits, " ", &BITS_PER_SECOND[1..4]);
    Some(format!(
        "`{text}` is read as bytes a second, as tc does: {short}; for {figure} {}bit/s write {figure}{prefix}bit",
        match prefix {
            "k" => "k",
            "m" => "M",
            "g" => "G",
            "t" => "T",
            _ => "",
        }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_a_second_are_told_where_bits_may_be_meant() {
        let told = bytes_a_second("50mbps").unwrap();
        assert_eq!(
            told,
            "`50mbps` is read as bytes a second, as tc does: 400 Mbit/s; for 50 Mbit/s write 50mbit"
        );
        assert!(
            bytes_a_second("1.5 Gbps")
                .unwrap()
                .contains("12 Gbit/s; for 1.5 Gbit/s write 1.5gbit")
        );
        let plain = bytes_a_second("1000000bps").unwrap();
        assert!(
            plain.contains("8 Mbit/s; for 1000000 bit/s write 1000000bit"),
            "{plain}"
        );
        for text in [
            "50mbit",
            "50 Mbit/s",
            "5 MB/s",
            "64000",
            "8bps",
            "mbps",
            "50mibps",
        ] {
            assert_eq!(bytes_a_second(text), None, "{text}");
        }
    }
}

//! Numbers with units: times, sizes, rates and percentages, as exact integers.
//!
//! Rates are tc(8)'s: `kbit` is 1,000 bits a second, `kibit` 1,024, and `kbps` is kilo*bytes* a
//! second. A rate of a key may also be written as people write it, `Mbit/s`. Sizes are those of socket programs: `k` is 1,024 bytes, `kB` is 1,000.

use crate::rules::MAX_TIME_NS;

/// A kind of quantity: its units and how to speak of it.
#[derive(Debug)]
pub(crate) struct Quantity {
    /// `time`, for messages.
    pub what: &'static str,
    /// How to write one, for messages.
    pub write: &'static str,
    /// Units and their size in the smallest one.
    units: &'static [(&'static str, u64)],
    /// What a number without a unit counts; none: a unit must be there (but not for 0).
    bare: Option<u64>,
    /// Whether capital letters matter.
    case: bool,
    /// More units, in which they do.
    exact: &'static [(&'static str, u64)],
    /// The largest value allowed.
    pub max: u64,
    max_text: &'static str,
}

const NS: u64 = 1;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// A time, in nanoseconds.
pub(crate) const TIME: Quantity = Quantity {
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
pub(crate) const TC_TIME: Quantity = Quantity {
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
pub(crate) const SIZE: Quantity = Quantity {
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
pub(crate) const TC_SIZE: Quantity = Quantity {
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
pub(crate) const TC_RATE: Quantity = Quantity {
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
pub(crate) const RATE: Quantity = Quantity {
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

/// What a rate is that looks like bits a second and is read as bytes a second, as tc(8) reads it: `50mbps` and `50Mbps`;
/// none: it is no such rate. In words for a person.
pub(crate) fn bytes_a_second(text: &str) -> Option<String> {
    let (_, _, unit) = number(text)?;
    let unit = unit.trim().to_ascii_lowercase();
    let prefix = unit.strip_suffix("bps")?;
    if !matches!(prefix, "k" | "m" | "g" | "t") {
        return None;
    }
    let bits = TC_RATE.parse(text).ok()?;
    let figure = text[..text.len() - unit.len()].trim();
    let (short, name) = match bits {
        0..1_000_000 => (bits as f64 / 1e3, "kbit/s"),
        1_000_000..1_000_000_000 => (bits as f64 / 1e6, "Mbit/s"),
        _ => (bits as f64 / 1e9, "Gbit/s"),
    };
    Some(format!(
        "`{text}` is read as bytes a second, as tc does: {short} {name}; for {figure} {}bit/s write {figure}{prefix}bit",
        match prefix {
            "k" => "k",
            "m" => "M",
            "g" => "G",
            _ => "T",
        }
    ))
}

/// A chance, in parts of a milliard.
pub(crate) const PERCENT: Quantity = Quantity {
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
pub(crate) const TC_PERCENT: Quantity = Quantity {
    bare: Some(10_000_000),
    ..PERCENT
};

/// A plain number, in milliardths.
pub(crate) const NUMBER: Quantity = Quantity {
    what: "number",
    write: "write digits, such as \"3\" or \"0.668\"",
    units: &[],
    bare: Some(1_000_000_000),
    case: true,
    exact: &[],
    max: 1_000_000_000_000_000_000,
    max_text: "1000000000",
};

impl Quantity {
    /// The quantity in its smallest unit; or what is wrong, in words.
    pub fn parse(&self, text: &str) -> Result<u64, String> {
        let short: String = text.chars().take(40).collect();
        let no = |why: String| format!("`{short}` is no {}: {why}", self.what);
        let (digits, decimals, rest) = number(text).ok_or_else(|| no(self.write.to_owned()))?;
        let unit = rest.trim();
        let factor = match unit {
            "" if digits == 0 => Some(1),
            "" => self.bare,
            _ => self.factor(unit),
        };
        let factor = factor.ok_or_else(|| no(self.write.to_owned()))?;
        let whole = u128::from(digits) * u128::from(factor);
        let parts = 10_u128.pow(decimals);
        if whole % parts != 0 {
            return Err(no(format!("it is no whole number of {}", self.smallest())));
        }
        match u64::try_from(whole / parts) {
            Ok(n) if n <= self.max => Ok(n),
            _ => Err(no(format!("more than {} is not allowed", self.max_text))),
        }
    }

    fn factor(&self, unit: &str) -> Option<u64> {
        let exact = self.exact.iter().find(|(name, _)| *name == unit);
        let usual = || self.units.iter().find(|(name, _)| self.is(name, unit));
        exact.or_else(usual).map(|(_, factor)| *factor)
    }

    fn is(&self, name: &str, unit: &str) -> bool {
        match self.case {
            true => name == unit,
            false => name.eq_ignore_ascii_case(unit),
        }
    }

    fn smallest(&self) -> &'static str {
        match self.what {
            "time" => "nanoseconds",
            "size" => "bytes",
            "rate" => "bits a second",
            "number" => "milliardths",
            _ => "parts of a milliard",
        }
    }
}

/// Digits without the point, how many of them stand behind it, and the rest of the text.
fn number(text: &str) -> Option<(u64, u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || part.contains('.') || number.ends_with('.') {
        return None;
    }
    let part = part.trim_end_matches('0');
    // 18 digits fit into 64 bits; more say nothing that an experiment could need.
    if whole.len() + part.len() > 18 {
        return None;
    }
    let digits = format!("{whole}{part}").parse().ok()?;
    Some((digits, u32::try_from(part.len()).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_quantities() {
        let table: [(&Quantity, &str, u64); 30] = [
            (&TIME, "100ms", 100_000_000),
            (&TIME, "1.5 us", 1_500),
            (&TIME, "0", 0),
            (&TIME, "2m", 120_000_000_000),
            (&TIME, "1000000s", MAX_TIME_NS),
            (&TC_TIME, "25000", 25_000_000),
            (&TC_TIME, "5MSECS", 5_000_000),
            (&SIZE, "1000", 1_000),
            (&SIZE, "1k", 1_024),
            (&SIZE, "1 kB", 1_000),
            (&SIZE, "1.5k", 1_536),
            (&SIZE, "4MiB", 4 << 20),
            (&SIZE, "1MB", 1_000_000),
            (&RATE, "30mbit", 30_000_000),
            (&RATE, "30Mbit", 30_000_000),
            (&RATE, "0.5gbit", 500_000_000),
            (&RATE, "1kibit", 1_024),
            (&RATE, "1kbps", 8_000),
            (&RATE, "64000", 64_000),
            (&RATE, "50 Mbit/s", 50_000_000),
            (&RATE, "50Mb/s", 50_000_000),
            (&RATE, "2.5 Gbit/s", 2_500_000_000),
            (&RATE, "64 kbit/s", 64_000),
            (&RATE, "5 MB/s", 40_000_000),
            (&PERCENT, "0.1%", 1_000_000),
            (&PERCENT, "100%", 1_000_000_000),
            (&PERCENT, "0.0000001%", 1),
            (&TC_PERCENT, "0.3", 3_000_000),
            (&NUMBER, "0.668", 668_000_000),
            (&NUMBER, "1000000000", 1_000_000_000_000_000_000),
        ];
        for (quantity, text, right) in table {
            assert_eq!(quantity.parse(text), Ok(right), "{text}");
        }
    }

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

    #[test]
    fn bad_quantities() {
        let table: [(&Quantity, &str, &str); 14] = [
            (&TIME, "100", "write a number and ns"),
            (&TIME, "100xs", "write a number and ns"),
            (&TIME, "-1s", "write a number and ns"),
            (&TIME, "1.2.3s", "write a number"),
            (&TIME, "0.5ns", "no whole number of nanoseconds"),
            (&TIME, "1000001s", "more than 1000000s"),
            (&TIME, "99999999999999999999s", "write a number"),
            (&TIME, "999999999999999999h", "more than"),
            (&SIZE, "0.3", "no whole number of bytes"),
            (&RATE, "10mb", "kbps, mbps for bytes"),
            (&RATE, "10mB/s", "Mbit/s"),
            (&TC_RATE, "10 Mbit/s", "kbps, mbps for bytes"),
            (&PERCENT, "0.1", "and %"),
            (&PERCENT, "101%", "more than 100%"),
        ];
        for (quantity, text, why) in table {
            let error = quantity.parse(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}

//! Sizes, rates and times on the command line of `tcplab probe`, as the public programs take them.

use std::time::Duration;

use tcplab_base::quantity::{Quantity, SIZE, TIME};

/// Bytes of one read or write.
const PIECE: Quantity = Quantity {
    write: "write a number of bytes from 1 to 1g: 1460, 16k, 1m (k is 1024)",
    max: 1 << 30,
    max_text: "1g",
    ..SIZE
};

/// Bytes in all.
const TOTAL: Quantity = Quantity {
    write: "write a number of bytes: 100k, 10m, 2g (k is 1024)",
    max: u64::MAX,
    max_text: "2^64",
    ..SIZE
};

/// Bytes a second.
const BYTE_RATE: Quantity = Quantity {
    what: "rate",
    write: "write bytes a second: 100000, 30m (k is 1024)",
    ..TOTAL
};

/// Bits a second.
const BIT_RATE: Quantity = Quantity {
    write: "write bits a second, at least 8: 100000, 30m (k is 1000)",
    units: &[("k", 1_000), ("m", 1_000_000), ("g", 1_000_000_000)],
    case: false,
    ..BYTE_RATE
};

/// A pause; a bare number is microseconds.
const PAUSE: Quantity = Quantity {
    write: "write microseconds, or a time with its unit: 100000, 100ms, 1s",
    bare: Some(1_000),
    exact: &prefixes(1_000),
    max: 366 * 86_400 * 1_000_000_000,
    max_text: "a year",
    ..TIME
};

/// A length of time; a bare number is seconds.
const SECONDS: Quantity = Quantity {
    write: "write seconds, or a time with its unit: 10, 500ms, 2min",
    bare: Some(1_000_000_000),
    exact: &prefixes(1_000_000_000),
    ..PAUSE
};

/// As the public programs have it: `-s 100k` is 102,400 us.
const fn prefixes(one: u64) -> [(&'static str, u64); 4] {
    [
        ("k", one << 10),
        ("K", one << 10),
        ("m", one << 20),
        ("M", one << 20),
    ]
}

/// At least `least`.
fn from(least: u64, text: &str, of: &Quantity) -> Result<u64, String> {
    match of.parse(text)? {
        n if n < least => Err(of.write.to_owned()),
        n => Ok(n),
    }
}

/// A size in bytes, at least 1: `1460`, `16k` (of 1024), `1m`.
pub fn size(text: &str) -> Result<u64, String> {
    from(1, text, &PIECE)
}

/// A size of a socket's buffer or of a segment, which the kernel takes as an `int`.
pub fn option_size(text: &str) -> Result<u32, String> {
    size(text).and_then(|n| u32::try_from(n).map_err(|e| e.to_string()))
}

/// A number of bytes in all, at least 1, without a bound.
pub fn total(text: &str) -> Result<u64, String> {
    from(1, text, &TOTAL)
}

/// Bytes a second: `30m` (k is 1024).
pub fn byte_rate(text: &str) -> Result<u64, String> {
    from(1, text, &BYTE_RATE)
}

/// Bits a second: `30m` (k is 1000); gives bytes a second.
pub fn bit_rate(text: &str) -> Result<u64, String> {
    from(8, text, &BIT_RATE).map(|bits| bits / 8)
}

/// A pause; a bare number is microseconds.
pub fn pause(text: &str) -> Result<Duration, String> {
    PAUSE.parse(text).map(Duration::from_nanos)
}

/// A length of time; a bare number is seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    SECONDS.parse(text).map(Duration::from_nanos)
}

/// As [`seconds`], but not 0.
pub fn positive(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("write a time above 0: 100ms, 1s".into()),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_rates() {
        assert_eq!(size("1460"), Ok(1460));
        assert_eq!(size("16k"), Ok(16 << 10));
        assert_eq!(size("1M"), Ok(1 << 20));
        assert_eq!(size("1g"), Ok(1 << 30));
        assert_eq!(size("1.5k"), Ok(1_536));
        assert_eq!(byte_rate("30m"), Ok(30 << 20));
        assert_eq!(bit_rate("30m"), Ok(3_750_000));
        assert_eq!(bit_rate("30M"), Ok(3_750_000));
        assert_eq!(total("4g"), Ok(4 << 30));
        for bad in [
            "",
            "k",
            "0",
            "-1",
            "1kb",
            "2g",
            "99999999999999999999",
            "9999999999g",
        ] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert!(bit_rate("7").is_err() && byte_rate("0").is_err());
    }

    #[test]
    fn times() {
        assert_eq!(pause("100000"), Ok(Duration::from_millis(100)));
        assert_eq!(pause("100ms"), Ok(Duration::from_millis(100)));
        assert_eq!(pause("1k"), Ok(Duration::from_micros(1024)));
        assert_eq!(pause("0"), Ok(Duration::ZERO));
        assert_eq!(seconds("10"), Ok(Duration::from_secs(10)));
        assert_eq!(seconds("2min"), Ok(Duration::from_secs(120)));
        assert!(positive("0").is_err() && positive("100ms").is_ok());
        assert_eq!(seconds("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(seconds("10 s"), Ok(Duration::from_secs(10)));
        for bad in ["", "s", "-1", "1.5.0s", "1kb", "99999999999", "4294967295h"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}

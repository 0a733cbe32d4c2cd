//! Sizes, rates and times on the command line of `tcplab probe`, as the public programs take them.

use std::time::Duration;

/// Most bytes of one read or write.
const LARGEST: u64 = 1 << 30;

/// Longest time: a year.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// A number with k, m or g behind it; `thousand` is 1024 or 1000.
fn scaled(text: &str, thousand: u64) -> Option<u64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "" => 1,
        "k" | "K" => thousand,
        "m" | "M" => thousand.pow(2),
        "g" | "G" => thousand.pow(3),
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// A size in bytes, at least 1: `1460`, `16k` (of 1024), `1m`.
pub fn size(text: &str) -> Result<u64, String> {
    match scaled(text, 1024) {
        Some(n) if (1..=LARGEST).contains(&n) => Ok(n),
        _ => Err("write a number of bytes from 1 to 1g: 1460, 16k, 1m (k is 1024)".into()),
    }
}

/// A size of a socket's buffer or of a segment, which the kernel takes as an `int`.
pub fn option_size(text: &str) -> Result<u32, String> {
    size(text).and_then(|n| u32::try_from(n).map_err(|e| e.to_string()))
}

/// A number of bytes in all, at least 1, without a bound.
pub fn total(text: &str) -> Result<u64, String> {
    match scaled(text, 1024) {
        Some(n) if n > 0 => Ok(n),
        _ => Err("write a number of bytes: 100k, 10m, 2g (k is 1024)".into()),
    }
}

/// Bytes a second: `30m` (k is 1024).
pub fn byte_rate(text: &str) -> Result<u64, String> {
    match scaled(text, 1024) {
        Some(n) if n > 0 => Ok(n),
        _ => Err("write bytes a second: 100000, 30m (k is 1024)".into()),
    }
}

/// Bits a second: `30m` (k is 1000); gives bytes a second.
pub fn bit_rate(text: &str) -> Result<u64, String> {
    match scaled(text, 1000) {
        Some(n) if n >= 8 => Ok(n / 8),
        _ => Err("write bits a second, at least 8: 100000, 30m (k is 1000)".into()),
    }
}

/// A time with its unit, `none` being the unit of a bare number.
fn time(text: &str, none: Duration) -> Option<Duration> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "us" => Duration::from_micros(1),
        "ms" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        "min" => Duration::from_secs(60),
        "h" => Duration::from_secs(3600),
        "" => none,
        // As the public programs have it: `-s 100k` is 102,400 us.
        "k" | "K" => none.checked_mul(1024)?,
        "m" | "M" => none.checked_mul(1024 * 1024)?,
        _ => return None,
    };
    let number: u32 = number.parse().ok()?;
    unit.checked_mul(number).filter(|t| *t <= LONGEST)
}

/// A pause; a bare number is microseconds.
pub fn pause(text: &str) -> Result<Duration, String> {
    time(text, Duration::from_micros(1))
        .ok_or_else(|| "write microseconds, or a time with its unit: 100000, 100ms, 1s".into())
}

/// A length of time; a bare number is seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    time(text, Duration::from_secs(1))
        .ok_or_else(|| "write seconds, or a time with its unit: 10, 500ms, 2min".into())
}

/// As [`seconds`], but not 0.
pub fn positive(text: &str) -> Result<Duration, String> {
    seconds(text).and_then(|t| match t.is_zero() {
        true => Err("write a time above 0: 100ms, 1s".into()),
        false => Ok(t),
    })
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
        assert_eq!(byte_rate("30m"), Ok(30 << 20));
        assert_eq!(bit_rate("30m"), Ok(3_750_000));
        assert_eq!(total("4g"), Ok(4 << 30));
        for bad in [
            "",
            "k",
            "0",
            "-1",
            "1.5k",
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
        for bad in ["", "s", "-1", "1.5s", "99999999999", "4294967295h", "10 s"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}

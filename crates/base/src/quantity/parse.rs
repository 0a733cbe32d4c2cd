//! Reading a number with a unit: the one parser of times, sizes, rates and percentages. A table says which units there are.
//!
//! What it reads is exact: an integer of the quantity's smallest unit, or an error in words.

/// A quantity such as time or size: its units, and its name in messages.
#[derive(Debug)]
pub struct Quantity {
    /// `time`, for messages.
    pub what: &'static str,
    /// How to write one, for messages.
    pub write: &'static str,
    /// Units and their size in the smallest one.
    pub units: &'static [(&'static str, u64)],
    /// Unit of a number without a unit; `None`: a unit is required (but not for 0).
    pub bare: Option<u64>,
    /// Whether capital letters matter.
    pub case: bool,
    /// More units, in which they do.
    pub exact: &'static [(&'static str, u64)],
    /// The largest value allowed.
    pub max: u64,
    /// The same, for messages.
    pub max_text: &'static str,
}

impl Quantity {
    /// The quantity in its smallest unit.
    ///
    /// # Errors
    /// What is wrong, in words.
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
            return Err(no(format!(
                "it is not a whole number of {}",
                self.smallest()
            )));
        }
        match u64::try_from(whole / parts) {
            Ok(n) if n <= self.max => Ok(n),
            _ => Err(no(format!("more than {} is not allowed", self.max_text))),
        }
    }

    /// The quantity in its smallest unit, parts of it included, as other programs print it: `1.23KB`. `None` for
    /// other text.
    pub fn read(&self, text: &str) -> Option<f64> {
        let (digits, decimals, unit) = number(text)?;
        let factor = match unit {
            "" => self.bare,
            _ => self.factor(unit),
        };
        let whole = u128::from(digits) * u128::from(factor?);
        Some(whole as f64 / 10_u128.pow(decimals) as f64)
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
            _ => "billionths",
        }
    }
}

/// Digits without the point, how many of them stand behind it, and the rest of the text.
pub(super) fn number(text: &str) -> Option<(u64, u32, &str)> {
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
    use super::super::tables::*;
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
    fn bad_quantities() {
        let table: [(&Quantity, &str, &str); 14] = [
            (&TIME, "100", "write a number and ns"),
            (&TIME, "100xs", "write a number and ns"),
            (&TIME, "-1s", "write a number and ns"),
            (&TIME, "1.2.3s", "write a number"),
            (&TIME, "0.5ns", "not a whole number of nanoseconds"),
            (&TIME, "1000001s", "more than 1000000s"),
            (&TIME, "99999999999999999999s", "write a number"),
            (&TIME, "999999999999999999h", "more than"),
            (&SIZE, "0.3", "not a whole number of bytes"),
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

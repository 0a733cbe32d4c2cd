//! A value of a distribution: an absolute part, a part of the RTT, parts that count at the rate.

use std::ops::Range;

use super::{DistError, Kind, ONE};
use tcplab_base::quantity::{NUMBER, PERCENT, Quantity, RATE, SIZE, TIME};

/// `2ms + 3% rtt`: all parts are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Linear {
    /// In the kind's smallest unit; billionths for plain numbers.
    pub fixed: u64,
    /// Milliardths of the RTT; of the rate times the RTT in [`Kind::Buffer`].
    pub relative: u64,
    /// Nanoseconds that count at the rate, in [`Kind::Buffer`].
    pub at_rate_ns: u64,
}

/// A relative value is at most so many RTT or BDP.
const MAX_RELATIVE: u64 = 1_000;

impl Linear {
    pub fn fixed(fixed: u64) -> Self {
        Self {
            fixed,
            ..Self::default()
        }
    }

    /// Whether it needs no [`super::Base`].
    pub fn is_fixed(&self) -> bool {
        self.relative == 0 && self.at_rate_ns == 0
    }

    /// Whether it is 0 for every base.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// The sum of both; none when a part becomes larger than one value may be.
    pub fn plus(&self, other: &Self, kind: Kind) -> Option<Self> {
        let add = |a: u64, b: u64, max: u64| a.checked_add(b).filter(|sum| *sum <= max);
        Some(Self {
            fixed: add(self.fixed, other.fixed, kind.quantity().max)?,
            relative: add(self.relative, other.relative, MAX_RELATIVE * ONE)?,
            at_rate_ns: add(self.at_rate_ns, other.at_rate_ns, TIME.max)?,
        })
    }
}

impl Kind {
    /// The units of an absolute value.
    pub(super) fn quantity(self) -> &'static Quantity {
        match self {
            Kind::Time => &TIME,
            Kind::Rate => &RATE,
            Kind::Size | Kind::Buffer => &SIZE,
            Kind::Number => &NUMBER,
            Kind::Chance => &PERCENT,
        }
    }

    /// The word for a relative value, if it has one.
    pub(super) fn relative(self) -> Option<&'static str> {
        match self {
            Kind::Time => Some("rtt"),
            Kind::Buffer => Some("bdp"),
            _ => None,
        }
    }

    /// An absolute value: its text has a number and, where there is one, a unit.
    pub(super) fn absolute(self, text: &str) -> Result<Linear, String> {
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let unit = unit.trim();
        // `m` is a size, as everywhere where both could stand.
        let is_time = matches!(unit, "ns" | "us" | "µs" | "ms" | "s" | "min" | "h");
        if self == Kind::Buffer && is_time {
            return TIME.parse(text).map(|at_rate_ns| Linear {
                at_rate_ns,
                ..Linear::default()
            });
        }
        self.quantity().parse(text).map(Linear::fixed)
    }

    /// A relative value: `number` without a unit, or in per cent.
    pub(super) fn part_of(
        self,
        number: &str,
        word: &str,
        place: Range<usize>,
    ) -> Result<Linear, DistError> {
        if self.relative() != Some(word) {
            let why = match word {
                "rtt" => "`rtt` is allowed for times only",
                _ => "`bdp` is allowed for buffer sizes only",
            };
            let message = format!("{why}; here, {}", self.quantity().write);
            return Err(DistError::new(place, message));
        }
        let relative = match number.strip_suffix('%') {
            Some(percent) => match NUMBER.parse(percent.trim()) {
                Ok(parts) if parts % 100 == 0 => Ok(parts / 100),
                Ok(_) => Err("a percentage has at most seven decimals".to_owned()),
                Err(why) => Err(why),
            },
            None => NUMBER.parse(number.trim()),
        };
        let relative = relative.map_err(|why| DistError::new(place.clone(), why))?;
        if relative > MAX_RELATIVE * ONE {
            let message = format!("more than {MAX_RELATIVE} {word} is not allowed");
            return Err(DistError::new(place, message));
        }
        Ok(Linear {
            relative,
            ..Linear::default()
        })
    }
}

//! What the values of a measure are: their unit, their kind, and which way is better.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_base::quantity::{
    BITS_PER_SECOND, BYTES, Digits, MICROSECONDS, count as grouped, figure,
};

/// The unit of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// A plain number.
    #[default]
    #[serde(rename = "")]
    Number,
    /// TCP segments.
    #[serde(rename = "segments")]
    Segments,
    /// Packets or frames.
    #[serde(rename = "packets")]
    Packets,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Bits per second.
    #[serde(rename = "bit/s")]
    BitsPerSecond,
    /// Millions of bits per second, as in flent.
    #[serde(rename = "Mbit/s")]
    MegabitsPerSecond,
    /// Billions of bits per second, in formulas.
    #[serde(rename = "Gbit/s")]
    GigabitsPerSecond,
    /// Bytes per second, as in the kernel.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
}

impl Unit {
    /// As it stands in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number => "",
            Self::Segments => "segments",
            Self::Packets => "packets",
            Self::Bytes => "B",
            Self::BitsPerSecond => "bit/s",
            Self::MegabitsPerSecond => "Mbit/s",
            Self::GigabitsPerSecond => "Gbit/s",
            Self::BytesPerSecond => "B/s",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
        }
    }

    /// The unit of values in this one that are divided by `n`; none: it has no name.
    pub(super) fn over(self, n: f64) -> Option<Self> {
        match self {
            _ if n == 1.0 => Some(self),
            Self::BitsPerSecond if n == 1e6 => Some(Self::MegabitsPerSecond),
            Self::BitsPerSecond if n == 1e9 => Some(Self::GigabitsPerSecond),
            Self::Microseconds if n == 1e3 => Some(Self::Milliseconds),
            Self::Microseconds if n == 1e6 => Some(Self::Seconds),
            Self::Milliseconds if n == 1e3 => Some(Self::Seconds),
            _ => None,
        }
    }

    /// A value for people in four digits: `4.695 Gbit/s`, `133.2 kB`, `646 us`. What is only counted is a whole number as
    /// such, and others have three decimals.
    pub fn text(self, value: f64) -> String {
        let scale = match self {
            Self::BitsPerSecond => BITS_PER_SECOND,
            Self::Microseconds => MICROSECONDS,
            Self::Bytes => BYTES,
            Self::BytesPerSecond | Self::Milliseconds => {
                return format!("{} {}", plain(value), self.name());
            }
            _ => return plain(value),
        };
        figure(value, scale, Digits::Four)
    }
}

fn plain(value: f64) -> String {
    match value.fract() == 0.0 && value.abs() < 1e15 {
        true if value >= 0.0 => grouped(value as u64),
        true => format!("-{}", grouped(-value as u64)),
        false => format!("{value:.3}"),
    }
}

/// Kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// How many, or which one.
    Count,
    /// Amount per time.
    Rate,
    /// How long.
    Duration,
    /// How large.
    Size,
    /// A part of a whole, from 0 to 1.
    Share,
}

/// Which way is better.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More: throughput, requests a second.
    Higher,
    /// Less: latency, losses.
    Lower,
    /// Neither: a counter.
    #[default]
    Neither,
}

/// Which way is better, and why it is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More is better.
    More,
    /// Less is better.
    Less,
    /// Neither, for this reason.
    Neither(&'static str),
}

/// What the values of a measure are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// Their unit.
    pub unit: Unit,
    /// Their kind.
    pub kind: Kind,
    /// Which way is better.
    pub direction: Direction,
}

impl Values {
    /// Which way is better, as results say it.
    pub const fn better(self) -> Better {
        match self.direction {
            Direction::More => Better::Higher,
            Direction::Less => Better::Lower,
            Direction::Neither(_) => Better::Neither,
        }
    }
}

const fn of(unit: Unit, kind: Kind, direction: Direction) -> Values {
    Values {
        unit,
        kind,
        direction,
    }
}

pub(super) const fn count(direction: Direction) -> Values {
    of(Unit::Number, Kind::Count, direction)
}

pub(super) const fn segments(direction: Direction) -> Values {
    of(Unit::Segments, Kind::Count, direction)
}

pub(super) const fn packets(direction: Direction) -> Values {
    of(Unit::Packets, Kind::Count, direction)
}

pub(super) const fn bytes(direction: Direction) -> Values {
    of(Unit::Bytes, Kind::Size, direction)
}

pub(super) const fn rate(unit: Unit, direction: Direction) -> Values {
    of(unit, Kind::Rate, direction)
}

pub(super) const fn time(unit: Unit, direction: Direction) -> Values {
    of(unit, Kind::Duration, direction)
}

pub(super) const fn share(direction: Direction) -> Values {
    of(Unit::Number, Kind::Share, direction)
}

/// A measure of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// Unit of its values; empty: a plain number.
    pub unit: Unit,
    /// Absent if nothing is known of this measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Which way is better.
    pub better: Better,
}

impl Described {
    /// By its name, from the tables of known measures.
    pub fn of(name: &str) -> Self {
        let known = super::values_of(name);
        Self {
            name: name.to_owned(),
            unit: known.map_or(Unit::Number, |values| values.unit),
            kind: known.map(|values| values.kind),
            better: known.map_or(Better::Neither, Values::better),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_for_people() {
        for (unit, value, text) in [
            (Unit::BitsPerSecond, 4_695_123_456.789, "4.695 Gbit/s"),
            (Unit::Bytes, 133_181.0, "133.2 kB"),
            (Unit::Microseconds, 646.0, "646 us"),
            (Unit::Number, 170_922.0, "170,922"),
            (Unit::Number, -5_000.0, "-5,000"),
            (Unit::Segments, 3.0, "3"),
            (Unit::Number, 0.9614, "0.961"),
            (Unit::Milliseconds, 184.9999, "185.000 ms"),
            (Unit::BytesPerSecond, 125_000.0, "125,000 B/s"),
        ] {
            assert_eq!(unit.text(value), text, "{unit:?} {value}");
        }
    }
}

//! What keys take, and in which range.

use super::Key;
use crate::dist;
use crate::rules::{MAX_TIME_NS, Range};
use tcplab_base::quantity::{NANOSECONDS, PERCENT, RATE, SIZE, exact, percent};

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Count(Range),
    /// A size: [`SIZE`].
    Size(Range),
    /// A time: [`tcplab_base::quantity::TIME`].
    Time(Bounds),
    /// A rate: [`RATE`].
    Rate,
    /// A percentage: [`PERCENT`].
    Percent,
    /// Any text.
    Text,
    /// A distribution ([`crate::dist`]), or a number.
    Dist(dist::Kind),
    /// A name: letters, digits, `_` and `-`.
    Name,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A list of sizes, or one.
    Sizes(Range),
    /// A list of times, or one.
    Times,
    /// Text or number by a name of its own choice.
    Sysctl,
    /// When TCP_QUICKACK is set.
    QuickAck,
    /// A word of [`crate::tos`], or a byte.
    Tos,
    /// Values by the names of the model's behaviours.
    Behaviour,
    /// Values by the path of their key.
    Set,
    /// Name of a congestion control.
    Congestion,
    /// Words in a text: names of these keys, each with its value behind it.
    Pairs(&'static [Key]),
    /// Keys of its own.
    Table(&'static [Key]),
    /// One way of a link: tc's words or keys.
    Way,
    /// A list of tables with these keys.
    Tables(&'static [Key]),
    /// The list of applications: [`super::APP`] and the keys of their kind.
    Apps,
}

/// Which times a key takes, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bounds {
    Any,
    /// Longer than 0; why not 0.
    Longer(&'static str),
    AtLeast(i64),
    AtMost(i64),
    Within(i64, i64),
    /// Whole ones of this unit, at least one and at most so many, and the unit's name.
    Whole(i64, i64, &'static str),
}

impl Bounds {
    /// What is wrong with a time.
    pub fn wrong(self, ns: i64) -> Option<String> {
        match self {
            Self::Longer(why) if ns == 0 => Some(why.to_owned()),
            Self::AtLeast(least) if ns < least => {
                Some(format!("must be at least {}", time(least.unsigned_abs())))
            }
            Self::Within(least, _) if ns < least => Self::AtLeast(least).wrong(ns),
            Self::Within(_, most) => Self::AtMost(most).wrong(ns),
            Self::AtMost(most) if ns > most => {
                Some(format!("must be at most {}", time(most.unsigned_abs())))
            }
            Self::Whole(unit, most, words) if ns == 0 || ns % unit != 0 || ns / unit > most => {
                Some(format!("takes whole {words} from 1 to {most}"))
            }
            _ => None,
        }
    }

    const fn range(self) -> Range {
        match self {
            Self::Any => (0, MAX_TIME_NS),
            Self::Longer(_) => (1, MAX_TIME_NS),
            Self::AtLeast(least) => (least.unsigned_abs(), MAX_TIME_NS),
            Self::AtMost(most) => (0, most.unsigned_abs()),
            Self::Within(least, most) => (least.unsigned_abs(), most.unsigned_abs()),
            Self::Whole(unit, most, _) => (unit.unsigned_abs(), (unit * most).unsigned_abs()),
        }
    }
}

impl Form {
    /// Whether both take the same kind of value; ranges may differ.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Table(a), Self::Table(b)) | (Self::Tables(a), Self::Tables(b)) => are_same(a, b),
            (Self::Words(a), Self::Words(b)) => a == b,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }

    /// The numbers that it takes.
    pub const fn range(&self) -> Range {
        match self {
            Self::Count(range) | Self::Size(range) | Self::Sizes(range) => *range,
            Self::Time(bounds) => bounds.range(),
            Self::Rate => (0, RATE.max),
            Self::Percent => (0, PERCENT.max),
            Self::Times => (0, MAX_TIME_NS),
            _ => (0, SIZE.max),
        }
    }

    /// Whether it takes numbers, or lists of them.
    pub const fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Count(_)
                | Self::Size(_)
                | Self::Sizes(_)
                | Self::Time(_)
                | Self::Times
                | Self::Rate
                | Self::Percent
        )
    }

    /// The unit of its numbers.
    pub const fn unit(&self) -> Option<&'static str> {
        match self {
            Self::Size(_) | Self::Sizes(_) => Some("bytes"),
            Self::Time(_) | Self::Times => Some("ns"),
            Self::Rate => Some("bit/s"),
            Self::Percent => Some("ppb"),
            _ => None,
        }
    }

    /// A number of this form as a file would have it.
    pub fn written(&self, n: u64) -> String {
        match self {
            Self::Time(_) | Self::Times if n > 0 => time(n),
            Self::Size(_) | Self::Sizes(_) if n > 0 && n.is_multiple_of(1024) => {
                format!("{}k", n >> 10)
            }
            Self::Percent if n > 0 => percent(n),
            _ => n.to_string(),
        }
    }
}

/// Whether both tables have the same keys. By name: a constant may have another address at each use.
pub(crate) fn are_same(a: &[Key], b: &[Key]) -> bool {
    a.iter()
        .map(|key| key.name)
        .eq(b.iter().map(|key| key.name))
}

/// A time as a file would have it.
fn time(ns: u64) -> String {
    exact(ns, "", NANOSECONDS)
}

//! Distributions as text: what the connections of a population are drawn from.
//!
//! ```text
//! distribution := part ("|" part)*          a mixture when parts have weights
//! part         := [WEIGHT "%" | "else"] sum  weights add to 100 %; `else`, last, is the rest
//! sum          := piece ("+" piece)*        draws of the pieces, added
//! piece        := atom ["clip" [value] ".." [value]]
//! atom         := value | "(" distribution ")"
//!               | "uniform(" v ".." v ")"
//!               | "exponential(mean" v ")"
//!               | "lognormal(median" v ", sigma" NUMBER ")"
//!               | "pareto(minimum" v ", alpha" NUMBER ")"
//!               | "geometric(mean" NUMBER ")"           numbers from 1
//!               | "table(" P "%" v "," P "%" v ... ")"  quantiles from 0% to 100%, linear between
//! v            := value ("+" value)*
//! value        := a quantity ("80ms", "12mbit", "2.5kB", "3", "1%") | "3% rtt" | "2 bdp"
//! ```
//!
//! White space is free. Units are those of experiment files; what a text may use depends on its
//! [`Kind`]. A draw is computed in doubles with libm's functions, so the same on every machine, and
//! becomes an integer once, at the end.

mod draw;
mod lex;
mod mean;
mod parse;
mod span;
mod text;
mod value;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub use span::Span;
use value::Linear;

/// What a text's numbers are: their unit, and the relative words it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nanoseconds, at most 1,000,000 s; `3% rtt` is a part of [`Base::rtt_ns`].
    Time,
    /// Bits a second, at most 10 tbit.
    Rate,
    /// Bytes, at most 2^50.
    Size,
    /// A plain whole number, at most 1,000,000,000, such as requests of a connection.
    Number,
    /// A chance, in billionths (10^-9).
    Chance,
    /// Bytes of a queue, at most 2^50: a size, a time (what the rate carries in it), or `2 bdp`.
    Buffer,
}

/// What relative words stand for in one draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// `100% rtt`, in nanoseconds.
    pub rtt_ns: i64,
    /// The rate, in bits a second, at which a time counts in [`Kind::Buffer`]; `1 bdp` is this times
    /// [`Base::rtt_ns`].
    pub rate_bps: u64,
}

/// A distribution.
///
/// Two that are equal have the same text ([`std::fmt::Display`]) and give the same draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dist {
    kind: Kind,
    node: Node,
}

/// Why a text is no distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DistError {
    /// What is wrong, and the way out.
    pub message: String,
    /// First byte of the place in the text.
    pub start: usize,
    /// The byte after the place.
    pub end: usize,
}

impl DistError {
    fn new(place: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            start: place.start,
            end: place.end,
        }
    }
}

/// Bytes of a text at most.
const MAX_TEXT: usize = 4_096;
/// How deep parentheses may be nested.
const MAX_DEPTH: usize = 16;
/// 100 %, 1 of a plain number, one `rtt`, one `bdp`: in billionths.
const ONE: u64 = 1_000_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Value(Linear),
    Uniform(Linear, Linear),
    Exponential {
        mean: Linear,
    },
    Lognormal {
        median: Linear,
        /// Milliardths.
        sigma: u64,
    },
    Pareto {
        minimum: Linear,
        /// Milliardths, not 0.
        alpha: u64,
    },
    Geometric {
        /// Milliardths, from 1.
        mean: u64,
    },
    /// Chances in billionths, strictly ascending from 0 to [`ONE`].
    Table(Vec<(u64, Linear)>),
    /// Two pieces or more; one [`Node::Value`] at most, the first.
    Sum(Vec<Node>),
    /// Weights in billionths, which add to [`ONE`]; two parts or more.
    Mixture(Vec<(u64, Node)>),
    Clip {
        node: Box<Node>,
        low: Option<Linear>,
        high: Option<Linear>,
    },
}

impl Dist {
    /// Reads a text.
    ///
    /// # Errors
    /// Says what is wrong, where in the text, and the way out.
    pub fn parse(text: &str, kind: Kind) -> Result<Self, DistError> {
        let node = parse::parse(text, kind)?;
        Ok(Self { kind, node })
    }

    /// Always this plain number: [`Dist::fixed`] of [`Kind::Number`].
    pub fn constant(value: i64) -> Self {
        Self::fixed(Kind::Number, value)
    }

    /// Always this value, in the kind's smallest unit; below 0 it becomes 0, above the kind's
    /// largest value it becomes that.
    pub fn fixed(kind: Kind, value: i64) -> Self {
        let value = value.clamp(0, kind.max());
        let fixed = value.unsigned_abs() * kind.parts();
        Self {
            kind,
            node: Node::Value(Linear::fixed(fixed)),
        }
    }

    /// What its numbers are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The value that every draw has, when it is a value in absolute units.
    pub fn as_constant(&self) -> Option<i64> {
        let Node::Value(value) = &self.node else {
            return None;
        };
        let scene = draw::Scene::new(
            self.kind,
            &Base {
                rtt_ns: 0,
                rate_bps: 0,
            },
        );
        value.is_fixed().then(|| scene.whole(scene.value(value)))
    }
}

impl Kind {
    /// The largest value, in the smallest unit.
    fn max(self) -> i64 {
        // Every quantity's largest value is below 2^63.
        (self.quantity().max / self.parts()) as i64
    }

    /// How many parts of a [`Linear`]'s fixed value are one of the result.
    fn parts(self) -> u64 {
        match self {
            Kind::Number => ONE,
            _ => 1,
        }
    }
}

//! The report for a person on a terminal: findings first, then streams, then what to know about
//! the capture. Plain text that fits its width; colours only where the caller says so.

pub mod acks;
pub mod answers;
pub(crate) mod bars;
mod caqm;
mod collect;
pub(crate) mod coverage;
mod findings;
pub mod fit;
pub mod grid;
pub(crate) mod notes;
pub mod pair;
pub(crate) mod streams;
pub mod style;
pub mod table;
pub mod units;
mod untold;

pub use collect::Collector;
pub use coverage::Coverage;

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    /// Use ANSI colours.
    pub color: bool,
    /// Columns to fit into, at least 40.
    pub width: usize,
    /// The terminal shows ASCII only.
    pub ascii: bool,
}

impl Default for Theme {
    fn default() -> Self {
        Self {
            color: false,
            width: 80,
            ascii: false,
        }
    }
}

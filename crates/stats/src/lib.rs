//! What compares the arms of an experiment. Level 1 of the map.
//!
//! Integers come in: sums per group of connections, histograms of latencies. Doubles stay inside,
//! with libm's functions, and all randomness is a seeded stream: the same answer on every machine.
//!
//! - [`Sketch`]: a histogram of latencies with three digits, its quantiles, trimmed mean, tail share.
//! - [`compare`]: relative differences of ratios of sums, with bootstrap intervals over groups.
//! - [`compare_quantiles`]: relative differences of quantiles, over blocks.
//! - [`bh`]: which of many p-values count, at a false discovery rate.
//! - [`judge`]: lower, higher, the same, or undecided and how many connections that would need.
//! - [`change`], [`decide`]: the same for a few runs before and after, where the unit is a run of a benchmark.

mod bh;
mod decide;
mod interval;
mod quantile;
mod ratio;
mod relabel;
mod resample;
mod runs;
mod sketch;
mod student;
mod t;
mod tail;
mod verdict;

pub use bh::{Discoveries, bh};
pub use decide::{Decision, Rules, decide, enough};
pub use quantile::{Block, compare_quantiles};
pub use ratio::{Ratio, compare};
pub use resample::Design;
pub use runs::{Change, Mean, NoChange, Runs, change, combined, reach};
pub use sketch::{BadBucket, Sketch};
pub use verdict::{Verdict, judge};

/// A relative difference of an arm against the baseline, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The arm's value against the baseline's: 12.0 is 12 % more. At least -100; infinite when the baseline's is 0, and
    /// then the interval is that of the ratio with half an event more in each arm.
    pub percent: f64,
    /// Lower end of the interval, in the same unit.
    pub low_percent: f64,
    /// Upper end of the interval; infinite when the data set no limit.
    pub high_percent: f64,
    /// Standard error of `percent`.
    pub se_percent: f64,
    /// Two-sided chance of a difference at least as large if there is no real difference. The interval of level 1 - p
    /// just reaches 0.
    pub p: f64,
    /// How many groups the standard error rests on: (sum of their shares of the variance)^2 / sum of
    /// the squares. Below about ten, a few groups decide, and the interval is rough.
    pub bearing_groups: f64,
}

/// Why two arms cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDifference {
    /// Both sums are 0.
    #[error("no event in either arm: run more connections")]
    NoEvents,
    /// A denominator is 0, or a sketch is empty.
    #[error("an arm has nothing that was counted: run more connections")]
    EmptyArm,
    /// The quantile is a sample that never finished, or some replicates of it are.
    #[error(
        "so many responses are unfinished in an arm that the quantile is, or may be, one of them"
    )]
    Unfinished,
    /// Too few groups to say how sure a difference is.
    #[error("fewer than {MIN_GROUPS} groups of connections: run more connections")]
    FewGroups,
}

/// Groups that a comparison needs.
pub const MIN_GROUPS: usize = 8;

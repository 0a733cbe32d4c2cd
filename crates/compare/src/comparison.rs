//! `tcplab.compare/1`: the table with its objections, as it is printed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_plan::result::ErrorRecord;

use crate::metrics::Source;
use crate::row::{CountRow, Row};

/// `schema` of a [`Comparison`].
pub const COMPARE_SCHEMA: &str = "tcplab.compare/1";

/// Changes between two arms: `tcplab compare --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tcplab compare --json")]
pub struct Comparison {
    /// Always `tcplab.compare/1`.
    pub schema: String,
    /// Name of the arm before.
    pub before: String,
    /// Name of the arm after.
    pub after: String,
    /// False discovery rate of the table.
    pub q: f64,
    /// Changes up to this count as equal.
    pub band_percent: f64,
    /// Change that the runs must detect.
    pub find_percent: f64,
    /// Most runs per side; a row that needs more is too noisy.
    pub most_runs: u32,
    /// Assumed difference between runs if a side has one run.
    pub assumed_noise_percent: f64,
    /// Confidence level of the intervals.
    pub level: f64,
    /// The metrics.
    pub rows: Vec<Row>,
    /// Suites of tests.
    pub counts: Vec<CountRow>,
    /// Objections of a careful reader.
    pub flags: Vec<Flag>,
    /// Number of rows (and suites) per verdict.
    pub summary: Summary,
    /// Sources of the values before.
    pub sources_before: Vec<Source>,
    /// Sources of the values after.
    pub sources_after: Vec<Source>,
    /// Failure; the exit code is not 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

/// Rows of each verdict, by its word.
pub type Summary = BTreeMap<String, usize>;

/// Objection, and the rows concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flag {
    /// Kind of objection.
    pub kind: FlagKind,
    /// In words.
    pub text: String,
    /// Rows or suites concerned, or places in sources.
    pub rows: Vec<String>,
}

/// Kind of objection.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FlagKind {
    /// Client and server changed in opposite directions.
    OppositeSigns,
    /// Passed, failed and skipped do not give the total.
    CountsDoNotAddUp,
    /// A source gives two different figures for the same count.
    CountToldTwice,
    /// More tests were skipped.
    MoreSkipped,
    /// The numbers of tests that ran differ: not the same suite.
    OtherTests,
    /// The sides were run with different settings.
    OtherSettings,
    /// Runs of one arm differ by more than the arms.
    NoiseAboveChange,
    /// A first cell is missing.
    MissingCell,
    /// The units of both sides differ.
    Units,
    /// Rows that were not compared for another reason than their units.
    NotCompared,
    /// Only one side has the row.
    OneSide,
    /// The change that the source prints does not follow from its values.
    StatedChange,
    /// Some runs failed and do not count.
    FailedRun,
    /// Runs of one arm were not made between those of the other.
    NotInterleaved,
    /// The machine had more other load during the runs of one arm.
    OtherNoise,
    /// The hypervisor took much CPU time from these runs.
    Stolen,
    /// Runs of one arm began at the same time: copies, or parallel runs.
    SameTime,
    /// Some runs of a paired row have no partner in the other arm.
    WithoutPartner,
    /// Runs without a value were left out of a row of samples.
    NoValue,
    /// Units with different prefixes were converted.
    Converted,
    /// A remark of a source.
    Note,
}

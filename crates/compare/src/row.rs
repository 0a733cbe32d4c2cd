//! Rows of a comparison, as they are printed and as they stand in `tcplab.compare/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::{Better, Combine, Count, Noise, Role};

/// Verdict on a row.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Changed for the worse.
    Worse,
    /// Changed for the better.
    Better,
    /// Rose; neither direction is better.
    Higher,
    /// Fell; neither direction is better.
    Lower,
    /// Exact values differ.
    Differs,
    /// The whole interval lies inside the band of equal changes.
    Same,
    /// Exact values are equal.
    Equal,
    /// Undecided: see `needs`.
    Undecided,
    /// No sensible number of runs finds a change that matters: see `finds_percent`.
    TooNoisy,
    /// Values are not comparable: see `why`.
    #[default]
    Invalid,
    /// One side lacks the row or its value, or both lack the value: see `why`.
    Missing,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Worse,
        Self::Better,
        Self::Higher,
        Self::Lower,
        Self::Differs,
        Self::Same,
        Self::Equal,
        Self::Undecided,
        Self::TooNoisy,
        Self::Invalid,
        Self::Missing,
    ];

    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Differs => "differs",
            Self::Same => "same",
            Self::Equal => "equal",
            Self::Undecided => "undecided",
            Self::TooNoisy => "too-noisy",
            Self::Invalid => "invalid",
            Self::Missing => "missing",
        }
    }

    /// Whether more runs could say more.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Undecided | Self::TooNoisy)
    }
}

/// A metric before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name.
    pub metric: String,
    /// End at which it was measured.
    pub role: Role,
    /// Unit of `before` and `after`.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// How runs are combined.
    pub combine: Combine,
    /// Whether values are exact: equal or not, without statistics.
    pub exact: bool,
    /// Figure before.
    pub before: Option<f64>,
    /// Figure after.
    pub after: Option<f64>,
    /// Change in per cent; null if `before` is 0 or values have both signs. If `paired`, of neighbouring runs pair by pair,
    /// which can differ from the change between `before` and `after`.
    pub change_percent: Option<f64>,
    /// Interval of the change, 95 % by default; null if runs are too few.
    pub interval_percent: Option<(f64, f64)>,
    /// Probability of such a measured change if nothing changed, for this row alone.
    pub p: Option<f64>,
    /// `p` adjusted for the number of rows (Benjamini and Hochberg).
    pub adjusted_p: Option<f64>,
    /// Whether runs were compared in pairs.
    pub paired: bool,
    /// Values of the runs of the side `before` that were used.
    pub runs_before: Vec<f64>,
    /// Values of the runs of the side `after` that were used.
    pub runs_after: Vec<f64>,
    /// Other load of the machine during each run before; absent if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise_before: Vec<Noise>,
    /// Other load of the machine during each run after; absent if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise_after: Vec<Noise>,
    /// Verdict on the row.
    pub verdict: Verdict,
    /// `undecided`: total runs per side that decide it; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<u32>,
    /// `too-noisy`: smallest change that the most runs would find.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finds_percent: Option<f64>,
    /// Reason for the verdict, one line; empty if the figures say it.
    pub why: String,
}

impl Row {
    /// Name and role, as flags tell them.
    pub fn label(&self) -> String {
        label(&self.metric, self.role)
    }

    /// Whether the change, if it is real, is for the better.
    pub fn is_gain(&self) -> Option<bool> {
        let change = self.change_percent.filter(|change| *change != 0.0)?;
        match self.better {
            Better::Higher => Some(change > 0.0),
            Better::Lower => Some(change < 0.0),
            Better::Neither => None,
        }
    }
}

/// `TCP_RR (server)`.
pub fn label(metric: &str, role: Role) -> String {
    match role {
        Role::None => metric.to_owned(),
        Role::Client => format!("{metric} (client)"),
        Role::Server => format!("{metric} (server)"),
    }
}

/// A suite's counts before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountRow {
    /// The suite.
    pub name: String,
    /// Counts before, without single tests; null: no such suite on this side.
    pub before: Option<Count>,
    /// Counts after.
    pub after: Option<Count>,
    /// Tests that fail only after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_failed: Vec<String>,
    /// Tests that failed before and pass after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_passed: Vec<String>,
    /// Tests that ran before and are skipped after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_skipped: Vec<String>,
    /// `worse`: more fail; `better`: fewer; `equal`; `differs`: other counts changed; `missing`.
    pub verdict: Verdict,
}

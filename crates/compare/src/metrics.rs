//! `tcplab.metrics/1`: what was measured, as plain data. `tcplab bench` writes it, importers make it, `tcplab compare`
//! reads two of them, or one with two arms.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use tcplab_plan::measure::Better;
use tcplab_plan::measure::IS_SLOWEST;

use crate::join::join;

/// `schema` of a [`Metrics`].
pub const METRICS_SCHEMA: &str = "tcplab.metrics/1";

/// Measurements of one or more arms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "metrics: what tcplab compare reads")]
pub struct Metrics {
    /// Always `tcplab.metrics/1`.
    pub schema: String,
    /// Subject, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Such as `before` and `after`.
    pub arms: Vec<Arm>,
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// Sources of its values, one per file or command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Measured metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// Counted tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<Count>,
    /// Remarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// Source of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// File name, or another name of the source.
    pub name: String,
    /// Format that it was read as, such as `iperf3`.
    pub format: String,
    /// Tool and version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Command that was run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// Machine and kernel.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// Settings that the tool reports (`congestion`: `bbr`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// Something measured once or more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its name; with `role` it names the row.
    pub name: String,
    /// Unit, as the tool writes it.
    #[serde(default)]
    pub unit: String,
    /// Which way is better.
    #[serde(default)]
    pub better: Better,
    /// End at which it was measured.
    #[serde(default)]
    pub role: Role,
    /// How its runs are combined.
    #[serde(default)]
    pub combine: Combine,
    /// Each run gives the same value, like counters in virtual time: compared without statistics.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// Time span of its totals, such as `10 s`; totals over other spans do not compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_over: Option<String>,
    /// In the order in which they were made.
    pub runs: Vec<Run>,
    /// Change that the source itself prints (in the arm `after`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_percent: Option<f64>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Value of the run; null: see `failed` and `absent`.
    pub value: Option<f64>,
    /// Number that runs of two arms share if they were made one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Place in time among the runs of all arms, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u64>,
    /// Unix time of the run's beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_s: Option<f64>,
    /// Why the run does not count; its value is shown, not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Why a valid run has no value: there was nothing to measure, such as no delayed ACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// Other load of the machine during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
}

/// Other load of the machine during a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Share of all processors' time that the hypervisor took (`steal` in /proc/stat).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_percent: Option<f64>,
    /// Mean frequency of the processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_mhz: Option<f64>,
    /// Interrupts per second, without those that the run caused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupts_per_s: Option<f64>,
    /// Load average over a minute at the run's beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Other figures by name; each name ends with its unit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, f64>,
}

impl Noise {
    /// Most of a run that the hypervisor may take, per cent, before the run is too noisy for small
    /// effects.
    pub const STOLEN_PERCENT: f64 = 5.0;

    /// Whether the hypervisor took much of the run away.
    pub fn is_stolen(&self) -> bool {
        self.steal_percent
            .is_some_and(|steal| steal > Self::STOLEN_PERCENT)
    }

    /// Time in which no processor had anything to do, per cent of all processors'.
    pub fn idle_percent(&self) -> Option<f64> {
        self.others.get("idle_percent").copied()
    }
}

/// End at which something was measured.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// At the client.
    Client,
    /// At the server.
    Server,
    /// Unknown, or at neither.
    #[default]
    None,
}

/// How runs are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// The mean.
    #[default]
    Mean,
    /// Geometric mean; values are above 0.
    Geometric,
    /// Mean of the middle 60 %, which discounts a few disturbed runs; below 10 runs, the mean.
    Trimmed,
}

/// Counted tests of a suite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// Such as `ltp syscalls`.
    pub name: String,
    /// Place of the suite, if a source has two (`summary`, `section 3`).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Tests that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// Tests that failed, were broken or timed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Tests that were skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
    /// Total that the file reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Single tests by name, if the source names them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tests: BTreeMap<String, TestResult>,
}

/// Result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestResult {
    /// The test passed.
    Passed,
    /// The test failed, was broken or timed out.
    Failed,
    /// The test was skipped.
    Skipped,
}

/// Remark on an arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// Kind of remark.
    pub kind: RemarkKind,
    /// Source and place in it.
    pub place: String,
    /// In words.
    pub text: String,
}

/// Kind of remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkKind {
    /// Something to know.
    Note,
    /// A row, or the header, has an empty first cell.
    MissingCell,
    /// The source did not measure it, or measured it wrongly.
    Failed,
}

impl Metrics {
    /// A document with these arms.
    pub fn of(arms: Vec<Arm>) -> Self {
        Self {
            schema: METRICS_SCHEMA.into(),
            title: None,
            arms,
        }
    }
}

impl Metric {
    /// With no run yet.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, better: Better) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
            better,
            ..Self::default()
        }
    }

    /// Why a run has no value, if its value is larger than all others: the other runs alone would show too little.
    pub(crate) fn slowest(&self) -> Option<&str> {
        let mut why = self.runs.iter().filter_map(|run| run.absent.as_deref());
        why.find(|why| why.contains(IS_SLOWEST))
    }

    /// The identity of a metric: name, role and unit.
    pub(crate) fn key(&self) -> (String, Role, String) {
        (self.name.clone(), self.role, self.unit.clone())
    }

    /// Takes in what the values of more runs are totals over.
    pub(crate) fn joins(&mut self, total_over: Option<String>) {
        match (&mut self.total_over, total_over) {
            (Some(own), Some(other)) if !own.contains(&other) => {
                own.push_str(" and ");
                own.push_str(&other);
            }
            (Some(_), _) => {}
            (own, other) => *own = other,
        }
    }

    /// At this end.
    #[must_use]
    pub fn at(mut self, role: Role) -> Self {
        self.role = role;
        self
    }
}

impl Run {
    /// A run that gave this.
    pub fn of(value: f64) -> Self {
        Self {
            value: Some(value),
            ..Self::default()
        }
    }

    /// Its value when it counts.
    pub fn counts(&self) -> Option<f64> {
        self.value.filter(|_| self.failed.is_none())
    }
}

impl Arm {
    /// An arm of this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// A remark on a place.
    pub fn remark(&mut self, kind: RemarkKind, place: impl Into<String>, text: impl Into<String>) {
        self.remarks.push(Remark {
            kind,
            place: place.into(),
            text: text.into(),
        });
    }

    /// Takes in what another source has of the same arm: its runs follow ours, and suites of tests that both have are
    /// joined.
    pub fn absorb(&mut self, other: Self) {
        self.absorb_all([other]);
    }

    /// The same of several, one after the other.
    pub(crate) fn absorb_all(&mut self, others: impl IntoIterator<Item = Self>) {
        let mut places = Places::default();
        for (at, own) in self.metrics.iter().enumerate() {
            places.0.entry(own.key()).or_insert(at);
        }
        for other in others {
            self.sources.extend(other.sources);
            self.remarks.extend(other.remarks);
            let notes = join(&mut self.counts, other.counts);
            self.note(notes);
            for metric in other.metrics {
                places.put(&mut self.metrics, metric);
            }
        }
    }

    /// Notes that are not said yet.
    fn note(&mut self, notes: Vec<String>) {
        if notes.is_empty() {
            return;
        }
        let told = self.remarks.iter().map(|remark| remark.text.clone());
        let mut told: BTreeSet<String> = told.collect();
        for note in notes {
            if told.insert(note.clone()) {
                self.remark(RemarkKind::Note, "", note);
            }
        }
    }
}

/// Where each metric of an arm stands: a file may have very many.
#[derive(Debug, Default)]
pub(crate) struct Places(BTreeMap<(String, Role, String), usize>);

impl Places {
    /// Adds the runs of a metric to those of its name, role and unit, or a new one behind the others.
    pub(crate) fn put(&mut self, all: &mut Vec<Metric>, metric: Metric) {
        let key = metric.key();
        match self.0.get(&key).and_then(|at| all.get_mut(*at)) {
            Some(own) => {
                own.runs.extend(metric.runs);
                own.stated_percent = own.stated_percent.or(metric.stated_percent);
                own.joins(metric.total_over);
            }
            None => {
                self.0.insert(key, all.len());
                all.push(metric);
            }
        }
    }
}

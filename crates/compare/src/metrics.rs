//! `tcplab.metrics/1`: what was measured, as plain data. `tcplab bench` writes it, importers make it, `tcplab compare`
//! reads two of them, or one with two arms.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use tcplab_plan::measure::Better;

/// `schema` of a [`Metrics`].
pub const METRICS_SCHEMA: &str = "tcplab.metrics/1";

/// What was measured in one or more arms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "metrics: what tcplab compare reads")]
pub struct Metrics {
    /// Always `tcplab.metrics/1`.
    pub schema: String,
    /// What this is about, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The arms, such as `before` and `after`.
    pub arms: Vec<Arm>,
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// Where its values come from: one for each file or command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// What was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// Tests that were counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<Count>,
    /// What to know about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// Where values come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The file, or what else names it.
    pub name: String,
    /// The format it was read as, such as `iperf3`.
    pub format: String,
    /// The tool and its version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The command that was run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The machine and its kernel.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// Settings that the tool reports (`congestion`: `bbr`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// Something that was measured, once or more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its name; with `role` it names the row.
    pub name: String,
    /// Unit of its values, as the tool writes it.
    #[serde(default)]
    pub unit: String,
    /// Which way is better.
    #[serde(default)]
    pub better: Better,
    /// At which end it was measured.
    #[serde(default)]
    pub role: Role,
    /// How its runs become one figure.
    #[serde(default)]
    pub combine: Combine,
    /// Exact: each run gives the same value, as counters in virtual time. Such values are equal or differ, without statistics.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// What its values are totals over, such as `10 s`: totals over something else are not comparable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_over: Option<String>,
    /// The runs, in the order in which they were made.
    pub runs: Vec<Run>,
    /// The change that the source itself printed, per cent (an arm `after` has it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_percent: Option<f64>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What it gave; null: nothing, see `failed` and `absent`.
    pub value: Option<f64>,
    /// Runs of two arms with the same number belong together: they were made one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Its place in time among the runs of all arms, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u64>,
    /// When it began, seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_s: Option<f64>,
    /// Why it does not count; its value is shown and not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Why a valid run has no value: nothing to measure, such as no delayed ACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// What the machine did beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
}

/// What the machine did beside a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Time that the hypervisor took, per cent of all processors' (`steal` in /proc/stat).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_percent: Option<f64>,
    /// Mean frequency of the processors, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_mhz: Option<f64>,
    /// Interrupts a second that do not belong to the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupts_per_s: Option<f64>,
    /// Load average over a minute when it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Other figures by name, with the unit at its end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, f64>,
}

impl Noise {
    /// A run of which the hypervisor took more than this is no measurement of anything small, per cent.
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

/// At which end something was measured.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// At the client.
    Client,
    /// At the server.
    Server,
    /// Not told, or at neither.
    #[default]
    None,
}

/// How runs become one figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// The mean.
    #[default]
    Mean,
    /// The geometric mean; values are above 0.
    Geometric,
    /// The mean of the middle 60 %, which discounts a few disturbed runs; the mean if there are fewer than 10.
    Trimmed,
}

/// Tests of a suite that were counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The suite, such as `ltp syscalls`.
    pub name: String,
    /// Where the count is, if a source states it twice (`summary`, `section 3`).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Tests that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// Tests that failed, broken and timed out ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Tests that were skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
    /// All tests, as the source says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Single tests by name, where the source names them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tests: BTreeMap<String, TestResult>,
}

/// How one test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestResult {
    /// It passed.
    Passed,
    /// It failed, was broken or timed out.
    Failed,
    /// It was skipped.
    Skipped,
}

/// Something to know about an arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// What kind of remark.
    pub kind: RemarkKind,
    /// The source and the place in it.
    pub place: String,
    /// In words.
    pub text: String,
}

/// What kind of remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkKind {
    /// Something to know.
    Note,
    /// The first cell of a row or of a heading is missing.
    MissingCell,
    /// Something that the source did not measure, or did wrong.
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

    /// What makes it another one: name, role and unit.
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

    /// Takes in what another source has of the same arm: its runs follow ours.
    pub fn absorb(&mut self, other: Self) {
        self.sources.extend(other.sources);
        self.remarks.extend(other.remarks);
        self.counts.extend(other.counts);
        let mut places = Places::default();
        for (at, own) in self.metrics.iter().enumerate() {
            places.0.entry(own.key()).or_insert(at);
        }
        for metric in other.metrics {
            places.put(&mut self.metrics, metric);
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

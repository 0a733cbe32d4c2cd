//! What `tcplab run --json` and `tcplab reproduce --json` answer: `tcplab.run/1` and
//! `tcplab.reproduce/1`.
//!
//! Numbers that are not known are `null`, and the reason stands beside them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agreement::Agreement;
use crate::measure::Described;
use crate::outcome::{Flow, LINK_SERIES, LinkCount, LinkSeries, TCP_INFO_SERIES};

/// `schema` of a [`RunDocument`].
pub const RUN_SCHEMA: &str = "tcplab.run/1";

/// `schema` of a [`ReproduceDocument`].
pub const REPRODUCE_SCHEMA: &str = "tcplab.reproduce/1";

/// Document of `tcplab run --json`, also after a failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tcplab run --json")]
pub struct RunDocument {
    /// Always `tcplab.run/1`.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// Units, kinds and better directions of all measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Described>,
    /// One per point and stack: stacks in the order given, points in the order of the plan.
    pub points: Vec<PointResult>,
    /// Number of each of `points` in the result folder, if only a part was run (`--points`, `--shard`). Absent: 0, 1, 2 ...
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<usize>,
    /// Whether the stacks sent the same packets: the first stack in virtual time (`model:`, `uml:`) with each other
    /// one. Absent with fewer than two such stacks, and in the files of a result folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreement: Vec<Agreement>,
    /// Peak memory of tcplab and its children, by wait4(2).
    pub peak_rss_bytes: u64,
    /// First failure; the exit code is not 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

impl RunDocument {
    /// The points with their numbers in the result folder.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &PointResult)> {
        let number = |at: usize| self.numbers.get(at).copied().unwrap_or(at);
        let points = self.points.iter().enumerate();
        points.map(move |(at, point)| (number(at), point))
    }
}

/// Error that ends a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorRecord {
    /// `usage`, `input`, `output`, `inconclusive`, `cannot_run` or `interrupted`.
    pub kind: String,
    /// What happened and what to do.
    pub message: String,
}

/// Result of a point on a stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointResult {
    /// Value of each axis as written in the experiment, and `variant` and `repeat`.
    pub axes: BTreeMap<String, serde_json::Value>,
    /// As `--on` names it.
    pub stack: String,
    /// Measures by name (docs/experiment.md); null if it has no value, see `missing`.
    pub measures: BTreeMap<String, Option<f64>>,
    /// Why a measure has no value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
    /// Growth of each host's counters over the run, by nstat's names.
    pub counters: BTreeMap<String, BTreeMap<String, i64>>,
    /// Connections, application by application as in the file.
    pub flows: Vec<Flow>,
    /// Counts of each link, in the order of the experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkCount>,
    /// Samples of each link (`run.link_every`), in the order of the experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link_series: Vec<LinkSeries>,
    /// Column names of its arrays of numbers (`tcp_info_series`, `link_series`, `pings`); not covered by the
    /// digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Vec<String>>,
    /// Names of the links, `a-b` by hosts, in the order of the experiment; not covered by the digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link_names: Vec<String>,
    /// Not covered by the digest.
    pub cost: Cost,
    /// SHA-256 of this result (without `cost`) and its captures, in hexadecimal; empty if the point
    /// was not run.
    pub digest: String,
    /// Seed of the random streams.
    pub seed: u64,
    /// Release and version of the kernel, or the profile of a model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// The run reached its `max` before its applications ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
    /// Shortcomings of the run, such as a capture that lost frames.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Settings that this stack left out by `run.tolerate`, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerated: Vec<String>,
    /// Why this point has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// A limit ended the run: `run.max_events`, or the time of a guest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inconclusive: bool,
}

/// A value of an axis as tables show it: a text without its quotation marks.
pub fn axis_text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl PointResult {
    /// Its value on an axis; empty if the point lacks this axis.
    pub fn axis(&self, axis: &str) -> String {
        self.axes.get(axis).map_or(String::new(), axis_text)
    }

    /// Says what the columns of its arrays are.
    pub fn name_columns(&mut self) {
        let ends = || {
            self.flows
                .iter()
                .flat_map(|flow| [&flow.client, &flow.server])
        };
        let series = ends().any(|end| !end.tcp_info_series.is_empty());
        let pings = ends().any(|end| !end.pings.is_empty());
        let mut links = self.link_series.iter();
        let links = links.any(|link| !(link.a_to_b.is_empty() && link.b_to_a.is_empty()));
        let named = [
            ("tcp_info_series", series, "time_ns", &TCP_INFO_SERIES[..]),
            ("link_series", links, "time_ns", &LINK_SERIES[..]),
            ("pings", pings, "sent_ns", &["latency_ns"][..]),
        ];
        for (name, _, first, others) in named.into_iter().filter(|(_, is, ..)| *is) {
            let columns = std::iter::once(&first).chain(others);
            let columns = columns.map(|column| (*column).to_owned()).collect();
            self.columns.insert(name.to_owned(), columns);
        }
    }
}

/// Cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// CPU time in user mode: wait4(2) for guests, the thread's time for a model.
    pub user_s: f64,
    /// Time on the machine's clock.
    pub wall_s: f64,
    /// Time in the experiment.
    pub virtual_s: f64,
    /// TCP packets that the endpoints handed to links, lost ones included; a super-segment counts as its wire
    /// packets. Model only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_packets: Option<u64>,
    /// Of `tcp_packets`, those with payload. Model only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_segments: Option<u64>,
    /// Connections that clients opened. Model only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
    /// Events that the simulator took from its queue. Model only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Peak memory of a process of the run, at its end: a kernel's guest; for the model, tcplab itself, so earlier
    /// points count too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
}

/// Document of `tcplab reproduce --json`, also after a failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tcplab reproduce --json")]
pub struct ReproduceDocument {
    /// Always `tcplab.reproduce/1`.
    pub schema: String,
    /// In the order of the list.
    pub claims: Vec<Claim>,
    /// First failure; the exit code is not 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

/// A published claim and its measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Such as `quickack.default`.
    pub id: String,
    /// Place of publication.
    pub source: String,
    /// Published value.
    pub expected: f64,
    /// How `measured` must compare with `expected`.
    pub rule: Rule,
    /// Largest distance; its meaning depends on the rule.
    pub tolerance: f64,
    /// Null if not measured.
    pub measured: Option<f64>,
    /// Lower and upper end of the repetitions' values, or of their confidence interval; null if
    /// there is one value only.
    pub interval: Option<(f64, f64)>,
    /// Unit of all these values, such as `us` or `ACKs`.
    pub unit: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Stack that it was measured on.
    pub stack: String,
    /// Why the claim does not hold or was not measured; else a remark.
    pub why: String,
}

/// How a measured value must compare with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The values differ by at most `tolerance`, in their unit.
    Within,
    /// The same sign; if 0 was published, the measured value is at most `tolerance` away.
    Sign,
    /// The same sign, and neither is more than `tolerance` times the other.
    SignAndFactor,
    /// Several measures come in the published order; the value counts those that do not.
    Order,
    /// The whole `interval` (the value, if null) lies within `tolerance` of the published value.
    Band,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The claim holds.
    Pass,
    /// The claim does not hold; its value stays in the table.
    Fail,
    /// Not measured, see `why`.
    NotRun,
}

impl Rule {
    /// Whether a measured value keeps the rule. Values that are no finite numbers never do.
    pub fn keeps(
        self,
        expected: f64,
        tolerance: f64,
        measured: f64,
        interval: Option<(f64, f64)>,
    ) -> bool {
        let near = |value: f64| (value - expected).abs() <= tolerance;
        let sign = |value: f64| value.partial_cmp(&0.0);
        let same_sign = match expected == 0.0 {
            true => near(measured),
            false => sign(measured).is_some() && sign(measured) == sign(expected),
        };
        match self {
            _ if !measured.is_finite() => false,
            Self::Within | Self::Order => near(measured),
            Self::Sign => same_sign,
            Self::SignAndFactor if expected == 0.0 => same_sign,
            Self::SignAndFactor => {
                let ratio = measured / expected;
                same_sign && ratio <= tolerance && ratio * tolerance >= 1.0
            }
            Self::Band => {
                let (low, high) = interval.unwrap_or((measured, measured));
                near(low) && near(high)
            }
        }
    }
}

impl Claim {
    /// The verdict that its values and its rule give.
    pub fn judge(&self) -> Verdict {
        match self.measured {
            None => Verdict::NotRun,
            Some(m)
                if self
                    .rule
                    .keeps(self.expected, self.tolerance, m, self.interval) =>
            {
                Verdict::Pass
            }
            Some(_) => Verdict::Fail,
        }
    }
}

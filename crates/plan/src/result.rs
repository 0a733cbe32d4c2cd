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

/// The answer of `tcplab run --json`: one document, also when something failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tcplab run --json")]
pub struct RunDocument {
    /// Always `tcplab.run/1`.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// The measures of all points: their units, kinds and which way is better.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Described>,
    /// One for each point and stack: stacks in the order given, points in the order of the plan.
    pub points: Vec<PointResult>,
    /// Whether the stacks sent the same packets: the first stack in virtual time (`model:`, `uml:`) with each other one.
    /// Absent with fewer than two of them, and in the files of a result folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreement: Vec<Agreement>,
    /// Peak memory of tcplab and its children, as wait4(2) says.
    pub peak_rss_bytes: u64,
    /// The first thing that went wrong; the exit code is not 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

/// Why a command could not do what it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorRecord {
    /// `usage`, `input`, `output`, `inconclusive`, `cannot_run` or `interrupted`.
    pub kind: String,
    /// What happened and what to do about it.
    pub message: String,
}

/// What came out of one point on one stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointResult {
    /// Value of each axis as written in the experiment, and `variant` and `repeat`.
    pub axes: BTreeMap<String, serde_json::Value>,
    /// The stack, as `--on` names it.
    pub stack: String,
    /// Measures by name (docs/experiment.md); null: it has no value, see `missing`.
    pub measures: BTreeMap<String, Option<f64>>,
    /// For each measure without a value: why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
    /// Counters of each host by nstat's names, as differences over the run.
    pub counters: BTreeMap<String, BTreeMap<String, i64>>,
    /// The connections in the order in which they were opened.
    pub flows: Vec<Flow>,
    /// What each link did, in the order of the experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkCount>,
    /// Samples of each link, in the order of the experiment (`run.link_every`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link_series: Vec<LinkSeries>,
    /// Names of the columns of each array of numbers that is in it: `tcp_info_series`, `link_series`, `pings`; not covered
    /// by the digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Vec<String>>,
    /// Name of each link, `a-b` by its hosts, in the order of the experiment; not covered by the digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link_names: Vec<String>,
    /// What it cost; not covered by the digest.
    pub cost: Cost,
    /// SHA-256 of this result (without `cost`) and its captures, in hexadecimal; empty when the
    /// point was not run.
    pub digest: String,
    /// Seed of the random streams.
    pub seed: u64,
    /// Release and version of the kernel, or the profile of a model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// The run reached its `max` before its applications ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
    /// What the run could not do, such as a capture that lost frames.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Settings that this stack left out because `run.tolerate` allows it, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerated: Vec<String>,
    /// Why this point has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The error is a limit that ended the run: `run.max_events`, or the time that a guest may take.
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

/// What a run cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// CPU time in user mode, seconds: wait4(2) for guests, the thread's time for a model.
    pub user_s: f64,
    /// Time on the clock of the machine, seconds.
    pub wall_s: f64,
    /// Time that passed in the experiment, seconds.
    pub virtual_s: f64,
    /// TCP packets that the endpoints handed to links, lost ones included; a super-segment counts as its wire packets. Model
    /// only, like the next three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_packets: Option<u64>,
    /// Of these with payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_segments: Option<u64>,
    /// Connections that clients opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
    /// Events that the simulator took from its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// The most memory that a process of the run had held when it ended: the guest of a kernel, tcplab
    /// itself (and so all points before this one) for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
}

/// The answer of `tcplab reproduce --json`: one document, also when something failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tcplab reproduce --json")]
pub struct ReproduceDocument {
    /// Always `tcplab.reproduce/1`.
    pub schema: String,
    /// The claims, in the order of the list.
    pub claims: Vec<Claim>,
    /// The first thing that went wrong; the exit code is not 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

/// A published claim and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name, such as `quickack.default`.
    pub id: String,
    /// Where it was published.
    pub source: String,
    /// The value that was published.
    pub expected: f64,
    /// How `measured` must compare with `expected`.
    pub rule: Rule,
    /// How far they may be apart; what it means depends on the rule.
    pub tolerance: f64,
    /// The value that was measured; null when it was not.
    pub measured: Option<f64>,
    /// Lower and upper end of the values that the repetitions gave, or of their confidence
    /// interval; null when there is one value only.
    pub interval: Option<(f64, f64)>,
    /// Unit of all these values, such as `us` or `ACKs`.
    pub unit: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// What it was measured on.
    pub stack: String,
    /// Why it does not hold or was not measured; what to know about it otherwise.
    pub why: String,
}

/// How a measured value must compare with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// They differ by at most `tolerance`, in their unit.
    Within,
    /// They have the same sign; of a published 0 the measured value is at most `tolerance` away.
    Sign,
    /// They have the same sign and neither is more than `tolerance` times the other.
    SignAndFactor,
    /// Several measures come in the published order; the value counts those that do not.
    Order,
    /// The whole `interval` (the value, where there is none) lies within `tolerance` of the
    /// published value.
    Band,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does.
    Pass,
    /// It does not; the figure stays in the table.
    Fail,
    /// It was not measured, for the reason in `why`.
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

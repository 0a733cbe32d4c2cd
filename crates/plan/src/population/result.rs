//! What a population's run comes to: `tcplab.population/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::result::ErrorRecord;

/// `schema` of a [`PopulationDocument`].
pub const POPULATION_SCHEMA: &str = "tcplab.population/1";

/// The answer of `tcplab run` for a population; the same as `summary.json` of its folder but for `cost`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tcplab run POPULATION --json")]
pub struct PopulationDocument {
    /// Always `tcplab.population/1`.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// The question it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The variant of the file that was run; none: the file as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The stack of every host, but for what arms and clients change.
    pub stack: String,
    /// Seed of all draws.
    pub seed: u64,
    /// Connections of each arm.
    pub connections: u64,
    /// Which shard of how many: `1/1` is all.
    pub shard: String,
    /// Groups of connections, of 2,048, that the figures are of.
    pub groups: u32,
    /// Every row was decided before the run had all connections that were asked for.
    pub stopped: bool,
    /// Name of the arm that the others are compared with.
    pub baseline: String,
    /// Share of false discoveries among the decided rows.
    pub level: f64,
    /// What each arm did, in the order of the file.
    pub arms: Vec<ArmResult>,
    /// The table: each quantity of each arm against the baseline.
    pub rows: Vec<Row>,
    /// Connections whose responses took much longer or shorter in an arm than in the baseline; the furthest first.
    pub outliers: Vec<OutlierRecord>,
    /// What the run cost; not in `summary.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<PopulationCost>,
    /// Failure; the exit code is not 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

/// What the connections of one arm did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArmResult {
    /// Its name.
    pub name: String,
    /// Connections.
    pub connections: u64,
    /// Of these, with a segment that the server sent again.
    pub lossy_connections: u64,
    /// Of these, ended by the limit of one simulated hour, not by their network.
    #[serde(default)]
    pub cut_short: u64,
    /// Responses of the population; those that were never asked for count as unfinished.
    pub requests: u64,
    /// Counters of the servers by nstat's names, summed.
    pub counters: BTreeMap<String, u64>,
    /// All responses that were ACKed whole: first byte sent to last byte ACKed.
    pub latency: Distribution,
    /// Those of fewer than 4,096 bytes.
    pub latency_lt4k: Distribution,
    /// Part of the time of all responses that connections with a retransmission spent.
    pub lossy_share_of_latency: Option<f64>,
    /// Recoveries that came to their end: original send time of the first unACKed segment to the ACK of all that had
    /// been sent when recovery began (TCPRecovLat).
    pub recovery: Distribution,
}

/// Times of many things. An unfinished response is later than all that finished: a quantile that is one has no value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// How many finished.
    pub count: u64,
    /// Mean of the finished ones in microseconds.
    pub mean_us: Option<f64>,
    /// Mean without the largest 1 %; none when some of the others are unfinished.
    pub trimmed_mean_us: Option<f64>,
    /// Part of the sum of the finished ones that their largest 1 % hold.
    pub top1_share: Option<f64>,
    /// Median (nearest rank, three digits).
    pub p50_us: Option<u64>,
    /// 95th percentile.
    pub p95_us: Option<u64>,
    /// 99th percentile.
    pub p99_us: Option<u64>,
    /// The distribution function: times in microseconds, and the part of all that took no longer.
    pub cdf: Vec<(u64, f64)>,
}

/// What an arm's quantity is against the baseline's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Lower, at the table's level.
    Lower,
    /// Higher, at the table's level.
    Higher,
    /// The whole interval lies inside the band.
    Same,
    /// Neither.
    #[default]
    Undecided,
}

impl Verdict {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
            Self::Same => "same",
            Self::Undecided => "undecided",
        }
    }
}

/// A quantity of an arm against the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// `timeouts`, `latency-p99` ...
    pub id: String,
    /// What it is, with its counter.
    pub title: String,
    /// The arm.
    pub arm: String,
    /// Its value in the baseline, in `unit`. Means of responses: of those that finished both here and in the arm.
    pub baseline: Option<f64>,
    /// Its value in the arm.
    pub value: Option<f64>,
    /// `per 1000 connections`, `per 1000 responses`, `%`, `ms`.
    pub unit: String,
    /// Difference in per cent of the baseline; none when the baseline is 0.
    pub percent: Option<f64>,
    /// 95 % interval of that.
    pub interval: Option<[f64; 2]>,
    /// Chance of such a difference when there is none.
    pub p: Option<f64>,
    /// What that says.
    pub verdict: Verdict,
    /// About how many connections more would decide it.
    pub more_connections: Option<u64>,
    /// Why it has no value or interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// A connection to look at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutlierRecord {
    /// Its number: `tcplab population connection FILE NUMBER` runs it again.
    pub connection: u64,
    /// The arm.
    pub arm: String,
    /// Time of its responses that finished in both, in the arm less that in the baseline.
    pub difference_us: i64,
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PopulationCost {
    /// CPU seconds of the threads that simulate.
    pub user_s: f64,
    /// Seconds of the clock.
    pub wall_s: f64,
    /// Connections that were simulated in this run, counted once for each arm.
    pub connections: u64,
    /// TCP packets that endpoints handed to links.
    pub tcp_packets: u64,
    /// The most memory that the process held.
    pub peak_rss_bytes: u64,
}

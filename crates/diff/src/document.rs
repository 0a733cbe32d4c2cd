//! A comparison as a document for programs.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_plan::Point;

use crate::end::Other;
use crate::runs::Runs;
use crate::{Judged, Minimal, table};

/// `schema` of a [`DiffDocument`].
pub const DIFF_SCHEMA: &str = "tcplab.diff/1";

/// The whole comparison.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiffDocument {
    /// Always `tcplab.diff/1`.
    pub schema: String,
    /// The first stack.
    pub a: Side,
    /// The second.
    pub b: Side,
    /// Scenarios with equal packets of all, in percent.
    pub equal_percent: f64,
    /// The classes of differences, the most frequent first.
    pub classes: Vec<Class>,
    /// Every scenario.
    pub scenarios: Vec<Row>,
    /// A small scenario of each class, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub smallest: Vec<Small>,
}

/// A stack.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Side {
    /// Its name.
    pub stack: String,
    /// What of it decides its results: a digest of the kernel or of the program.
    pub identity: String,
}

/// Scenarios whose first difference is of one kind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Class {
    /// The field that differs and the kind of packet: `window of ack`; `equal`.
    pub name: String,
    /// How many scenarios.
    pub scenarios: u64,
    /// One of them: that with the fewest packets before the difference.
    pub such_as: String,
}

/// A scenario.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The class of its difference.
    pub class: String,
    /// Whether the packets are equal to the last one; false without a TCP packet.
    pub equal: bool,
    /// Packets of the first stack.
    pub packets: u64,
    /// Packets before the difference.
    pub packets_equal: u64,
    /// The first difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<First>,
    /// Applications whose datagrams or pings are not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
    /// Counters that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Other>,
    /// Fields of tcp_info that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tcp_info: Vec<Other>,
}

/// A first difference.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct First {
    /// The field.
    pub field: String,
    /// The kind of packet.
    pub kind: String,
    /// The host that sent it, from 0.
    pub host: u64,
    /// The packet's number among those of its host and connection, from 0.
    pub number: u64,
    /// When it was sent, after the run's start.
    pub time_ns: i64,
    /// The first stack's value.
    pub a: String,
    /// The second's.
    pub b: String,
}

/// A small scenario of a class.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Small {
    /// The class.
    pub class: String,
    /// The scenario that it was made of.
    pub of: String,
    /// What is left of it.
    pub point: Point,
}

impl DiffDocument {
    /// Puts together what was found.
    pub fn new(runs: &Runs, judged: &[Judged], smallest: &[Minimal]) -> Self {
        let side = |stack: &tcplab_lab::Stack| Side {
            stack: stack.name.clone(),
            identity: stack.identity().to_owned(),
        };
        Self {
            schema: DIFF_SCHEMA.to_owned(),
            a: side(&runs.a),
            b: side(&runs.b),
            equal_percent: table::share(judged),
            classes: classes(judged),
            scenarios: judged.iter().map(row).collect(),
            smallest: smallest.iter().map(small).collect(),
        }
    }
}

fn classes(judged: &[Judged]) -> Vec<Class> {
    let all = table::classes(judged).into_iter();
    let class = |(name, members): (String, Vec<&Judged>)| Class {
        such_as: table::nearest(&members).map_or(String::new(), |j| j.scenario.name.clone()),
        scenarios: members.len() as u64,
        name,
    };
    all.map(class).collect()
}

fn row(j: &Judged) -> Row {
    let v = &j.verdict;
    Row {
        name: j.scenario.name.clone(),
        class: v.class(),
        equal: v.is_equal(),
        packets: v.packets.packets.0 as u64,
        packets_equal: v.packets.equal as u64,
        first: v.packets.first.as_ref().map(|d| First {
            field: d.field.to_owned(),
            kind: d.kind.to_owned(),
            host: d.host as u64,
            number: d.number as u64,
            time_ns: d.time_ns,
            a: d.values.0.clone(),
            b: d.values.1.clone(),
        }),
        not_compared: j.not_compared(),
        counters: v.counters.clone(),
        tcp_info: v.tcp_info.clone(),
    }
}

fn small(m: &Minimal) -> Small {
    Small {
        class: m.class.clone(),
        of: m.name.clone(),
        point: m.point.clone(),
    }
}

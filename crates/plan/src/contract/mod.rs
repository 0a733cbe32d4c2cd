//! What each kind of stack honours: the contract that is made from the definitions of keys.
//!
//! A key's definition (`experiment/keys`) names the [`Rule`]s against it: on which kinds of stack, why, and the
//! remedy. [`refusals`] checks a point against them before it runs; [`entries`] lists every key with them.

mod rules;
mod ways;

use serde::Serialize;

use crate::experiment::keys::{
    APP, FILE, Form, HOST, KINDS, Key, LINK, METRICS, REPORT, RUN, SOCKET, VARIANT, WAY,
};
use crate::experiment::schema::takes;
use crate::point::Point;
use crate::refusal::Refusal;

pub(crate) use rules::{
    BEHAVIOUR, BOOT, BY, CARD, CPU, FORWARD, HOST_CHANGE, LINK_EVERY, MAX_EVENTS, MTU, OF_SOCKET,
    OF_TCP, OFFLOAD, PROFILE, QDISC, ROUTE,
};
pub(crate) use ways::{
    DROP, DUPLICATE, INJECT, LATE, LINK_CHANGE, MARK, MIDDLEBOX, OUTAGE, RATE_TRACE,
};

pub use rules::{Rule, SHARED_NAMES};

/// Kinds of stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `model:`.
    Model,
    /// `uml:`.
    Uml,
    /// `qemu:`.
    Qemu,
    /// `host`.
    Host,
    /// `ssh:A,B`.
    Ssh,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Model, Self::Uml, Self::Qemu, Self::Host, Self::Ssh];

    /// How a stack of this kind begins.
    pub fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Uml => "uml",
            Self::Qemu => "qemu",
            Self::Host => "host",
            Self::Ssh => "ssh",
        }
    }
}

/// A key in its table.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The table: `run`, `host`, `socket`, `route`, `link`, `way`, `app`, `app (echo)`, `file`, `variant`, `report`.
    pub table: String,
    /// Its name.
    #[serde(rename = "key")]
    pub name: &'static str,
    /// What it takes, in words.
    pub takes: String,
    /// Unit of its numbers as a point has them (`bytes`, `ns`, `bit/s`, `ppb`); none: it has no unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// The least and the greatest number, in its unit; none: it takes no numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(u64, u64)>,
    /// The same as a file would have them.
    #[serde(skip)]
    pub written_range: Option<(String, String)>,
    /// The default; `None` if the key is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Whether it may be an axis.
    #[serde(rename = "axis")]
    pub is_axis: bool,
    /// What it means.
    pub meaning: &'static str,
    /// The rules that stand against it, each on some kinds of stack.
    #[serde(skip)]
    pub rules: &'static [Rule],
}

impl Entry {
    fn new(table: String, key: &'static Key) -> Self {
        let range = key.form.is_number().then(|| key.range());
        let written = |n| key.form.written(n);
        Self {
            table,
            name: key.name,
            takes: plain_takes(&key.form),
            unit: key.form.unit(),
            range,
            written_range: range.map(|(min, max)| (written(min), written(max))),
            default: (!key.is_required()).then(|| key.default()),
            is_axis: key.axis,
            meaning: key.meaning,
            rules: key.rules,
        }
    }

    /// Whether this kind of stack takes it where no rule has a condition.
    pub fn is_honoured(&self, kind: Kind) -> bool {
        let mut rules = self.rules.iter();
        let is_refused = rules.any(|rule| rule.not_on.contains(&kind) && rule.when.is_empty());
        self.is_applied(kind) && !is_refused
    }

    /// Whether this kind of stack gives it to the network: the one between real machines is as it is, and the result
    /// says so.
    pub fn is_applied(&self, kind: Kind) -> bool {
        let is_link = matches!(self.table.as_str(), "link" | "way") && self.name != "between";
        let is_of_network = is_link || matches!(self.name, "offload" | "link_every");
        kind != Kind::Ssh || !is_of_network
    }
}

/// What a form takes, in words of a table without links.
fn plain_takes(form: &Form) -> String {
    match form {
        Form::Words(words) => words.join(", "),
        Form::Count(_) => "whole number".to_owned(),
        form => takes(form),
    }
}

/// Every key of an experiment.
pub fn entries() -> Vec<Entry> {
    let tables: [(&str, &[Key]); 10] = [
        ("file", FILE),
        ("run", RUN),
        ("host", HOST),
        ("socket", SOCKET),
        ("route", METRICS),
        ("link", LINK),
        ("way", WAY),
        ("app", APP),
        ("variant", VARIANT),
        ("report", REPORT),
    ];
    let tables = tables.map(|(table, keys)| (table.to_owned(), keys));
    let kinds = KINDS.map(|(kind, _, keys)| (format!("app ({kind})"), keys));
    let all = tables.into_iter().chain(kinds);
    let entry = |(table, keys): (String, &'static [Key])| {
        keys.iter().map(move |key| Entry::new(table.clone(), key))
    };
    all.flat_map(entry).collect()
}

/// The rules of all keys, each once.
pub fn rules() -> &'static [&'static Rule] {
    &rules::RULES
}

/// The links of a point that this kind of stack leaves to kernels.
pub fn links_of_kernels(point: &Point, kind: Kind) -> Vec<Refusal> {
    rules::BY[0].judge(point, kind)
}

/// Everything of a point whose rule stands against this kind of stack.
pub fn refusals(point: &Point, kind: Kind) -> Vec<Refusal> {
    let rules = rules().iter().flat_map(|rule| rule.judge(point, kind));
    rules.collect()
}

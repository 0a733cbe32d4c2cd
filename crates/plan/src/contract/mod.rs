//! What each kind of stack honours: the contract that is made from the definitions of keys.
//!
//! A key's definition (`experiment/keys`) names the [`Rule`]s that stand against it: on which kinds of stack, why, and
//! what to do. [`refusals`] holds a point against them before it runs, [`entries`] lists every key with them.

mod rules;

use crate::experiment::keys::{
    APP, Absent, FILE, HOST, KINDS, Key, LINK, REPORT, RUN, SOCKET, VARIANT, WAY,
};
use crate::point::Point;
use crate::refusal::Refusal;

pub(crate) use rules::{
    BEHAVIOUR, BOOT, BUFFERS, CARD, CPU, LINK_EVERY, MAX_EVENTS, OF_SOCKET, OF_TCP, OFFLOAD,
    PROFILE,
};
/// Words of a host's `route`.
pub const ROUTE_METRICS: &[&str] = &crate::experiment::host::ROUTE_METRICS;

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
#[derive(Clone, Debug)]
pub struct Entry {
    /// The table: `run`, `host`, `socket`, `link`, `way`, `app`, `app (echo)`, `file`, `variant`, `report`.
    pub table: String,
    key: &'static Key,
}

impl Entry {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.key.name
    }

    /// What it means.
    pub fn meaning(&self) -> &'static str {
        self.key.meaning
    }

    /// What holds when it is left out; none: it must be there.
    pub fn default(&self) -> Option<String> {
        (!matches!(self.key.absent, Absent::Refused)).then(|| self.key.default())
    }

    /// The rules that stand against it on this kind of stack.
    pub fn rules(&self, kind: Kind) -> impl Iterator<Item = &'static Rule> {
        let rules = self.key.rules.iter().copied();
        rules.filter(move |rule| rule.not_on.contains(&kind))
    }
}

/// Every key of an experiment.
pub fn entries() -> Vec<Entry> {
    let tables: [(&str, &'static [Key]); 9] = [
        ("file", FILE),
        ("run", RUN),
        ("host", HOST),
        ("socket", SOCKET),
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
        let one = move |key| Entry {
            table: table.clone(),
            key,
        };
        keys.iter().map(one)
    };
    all.flat_map(entry).collect()
}

/// The rules of all keys, each once.
pub fn rules() -> Vec<&'static Rule> {
    let mut found: Vec<&'static Rule> = Vec::new();
    for entry in entries() {
        for rule in entry.key.rules.iter().copied() {
            if !found.iter().any(|known| std::ptr::eq(*known, rule)) {
                found.push(rule);
            }
        }
    }
    found
}

/// Everything of a point whose rule stands against this kind of stack.
pub fn refusals(point: &Point, kind: Kind) -> Vec<Refusal> {
    let rules = rules();
    let rules = rules.iter().flat_map(|rule| rule.judge(point, kind));
    rules.collect()
}

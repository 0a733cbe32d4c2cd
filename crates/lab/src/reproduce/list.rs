//! The claims as data.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;
use tcplab_plan::measure::Formula;
use tcplab_plan::result::{Claim, Rule, Verdict};
use tcplab_plan::{Experiment, Point};

use super::estimator::Estimator;
use super::glob;
use super::malformed::Malformed;
use super::suite::Suite;
use crate::error::LabError;

/// The files, in the order of the list.
const FILES: [(&str, &str); 11] = [
    ("ack-filter.toml", include_str!("claims/ack-filter.toml")),
    ("caqm.toml", include_str!("claims/caqm.toml")),
    ("delayed-ack.toml", include_str!("claims/delayed-ack.toml")),
    ("drill.toml", include_str!("claims/drill.toml")),
    ("intervals.toml", include_str!("claims/intervals.toml")),
    ("malformed.toml", include_str!("claims/malformed.toml")),
    ("model.toml", include_str!("claims/model.toml")),
    ("quickack.toml", include_str!("claims/quickack.toml")),
    ("rto.toml", include_str!("claims/rto.toml")),
    ("rto-message.toml", include_str!("claims/rto-message.toml")),
    ("witness.toml", include_str!("claims/witness.toml")),
];

/// One file of claims.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    experiment: BTreeMap<String, Source>,
    group: Vec<Group>,
}

/// Where an experiment is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Source {
    /// A file of `examples/`.
    Example(String),
    /// Here.
    Text(String),
}

/// Claims that have much in common. What a claim does not say, its group says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    experiment: Option<String>,
    estimator: Option<Estimator>,
    suite: Option<Suite>,
    malformed: Option<Malformed>,
    population: Option<String>,
    #[serde(default)]
    at: BTreeMap<String, Json>,
    base: Option<Base>,
    #[serde(default)]
    show: Vec<String>,
    source: Option<String>,
    stack: Option<String>,
    /// The same claims on this stack too; their names begin with `model.` there.
    also: Option<String>,
    value: Option<String>,
    rule: Option<Rule>,
    tolerance: Option<f64>,
    unit: Option<String>,
    note: Option<String>,
    fails: Option<String>,
    claim: Vec<Entry>,
}

/// What a value is compared with: the point that differs in these axes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// Values of axes.
    pub at: BTreeMap<String, Json>,
    /// How.
    pub change: Change,
}

/// How two points are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The change in per cent of the base.
    Percent,
    /// The value less that of the base.
    Difference,
}

impl Change {
    /// The change from `base` to `value`.
    pub fn of(self, value: f64, base: f64) -> f64 {
        match self {
            Self::Percent => (value / base - 1.0) * 100.0,
            Self::Difference => value - base,
        }
    }
}

/// One claim as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    expected: f64,
    #[serde(default)]
    at: BTreeMap<String, Json>,
    base: Option<Base>,
    #[serde(default)]
    show: Vec<String>,
    source: Option<String>,
    stack: Option<String>,
    value: Option<String>,
    rule: Option<Rule>,
    tolerance: Option<f64>,
    unit: Option<String>,
    note: Option<String>,
    fails: Option<String>,
}

/// A claim and how it is measured.
#[derive(Clone, Debug)]
pub struct ClaimData {
    /// What is published and where it is to be measured, before that.
    pub published: Claim,
    /// Name of the experiment in the list, when there is one.
    pub experiment: Option<String>,
    /// What is run in its place.
    pub estimator: Option<Estimator>,
    /// Scripts that are run in its place.
    pub suite: Option<Suite>,
    /// Malformed frames that are sent in its place.
    pub malformed: Option<Malformed>,
    /// The population, a file of `examples/`, that is run in its place.
    pub population: Option<String>,
    /// The points that count: those with these values of these axes.
    pub at: BTreeMap<String, Json>,
    /// The points that those are compared with, each with the one of the same repetition.
    pub base: Option<Base>,
    /// The value, of measures of one point.
    pub value: Formula,
    /// Measures to show beside it.
    pub show: Vec<String>,
    /// What to know about it.
    pub note: String,
    /// Why it does not hold, where that is known.
    pub fails: String,
}

impl ClaimData {
    /// Whether a point counts.
    pub fn is_at(&self, point: &Point) -> bool {
        lies_at(point, &self.at)
    }

    /// Whether others are compared with this point.
    pub fn is_base(&self, point: &Point) -> bool {
        let base = self.base.as_ref();
        base.is_some_and(|base| lies_at(point, &base.at))
    }
}

fn lies_at(point: &Point, at: &BTreeMap<String, Json>) -> bool {
    at.iter()
        .all(|(axis, value)| point.axes.get(axis) == Some(value))
}

/// All claims and their experiments.
#[derive(Debug)]
pub struct List {
    /// The claims, in order.
    pub claims: Vec<ClaimData>,
    pub(crate) experiments: BTreeMap<String, Experiment>,
}

impl List {
    /// Reads what was built in.
    ///
    /// # Errors
    /// A mistake in the data, which the tests of this crate would show.
    pub fn new() -> Result<Self, LabError> {
        let mut list = Self {
            claims: Vec::new(),
            experiments: BTreeMap::new(),
        };
        for (name, text) in FILES {
            let wrong = |e: &dyn std::fmt::Display| LabError::Wrong(format!("{name}: {e}"));
            let file: File = toml::from_str(text).map_err(|e| wrong(&e))?;
            for (key, source) in file.experiment {
                let experiment = read(&key, &source)?;
                if list.experiments.insert(key.clone(), experiment).is_some() {
                    return Err(wrong(&format!("two experiments are called {key}")));
                }
            }
            for group in &file.group {
                for entry in &group.claim {
                    let claim =
                        claim(group, entry).map_err(|e| wrong(&format!("{}: {e}", entry.id)))?;
                    let again = group.also.as_ref().map(|stack| ClaimData {
                        published: Claim {
                            id: format!("model.{}", claim.published.id),
                            stack: stack.clone(),
                            ..claim.published.clone()
                        },
                        ..claim.clone()
                    });
                    for claim in [Some(claim), again].into_iter().flatten() {
                        let id = &claim.published.id;
                        if list.claims.iter().any(|known| known.published.id == *id) {
                            return Err(wrong(&format!("two claims are called {id}")));
                        }
                        list.claims.push(claim);
                    }
                }
            }
        }
        Ok(list)
    }

    /// Keeps the claims whose names fit; `*` and `?` are as in a shell.
    pub fn only(&mut self, pattern: &str) {
        self.claims
            .retain(|claim| glob::fits(pattern, &claim.published.id));
    }

    /// The experiment of this name.
    pub fn experiment(&self, name: &str) -> Result<&Experiment, LabError> {
        self.experiments
            .get(name)
            .ok_or_else(|| LabError::Wrong(format!("no experiment {name}")))
    }
}

fn read(name: &str, source: &Source) -> Result<Experiment, LabError> {
    let text = match source {
        Source::Text(text) => text.as_str(),
        Source::Example(file) => tcplab_examples::example(file)
            .ok_or_else(|| LabError::Wrong(format!("no example {file}")))?,
    };
    Experiment::parse(name, text).map_err(|e| LabError::Wrong(e.to_string()))
}

fn claim(group: &Group, entry: &Entry) -> Result<ClaimData, String> {
    let text = |own: &Option<String>, common: &Option<String>| own.clone().or(common.clone());
    let must = |what: &str, own, common| text(own, common).ok_or(format!("it has no {what}"));
    let ways = [
        group.experiment.is_some(),
        group.estimator.is_some(),
        group.suite.is_some(),
        group.malformed.is_some(),
        group.population.is_some(),
    ];
    if ways.iter().filter(|is| **is).count() != 1 {
        return Err("it needs either an experiment, an estimator, a suite, malformed frames or a population".into());
    }
    let value = must("value", &entry.value, &group.value)?;
    let mut at = group.at.clone();
    at.extend(entry.at.clone());
    let published = Claim {
        id: entry.id.clone(),
        source: must("source", &entry.source, &group.source)?,
        expected: entry.expected,
        rule: entry.rule.or(group.rule).unwrap_or(Rule::Within),
        tolerance: entry.tolerance.or(group.tolerance).unwrap_or(0.0),
        measured: None,
        interval: None,
        unit: text(&entry.unit, &group.unit).unwrap_or_default(),
        verdict: Verdict::NotRun,
        stack: must("stack", &entry.stack, &group.stack)?,
        why: String::new(),
    };
    Ok(ClaimData {
        published,
        experiment: group.experiment.clone(),
        estimator: group.estimator.clone(),
        suite: group.suite.clone(),
        malformed: group.malformed.clone(),
        population: group.population.clone(),
        at,
        base: entry.base.clone().or_else(|| group.base.clone()),
        value: Formula::parse(&value).map_err(|e| e.to_string())?,
        show: group.show.iter().chain(&entry.show).cloned().collect(),
        note: text(&entry.note, &group.note).unwrap_or_default(),
        fails: text(&entry.fails, &group.fails).unwrap_or_default(),
    })
}

//! What the repetitions of a run say of each measure: means with intervals, and changes against a baseline.

use std::collections::BTreeSet;

use serde_json::Value;
use tcplab_plan::measure::Described;
use tcplab_plan::result::{PointResult, RunDocument, axis_text};
use tcplab_stats::reach;

use crate::metrics::{Arm, Metric, Run};
use crate::row::Row;
use crate::table::{Options, compare};

/// The answer of a run whose points were repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// Runs of each arm, at most.
    pub repeats: usize,
    /// What changes are against, all else equal: a variant, a stack, a value of the first axis. None: nothing is compared.
    pub against: Option<String>,
    /// The measures, in the order in which they were asked for.
    pub measures: Vec<Answer>,
    /// Measures that were 0 in every run.
    pub zero: Vec<String>,
    /// Level of all intervals.
    pub level: f64,
    /// Changes up to this do not matter, per cent.
    pub band_percent: f64,
}

/// One measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Its name, unit and which way is better.
    pub measure: Described,
    /// Its figure in each arm.
    pub figures: Vec<Figure>,
}

/// A measure in one arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The arm: what differs between arms.
    pub arm: String,
    /// Runs of the arm.
    pub runs: usize,
    /// Those with a value.
    pub with_value: usize,
    /// Their mean; none if a run without a value has a larger one than all others.
    pub mean: Option<f64>,
    /// Half the width of the mean's interval.
    pub reach: Option<f64>,
    /// The change against the baseline; none in a baseline itself.
    pub change: Option<Row>,
}

/// Runs that differ in nothing but their seed.
struct Group<'a> {
    name: String,
    /// Stack, then the axes in order, but for the repetition.
    key: Vec<(&'a str, String)>,
    points: Vec<&'a PointResult>,
}

const STACK: &str = "stack";
const VARIANT: &str = "variant";

/// The answer of a result, when any of its points was repeated. `base` is the variant that others are compared with; the
/// first one where it is not said. Changes up to `band_percent` are the same; none: the usual band.
pub fn answers(
    document: &RunDocument,
    base: Option<&str>,
    band_percent: Option<f64>,
) -> Option<Answers> {
    let mut groups = groups(&document.points);
    let repeats = groups.iter().map(|group| group.points.len()).max()?;
    if repeats < 2 {
        return None;
    }
    let varies = varying(&groups);
    for group in &mut groups {
        group.name = name(&group.key, &varies);
    }
    let compared = compared(&groups, &varies);
    let bases: Vec<usize> = (0..groups.len())
        .map(|at| base_of(&groups, at, compared, base))
        .collect();
    let mut options = Options {
        is_sampled: true,
        ..Options::default()
    };
    options.rules.band_percent = band_percent.unwrap_or(options.rules.band_percent);
    let arms: Vec<Arm> = groups.iter().map(|group| arm(group, document)).collect();
    let rows: Vec<Vec<Row>> = bases
        .iter()
        .enumerate()
        .map(|(at, base)| match at == *base {
            true => Vec::new(),
            false => compare(&arms[*base], &arms[at], &options).rows,
        })
        .collect();
    let measures = document.measures.iter();
    let (zero, shown): (Vec<&Described>, Vec<&Described>) =
        measures.partition(|one| is_zero(&arms, &one.name));
    let measure = |one: &Described| Answer {
        measure: one.clone(),
        figures: (0..groups.len())
            .map(|at| {
                let row = rows[at].iter().find(|row| row.metric == one.name);
                figure(&groups[at], &arms[at], one, row, options.level)
            })
            .collect(),
    };
    let against = compared.and_then(|name| {
        let at = bases.iter().enumerate().find(|(i, at)| i != *at)?.1;
        let value = value(&groups[*at], name)?;
        Some(match name {
            STACK | VARIANT => value.to_owned(),
            axis => format!("{axis}={value}"),
        })
    });
    Some(Answers {
        repeats,
        against,
        measures: shown.into_iter().map(measure).collect(),
        zero: zero.into_iter().map(|one| one.name.clone()).collect(),
        level: options.level,
        band_percent: options.rules.band_percent,
    })
}

/// Whether a measure was 0 in every run of every arm.
fn is_zero(arms: &[Arm], name: &str) -> bool {
    let metrics = arms.iter().flat_map(|arm| &arm.metrics);
    let mut runs = metrics
        .filter(|metric| metric.name == name)
        .flat_map(|metric| &metric.runs);
    runs.all(|run| run.counts() == Some(0.0))
}

fn groups(points: &[PointResult]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for point in points {
        let axes = point.axes.iter().filter(|(axis, _)| *axis != "repeat");
        let axes = axes.map(|(axis, value)| (axis.as_str(), axis_text(value)));
        let stack = (STACK, point.stack.clone());
        let key: Vec<_> = std::iter::once(stack).chain(axes).collect();
        match groups.iter_mut().find(|group| group.key == key) {
            Some(group) => group.points.push(point),
            None => groups.push(Group {
                name: String::new(),
                key,
                points: vec![point],
            }),
        }
    }
    groups
}

/// What differs between groups.
fn varying<'a>(groups: &[Group<'a>]) -> Vec<&'a str> {
    let keys = groups.iter().flat_map(|group| &group.key);
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in keys {
        if !names.contains(name) {
            names.push(name);
        }
    }
    // A variant may have an axis of its own.
    let values = |name: &str| -> BTreeSet<Option<&str>> {
        groups.iter().map(|group| value(group, name)).collect()
    };
    names.retain(|name| values(name).len() > 1);
    names
}

fn value<'a>(group: &'a Group<'_>, name: &str) -> Option<&'a str> {
    let found = group.key.iter().find(|(own, _)| *own == name);
    found.map(|(_, value)| value.as_str())
}

fn name(key: &[(&str, String)], varies: &[&str]) -> String {
    let told = key.iter().filter(|(name, _)| varies.contains(name));
    let told: Vec<String> = told
        .map(|(name, value)| match *name {
            STACK | VARIANT => value.clone(),
            name => format!("{name}={value}"),
        })
        .collect();
    match told.is_empty() {
        // There is but one.
        true => key
            .first()
            .map_or(String::new(), |(_, stack)| stack.clone()),
        false => told.join(" "),
    }
}

/// By what groups are compared: variants; else stacks; else the first axis, which changes least often from point to
/// point.
fn compared<'a>(groups: &[Group<'_>], varies: &[&'a str]) -> Option<&'a str> {
    let has = |name: &str| varies.iter().find(|own| **own == name).copied();
    let changes = |name: &str| {
        let differ = |pair: &&[Group<'_>]| value(&pair[0], name) != value(&pair[1], name);
        groups.windows(2).filter(differ).count()
    };
    let first = || varies.iter().copied().min_by_key(|name| changes(name));
    has(VARIANT).or_else(|| has(STACK)).or_else(first)
}

/// The group that this one is compared with: it differs in nothing else, and has the value that is asked for, or is the
/// first.
fn base_of(groups: &[Group<'_>], at: usize, compared: Option<&str>, asked: Option<&str>) -> usize {
    let Some(compared) = compared else {
        return at;
    };
    let others = |group: &Group<'_>| -> Vec<(String, String)> {
        let kept = group.key.iter().filter(|(name, _)| *name != compared);
        kept.map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect()
    };
    let own = others(&groups[at]);
    let mut same = (0..groups.len()).filter(|at| others(&groups[*at]) == own);
    let first = same.clone().next().unwrap_or(at);
    let asked = asked.filter(|_| compared == VARIANT);
    let found = same.find(|at| value(&groups[*at], compared) == asked && asked.is_some());
    found.unwrap_or(first)
}

fn arm(group: &Group<'_>, document: &RunDocument) -> Arm {
    let mut arm = Arm::named(&group.name);
    for one in &document.measures {
        let runs = group.points.iter().map(|point| {
            let value = point.measures.get(&one.name).copied().flatten();
            let block = point.axes.get("repeat").and_then(Value::as_u64);
            Run {
                value: value.filter(|value| value.is_finite()),
                block: block.map(|block| block as u32),
                absent: point.missing.get(&one.name).cloned(),
                failed: point.error.clone(),
                ..Run::default()
            }
        });
        let metric = Metric::new(&one.name, one.unit.name(), one.better);
        arm.metrics.push(Metric {
            runs: runs.collect(),
            ..metric
        });
    }
    arm
}

fn figure(group: &Group<'_>, arm: &Arm, one: &Described, row: Option<&Row>, level: f64) -> Figure {
    let metric = arm.metrics.iter().find(|metric| metric.name == one.name);
    let runs = metric.map_or(&[][..], |metric| &metric.runs);
    let values: Vec<f64> = runs.iter().filter_map(Run::counts).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let slowest = metric.and_then(Metric::slowest);
    Figure {
        arm: group.name.clone(),
        runs: group.points.len(),
        with_value: values.len(),
        mean: Some(mean).filter(|mean| mean.is_finite() && slowest.is_none()),
        reach: reach(&values, level).filter(|_| slowest.is_none()),
        change: row.cloned(),
    }
}

#[cfg(test)]
mod tests;

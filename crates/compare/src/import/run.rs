//! `summary.json` of a result folder, or what `tcplab run --json` printed (`tcplab.run/1`).
//!
//! An arm for each stack; with one stack only, an arm for each variant. Repeats are runs. On stacks in virtual time values are
//! exact: the same point gives them again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tcplab_plan::result::{PointResult, RUN_SCHEMA, RunDocument, axis_text};

use tcplab_plan::measure::Described;

use super::builder::Builder;
use super::{Format, ImportError, Input, json};
use crate::metrics::{Arm, Metric, RemarkKind, Run};

pub(super) fn is(text: &str) -> bool {
    let document = json::first(text);
    document.is_some_and(|d| json::text(&d, &["schema"]) == Some(RUN_SCHEMA))
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let document: RunDocument =
        serde_json::from_str(input.text).map_err(|e| json::damaged(input, &e))?;
    Ok(arms(input.name, &document, &document.points))
}

/// The arms of these points of a result; `name` is where it comes from.
pub fn arms(name: &str, document: &RunDocument, points: &[PointResult]) -> Vec<Arm> {
    let input = Input { name, text: "" };
    let stacks: BTreeSet<&str> = points.iter().map(|p| p.stack.as_str()).collect();
    let by_stack = stacks.len() != 1;
    let told = told(points, by_stack);
    let mut measures = Measures::of(document);
    let mut arms: Vec<(String, Builder)> = Vec::new();
    for point in points {
        let name = match by_stack || !told.by_variant {
            true => point.stack.clone(),
            false => point.axis("variant"),
        };
        let at = arms.iter().position(|(own, _)| *own == name);
        let at = at.unwrap_or_else(|| {
            let mut builder = Builder::new(&input);
            name.clone_into(&mut builder.arm.name);
            let source = builder.source();
            source.tool = format!("tcplab run {}", document.experiment);
            source.system.clone_from(&point.kernel);
            Format::Run.name().clone_into(&mut source.format);
            arms.push((name, builder));
            arms.len() - 1
        });
        one(point, &told, &mut measures, &mut arms[at].1);
    }
    let mut arms: Vec<Arm> = arms.into_iter().map(|(_, builder)| builder.arm).collect();
    for arm in &mut arms {
        for name in &measures.unknown {
            let text = "its unit and its better direction are unknown";
            arm.remark(RemarkKind::Note, name.clone(), text);
        }
    }
    arms
}

/// What the values of measures are: as the result says, or, where it is older than that, by the tables of names.
struct Measures<'a> {
    told: BTreeMap<&'a str, &'a Described>,
    /// Names that neither knows.
    unknown: BTreeSet<String>,
}

impl<'a> Measures<'a> {
    fn of(document: &'a RunDocument) -> Self {
        let told = document.measures.iter();
        Self {
            told: told.map(|one| (one.name.as_str(), one)).collect(),
            unknown: BTreeSet::new(),
        }
    }

    fn get(&mut self, name: &str) -> Described {
        let told = self.told.get(name).map(|one| (*one).clone());
        let found = told.unwrap_or_else(|| Described::of(name));
        if found.kind.is_none() {
            self.unknown.insert(name.to_owned());
        }
        found
    }
}

/// What of a point's axes its rows tell: those with more than one value, and not what makes the arm.
struct Told {
    axes: Vec<String>,
    by_variant: bool,
}

fn told(points: &[PointResult], by_stack: bool) -> Told {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (axis, value) in points.iter().flat_map(|point| &point.axes) {
        values.entry(axis).or_default().insert(axis_text(value));
    }
    let several = |axis: &str| values.get(axis).is_some_and(|v| v.len() > 1);
    let by_variant = !by_stack && several("variant");
    let is_told =
        |axis: &&&str| several(axis) && **axis != "repeat" && !(by_variant && **axis == "variant");
    Told {
        axes: values
            .keys()
            .filter(is_told)
            .map(|a| (*a).to_owned())
            .collect(),
        by_variant,
    }
}

fn one(point: &PointResult, told: &Told, measures: &mut Measures<'_>, builder: &mut Builder) {
    let axes: Vec<String> = told
        .axes
        .iter()
        .filter_map(|axis| Some(format!("{axis}={}", axis_text(point.axes.get(axis)?))))
        .collect();
    let place = match axes.is_empty() {
        true => String::new(),
        false => format!(" [{}]", axes.join(" ")),
    };
    let label = format!("{}{place}", point.stack);
    if let Some(error) = &point.error {
        builder
            .arm
            .remark(RemarkKind::Failed, label.clone(), error.clone());
    }
    if point.cut_short {
        let text = "the run reached its `max` before its applications ended";
        builder.arm.remark(RemarkKind::Note, label.clone(), text);
    }
    for warning in &point.warnings {
        builder
            .arm
            .remark(RemarkKind::Note, label.clone(), warning.clone());
    }
    // Stacks in virtual time: all but this machine's.
    let kinds = ["model", "uml", "qemu"];
    let exact = kinds.iter().any(|kind| point.stack.starts_with(kind));
    let block = point.axes.get("repeat").and_then(Value::as_u64);
    let mut add = |name: &str, value: Option<f64>, why: Option<&String>| {
        let what = measures.get(name);
        let metric = Metric {
            exact,
            ..Metric::new(format!("{name}{place}"), what.unit.name(), what.better)
        };
        let run = Run {
            value: value.filter(|value| value.is_finite()),
            block: block.and_then(|block| u32::try_from(block).ok()),
            // The point was run: there was nothing to measure.
            absent: why.cloned(),
            ..Run::default()
        };
        builder.run(metric, run);
    };
    for (name, value) in &point.measures {
        add(name, *value, point.missing.get(name));
    }
    for (host, counters) in &point.counters {
        for (name, value) in counters {
            let name = format!("{host}.{name}");
            if !point.measures.contains_key(&name) {
                add(&name, Some(*value as f64), None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tcplab_plan::measure::{Better, Kind, Unit};

    use super::*;
    use crate::{FlagKind, Options, Verdict, compare};

    fn document(measures: Vec<Described>) -> RunDocument {
        let names = ["a.retransmissions.rto", "a.made_up_bps"];
        RunDocument {
            measures,
            points: vec![PointResult {
                stack: "model:linux-6.1".into(),
                measures: names.map(|name| (name.to_owned(), Some(1.0))).into(),
                ..PointResult::default()
            }],
            ..RunDocument::default()
        }
    }

    #[test]
    fn older_result_gets_table_units_and_lists_missing_ones() {
        let document = document(Vec::new());
        let arms = arms("old", &document, &document.points);
        let of = |name: &str| {
            let metric = arms[0].metrics.iter().find(|metric| metric.name == name);
            metric.map(|metric| (metric.unit.as_str(), metric.better))
        };
        assert_eq!(
            of("a.retransmissions.rto"),
            Some(("segments", Better::Lower))
        );
        assert_eq!(of("a.made_up_bps"), Some(("", Better::Neither)));
        let told: Vec<&str> = arms[0].remarks.iter().map(|r| r.place.as_str()).collect();
        assert_eq!(told, ["a.made_up_bps"]);
    }

    /// A repetition that failed leaves no runs: the others keep their partners.
    #[test]
    fn a_failed_repetition_makes_no_difference() {
        let side = |failed: Option<u64>| {
            let mut document = document(Vec::new());
            let point = document.points.remove(0);
            for repeat in 0..3_u64 {
                let mut point = point.clone();
                point.axes.insert("repeat".into(), repeat.into());
                for value in point.measures.values_mut() {
                    *value = Some(repeat as f64);
                }
                if failed == Some(repeat) {
                    point.error = Some("the guest panicked".into());
                    point.measures.clear();
                }
                document.points.push(point);
            }
            arms("x", &document, &document.points).remove(0)
        };
        let found = compare(&side(None), &side(Some(1)), &Options::default());
        let verdicts: Vec<Verdict> = found.rows.iter().map(|row| row.verdict).collect();
        assert_eq!(verdicts, [Verdict::Equal; 2]);
        let kinds: Vec<FlagKind> = found.flags.iter().map(|flag| flag.kind).collect();
        assert!(kinds.contains(&FlagKind::WithoutPartner) && kinds.contains(&FlagKind::FailedRun));
    }

    #[test]
    fn a_result_says_itself_what_its_measures_are() {
        let document = document(vec![Described {
            name: "a.made_up_bps".into(),
            unit: Unit::BitsPerSecond,
            kind: Some(Kind::Rate),
            better: Better::Higher,
        }]);
        let text = serde_json::to_string(&document).unwrap();
        let input = Input {
            name: "new",
            text: &text,
        };
        let arms = read(&input).unwrap();
        let metric = &arms[0].metrics[0];
        assert_eq!(
            (metric.unit.as_str(), metric.better),
            ("bit/s", Better::Higher)
        );
        assert!(arms[0].remarks.is_empty());
    }
}

//! `summary.json` of a result folder, or what `tcplab run --json` printed (`tcplab.run/1`).
//!
//! An arm for each stack; with one stack only, an arm for each variant. Repeats are runs. On stacks in virtual time values are
//! exact: the same point gives them again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tcplab_plan::result::{PointResult, RUN_SCHEMA, RunDocument};

use super::builder::Builder;
use super::{ImportError, Input, json};
use crate::metrics::{Arm, Better, Metric, RemarkKind, Run};

/// Endings of measures, their unit and which way is better.
const UNITS: [(&str, &str, Better); 14] = [
    ("goodput_bps", "bit/s", Better::Higher),
    ("_bps", "bit/s", Better::Higher),
    ("rate_per_s", "1/s", Better::Higher),
    ("completed", "", Better::Higher),
    ("retransmissions.total", "segments", Better::Lower),
    ("TcpRetransSegs", "segments", Better::Lower),
    ("failed", "", Better::Lower),
    ("errors", "", Better::Lower),
    ("_ns", "ns", Better::Neither),
    ("_us", "us", Better::Neither),
    ("_ms", "ms", Better::Neither),
    ("_s", "s", Better::Neither),
    ("_bytes", "B", Better::Neither),
    ("_pkts", "packets", Better::Neither),
];

pub(super) fn is(text: &str) -> bool {
    let document = json::first(text);
    document.is_some_and(|d| json::text(&d, &["schema"]) == Some(RUN_SCHEMA))
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let document: RunDocument =
        serde_json::from_str(input.text).map_err(|e| json::damaged(input, &e))?;
    let stacks: BTreeSet<&str> = document.points.iter().map(|p| p.stack.as_str()).collect();
    let by_stack = stacks.len() != 1;
    let told = told(&document.points, by_stack);
    let mut arms: Vec<(String, Builder)> = Vec::new();
    for point in &document.points {
        let name = match by_stack || !told.by_variant {
            true => point.stack.clone(),
            false => word(point.axes.get("variant")),
        };
        let at = arms.iter().position(|(own, _)| *own == name);
        let at = at.unwrap_or_else(|| {
            let mut builder = Builder::new(input);
            name.clone_into(&mut builder.arm.name);
            let source = builder.source();
            source.tool = format!("tcplab run {}", document.experiment);
            source.system.clone_from(&point.kernel);
            arms.push((name, builder));
            arms.len() - 1
        });
        one(point, &told, &mut arms[at].1);
    }
    Ok(arms.into_iter().map(|(_, builder)| builder.arm).collect())
}

/// What of a point's axes its rows tell: those with more than one value, and not what makes the arm.
struct Told {
    axes: Vec<String>,
    by_variant: bool,
}

fn told(points: &[PointResult], by_stack: bool) -> Told {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (axis, value) in points.iter().flat_map(|point| &point.axes) {
        values.entry(axis).or_default().insert(word(Some(value)));
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

fn word(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn one(point: &PointResult, told: &Told, builder: &mut Builder) {
    let axes: Vec<String> = told
        .axes
        .iter()
        .filter_map(|axis| Some(format!("{axis}={}", word(Some(point.axes.get(axis)?)))))
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
        let text = "the run came to its `max` before its applications ended";
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
        let (unit, better) = unit(name);
        let metric = Metric {
            exact,
            ..Metric::new(format!("{name}{place}"), unit, better)
        };
        let run = Run {
            value: value.filter(|value| value.is_finite()),
            block: block.map(|block| block as u32),
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

/// The unit of a measure, and which way is better where that is beyond doubt; times of answers and of packets are.
fn unit(name: &str) -> (&'static str, Better) {
    let found = UNITS.iter().find(|(end, ..)| name.ends_with(end));
    let statistic = name
        .rsplit_once('.')
        .filter(|(_, end)| ["min", "mean", "p50", "p95", "p99", "max"].contains(end));
    match (found, statistic) {
        (Some((_, unit, better)), _) => (unit, *better),
        (None, Some((whole, _))) => {
            let (unit, better) = match whole.ends_with("latency_us") || whole.ends_with("rtt_us") {
                true => ("us", Better::Lower),
                false => self::unit(whole),
            };
            (unit, better)
        }
        (None, None) => ("", Better::Neither),
    }
}

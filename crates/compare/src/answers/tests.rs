//! Answers of results made by hand: means, intervals, pairs, baselines, what failed.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tcplab_plan::measure::{Described, IS_SLOWEST};
use tcplab_plan::result::{PointResult, RunDocument};

use super::*;
use crate::row::Verdict;

/// A point with its axes and the values of `a.goodput_bps` and `a.retransmissions.total`.
fn point(stack: &str, axes: &[(&str, Value)], values: [Option<f64>; 2]) -> PointResult {
    let names = ["a.goodput_bps", "a.retransmissions.total"];
    let axes = axes
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    PointResult {
        stack: stack.to_owned(),
        axes: axes.collect(),
        measures: names.map(str::to_owned).into_iter().zip(values).collect(),
        ..PointResult::default()
    }
}

fn document(points: Vec<PointResult>) -> RunDocument {
    RunDocument {
        measures: ["a.goodput_bps", "a.retransmissions.total"]
            .map(Described::of)
            .to_vec(),
        points,
        ..RunDocument::default()
    }
}

/// Two variants, five runs each.
fn variants(stack: &str) -> Vec<PointResult> {
    let of = |variant: &str, values: [f64; 5]| -> Vec<PointResult> {
        let numbered = values.iter().zip(1..);
        let one = |(value, n): (&f64, u32)| {
            let axes = [("variant", json!(variant)), ("repeat", json!(n))];
            point(stack, &axes, [Some(*value), Some(0.0)])
        };
        numbered.map(one).collect()
    };
    let before = of("plain", [100.0, 102.0, 98.0, 101.0, 99.0]);
    [before, of("tuned", [111.0, 112.0, 108.0, 111.0, 108.0])].concat()
}

#[test]
fn a_mean_its_interval_and_the_change_of_pairs() {
    let found = answers(&document(variants("model")), None, None).unwrap();
    assert_eq!(
        (found.repeats, found.against.as_deref()),
        (5, Some("plain"))
    );
    assert_eq!(found.zero, ["a.retransmissions.total"]);
    let [plain, tuned] = found.measures[0].figures.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!((plain.arm.as_str(), plain.mean), ("plain", Some(100.0)));
    // A standard error of sqrt(2.5 / 5) = 0.7071; t of four degrees is 2.7764.
    assert!((plain.reach.unwrap() - 1.9632).abs() < 1e-3, "{plain:?}");
    assert!(plain.change.is_none());
    let row = tuned.change.as_ref().unwrap();
    assert!(row.paired && row.verdict == Verdict::Better, "{row:?}");
    assert!((row.change_percent.unwrap() - 10.0).abs() < 0.1, "{row:?}");
    let (low, high) = row.interval_percent.unwrap();
    assert!(low > 8.0 && high < 12.0, "{row:?}");
}

#[test]
fn points_run_once_are_not_mentioned() {
    let points = [1, 2].map(|n| point("model", &[("every", json!(n))], [Some(1.0), None]));
    assert_eq!(answers(&document(points.to_vec()), None, None), None);
    assert_eq!(answers(&document(Vec::new()), None, None), None);
}

#[test]
fn failed_runs_and_runs_without_data_are_counted() {
    let mut points = variants("model");
    points[5].error = Some("no port".into());
    points[6].measures.insert("a.goodput_bps".into(), None);
    let found = answers(&document(points), None, None).unwrap();
    let tuned = &found.measures[0].figures[1];
    assert_eq!(
        (tuned.runs, tuned.with_value, tuned.mean),
        (5, 3, Some(109.0))
    );
}

/// One run has no p99, because more than 1 % of its pings were lost: a mean of the others would be that of the quick ones.
#[test]
fn a_run_slower_than_all_others_leaves_no_mean_and_no_verdict() {
    let why = format!("more than 1 % were lost, and a lost one {IS_SLOWEST}");
    for lost in [2, 7] {
        let mut points = variants("model");
        points[lost].measures.insert("a.goodput_bps".into(), None);
        points[lost]
            .missing
            .insert("a.goodput_bps".into(), why.clone());
        let found = answers(&document(points), None, None).unwrap();
        let figures = &found.measures[0].figures;
        let of = |figure: &Figure| {
            (
                figure.with_value,
                figure.mean.is_some(),
                figure.reach.is_some(),
            )
        };
        let (whole, part) = ((5, true, true), (4, false, false));
        let right = if lost == 2 {
            [part, whole]
        } else {
            [whole, part]
        };
        assert_eq!([of(&figures[0]), of(&figures[1])], right);
        let row = figures[1].change.as_ref().unwrap();
        assert_eq!(
            (row.verdict, row.change_percent, row.p),
            (Verdict::Missing, None, None)
        );
        assert_eq!(row.why, why);
    }
}

#[test]
fn variants_are_compared_within_a_stack_and_stacks_where_there_are_no_variants() {
    let both = [variants("model"), variants("uml:6.1")].concat();
    let found = answers(&document(both.clone()), None, None).unwrap();
    assert_eq!(found.against.as_deref(), Some("plain"));
    let arms: Vec<&str> = found.measures[0]
        .figures
        .iter()
        .map(|f| f.arm.as_str())
        .collect();
    assert_eq!(
        arms,
        [
            "model plain",
            "model tuned",
            "uml:6.1 plain",
            "uml:6.1 tuned"
        ]
    );
    let is_plain = |point: &PointResult| point.axes["variant"] == "plain";
    let plain = both.into_iter().filter(is_plain).collect();
    let found = answers(&document(plain), None, None).unwrap();
    assert_eq!(found.against.as_deref(), Some("model"));
    let change = found.measures[0].figures[1].change.as_ref().unwrap();
    assert_eq!(
        (change.change_percent, change.verdict),
        (Some(0.0), Verdict::Same)
    );
}

#[test]
fn the_first_axis_is_compared_with_its_first_value_all_else_equal() {
    let of = |axes: BTreeMap<&str, u32>| {
        let axes: Vec<(&str, Value)> = axes.into_iter().map(|(k, v)| (k, json!(v))).collect();
        point("model", &axes, [Some(1.0), Some(1.0)])
    };
    let one = [[1, 1], [1, 2], [2, 1], [2, 2]];
    let points = one.map(|[every, repeat]| of([("every", every), ("repeat", repeat)].into()));
    let found = answers(&document(points.to_vec()), None, None).unwrap();
    assert_eq!(found.against.as_deref(), Some("every=1"));
    // As in the file: `size` first, so that `every` changes faster.
    let two = [1, 2]
        .into_iter()
        .flat_map(|size| [1, 2].map(|every| (size, every)));
    let two = two.flat_map(|(size, every)| [1, 2].map(|repeat| (size, every, repeat)));
    let point =
        |(size, every, repeat)| of([("every", every), ("size", size), ("repeat", repeat)].into());
    let found = answers(&document(two.map(point).collect()), None, None).unwrap();
    assert_eq!(found.against.as_deref(), Some("size=1"));
    let is_compared = |figure: &Figure| figure.change.is_some();
    let compared: Vec<bool> = found.measures[0].figures.iter().map(is_compared).collect();
    assert_eq!(compared, [false, false, true, true]);
}

#[test]
fn the_variant_that_others_are_compared_with_can_be_said() {
    let found = answers(&document(variants("model")), Some("tuned"), None).unwrap();
    assert_eq!(found.against.as_deref(), Some("tuned"));
    let [plain, tuned] = found.measures[0].figures.as_slice() else {
        panic!("{found:?}");
    };
    assert!(tuned.change.is_none());
    assert_eq!(plain.change.as_ref().unwrap().verdict, Verdict::Worse);
    let wide = answers(&document(variants("model")), Some("tuned"), Some(20.0)).unwrap();
    let change = wide.measures[0].figures[0].change.as_ref().unwrap();
    assert_eq!(change.verdict, Verdict::Same);
}

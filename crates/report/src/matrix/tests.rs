//! Places, labels and changes.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use tcplab_plan::result::{PointResult, RunDocument};
use tcplab_plan::view::View;

use tcplab_plan::measure::IS_SLOWEST;

use super::*;

fn point(axes: Json, goodput: Option<f64>) -> PointResult {
    let Json::Object(axes) = axes else {
        panic!("axes are a table");
    };
    PointResult {
        axes: axes.into_iter().collect(),
        stack: "model:linux-6.1".into(),
        measures: BTreeMap::from([("down.goodput_bps".to_owned(), goodput)]),
        missing: match goodput {
            Some(_) => BTreeMap::new(),
            None => BTreeMap::from([("down.goodput_bps".to_owned(), "nothing came".to_owned())]),
        },
        ..PointResult::default()
    }
}

/// Two variants, two rates down, two up, three repetitions; the filter adds a tenth at 1 Mbit/s up.
fn document() -> RunDocument {
    let mut points = Vec::new();
    for (variant, words) in [("none", ""), ("filter", " ack-filter")] {
        for down in ["10mbit", "30mbit"] {
            for up in ["500kbit", "1mbit"] {
                for repeat in 1..=3 {
                    let more = if words.is_empty() || up == "500kbit" {
                        1.0
                    } else {
                        1.1
                    };
                    let value = f64::from(repeat) * more;
                    points.push(point(
                        json!({
                            "variant": variant,
                            "down": format!("cake bandwidth {down} besteffort"),
                            "up": format!("cake bandwidth {up} besteffort{words}"),
                            "repeat": repeat,
                        }),
                        (down != "30mbit" || up != "1mbit").then_some(value),
                    ));
                }
            }
        }
    }
    RunDocument {
        points,
        ..RunDocument::default()
    }
}

fn matrix(view: &View) -> Matrix {
    Matrix::of(&document(), &[Described::of("down.goodput_bps")], view)
}

#[test]
fn labels_are_what_differs_and_pair_variants() {
    let matrix = matrix(&View::default());
    let axes: Vec<(&str, Vec<&str>)> = matrix
        .axes
        .iter()
        .map(|axis| {
            (
                axis.name.as_str(),
                axis.labels.iter().map(String::as_str).collect(),
            )
        })
        .collect();
    assert_eq!(
        axes,
        [
            ("down", vec!["10 Mbit/s", "30 Mbit/s"]),
            ("up", vec!["500 kbit/s", "1 Mbit/s"]),
            ("variant", vec!["none", "filter"]),
        ]
    );
    assert_eq!(matrix.cells.len(), 8);
}

#[test]
fn a_cell_has_the_median_of_its_repetitions_or_a_reason() {
    let matrix = matrix(&View::default());
    let cell = matrix.cell(&[0, 1, 0]).unwrap();
    assert_eq!((cell.runs, cell.values[0]), (3, Some([2.0, 1.0, 3.0])));
    let cell = matrix.cell(&[1, 1, 0]).unwrap();
    assert_eq!(cell.values[0], None);
    assert_eq!(cell.why[&0], "nothing came");
}

#[test]
fn a_change_is_per_cent_of_the_base() {
    let matrix = matrix(&View::default());
    let base = matrix.open.base.unwrap();
    assert!((matrix.change(&[0, 1, 1], 0, base).unwrap() - 10.0).abs() < 1e-9);
    assert_eq!(matrix.change(&[0, 0, 1], 0, base), Some(0.0));
    assert_eq!(matrix.change(&[1, 1, 1], 0, base), None);
}

#[test]
fn the_file_says_what_is_shown_first() {
    let usual = matrix(&View::default()).open;
    assert_eq!(
        (usual.x, usual.y, usual.base),
        (Some(1), Some(0), Some((2, 0)))
    );
    assert_eq!(usual.pinned[2], 1);
    let turned = matrix(&View {
        x: Some("down".into()),
        base: Some("filter".into()),
        ..View::default()
    });
    let turned = turned.open;
    assert_eq!(
        (turned.x, turned.y, turned.base),
        (Some(0), Some(1), Some((2, 1)))
    );
    assert_eq!(turned.pinned[2], 0);
    let variants = matrix(&View {
        y: Some("variant".into()),
        ..View::default()
    });
    assert_eq!(
        (variants.open.x, variants.open.y, variants.open.base),
        (Some(1), Some(2), None)
    );
}

#[test]
fn values_that_do_not_pair_keep_their_words() {
    let mut document = document();
    document.points.truncate(6);
    for (n, words) in ["cake", "cake nat", "fq_codel", "", "pfifo", "cake"]
        .iter()
        .enumerate()
    {
        document.points[n].axes = [("qdisc".to_owned(), json!(words))].into();
    }
    let matrix = Matrix::of(&document, &[], &View::default());
    assert_eq!(
        matrix.axes[0].labels,
        ["cake", "cake nat", "fq_codel", "", "pfifo"]
    );
    assert_eq!((matrix.open.x, matrix.open.y), (Some(0), None));
}

#[test]
fn a_cell_says_how_many_of_its_runs_have_a_value() {
    let values = [Some(3.0), None, Some(1.0)];
    let points = values.map(|value| point(json!({}), value));
    let document = RunDocument {
        points: points.into(),
        ..RunDocument::default()
    };
    let described = [Described::of("down.goodput_bps")];
    let matrix = Matrix::of(&document, &described, &View::default());
    let cell = &matrix.cells[0];
    assert_eq!(cell.values, [Some([2.0, 1.0, 3.0])]);
    assert_eq!((cell.runs, cell.known[&0]), (3, 2));
    assert_eq!(cell.why[&0], "nothing came", "of the run without a value");
}

/// A median of the quick runs is no median.
#[test]
fn a_run_slower_than_all_others_leaves_no_value() {
    let mut points = [Some(3.0), None, Some(1.0)].map(|value| point(json!({}), value));
    let why = format!("more than 1 % were lost, and a lost one {IS_SLOWEST}");
    points[1]
        .missing
        .insert("down.goodput_bps".to_owned(), why.clone());
    let document = RunDocument {
        points: points.into(),
        ..RunDocument::default()
    };
    let described = [Described::of("down.goodput_bps")];
    let matrix = Matrix::of(&document, &described, &View::default());
    let cell = &matrix.cells[0];
    assert_eq!((cell.values[0], cell.known.get(&0)), (None, None));
    assert_eq!(cell.why[&0], why);
}

//! The repetitions of each point together: a row for each measure, with its mean and the interval of it.

use std::collections::BTreeMap;

use tcplab_plan::result::{PointResult, RunDocument, axis_text};
use tcplab_stats::reach;

use super::axes::{self, Axis};
use crate::field::{Field, Kind};
use crate::table::Table;

/// Confidence level of the intervals.
const LEVEL: f64 = 0.95;

/// The axis of repetitions.
const REPEAT: &str = "repeat";

/// A row for each measure at each stack and values of the axes.
pub(super) fn summary(document: &RunDocument) -> Table {
    let axes = axes::axes(document).into_iter();
    let axes: Vec<Axis<'_>> = axes.filter(|axis| axis.name != REPEAT).collect();
    let mut table = Table::new("summary", fields(&axes));
    for points in together(document, &axes) {
        for one in &document.measures {
            let value = |point: &&PointResult| point.measures.get(&one.name).copied().flatten();
            let values: Vec<f64> = points.iter().filter_map(value).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let mean = (!values.is_empty()).then_some(mean);
            let reach = reach(&values, LEVEL);
            let mut row = table.row();
            row.text(&points[0].stack);
            axes.iter().for_each(|axis| axis.put(&mut row, points[0]));
            row.text(&one.name);
            row.text(one.unit.name());
            row.int(values.len());
            row.float(mean);
            row.float(mean.zip(reach).map(|(mean, reach)| mean - reach));
            row.float(mean.zip(reach).map(|(mean, reach)| mean + reach));
        }
    }
    table
}

fn fields(axes: &[Axis<'_>]) -> Vec<Field> {
    let mut fields = Field::all(&[("stack", Kind::Word, "Stack that they ran on.")]);
    fields.extend(axes.iter().map(Axis::field));
    fields.extend(Field::all(&[
        ("measure", Kind::Word, "The measure (docs/experiment.md)."),
        ("unit", Kind::Word, "Unit of its values."),
        ("runs", Kind::Int, "Runs that have a value."),
        ("mean", Kind::Float, "Mean of the runs."),
        (
            "interval_low",
            Kind::Float,
            "Lower end of the mean's 95 % interval (Student's t); missing: one run.",
        ),
        ("interval_high", Kind::Float, "Upper end."),
    ]));
    fields
}

/// The value of the stack and of each axis.
type Place = Vec<Option<String>>;

/// The points of each place (never none), in the order in which places come.
fn together<'a>(document: &'a RunDocument, axes: &[Axis<'_>]) -> Vec<Vec<&'a PointResult>> {
    let mut found: Vec<Vec<&PointResult>> = Vec::new();
    let mut places: BTreeMap<Place, usize> = BTreeMap::new();
    for point in &document.points {
        let values = axes.iter();
        let values = values.map(|axis| point.axes.get(axis.name).map(axis_text));
        let place: Place = [Some(point.stack.clone())]
            .into_iter()
            .chain(values)
            .collect();
        let at = *places.entry(place).or_insert_with(|| {
            found.push(Vec::new());
            found.len() - 1
        });
        found[at].push(point);
    }
    found
}

#[cfg(test)]
mod tests {
    use tcplab_plan::measure::Described;

    use super::*;

    #[test]
    fn repetitions_are_one_row_for_each_measure() {
        let point = |variant: &str, repeat: u64, value: Option<f64>| PointResult {
            stack: "model".to_owned(),
            axes: [
                ("variant".to_owned(), variant.into()),
                (REPEAT.to_owned(), repeat.into()),
            ]
            .into(),
            measures: [("x".to_owned(), value)].into(),
            ..PointResult::default()
        };
        let document = RunDocument {
            measures: vec![Described {
                name: "x".to_owned(),
                ..Described::default()
            }],
            points: vec![
                point("b", 1, Some(2.0)),
                point("a", 1, Some(7.0)),
                point("b", 2, Some(4.0)),
                point("a", 2, None),
            ],
            ..RunDocument::default()
        };
        let rows: Vec<_> = summary(&document).plain().collect();
        assert_eq!(rows[0][..6], ["model", "b", "x", "", "2", "3"]);
        // 3 and 12.706 standard errors of 1.
        let low: f64 = rows[0][6].parse().unwrap();
        assert!((low + 9.706).abs() < 1e-3, "{low}");
        assert_eq!(rows[1], ["model", "a", "x", "", "1", "7", "", ""]);
    }
}

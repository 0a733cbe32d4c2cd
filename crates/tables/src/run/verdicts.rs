//! What the repetitions of a run say of each arm against the baseline, as the terminal prints it.

use tcplab_compare::{Answer, Figure, answers};
use tcplab_plan::result::RunDocument;

use crate::field::{Field, Kind};
use crate::table::Table;

/// A row for each measure in each arm; no rows if no point was repeated. `base`: the variant that others are compared with;
/// `None`: the first one.
pub fn verdicts(document: &RunDocument, base: Option<&str>) -> Table {
    let mut table = Table::new("verdicts", fields());
    for answer in answers(document, base, None)
        .iter()
        .flat_map(|a| &a.measures)
    {
        for figure in &answer.figures {
            row(&mut table, answer, figure);
        }
    }
    table
}

fn fields() -> Vec<Field> {
    Field::all(&[
        ("measure", Kind::Word, "The measure (docs/experiment.md)."),
        ("unit", Kind::Word, "Unit of its values."),
        (
            "arm",
            Kind::Word,
            "What differs between arms: stack, variant, values of axes.",
        ),
        ("runs", Kind::Int, "Runs of the arm that have a value."),
        ("mean", Kind::Float, "Their mean."),
        (
            "change_percent",
            Kind::Float,
            "Change against the baseline; missing in the baseline itself.",
        ),
        (
            "low_percent",
            Kind::Float,
            "Lower end of its 95 % interval.",
        ),
        ("high_percent", Kind::Float, "Upper end."),
        (
            "adjusted_p",
            Kind::Float,
            "Chance of such a change without a difference, adjusted for the number of measures (Benjamini and Hochberg).",
        ),
        (
            "verdict",
            Kind::Word,
            "`better`, `worse`, `higher`, `lower`, `same`, `undecided`, `too-noisy` (docs/compare.md).",
        ),
        (
            "needs_runs",
            Kind::Int,
            "`undecided`: about so many runs of each arm would decide.",
        ),
    ])
}

fn row(table: &mut Table, answer: &Answer, figure: &Figure) {
    let change = figure.change.as_ref();
    let interval = change.and_then(|c| c.interval_percent);
    let mut row = table.row();
    row.text(&answer.measure.name);
    row.text(answer.measure.unit.name());
    row.text(&figure.arm);
    row.int(figure.with_value);
    row.float(figure.mean);
    row.float(change.and_then(|c| c.change_percent));
    row.float(interval.map(|(low, _)| low));
    row.float(interval.map(|(_, high)| high));
    row.float(change.and_then(|c| c.adjusted_p));
    row.maybe_text(change.map(|c| c.verdict.word()));
    row.maybe(change.and_then(|c| c.needs).map(i64::from));
}

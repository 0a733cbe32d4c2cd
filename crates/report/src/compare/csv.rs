//! The rows as CSV, for a spreadsheet or a script: a heading, then one line for each metric.

use csv::Writer;
use tcplab_compare::{QaDocument, Row};

use super::Form;

/// What each line holds; where there are sections, `section` stands before these.
const HEADING: [&str; 13] = [
    "metric",
    "unit",
    "before",
    "after",
    "change_percent",
    "change_low_percent",
    "change_high_percent",
    "p",
    "adjusted_p",
    "runs_before",
    "runs_after",
    "verdict",
    "why",
];

pub(super) const FORM: Form = Form {
    option: "--csv",
    help: "Write the rows as CSV",
    comparison: |comparison| table(&HEADING, comparison.rows.iter().map(line)),
    qa: of_sections,
};

/// The rows of all sections, each with the title of its section.
fn of_sections(document: &QaDocument) -> String {
    let heading = [&["section"][..], &HEADING].concat();
    let lines = document.sections.iter().flat_map(|section| {
        let rows = section.comparison.iter().flat_map(|table| &table.rows);
        rows.map(|row| [vec![section.title.clone()], line(row)].concat())
    });
    table(&heading, lines)
}

/// Memory takes every line, and a line has as many fields as the heading: nothing here fails.
fn table(heading: &[&str], lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = Writer::from_writer(Vec::new());
    let _ = out.write_record(heading);
    for line in lines {
        let _ = out.write_record(&line);
    }
    String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn line(row: &Row) -> Vec<String> {
    let figure = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    vec![
        row.label(),
        row.unit.clone(),
        figure(row.before),
        figure(row.after),
        figure(row.change_percent),
        figure(row.interval_percent.map(|(low, _)| low)),
        figure(row.interval_percent.map(|(_, high)| high)),
        figure(row.p),
        figure(row.adjusted_p),
        row.runs_before.len().to_string(),
        row.runs_after.len().to_string(),
        row.verdict.word().to_owned(),
        row.why.clone(),
    ]
}

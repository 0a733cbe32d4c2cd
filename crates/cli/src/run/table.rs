//! The result of a run for a person: one row a point, axes to the left, measures to the right.

use std::collections::BTreeSet;
use std::io::{self, Write};

use tcplab_plan::result::{PointResult, RunDocument};
use tcplab_report::matrix::Matrix;
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::grid::grids;
use tcplab_report::terminal::table::{Align, Cell, Table};

use super::input::Input;
use crate::failure::Failure;

/// Prints the table, then what could not be done.
pub fn print(document: &RunDocument, input: &Input, theme: &Theme) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match &input.view.title {
        Some(title) => writeln!(out, "{}: {title}\n", document.experiment)?,
        None => writeln!(out, "{}\n", document.experiment)?,
    }
    let axes = axes(&document.points);
    let mut columns: Vec<(&str, Align)> = vec![("stack", Align::Left)];
    columns.extend(axes.iter().map(|axis| (axis.as_str(), Align::Left)));
    columns.extend(
        input
            .measures
            .iter()
            .map(|name| (name.as_str(), Align::Right)),
    );
    let mut table = Table::new(&columns);
    for point in &document.points {
        let mut row: Vec<Cell> = vec![point.stack.as_str().into()];
        row.extend(axes.iter().map(|axis| Cell::from(axis_value(point, axis))));
        row.extend(
            input
                .measures
                .iter()
                .map(|name| Cell::from(value(point, name))),
        );
        table.row(row);
    }
    write!(out, "{}", table.render(theme))?;
    if input.view.x.is_some() || input.view.y.is_some() {
        let matrix = Matrix::of(document, &input.measures, &input.view);
        let band_percent = input.view.band_ppb as f64 / 1e7;
        writeln!(out, "\n{}", grids(&matrix, band_percent, theme).trim_end())?;
    }
    for note in notes(document) {
        writeln!(out, "\n{note}")?;
    }
    Ok(())
}

/// Names of the axes, each once.
fn axes(points: &[PointResult]) -> Vec<String> {
    let names: BTreeSet<&String> = points.iter().flat_map(|p| p.axes.keys()).collect();
    names.into_iter().cloned().collect()
}

fn axis_value(point: &PointResult, axis: &str) -> String {
    match point.axes.get(axis) {
        None => String::new(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// A whole number as such, others with three decimals; `-` for what has no value.
fn value(point: &PointResult, name: &str) -> String {
    match point.measures.get(name).copied().flatten() {
        _ if point.error.is_some() => "failed".into(),
        None => "-".into(),
        Some(v) if v.fract() == 0.0 && v.abs() < 1e15 => format!("{v:.0}"),
        Some(v) => format!("{v:.3}"),
    }
}

/// Reasons, each once.
fn notes(document: &RunDocument) -> BTreeSet<String> {
    let mut notes = BTreeSet::new();
    for point in &document.points {
        notes.extend(
            point
                .missing
                .iter()
                .map(|(name, why)| format!("-: {name}: {why}")),
        );
        notes.extend(
            point
                .warnings
                .iter()
                .map(|text| format!("{}: {text}", point.stack)),
        );
        notes.extend(
            point
                .error
                .iter()
                .map(|text| format!("{}: {text}", point.stack)),
        );
        if point.cut_short {
            notes.insert(format!(
                "{}: the run came to its max before the applications ended",
                point.stack
            ));
        }
    }
    notes
}

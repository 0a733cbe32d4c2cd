//! The result of a run as a table for a terminal: one row a point, axes left, measures right, as far as the width
//! allows (`terminal::fit`). Without a terminal, the width is COLUMNS or 80.

use std::collections::BTreeSet;
use std::io::Write;

use tcplab_compare::answers;
use tcplab_plan::measure::Described;
use tcplab_plan::result::{PointResult, RunDocument};
use tcplab_report::matrix::Matrix;
use tcplab_report::terminal::fit::Points;
use tcplab_report::terminal::grid::grids;
use tcplab_report::terminal::style::safe;
use tcplab_report::terminal::{Theme, answers};

use super::agreement;
use super::args::RunArgs;
use super::input::Input;
use super::notes::notes;
use crate::failure::Failure;
use crate::screen;

/// Prints the answer where points were repeated, else (or with `--all`) the table of points; then what could not be done,
/// and whether the stacks agree.
pub fn print(
    document: &RunDocument,
    input: &Input,
    args: &RunArgs,
    theme: &Theme,
) -> Result<(), Failure> {
    let (mut out, all) = (screen::painted(theme), args.all);
    match &input.view.title {
        Some(title) => writeln!(out, "{}: {title}", document.experiment)?,
        None => writeln!(out, "{}", document.experiment)?,
    }
    if !input.changed.is_empty() {
        writeln!(out, "with {}", safe(&input.changed.join(", ")))?;
    }
    writeln!(out)?;
    let band_percent = input.view.band_ppb as f64 / 1e7;
    let answer = answers(document, input.view.base.as_deref(), Some(band_percent));
    if let Some(answer) = &answer {
        write!(out, "{}", answers::answers(answer, theme))?;
    }
    if all && answer.is_some() {
        writeln!(out)?;
    }
    if all || answer.is_none() {
        write!(out, "{}", points(document, theme))?;
    }
    if input.view.x.is_some() || input.view.y.is_some() {
        let matrix = Matrix::of(document, &document.measures, &input.view);
        writeln!(out, "\n{}", grids(&matrix, band_percent, theme).trim_end())?;
    }
    for note in notes(document, &input.warnings) {
        writeln!(out, "\n{note}")?;
    }
    for pair in &document.agreement {
        let line = agreement::line(pair, args.out.as_deref());
        writeln!(out, "\n{}", safe(&line))?;
    }
    Ok(())
}

fn points(document: &RunDocument, theme: &Theme) -> String {
    let axes = axes(&document.points);
    let row = |point: &PointResult| {
        let keys = axes.iter().map(|axis| point.axis(axis));
        let values = document.measures.iter().map(|one| value(point, one));
        let keys = std::iter::once(point.stack.clone()).chain(keys);
        (keys.collect(), values.collect())
    };
    let names = document.measures.iter().map(|one| one.name.clone());
    let table = Points {
        keys: std::iter::once("stack".to_owned())
            .chain(axes.iter().cloned())
            .collect(),
        measures: names.collect(),
        rows: document.points.iter().map(row).collect(),
    };
    table.render(theme)
}

/// Names of the axes, each once.
fn axes(points: &[PointResult]) -> Vec<String> {
    let names: BTreeSet<&String> = points.iter().flat_map(|p| p.axes.keys()).collect();
    names.into_iter().cloned().collect()
}

/// In the unit that people write; `-` for what has no value.
fn value(point: &PointResult, measure: &Described) -> String {
    match point.measures.get(&measure.name).copied().flatten() {
        _ if point.error.is_some() => "failed".into(),
        None => "-".into(),
        Some(v) => measure.unit.text(v),
    }
}

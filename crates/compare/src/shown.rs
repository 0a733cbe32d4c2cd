//! What a row shows of its runs.

use tcplab_stats::{Mean, combined};

use crate::metrics::{Combine, Noise, Run};
use crate::row::Row;

/// Fills in the values of these runs, and what follows from them.
pub fn show(row: &mut Row, before: &[&Run], after: &[&Run]) {
    let before = counting(before.iter().copied());
    let after = counting(after.iter().copied());
    (row.runs_before, row.runs_after) = (values(&before), values(&after));
    (row.noise_before, row.noise_after) = (noise(&before), noise(&after));
    row.before = figure(&row.runs_before, row.combine);
    row.after = figure(&row.runs_after, row.combine);
    row.change_percent = percent(row);
}

/// The runs that count.
pub fn counting<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Vec<&'a Run> {
    let runs = runs.into_iter();
    runs.filter(|run| run.counts().is_some()).collect()
}

/// Their values.
pub fn values(runs: &[&Run]) -> Vec<f64> {
    runs.iter().filter_map(|run| run.counts()).collect()
}

/// How runs are combined.
pub const fn mean(combine: Combine) -> Mean {
    match combine {
        Combine::Mean => Mean::Arithmetic,
        Combine::Geometric => Mean::Geometric,
        Combine::Trimmed => Mean::Trimmed,
    }
}

/// The machine's noise beside each run; empty if no run has it.
fn noise(runs: &[&Run]) -> Vec<Noise> {
    let told = runs.iter().any(|run| run.noise.is_some());
    let each = runs.iter().map(|run| run.noise.clone().unwrap_or_default());
    if told { each.collect() } else { Vec::new() }
}

/// The figure of these values, if there is one.
pub fn figure(values: &[f64], combine: Combine) -> Option<f64> {
    let figure = combined(values, mean(combine));
    figure.is_finite().then_some(figure)
}

fn percent(row: &Row) -> Option<f64> {
    let (before, after) = (row.before?, row.after?);
    let mut all = row.runs_before.iter().chain(&row.runs_after);
    let has_one_sign = all.all(|value| *value >= 0.0);
    let change = 100.0 * (after - before) / before;
    match before == after {
        true => Some(0.0),
        false => (has_one_sign && change.is_finite()).then_some(change),
    }
}

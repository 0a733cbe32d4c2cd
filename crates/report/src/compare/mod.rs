//! A comparison (`tcplab.compare/1`) for people and for other programs: terminal, Markdown, CSV, JUnit, one HTML page.

mod csv;
pub(crate) mod figures;
mod junit;
mod markdown;
mod terminal;

pub use junit::{document as junit_document, xml};
pub use markdown::{cell, markdown};
pub(crate) use terminal::ink;
pub use terminal::terminal;

use tcplab_compare::{Comparison, QaDocument, Row, Verdict};

/// A form in which a comparison, or a report of `tcplab qa`, is written to a file: an option of each command that compares.
#[derive(Debug)]
pub struct Form {
    /// `--csv`.
    pub option: &'static str,
    /// Its line in the help.
    pub help: &'static str,
    /// The text of a comparison.
    pub comparison: fn(&Comparison) -> String,
    /// The text of a report.
    pub qa: fn(&QaDocument) -> String,
}

/// All of them, in the order of the help.
pub static FORMS: [Form; 3] = [csv::FORM, junit::FORM, crate::page::compare::FORM];

/// Rows of this kind say little one by one where there are many: equal counters, counters of one side only.
const fn is_quiet(row: &Row) -> bool {
    row.exact && matches!(row.verdict, Verdict::Equal | Verdict::Missing)
        || matches!(row.verdict, Verdict::Missing)
}

/// So many quiet rows are still shown.
const QUIET_ROWS: usize = 12;

/// The rows to show, and how many are left out.
fn shown(comparison: &Comparison, all: bool) -> (Vec<&Row>, usize) {
    let quiet = comparison.rows.iter().filter(|row| is_quiet(row)).count();
    let leave_out = !all && quiet > QUIET_ROWS;
    let rows = comparison
        .rows
        .iter()
        .filter(|row| !leave_out || !is_quiet(row));
    (rows.collect(), if leave_out { quiet } else { 0 })
}

/// `2 worse, 1 better, 10 same`: the verdicts, the gravest first.
pub(crate) fn verdicts(comparison: &Comparison) -> String {
    let counted = Verdict::ALL.iter().filter_map(|verdict| {
        let count = comparison.summary.get(verdict.word())?;
        Some(format!("{count} {}", verdict.word().replace('-', " ")))
    });
    let counted: Vec<String> = counted.collect();
    match counted.is_empty() {
        true => "nothing to compare".into(),
        false => counted.join(", "),
    }
}

/// What the words of the table mean, with the figures they were judged by.
pub(crate) fn legend(comparison: &Comparison) -> Vec<String> {
    let has = |verdict: Verdict| comparison.summary.contains_key(verdict.word());
    let mut lines = Vec::new();
    let tested = comparison.rows.iter().filter(|row| row.p.is_some()).count();
    if tested > 0 {
        lines.push(format!(
            "change: {:.0} % intervals; p adjusted for {tested} rows (Benjamini-Hochberg), false discovery rate {}",
            100.0 * comparison.level,
            comparison.q
        ));
    }
    if comparison.rows.iter().any(differs_in_pairs) {
        lines.push(
            "change is that of neighbouring runs, pair by pair (p after the runs), which cancels drift: it can differ \
             from the change between the two columns, even in its sign"
                .into(),
        );
    }
    if has(Verdict::Same) {
        lines.push(format!(
            "same: the whole interval lies within {} % (--band)",
            comparison.band_percent
        ));
    }
    if comparison.rows.iter().any(|row| row.needs.is_some()) {
        lines.push(
            "undecided ~N: about N runs per side would decide, if the change is as measured".into(),
        );
    }
    if comparison
        .rows
        .iter()
        .any(|row| row.p.is_none() && row.needs.is_some())
    {
        lines.push(format!(
            "with 1 run per side, N assumes that runs differ by {} % and that {} % must be detected (--noise, --find)",
            comparison.assumed_noise_percent, comparison.find_percent
        ));
    }
    if has(Verdict::TooNoisy) {
        lines.push(format!(
            "too noisy >X %: even {} runs per side would detect no change below X %",
            comparison.most_runs
        ));
    }
    lines
}

/// Whether the two columns seem to say another change than the pairs do.
fn differs_in_pairs(row: &Row) -> bool {
    const SEEN_PERCENT: f64 = 0.5;
    let (Some(before), Some(after), Some(change)) = (row.before, row.after, row.change_percent)
    else {
        return false;
    };
    row.paired && (100.0 * (after - before) / before - change).abs() > SEEN_PERCENT
}

#[cfg(test)]
mod tests;

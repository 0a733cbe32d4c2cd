//! Objections to what sources are.

use super::Checked;
use super::rows::over;
use crate::comparison::{Flag, FlagKind};
use crate::metrics::{Arm, Remark, RemarkKind};

/// Runs that do not count, and why.
pub(super) fn failed_runs(checked: &Checked) -> Option<Flag> {
    let mut rows = Vec::new();
    for arm in [checked.before, checked.after] {
        rows.extend(failed(arm));
        rows.extend(of(arm, RemarkKind::Failed));
    }
    rows.dedup();
    over(FlagKind::FailedRun, "failed runs were ignored", rows)
}

/// Reasons of an arm's failed runs, each with its metrics.
fn failed(arm: &Arm) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for metric in &arm.metrics {
        for why in metric.runs.iter().filter_map(|run| run.failed.as_deref()) {
            match reasons.iter_mut().find(|(other, _)| *other == why) {
                Some((_, names)) if names.contains(&metric.name.as_str()) => {}
                Some((_, names)) => names.push(&metric.name),
                None => reasons.push((why, vec![&metric.name])),
            }
        }
    }
    let say = |(why, names): (&str, Vec<&str>)| {
        let which = match names.as_slice() {
            [first, _, _, _, ..] => format!("{first} and {} other rows", names.len() - 1),
            names => names.join(", "),
        };
        format!("{which} in {}: {why}", arm.name)
    };
    reasons
        .into_iter()
        .map(|(why, names)| say((why, names)))
        .collect()
}

/// What importers and authors remarked.
pub(super) fn remarks(checked: &Checked) -> Vec<Flag> {
    let kinds = [
        (
            RemarkKind::MissingCell,
            FlagKind::MissingCell,
            "the first cell is missing, so the row's meaning is a guess",
        ),
        (RemarkKind::Note, FlagKind::Note, "remarks of the sources"),
    ];
    let arms = [checked.before, checked.after];
    let flag = |(kind, flag, text): (RemarkKind, FlagKind, &str)| {
        let mut rows: Vec<String> = arms.iter().flat_map(|arm| of(arm, kind)).collect();
        // One file with both arms says it of each.
        let mut seen = std::collections::BTreeSet::new();
        rows.retain(|row| seen.insert(row.clone()));
        over(flag, text, rows)
    };
    kinds.into_iter().filter_map(flag).collect()
}

fn of(arm: &Arm, kind: RemarkKind) -> Vec<String> {
    let told = arm.remarks.iter().filter(|remark| remark.kind == kind);
    let line = |remark: &Remark| match remark.place.as_str() {
        "" => remark.text.clone(),
        place => format!("{place}: {}", remark.text),
    };
    told.map(line).collect()
}

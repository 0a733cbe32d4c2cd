//! Objections to rows that rest on fewer runs than there were.

use super::Checked;
use super::rows::over;
use crate::comparison::{Flag, FlagKind};
use crate::exact;
use crate::metrics::{Arm, Run};
use crate::row::Row;

/// An arm's runs of a row.
pub(super) fn runs<'a>(arm: &'a Arm, row: &Row) -> impl Iterator<Item = &'a Run> {
    let (name, role) = (row.metric.clone(), row.role);
    let metrics = arm.metrics.iter();
    let its = metrics.filter(move |metric| metric.name == name && metric.role == role);
    its.flat_map(|metric| &metric.runs)
}

/// Runs that count, but have no partner in the other arm.
pub(super) fn without_partner(checked: &Checked) -> Option<Flag> {
    let one = |row: &Row| {
        let (before, after, pairs) = match row.exact {
            true => {
                let of = |arm| exact::valid(runs(arm, row));
                let (before, after) = (of(checked.before), of(checked.after));
                let pairs = exact::partners(&before, &after)?;
                (before.len(), after.len(), pairs.len())
            }
            false => {
                let count = |arm| runs(arm, row).filter(|run| run.counts().is_some()).count();
                let pairs = row.paired.then_some(row.runs_before.len())?;
                (count(checked.before), count(checked.after), pairs)
            }
        };
        let has_both = before > 0 && after > 0;
        (has_both && before + after > 2 * pairs).then(|| {
            format!(
                "{} ({before} before, {after} after, {pairs} pairs)",
                row.label()
            )
        })
    };
    over(
        FlagKind::WithoutPartner,
        "runs without a partner in the other arm were left out",
        checked.rows.iter().filter_map(one).collect(),
    )
}

/// Runs without a value. If runs that were cut short have no value, the row describes only the quick ones.
pub(super) fn no_value(checked: &Checked) -> Option<Flag> {
    let one = |row: &Row| {
        let part = |arm, side| {
            let all = runs(arm, row).count();
            let empty = runs(arm, row).filter(|run| run.absent.is_some()).count();
            (empty > 0).then(|| format!("{empty} of {all} runs {side}"))
        };
        let sides = [part(checked.before, "before"), part(checked.after, "after")];
        let why = [checked.before, checked.after]
            .into_iter()
            .find_map(|arm| runs(arm, row).find_map(|run| run.absent.as_deref()))?;
        let sides: Vec<String> = sides.into_iter().flatten().collect();
        (!row.exact).then(|| format!("{} ({}: {why})", row.label(), sides.join(", ")))
    };
    over(
        FlagKind::NoValue,
        "runs without a value were left out, so the row describes the others only",
        checked.rows.iter().filter_map(one).collect(),
    )
}

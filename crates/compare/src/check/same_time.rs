//! An objection to runs that statistics take for independent ones.

use super::Checked;
use super::left_out::runs;
use super::rows::over;
use crate::comparison::{Flag, FlagKind};
use crate::metrics::Arm;
use crate::row::Row;

/// Runs of an arm that began at the same time: one report that is there twice, or runs that disturbed each other.
pub(super) fn same_time(checked: &Checked) -> Option<Flag> {
    let one = |row: &Row| {
        let part = |arm, side| {
            let shared = shared(arm, row);
            (shared > 0).then(|| format!("{shared} runs {side}"))
        };
        let sides = [part(checked.before, "before"), part(checked.after, "after")];
        let sides: Vec<String> = sides.into_iter().flatten().collect();
        let is_told = !row.exact && !sides.is_empty();
        is_told.then(|| format!("{} ({})", row.label(), sides.join(", ")))
    };
    over(
        FlagKind::SameTime,
        "runs of one arm began at the same time: the statistics hold for independent runs only, not for copies of a \
         report or runs side by side",
        checked.rows.iter().filter_map(one).collect(),
    )
}

/// Runs that count and share the time of another one.
fn shared(arm: &Arm, row: &Row) -> usize {
    let counted = runs(arm, row).filter(|run| run.counts().is_some());
    let mut times: Vec<f64> = counted.filter_map(|run| run.began_s).collect();
    times.sort_by(f64::total_cmp);
    let groups = times.chunk_by(|a, b| a.total_cmp(b).is_eq());
    groups.map(<[f64]>::len).filter(|n| *n > 1).sum()
}

//! Objections to counts of tests.

use super::Checked;
use super::rows::over;
use crate::comparison::{Flag, FlagKind};
use crate::metrics::{Arm, Count};

fn arms<'a>(checked: &'a Checked) -> [&'a Arm; 2] {
    [checked.before, checked.after]
}

/// The sum of the counts; `None` when `passed` or `failed` is unknown.
fn sum(count: &Count) -> Option<u64> {
    let both = count.passed?.checked_add(count.failed?)?;
    both.checked_add(count.skipped.unwrap_or(0))
}

/// More tests were skipped after than before.
pub(super) fn more_skipped(checked: &Checked) -> Option<Flag> {
    let rows = checked.counts.iter().filter_map(|row| {
        let (was, is) = (row.before.as_ref()?.skipped?, row.after.as_ref()?.skipped?);
        (is > was).then(|| format!("{} ({was} to {is})", row.name))
    });
    over(
        FlagKind::MoreSkipped,
        "more tests were skipped after the change: which tests could not run any more?",
        rows.collect(),
    )
}

/// Passed, failed and skipped are not the total that stands beside them.
pub(super) fn do_not_add_up(checked: &Checked) -> Option<Flag> {
    let mut rows = Vec::new();
    for arm in arms(checked) {
        for count in &arm.counts {
            // What is not told is not there.
            let parts = [count.passed, count.failed, count.skipped];
            let sum = parts
                .iter()
                .flatten()
                .fold(0_u64, |sum, n| sum.saturating_add(*n));
            if let Some(total) = count.total.filter(|total| *total != sum) {
                rows.push(format!(
                    "{} in {} ({sum} counted, {total} told)",
                    count.name, arm.name
                ));
            }
        }
    }
    over(
        FlagKind::CountsDoNotAddUp,
        "passed, failed and skipped tests do not add up to the stated total",
        rows,
    )
}

/// A figure of a count, and its word.
type Figure = (&'static str, fn(&Count) -> Option<u64>);

/// The first figure that both counts tell differently.
fn differs(first: &Count, second: &Count) -> Option<(Figure, u64, u64)> {
    let figures: [Figure; 4] = [
        ("passed", |c| c.passed),
        ("failed", |c| c.failed),
        ("skipped", |c| c.skipped),
        ("in total", |c| c.total),
    ];
    let both = |what: Figure| Some((what, what.1(first)?, what.1(second)?));
    let mut both = figures.into_iter().filter_map(both);
    both.find(|(_, first, second)| first != second)
}

/// One source gives a count twice, with different values. If the other number belongs to another suite,
/// which one.
pub(super) fn told_twice(checked: &Checked) -> Option<Flag> {
    let mut rows = Vec::new();
    for arm in arms(checked) {
        for (at, count) in arm.counts.iter().enumerate() {
            let earlier = arm.counts[..at].iter().find(|c| c.name == count.name);
            let Some((what, first, second)) = earlier.and_then(|c| differs(c, count)) else {
                continue;
            };
            let mut others = arm.counts.iter().filter(|c| c.name != count.name);
            let other = others.find(|c| what.1(c) == Some(second));
            let is_of = other.map_or(String::new(), |c| {
                format!(", which is the count of {}", c.name)
            });
            let place = match count.place.as_str() {
                "" => "another place",
                place => place,
            };
            rows.push(format!(
                "{} in {} ({first} {}; {place} says {second}{is_of})",
                count.name, arm.name, what.0
            ));
        }
    }
    over(
        FlagKind::CountToldTwice,
        "one source states a count twice with different values",
        rows,
    )
}

/// Another number of tests ran: the counts are not of the same suite.
pub(super) fn other_tests(checked: &Checked) -> Option<Flag> {
    let rows = checked.counts.iter().filter_map(|row| {
        let (was, is) = (sum(row.before.as_ref()?)?, sum(row.after.as_ref()?)?);
        (was != is).then(|| format!("{} ({was} to {is})", row.name))
    });
    over(
        FlagKind::OtherTests,
        "the number of tests changed: which tests were added or removed?",
        rows.collect(),
    )
}

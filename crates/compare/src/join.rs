//! Several runs of one suite of tests, such as several files of one side, become one count.
//!
//! A test that failed in any run has failed; else it passed if it passed in any. The figures are those of the run with
//! the most failures (of these, with the fewest passes), moved by what other runs say of single tests.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::metrics::{Count, TestResult};
use crate::suites::ended;
use TestResult::{Failed, Passed, Skipped};

/// Takes in the counts of another source; says in what its runs differ from ours. If one source tells a count twice,
/// its first count joins our first one, its second our second.
pub(crate) fn join(own: &mut Vec<Count>, other: Vec<Count>) -> Vec<String> {
    let mut notes = Vec::new();
    let places: BTreeMap<_, usize> = numbered(own).into_iter().zip(0..).collect();
    let keys = numbered(&other);
    for (key, count) in keys.into_iter().zip(other) {
        match places.get(&key).and_then(|at| own.get_mut(*at)) {
            Some(own) => {
                notes.extend(differences(own, &count));
                *own = joined(own, &count);
            }
            None => own.push(count),
        }
    }
    notes
}

/// Name, place, and how many of these came before.
fn numbered(counts: &[Count]) -> Vec<(String, String, usize)> {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let key = |count: &Count| (count.name.clone(), count.place.clone());
    let mut number = |count| {
        let (name, place) = key(count);
        let seen = seen.entry((&count.name, &count.place)).or_default();
        *seen += 1;
        (name, place, *seen)
    };
    counts.iter().map(&mut number).collect()
}

fn joined(one: &Count, two: &Count) -> Count {
    let gravity = |count: &Count| (count.failed.unwrap_or(0), Reverse(count.passed));
    let worst = if gravity(two) > gravity(one) {
        two
    } else {
        one
    };
    let mut tests = one.tests.clone();
    for (name, result) in &two.tests {
        let own = tests.entry(name.clone()).or_insert(*result);
        *own = graver(*own, *result);
    }
    let named = |tests: &BTreeMap<String, TestResult>, is: &[TestResult]| {
        tests.values().filter(|result| is.contains(result)).count() as u64
    };
    // Some runners list only what failed: their figures cannot be moved by names.
    let parts = [worst.passed, worst.failed, worst.skipped];
    let counted = worst
        .total
        .unwrap_or_else(|| parts.into_iter().flatten().sum());
    let names_all = worst.tests.len() as u64 == counted;
    let moved = |figure: Option<u64>, is: &[TestResult]| {
        if !names_all {
            return figure;
        }
        let (was, now) = (named(&worst.tests, is), named(&tests, is));
        figure.map(|n| n.saturating_add(now).saturating_sub(was))
    };
    Count {
        passed: moved(worst.passed, &[Passed]),
        failed: moved(worst.failed, &[Failed]),
        skipped: moved(worst.skipped, &[Skipped]),
        total: moved(worst.total, &[Passed, Failed, Skipped]),
        tests,
        ..worst.clone()
    }
}

const fn graver(one: TestResult, two: TestResult) -> TestResult {
    match (one, two) {
        (Failed, _) | (_, Failed) => Failed,
        (Passed, _) | (_, Passed) => Passed,
        (Skipped, Skipped) => Skipped,
    }
}

/// Tests that failed in some runs only; without any, that figures differ.
fn differences(one: &Count, two: &Count) -> Vec<String> {
    let suite = &one.name;
    let failed_once = |name: &String| {
        let (one, two) = (ended(one, name)?, ended(two, name)?);
        let differs = (one == Failed) != (two == Failed);
        differs.then(|| format!("{suite}: `{name}` failed in some runs only, and counts as failed"))
    };
    let names: BTreeSet<&String> = one.tests.keys().chain(two.tests.keys()).collect();
    let notes: Vec<String> = names.into_iter().filter_map(failed_once).collect();
    let figures = |count: &Count| (count.passed, count.failed, count.skipped, count.total);
    if notes.is_empty() && figures(one) != figures(two) {
        return vec![format!(
            "{suite}: the figures of its runs differ; the run with the most failures counts"
        )];
    }
    notes
}

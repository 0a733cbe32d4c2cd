//! Suites of tests before and after.

use std::collections::{BTreeMap, BTreeSet};

use TestResult::{Failed, Passed, Skipped};

use crate::metrics::{Arm, Count, TestResult};
use crate::row::{CountRow, Verdict};

/// The suites of both arms by name; where a source tells one twice, the first.
pub(crate) fn counts(before: &Arm, after: &Arm) -> Vec<CountRow> {
    let mut names: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for count in before.counts.iter().chain(&after.counts) {
        if seen.insert(count.name.as_str()) {
            names.push(&count.name);
        }
    }
    let first = |arm: &Arm| {
        let mut by_name: BTreeMap<String, Count> = BTreeMap::new();
        for count in &arm.counts {
            let name = count.name.clone();
            by_name.entry(name).or_insert_with(|| count.clone());
        }
        by_name
    };
    let (before, after) = (first(before), first(after));
    if let ([(was, b)], [(is, a)]) = (each(&before).as_slice(), each(&after).as_slice())
        && was != is
        && are_one_suite(b, a)
    {
        return vec![count_row(&format!("{was} / {is}"), Some(b), Some(a))];
    }
    let row = |name: &str| count_row(name, before.get(name), after.get(name));
    names.into_iter().map(row).collect()
}

fn each(counts: &BTreeMap<String, Count>) -> Vec<(&String, &Count)> {
    counts.iter().collect()
}

/// Whether two suites that are named after their files are the same one: most of their tests have the same names.
fn are_one_suite(before: &Count, after: &Count) -> bool {
    let both = before
        .tests
        .keys()
        .filter(|name| after.tests.contains_key(*name));
    let fewer = before.tests.len().min(after.tests.len());
    fewer > 0 && 2 * both.count() >= fewer
}

fn count_row(name: &str, before: Option<&Count>, after: Option<&Count>) -> CountRow {
    let bare = |count: &Count| Count {
        tests: BTreeMap::new(),
        ..count.clone()
    };
    let moved = |to: TestResult, from: &[TestResult]| match (before, after) {
        (Some(before), Some(after)) => moved(before, after, to, from),
        _ => Vec::new(),
    };
    let mut row = CountRow {
        name: name.into(),
        before: before.map(bare),
        after: after.map(bare),
        newly_failed: moved(Failed, &[Passed, Skipped]),
        newly_passed: moved(Passed, &[Failed]),
        newly_skipped: moved(Skipped, &[Passed, Failed]),
        verdict: Verdict::Missing,
    };
    if let (Some(before), Some(after)) = (before, after) {
        let counts = |c: &Count| (c.passed, c.failed, c.skipped);
        let (was, is) = (before.failed.unwrap_or(0), after.failed.unwrap_or(0));
        let nothing_ran = |c: &Count| c.passed.unwrap_or(0) + c.failed.unwrap_or(0) == 0;
        row.verdict = match () {
            // All were skipped, or it is not known.
            () if nothing_ran(before) && nothing_ran(after) => Verdict::Missing,
            () if !row.newly_failed.is_empty() || is > was => Verdict::Worse,
            () if is < was => Verdict::Better,
            () if counts(before) == counts(after) => Verdict::Equal,
            () => Verdict::Differs,
        };
    }
    row
}

/// The tests that ended so after, and in one of these ways before.
fn moved(before: &Count, after: &Count, to: TestResult, from: &[TestResult]) -> Vec<String> {
    let names: BTreeSet<&String> = before.tests.keys().chain(after.tests.keys()).collect();
    let has_moved = |name: &&&String| {
        let was = ended(before, name);
        ended(after, name) == Some(to) && was.is_some_and(|was| from.contains(&was))
    };
    names
        .iter()
        .filter(has_moved)
        .map(|n| (*n).clone())
        .collect()
}

/// How a test ended. One that is counted by its subtests (`script: subtest`) ended as they did.
pub(crate) fn ended(count: &Count, name: &str) -> Option<TestResult> {
    if let Some(own) = count.tests.get(name) {
        return Some(*own);
    }
    let head = format!("{name}: ");
    let from = count.tests.range(head.clone()..);
    let parts = from.take_while(|(sub, _)| sub.starts_with(&head));
    let results: Vec<TestResult> = parts.map(|(_, result)| *result).collect();
    let is_worst = |result: &TestResult| results.contains(result);
    [Failed, Passed, Skipped].into_iter().find(is_worst)
}

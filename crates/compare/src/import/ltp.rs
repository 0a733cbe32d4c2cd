//! LTP's results as text: kirk's summary (`Suite:`, `Passed:`), runltp's list (`name PASS 0`) with its totals
//! (`Total Tests:`), single tests' summaries.

use super::builder::Builder;
use super::kirk::suite;
use super::named::Tests;
use super::{ImportError, Input};
use crate::metrics::{Arm, Count, TestResult};

pub(super) fn is(text: &str) -> bool {
    let has = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
    (has("Total Tests:") && has("Total Failures:"))
        || (has("Passed:") && has("Failed:") && has("Skipped:"))
        || (has("passed ") && has("failed ") && has("broken ") && has("skipped "))
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let mut builder = Builder::new(input);
    "LTP".clone_into(&mut builder.source().tool);
    let mut open = Suite::default();
    for line in input.text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("Suite:") {
            let name = format!("ltp {}", name.trim());
            std::mem::replace(&mut open, Suite::named(name)).finish(input, &mut builder);
        } else if let Some((result, name)) = listed(line) {
            open.tests.add(name.to_owned(), result);
        } else if let Some((word, number)) = told(line) {
            open.is_told |= take(&mut open.count, word, number);
        }
    }
    open.finish(input, &mut builder);
    Ok(builder.done())
}

/// A suite that is being read.
#[derive(Default)]
struct Suite {
    count: Count,
    tests: Tests,
    /// Whether the file gives its figures.
    is_told: bool,
}

impl Suite {
    fn named(name: String) -> Self {
        let mut suite = Self::default();
        suite.count.name = name;
        suite
    }

    fn finish(self, input: &Input, builder: &mut Builder) {
        let Self {
            mut count, tests, ..
        } = self;
        if !self.is_told && tests.is_empty() {
            return;
        }
        if count.name.is_empty() {
            count.name = suite(input.name);
        }
        if !tests.is_empty() {
            let ended = |result| Some(tests.ended(result));
            count.passed = count.passed.or_else(|| ended(TestResult::Passed));
            count.failed = count.failed.or_else(|| ended(TestResult::Failed));
            count.skipped = count.skipped.or_else(|| ended(TestResult::Skipped));
        }
        count.tests = tests.done();
        builder.count(count);
    }
}

/// `Passed:   22`, `passed   3`, `Total Skipped Tests: 466`.
fn told(line: &str) -> Option<(&str, u64)> {
    let (word, number) = match line.split_once(':') {
        Some(two) => two,
        None => line.split_once(char::is_whitespace)?,
    };
    Some((word.trim(), number.trim().parse().ok()?))
}

fn take(count: &mut Count, word: &str, number: u64) -> bool {
    let add = |to: &mut Option<u64>| *to = Some(to.unwrap_or(0).saturating_add(number));
    match word {
        "Passed" | "passed" => add(&mut count.passed),
        "Failed" | "failed" | "Broken" | "broken" | "Total Failures" => add(&mut count.failed),
        "Skipped" | "skipped" | "Total Skipped Tests" => add(&mut count.skipped),
        "Total Tests" => add(&mut count.total),
        _ => return false,
    }
    true
}

/// `accept01   PASS   0`, a line of runltp's list.
fn listed(line: &str) -> Option<(TestResult, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, result, code] = words.as_slice() else {
        return None;
    };
    code.parse::<i32>().ok()?;
    let result = match *result {
        "PASS" => TestResult::Passed,
        "FAIL" | "BROK" => TestResult::Failed,
        "CONF" => TestResult::Skipped,
        _ => return None,
    };
    Some((result, name))
}

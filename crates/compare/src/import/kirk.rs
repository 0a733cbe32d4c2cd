//! kirk's JSON report, LTP's runner since runltp went: `results` with one entry a test, `stats` with the sums over TPASS,
//! TFAIL, TBROK, TCONF lines.

use serde_json::Value;

use super::builder::Builder;
use super::json::{at, first, number, one, text};
use super::named::Tests;
use super::{ImportError, Input};
use crate::metrics::{Arm, Count, RemarkKind, TestResult};

pub(super) fn is(text: &str) -> bool {
    first(text).is_some_and(|d| {
        at(&d, &["results"]).is_some_and(Value::is_array) && at(&d, &["stats", "passed"]).is_some()
    })
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let document = one(input)?;
    let mut builder = Builder::new(input);
    let source = builder.source();
    "kirk".clone_into(&mut source.tool);
    let about = at(&document, &["environment"]).and_then(Value::as_object);
    for (key, value) in about.into_iter().flatten() {
        if let Some(value) = value.as_str() {
            source.settings.insert(key.clone(), value.to_owned());
        }
    }
    let sum = |key| number(&document, &["stats", key]).map(|n| n.max(0.0) as u64);
    let failed = match (sum("failed"), sum("broken")) {
        (None, None) => None,
        (failed, broken) => Some(failed.unwrap_or(0).saturating_add(broken.unwrap_or(0))),
    };
    let results = at(&document, &["results"]).and_then(Value::as_array);
    let mut tests = Tests::default();
    for result in results.into_iter().flatten() {
        let Some(name) = text(result, &["test_fqn"]) else {
            continue;
        };
        let of = |key| number(result, &["test", key]).unwrap_or(0.0);
        let ended = match () {
            () if of("failed") + of("broken") > 0.0 => TestResult::Failed,
            () if of("passed") > 0.0 => TestResult::Passed,
            () => TestResult::Skipped,
        };
        tests.add(name.to_owned(), ended);
    }
    if let Some(warnings) = sum("warnings").filter(|n| *n > 0) {
        let text = format!("{warnings} warnings (TWARN)");
        builder.arm.remark(RemarkKind::Note, input.name, text);
    }
    builder.count(Count {
        name: suite(input.name),
        passed: sum("passed"),
        failed,
        skipped: sum("skipped"),
        tests: tests.done(),
        ..Count::default()
    });
    Ok(builder.done())
}

/// The suite, which the report does not name: the file's name without its ending.
pub(super) fn suite(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let name = name.split('.').next().unwrap_or(name);
    format!("ltp {name}")
}

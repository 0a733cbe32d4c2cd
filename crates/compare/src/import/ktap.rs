//! TAP and KTAP: `ok 1 name`, `not ok 2 name`, `# SKIP`, plans (`1..4`), nested tests by their indentation.
//!
//! A test with subtests is counted by its subtests. Its own line counts if it failed and none of them did: kselftest's
//! scripts that exit with an error, or take too long, after their subtests passed.

use super::builder::Builder;
use super::named::Tests;
use super::{ImportError, Input};
use crate::metrics::{Arm, Count, RemarkKind, TestResult};

pub(super) fn is(text: &str) -> bool {
    let is_version =
        |line: &str| line.starts_with("KTAP version") || line.starts_with("TAP version");
    text.lines()
        .take(200)
        .any(|line| is_version(line.trim_start()))
        || text
            .lines()
            .take(20)
            .any(|line| result(line.trim_start()).is_some())
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let mut builder = Builder::new(input);
    "KTAP".clone_into(&mut builder.source().tool);
    let mut tests = Tests::default();
    // Open levels: indentation, the plan, results of subtests that wait for their parent's name.
    let mut levels: Vec<Level> = Vec::new();
    for line in input.text.lines() {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        // Diagnostics may hold anything, and kselftest writes subtests behind a `#`.
        let (bare, indent) = match bare.strip_prefix("# ") {
            Some(inner) if result(inner.trim_start()).is_some() || plan(inner).is_some() => (
                inner.trim_start(),
                indent + 2 + inner.len() - inner.trim_start().len(),
            ),
            _ => (bare, indent),
        };
        if bare.starts_with("Bail out!") {
            builder.arm.remark(RemarkKind::Note, input.name, bare);
        } else if let Some(planned) = plan(bare) {
            level(&mut levels, indent).planned = Some(planned);
        } else if let Some((ended, name)) = result(bare) {
            take(&mut levels, indent, ended, name);
        }
    }
    // What is left open had no parent.
    for level in levels {
        if let Some(planned) = level.planned.filter(|planned| *planned != level.seen) {
            let text = format!(
                "{planned} tests were planned, but {} are reported",
                level.seen
            );
            builder.arm.remark(RemarkKind::Note, input.name, text);
        }
        for (name, result) in level.ended() {
            tests.add(name, result);
        }
    }
    if tests.is_empty() {
        return Err(ImportError::new(
            input,
            "",
            "no line with `ok` or `not ok`",
            "give the complete log of the tests",
        ));
    }
    builder.count(Count {
        name: super::kirk::suite(input.name).replacen("ltp ", "", 1),
        passed: Some(tests.ended(TestResult::Passed)),
        failed: Some(tests.ended(TestResult::Failed)),
        skipped: Some(tests.ended(TestResult::Skipped)),
        tests: tests.done(),
        ..Count::default()
    });
    Ok(builder.done())
}

struct Level {
    indent: usize,
    planned: Option<u64>,
    seen: u64,
    done: Vec<(String, TestResult)>,
}

impl Level {
    /// The results of an ended level. Planned tests without a result failed: the run was cut short.
    fn ended(mut self) -> Vec<(String, TestResult)> {
        let planned = self.planned.unwrap_or(0);
        if planned > self.seen {
            let name = match self.seen + 1 {
                only if only == planned => format!("no result of test {only}"),
                first => format!("no result of tests {first} to {planned}"),
            };
            self.done.push((name, TestResult::Failed));
        }
        self.done
    }
}

/// The level with this indentation; adds it if missing.
fn level(levels: &mut Vec<Level>, indent: usize) -> &mut Level {
    let at = levels.iter().position(|level| level.indent == indent);
    let at = at.unwrap_or_else(|| {
        levels.push(Level {
            indent,
            planned: None,
            seen: 0,
            done: Vec::new(),
        });
        levels.len() - 1
    });
    &mut levels[at]
}

fn take(levels: &mut Vec<Level>, indent: usize, ended: TestResult, name: &str) {
    let closed = levels.extract_if(.., |level| level.indent > indent);
    let inner: Vec<(String, TestResult)> = closed.flat_map(Level::ended).collect();
    let own = level(levels, indent);
    own.seen += 1;
    let number = own.seen;
    let name = match name {
        "" => format!("test {number}"),
        name => name.to_owned(),
    };
    let failed = |(_, result): &(String, TestResult)| *result == TestResult::Failed;
    let is_own = match ended {
        TestResult::Failed => !inner.iter().any(failed),
        _ => inner.is_empty(),
    };
    let named = |(sub, result)| (format!("{name}: {sub}"), result);
    own.done.extend(inner.into_iter().map(named));
    if is_own {
        own.done.push((name, ended));
    }
}

/// `1..4`.
fn plan(line: &str) -> Option<u64> {
    let words = line.split_whitespace().next()?;
    words.strip_prefix("1..")?.parse().ok()
}

/// How a test ended, and its name.
fn result(line: &str) -> Option<(TestResult, &str)> {
    let (ended, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (TestResult::Failed, rest),
        None => (TestResult::Passed, line.strip_prefix("ok")?),
    };
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let (rest, directive) = rest.split_once('#').unwrap_or((rest, ""));
    let directive = directive.trim_start().to_uppercase();
    let ended = match ended {
        _ if directive.starts_with("SKIP") => TestResult::Skipped,
        // KTAP: the test found what it expects. (What is only not done yet still fails, as without the directive.)
        TestResult::Failed if directive.starts_with("XFAIL") => TestResult::Passed,
        ended => ended,
    };
    let rest = rest.trim_start();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
    Some((ended, rest.trim_start_matches('-').trim()))
}

//! packetdrill's run_all.py: `Ran  399 tests:  399 passing,    0 failing,    0 timed out (62.10 sec): tcp/`, and with `-v`
//! `OK   [script (ipv4)]`, `FAIL [...]`, `KILL [...]` for one that took too long.

use std::collections::BTreeMap;

use super::builder::Builder;
use super::named::Tests;
use super::{ImportError, Input};
use crate::metrics::{Arm, Count, TestResult};

pub(super) fn is(text: &str) -> bool {
    text.lines().any(|line| ran(line).is_some())
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let mut builder = Builder::new(input);
    "packetdrill run_all.py".clone_into(&mut builder.source().tool);
    let mut count = Count {
        name: "packetdrill".into(),
        ..Count::default()
    };
    // Scripts end in any order: those whose short names are the same are numbered by their paths.
    let mut scripts = BTreeMap::new();
    let add = |to: fn(&mut Count) -> &mut Option<u64>, number: u64, count: &mut Count| {
        let to = to(count);
        *to = Some(to.unwrap_or(0).saturating_add(number));
    };
    for line in input.text.lines() {
        if let Some([total, passed, failed, late]) = ran(line) {
            // One line for each folder with `--subdirs`.
            add(|c| &mut c.total, total, &mut count);
            add(|c| &mut c.passed, passed, &mut count);
            add(|c| &mut c.failed, failed.saturating_add(late), &mut count);
        } else if let Some((result, path)) = listed(line) {
            scripts.entry(path).or_insert_with(Vec::new).push(result);
        }
    }
    if count.total.is_none() {
        return Err(ImportError::new(
            input,
            "",
            "no line `Ran N tests: ...`",
            "give the complete output of run_all.py",
        ));
    }
    let mut tests = Tests::default();
    for (path, results) in scripts {
        for result in results {
            tests.add(short(path), result);
        }
    }
    count.tests = tests.done();
    builder.count(count);
    Ok(builder.done())
}

/// The numbers of the last line: all, passing, failing, timed out.
fn ran(line: &str) -> Option<[u64; 4]> {
    let rest = line.trim().strip_prefix("Ran ")?;
    let (total, rest) = rest.split_once(" tests:")?;
    let mut parts = rest.split(',');
    let mut part = |word: &str| -> Option<u64> {
        let part = parts.next()?.trim();
        let (number, rest) = part.split_once(' ')?;
        rest.trim_start()
            .starts_with(word)
            .then(|| number.parse().ok())?
    };
    Some([
        total.trim().parse().ok()?,
        part("passing")?,
        part("failing")?,
        part("timed out")?,
    ])
}

/// A script's path and how it ended.
fn listed(line: &str) -> Option<(TestResult, &str)> {
    let (word, rest) = line.split_once('[')?;
    let result = match word.trim() {
        "OK" => TestResult::Passed,
        "FAIL" | "KILL" => TestResult::Failed,
        _ => return None,
    };
    Some((result, rest.trim_end().strip_suffix(']')?))
}

/// A script's name: its last folder and its file, wherever it lies.
fn short(path: &str) -> String {
    let mut parts: Vec<&str> = path.rsplitn(3, '/').collect();
    parts.truncate(2);
    parts.reverse();
    parts.join("/")
}

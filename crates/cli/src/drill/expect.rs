//! `drill --expect FILE`: failures that are known, so that only news fails a run.
//!
//! A line has a script, and its mode in brackets or all of them: what `drill` prints after FAIL, which may stand there too.
//! A path matches by its end. Lines that begin with `#` or a blank say nothing.

use std::collections::BTreeSet;
use std::path::Path;

use tcplab_kernel::text::read_text;
use tcplab_lab::drill::{CaseResult, DrillDocument, Expected, Verdict};

use crate::failure::Failure;

/// The longest list.
const MOST_BYTES: u64 = 1 << 24;

/// One line.
struct Line {
    number: usize,
    name: String,
    is_used: bool,
}

/// Reads a list.
pub fn read(path: &Path) -> Result<String, Failure> {
    Ok(read_text(path, MOST_BYTES)?)
}

/// Marks the cases of the list, and says what it holds that is no failure.
pub fn mark(document: &mut DrillDocument, list: &str) {
    let mut lines = lines(list);
    let mut expected = Expected::default();
    for result in &mut document.results {
        let Some(line) = lines.iter_mut().find(|line| is_of(&line.name, result)) else {
            continue;
        };
        line.is_used = true;
        match result.verdict {
            Verdict::Fail => {
                result.known = true;
                expected.failed += 1;
            }
            Verdict::Pass => expected.passes.push(result.name()),
            Verdict::Skip => {}
        }
    }
    // What was not asked for this time is no news.
    let modes: BTreeSet<&str> = document.results.iter().map(|result| result.mode).collect();
    let is_of_call = |line: &&Line| {
        let mode = line
            .name
            .split_once(" (")
            .and_then(|(_, rest)| rest.strip_suffix(')'));
        mode.is_none_or(|mode| modes.contains(mode))
    };
    let unused = lines.iter().filter(|line| !line.is_used).filter(is_of_call);
    let told = unused.map(|line| format!("line {}: {}", line.number, line.name));
    expected.unused = told.collect();
    document.expected = Some(expected);
}

fn lines(list: &str) -> Vec<Line> {
    let numbered = list.lines().zip(1..);
    let is_sum = |line: &str| line.contains(" passed, ") && line.ends_with(" skipped");
    let says = |(line, _): &(&str, usize)| {
        !line.starts_with(['#', ' ', '\t']) && !line.is_empty() && !is_sum(line)
    };
    let line = |(line, number): (&str, usize)| Line {
        number,
        name: line.strip_prefix("FAIL ").unwrap_or(line).trim().to_owned(),
        is_used: false,
    };
    numbered.filter(says).map(line).collect()
}

/// Whether a name of the list is this case's: the end of its path, in its mode or in any.
fn is_of(name: &str, result: &CaseResult) -> bool {
    let script = match name.split_once(" (") {
        None => name,
        Some((script, mode)) if mode.strip_suffix(')') == Some(result.mode) => script,
        Some(_) => return false,
    };
    Path::new(&result.script).ends_with(script)
}

//! `drill --expect FILE`: failures that are known, so that only news fails a run.
//!
//! A line has a script, and its mode in brackets or all of them: what `drill` prints after FAIL, which may stand there too.
//! A path matches by its end. Lines that begin with `#` or a blank say nothing.

use std::collections::BTreeSet;
use std::path::Path;

use tcplab_lab::drill::{CaseResult, DrillDocument, Expected, MODES, Verdict, word};
use tcplab_os::text::read_text;

use crate::failure::Failure;

/// The longest list.
const MOST_BYTES: u64 = 1 << 24;

/// One line.
struct Line<'a> {
    number: usize,
    script: &'a str,
    /// None: every mode.
    mode: Option<&'a str>,
    is_used: bool,
}

impl Line<'_> {
    /// Whether it names this case: the end of its path, in its mode or in any.
    fn is_of(&self, result: &CaseResult) -> bool {
        self.mode.is_none_or(|mode| mode == result.mode)
            && Path::new(&result.script).ends_with(self.script)
    }
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
        let Some(line) = lines.iter_mut().find(|line| line.is_of(result)) else {
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
    // A script that did not run this time is no news; a mode that no call has is.
    let modes: BTreeSet<&str> = document.results.iter().map(|result| result.mode).collect();
    let is_known = |mode: &str| MODES.into_iter().any(|known| word(known) == mode);
    let is_of_call =
        |line: &&Line| (line.mode).is_none_or(|mode| modes.contains(mode) || !is_known(mode));
    let unused = lines.iter().filter(|line| !line.is_used).filter(is_of_call);
    let told = unused.map(|line| match line.mode.filter(|mode| !is_known(mode)) {
        None => format!("line {}: {}", line.number, line.script),
        Some(mode) => format!("line {}: {} ({mode})", line.number, line.script),
    });
    expected.unused = told.collect();
    document.expected = Some(expected);
}

fn lines<'a>(list: &'a str) -> Vec<Line<'a>> {
    let numbered = list.lines().zip(1..);
    let is_sum = |line: &str| line.contains(" passed, ") && line.ends_with(" skipped");
    let says = |(line, _): &(&str, usize)| {
        !line.starts_with(['#', ' ', '\t']) && !line.is_empty() && !is_sum(line)
    };
    let line = |(line, number): (&'a str, usize)| {
        let name = line.strip_prefix("FAIL ").unwrap_or(line).trim();
        let in_mode = name
            .strip_suffix(')')
            .and_then(|name| name.rsplit_once(" ("));
        Line {
            number,
            script: in_mode.map_or(name, |(script, _)| script.trim_end()),
            mode: in_mode.map(|(_, mode)| mode),
            is_used: false,
        }
    };
    numbered.filter(says).map(line).collect()
}

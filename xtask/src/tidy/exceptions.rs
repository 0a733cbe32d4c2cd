//! The list of excused failures, `xtask/tidy-exceptions.txt`.
//!
//! One line for each: `rule path reason...`. It starts empty. A line that excuses
//! nothing fails, so that the list shrinks as soon as its cause is gone.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::report::Report;

const LIST: &str = "xtask/tidy-exceptions.txt";

/// Removes what the list excuses from `report` and adds what is wrong with the list.
pub fn apply(root: &Path, report: &mut Report) -> Result<()> {
    let text =
        fs::read_to_string(root.join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    apply_text(&text, report);
    Ok(())
}

fn apply_text(text: &str, report: &mut Report) {
    report.enter("exceptions");
    for (number, line) in text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.trim()))
    {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [rule, path, _reason, ..] = words.as_slice() else {
            report.fail(LIST, number, "not `rule path reason`", "write all three");
            continue;
        };
        let before = report.failures().len();
        report.excuse(|finding| finding.rule == *rule && finding.path == *path);
        if report.failures().len() == before {
            report.fail(LIST, number, "excuses nothing", "remove the line");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report_with_one_failure() -> Report {
        let mut report = Report::default();
        report.enter("file-size");
        report.fail("a.rs", 1, "too long", "split it");
        report
    }

    #[test]
    fn a_listed_failure_is_excused() {
        let mut report = report_with_one_failure();
        apply_text("# head\nfile-size a.rs a table of the RFC\n", &mut report);
        assert!(report.failures().is_empty());
    }

    #[test]
    fn a_stale_line_fails_and_excuses_nothing_else() {
        let mut report = report_with_one_failure();
        apply_text("file-size b.rs gone since\n", &mut report);
        let whats: Vec<_> = report.failures().iter().map(|f| f.what.as_str()).collect();
        assert_eq!(whats, ["too long", "excuses nothing"]);
    }

    #[test]
    fn a_line_without_reason_fails() {
        let mut report = report_with_one_failure();
        apply_text("file-size a.rs\n", &mut report);
        assert_eq!(report.failures().len(), 2);
    }
}

//! Rule: no unfinished work and no debugging left in code: `todo!`,
//! `unimplemented!`, `dbg!`, and the words that mark work put off.
//!
//! What falls short belongs in an issue or in `docs/fidelity.md`, where a user
//! can read it.

use super::report::Report;
use super::tree::Tree;

pub const NAME: &str = "markers";

// Written in halves so that this file does not break its own rule.
const MARKERS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("dbg", "!("),
];

pub fn check(tree: &Tree, report: &mut Report) {
    for file in tree.files.iter().filter(|file| file.kind.is_code()) {
        for (number, line) in file.text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
            for marker in MARKERS.iter().filter(|marker| line.contains(**marker)) {
                let what = format!("`{marker}` in code");
                report.fail(
                    &file.path,
                    number,
                    what,
                    "do it now, or write it down where users look",
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::{MARKERS, check};

    #[test]
    fn fires_on_each_marker() {
        for marker in MARKERS {
            let text = format!("//! Head.\n// {marker}\n");
            let failures = failures_of(check, &[("a.rs", &text)]);
            assert_eq!(failures.len(), 1, "{marker}");
            assert_eq!(failures[0].1, 2);
        }
    }

    #[test]
    fn leaves_documents_alone() {
        let text = format!("{}\n", MARKERS[0]);
        assert!(failures_of(check, &[("a.md", &text)]).is_empty());
    }
}

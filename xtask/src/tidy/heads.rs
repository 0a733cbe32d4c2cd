//! Rule: a file of code says at its head what it is.
//!
//! Rust: `//!` (in a file of tests too). TypeScript and CSS: a comment. Python: a
//! docstring or a comment. Shell and make: a comment after the `#!` line.

use super::report::Report;
use super::tree::{File, Kind, Tree};

pub const NAME: &str = "heads";

pub fn check(tree: &Tree, report: &mut Report) {
    for file in tree.files.iter().filter(|file| file.kind.is_code()) {
        if let Some(Err((line, error))) = &file.syntax {
            let what = format!("this Rust does not parse ({error})");
            report.fail(&file.path, *line, what, "no rule can read it; repair it");
        }
        if !has_head(file) {
            let way_out =
                "say in the first lines what it is and which RFC or Linux function it answers to";
            report.fail(&file.path, 1, "no head comment", way_out);
        }
    }
}

fn has_head(file: &File) -> bool {
    let mut lines = file.text.lines().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("#!/") && !line.starts_with("#![")
    });
    let first = lines.next().unwrap_or("").trim_start();
    let starts: &[&str] = match file.kind {
        Kind::Rust => &["//!", "/*!"],
        Kind::Script => &["//", "/*"],
        Kind::Style => &["/*"],
        Kind::Python => &["#", "\"\"\"", "r\"\"\"", "'''"],
        Kind::Shell | Kind::Make => &["#"],
        _ => return true,
    };
    starts.iter().any(|start| first.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::check;

    #[test]
    fn fires_on_each_language_without_a_head() {
        let bad = [
            ("a.rs", "// not a head\nfn f() {}\n"),
            ("b.ts", "import x from 'y';\n"),
            ("c.py", "#!/usr/bin/env python3\nimport os\n"),
            ("d.sh", "#!/bin/sh\nset -e\n"),
            ("e.css", "body {}\n"),
            ("Makefile", "all:\n"),
        ];
        assert_eq!(failures_of(check, &bad).len(), bad.len());
    }

    #[test]
    fn is_silent_on_heads_and_data() {
        let good = [
            ("a.rs", "#![allow(x)]\n//! What it is.\n"),
            ("b.ts", "// What it is.\n"),
            ("c.py", "#!/usr/bin/env python3\n\"\"\"What it is.\"\"\"\n"),
            ("d.sh", "#!/bin/sh\n# What it is.\n"),
            ("e.json", "{}\n"),
        ];
        assert!(failures_of(check, &good).is_empty());
    }

    #[test]
    fn fires_on_rust_that_does_not_parse() {
        let failures = failures_of(check, &[("a.rs", "//! Head.\n\nfn {\n")]);
        assert_eq!(failures.len(), 1);
        assert_eq!(failures[0].1, 3);
    }
}

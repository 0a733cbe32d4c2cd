//! Rules for files. A file of code has a head that describes it, and at most 800 lines. Text ends
//! with a newline and has no CR, no trailing blanks, and in Rust no tabs. No file is larger than 1
//! MiB. The README beside a shipped capture names it and says how it was made.

use super::tree::{File, Kind, Tree};
use super::{Failures, failure};

/// A repository that is cloned often stays small: larger data is made by scripts.
const MOST_BYTES: usize = 1024 * 1024;
const AIM_LINES: usize = 400;
const MOST_LINES: usize = 800;
const CAPTURES: &str = "tests/captures/";
const README: &str = "tests/captures/README.md";

pub fn check(tree: &Tree) -> Failures {
    let readme = tree.file(README).map_or("", |file| &file.text);
    let mut out = Failures::new();
    for file in &tree.files {
        let path = &file.path;
        if file.bytes > MOST_BYTES {
            let way_out = "let a script make it, or cut it down";
            out.push(failure(path, 1, "more than 1 MiB", way_out));
        }
        let capture = path.strip_prefix(CAPTURES).filter(|_| path != README);
        if capture.is_some_and(|name| !readme.contains(name)) {
            let way_out = "say in tests/captures/README.md how it was made";
            out.push(failure(path, 1, "a capture of unknown origin", way_out));
        }
        if file.kind.is_code() {
            if lines(file) > MOST_LINES {
                let way_out = "split it: one mechanism, one file";
                out.push(failure(path, 1, "more than 800 lines", way_out));
            }
            if !has_head(file) {
                let way_out = "say in the first lines what it is and which RFC or Linux function it answers to";
                out.push(failure(path, 1, "no head comment", way_out));
            }
        }
        if file.kind.is_code() || matches!(file.kind, Kind::Toml | Kind::Markdown) {
            out.extend(text(file));
        }
    }
    out
}

/// Files of code that are longer than they should be, and may.
pub fn above_the_aim(tree: &Tree) -> Vec<String> {
    let long = |file: &&File| file.kind.is_code() && lines(file) > AIM_LINES;
    let files = tree.files.iter().filter(long);
    files
        .map(|file| format!("{}: {} lines", file.path, lines(file)))
        .collect()
}

fn lines(file: &File) -> usize {
    file.text.lines().count()
}

/// `//!` (in a file of tests too), a comment, a docstring; after the `#!` line.
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

fn text(file: &File) -> Failures {
    let mut out = Failures::new();
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        out.push(failure(
            &file.path,
            lines(file),
            "no newline at the end",
            "add it",
        ));
    }
    for (number, line) in file.text.split('\n').enumerate() {
        let wrong = match line {
            _ if line.ends_with('\r') => Some(("CR before the newline", "use LF")),
            _ if line.ends_with([' ', '\t']) => {
                Some(("blanks at the end of the line", "remove them"))
            }
            _ if file.kind == Kind::Rust && line.contains('\t') => {
                Some(("a tab", "use spaces, or \\t in a string"))
            }
            _ => None,
        };
        out.extend(wrong.map(|(what, way_out)| failure(&file.path, number + 1, what, way_out)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(samples: &[(&str, &str)]) -> usize {
        check(&Tree::of(samples)).len()
    }

    #[test]
    fn each_language_has_its_head() {
        let bad = [
            ("a.rs", "// not a head\nfn f() {}\n"),
            ("b.ts", "import x from 'y';\n"),
            ("c.py", "#!/usr/bin/env python3\nimport os\n"),
            ("d.sh", "#!/bin/sh\nset -e\n"),
            ("e.css", "body {}\n"),
            ("Makefile", "all:\n"),
        ];
        assert_eq!(fires(&bad), bad.len());
        let good = [
            ("a.rs", "#![allow(x)]\n//! What it is.\n"),
            ("b.ts", "// What it is.\n"),
            ("c.py", "#!/usr/bin/env python3\n\"\"\"What it is.\"\"\"\n"),
            ("d.sh", "#!/bin/sh\n# What it is.\n"),
            ("e.json", "{}\n"),
            ("x.txt", "tab\t \r\nend"),
        ];
        assert_eq!(fires(&good), 0);
    }

    #[test]
    fn sizes_text_and_captures() {
        let long = format!("//! Head.\n{}", "//\n".repeat(MOST_LINES));
        let fits = long.replacen("//\n", "", 1);
        assert_eq!(
            fires(&[("a.rs", &long), ("b.rs", &fits), ("c.json", &long)]),
            1
        );
        assert_eq!(above_the_aim(&Tree::of(&[("b.rs", &fits)])).len(), 1);
        assert_eq!(fires(&[("data.bin", &"x\n".repeat(MOST_BYTES / 2 + 1))]), 1);
        let bad = "//! Head.\nfn a() {} \nfn b() {\t}\nfn c() {}\r\nfn d() {}";
        assert_eq!(fires(&[("a.rs", bad)]), 4);
        let readme = (README, "`a.pcap`: made by a script\n");
        let both = [
            readme,
            ("tests/captures/a.pcap", ""),
            ("tests/captures/b.pcap", ""),
        ];
        assert_eq!(fires(&both), 1);
    }
}

//! Rule: a file of code aims at 400 lines and fails above 800.
//!
//! Rust, TypeScript, JavaScript, Python, shell, CSS and makefiles; tests too.

use super::report::{Report, Size};
use super::tree::Tree;

pub const NAME: &str = "file-size";

const LINES: Size = Size {
    unit: "lines",
    aim: 400,
    limit: Some(800),
    way_out: "split it: one mechanism, one file",
};

pub fn check(tree: &Tree, report: &mut Report) {
    for file in tree.files.iter().filter(|file| file.kind.is_code()) {
        report.measure(&file.path, 1, "", &LINES, file.text.lines().count());
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::check;

    #[test]
    fn fires_above_the_limit_only() {
        let long = "//\n".repeat(801);
        let fits = "//\n".repeat(800);
        let samples = [
            ("a.rs", &*long),
            ("b.ts", &*long),
            ("c.py", &*fits),
            ("d.json", &*long),
        ];
        let failures = failures_of(check, &samples);
        let paths: Vec<_> = failures.iter().map(|f| f.0.as_str()).collect();
        assert_eq!(paths, ["a.rs", "b.ts"]);
    }
}

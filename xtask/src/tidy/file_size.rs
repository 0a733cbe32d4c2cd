//! Rule: a file of code aims at 400 lines and fails above 800.
//!
//! Rust, TypeScript, JavaScript, Python, shell, CSS and makefiles; tests too.

use super::report::Report;
use super::tree::Tree;

pub const NAME: &str = "file-size";

const AIM: usize = 400;
const LIMIT: usize = 800;

pub fn check(tree: &Tree, report: &mut Report) {
    for file in tree.files.iter().filter(|file| file.kind.is_code()) {
        let lines = file.text.lines().count();
        if lines > LIMIT {
            let what = format!("{lines} lines (limit {LIMIT})");
            report.fail(&file.path, 1, what, "split it: one mechanism, one file");
        } else if lines > AIM {
            report.miss(
                &file.path,
                1,
                format!("{lines} lines (aim {AIM})"),
                "split it",
            );
        }
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

//! Rule: text files have no trailing blanks, no CR, no tabs in Rust, a final
//! newline, and no file is larger than it need be.

use super::report::Report;
use super::tree::{File, Kind, Tree};

pub const NAME: &str = "text";

/// A repository that is cloned often stays small: larger data is made by scripts.
const FILE_BYTES: usize = 1024 * 1024;

pub fn check(tree: &Tree, report: &mut Report) {
    for file in &tree.files {
        if file.bytes > FILE_BYTES {
            let what = format!("{} bytes (limit {FILE_BYTES})", file.bytes);
            report.fail(&file.path, 1, what, "let a script make it, or cut it down");
        }
        let written_by_people =
            file.kind.is_code() || matches!(file.kind, Kind::Toml | Kind::Markdown);
        if written_by_people {
            check_lines(file, report);
        }
    }
}

fn check_lines(file: &File, report: &mut Report) {
    let path = file.path.as_str();
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        report.fail(
            path,
            file.text.lines().count(),
            "no newline at the end",
            "add it",
        );
    }
    for (number, line) in file
        .text
        .split('\n')
        .enumerate()
        .map(|(i, line)| (i + 1, line))
    {
        if line.ends_with('\r') {
            report.fail(path, number, "CR before the newline", "use LF");
        } else if line.ends_with([' ', '\t']) {
            report.fail(path, number, "blanks at the end of the line", "remove them");
        }
        if file.kind == Kind::Rust && line.contains('\t') {
            report.fail(path, number, "a tab", "use spaces, or \\t in a string");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::{FILE_BYTES, check};

    #[test]
    fn fires_on_each_fault() {
        let bad = [("a.rs", "fn a() {} \nfn b() {\t}\nfn c() {}\r\nfn d() {}")];
        let lines: Vec<_> = failures_of(check, &bad).iter().map(|f| f.1).collect();
        assert_eq!(lines, [4, 1, 2, 3]);
    }

    #[test]
    fn fires_on_a_large_file_of_any_kind() {
        let large = "x\n".repeat(FILE_BYTES / 2 + 1);
        assert_eq!(failures_of(check, &[("data.bin", &large)]).len(), 1);
    }

    #[test]
    fn leaves_other_text_alone() {
        assert!(failures_of(check, &[("tests/x.txt", "tab\t \r\nend")]).is_empty());
    }
}

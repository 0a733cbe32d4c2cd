//! Rule: every capture that ships has a line in `tests/captures/README.md` that
//! says how it was made. A capture of unknown origin proves nothing.

use super::report::Report;
use super::tree::Tree;

pub const NAME: &str = "captures";

const FOLDER: &str = "tests/captures/";
const README: &str = "tests/captures/README.md";

pub fn check(tree: &Tree, report: &mut Report) {
    let readme = tree.file(README).map_or("", |file| file.text.as_str());
    for file in &tree.files {
        let Some(name) = file.path.strip_prefix(FOLDER) else {
            continue;
        };
        if file.path != README && !readme.contains(name) {
            let what = format!("`{name}` is not named in {README}");
            report.fail(&file.path, 1, what, "add a line on how it was made");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::{README, check};

    #[test]
    fn fires_on_a_capture_without_a_line() {
        let samples = [
            (README, "- `known.pcap`: netns, tbf 10mbit\n"),
            ("tests/captures/known.pcap", ""),
            ("tests/captures/unknown.pcap", ""),
        ];
        let failures = failures_of(check, &samples);
        assert_eq!(failures.len(), 1);
        assert_eq!(failures[0].0, "tests/captures/unknown.pcap");
    }
}

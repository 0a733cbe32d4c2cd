//! Results as KTAP (<https://docs.kernel.org/dev-tools/ktap.html>) and as TAP version 13.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tcplab_lab::drill::{CaseResult, DrillDocument, Verdict};
use tcplab_os::output::write_own;

use super::names::{Names, dashed};
use crate::failure::Failure;
use crate::screen;

/// TAP's directive for what is known to fail; in halves, because `cargo xtask tidy` takes it for a note of work put off.
const KNOWN: &str = concat!(" # TO", "DO known failure");

/// Prints KTAP.
pub fn print(document: &DrillDocument) -> Result<(), Failure> {
    let text = lines("KTAP version 1", document.results.iter());
    screen::plain().write_all(text.as_bytes())?;
    Ok(())
}

/// Writes a file of TAP for each path that was given: `packetdrill_NAME.tap`, as Google's runner names it. Paths that end
/// in the same name have the whole path in theirs.
pub fn write(folder: &Path, paths: &[PathBuf], document: &DrillDocument) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|e| Failure::output(folder, &e))?;
    let ends: Vec<String> = paths.iter().map(|path| last(path)).collect();
    let mut names = Names::default();
    for (path, end) in paths.iter().zip(&ends) {
        let under = |r: &&CaseResult| Path::new(&r.script).starts_with(path);
        let text = lines("TAP version 13", document.results.iter().filter(under));
        let is_only = ends.iter().filter(|other| *other == end).count() == 1;
        let whole = dashed(
            path.with_extension("")
                .to_string_lossy()
                .trim_end_matches('/'),
        );
        let stem = if is_only || whole.is_empty() {
            end
        } else {
            &whole
        };
        let file = folder.join(names.take(&format!("packetdrill_{stem}"), ".tap"));
        write_own(&file, text).map_err(|e| Failure::output(&file, &e))?;
    }
    Ok(())
}

/// The last name of a path, without its extension.
fn last(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let stem = full.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn lines<'a>(version: &str, results: impl Iterator<Item = &'a CaseResult> + Clone) -> String {
    let mut text = format!("{version}\n1..{}\n", results.clone().count());
    for (number, result) in results.enumerate() {
        // Diagnostics stand before the line of their test.
        for line in result.why.lines() {
            let _ = writeln!(text, "# {line}");
        }
        if let (Verdict::Fail, Some(capture)) = (result.verdict, &result.capture) {
            let _ = writeln!(text, "# packets: {capture}");
        }
        let ok = if result.verdict == Verdict::Fail {
            "not ok"
        } else {
            "ok"
        };
        let _ = write!(text, "{ok} {} {}", number + 1, result.name());
        if result.known {
            text += KNOWN;
        }
        if result.verdict == Verdict::Skip {
            let _ = write!(text, " # SKIP {}", result.reason());
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use tcplab_lab::drill::Mutants;

    use super::*;

    #[test]
    fn each_case_has_its_line() {
        let case = |verdict, why: &str| CaseResult {
            script: "a.pkt".into(),
            mode: "ipv4",
            verdict,
            line: 3,
            why: why.into(),
            log: Vec::new(),
            pcapng: Vec::new(),
            known: false,
            capture: None,
            mutants: Mutants::default(),
        };
        let mut known = case(Verdict::Fail, "three");
        known.known = true;
        let results = [
            case(Verdict::Pass, ""),
            case(Verdict::Fail, "one\ntwo"),
            case(Verdict::Skip, "needs shell `x`"),
            known,
        ];
        assert_eq!(
            lines("KTAP version 1", results.iter()).replace(KNOWN, " # known"),
            "KTAP version 1\n1..4\nok 1 a.pkt (ipv4)\n# one\n# two\nnot ok 2 a.pkt (ipv4)\n\
             # needs shell `x`\nok 3 a.pkt (ipv4) # SKIP needs shell `x`\n\
             # three\nnot ok 4 a.pkt (ipv4) # known\n"
        );
    }
}

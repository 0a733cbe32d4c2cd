//! `drill --junit FILE`: a test case for each script and mode, in a suite for the call.

use std::fmt::Write as _;

use tcplab_lab::drill::{CaseResult, DrillDocument, Verdict};
use tcplab_report::compare::{junit_document, xml};

/// All cases; a known failure of `--expect` counts as skipped.
pub fn text(document: &DrillDocument) -> String {
    let cases: String = document.results.iter().map(case).collect();
    let known = document.failed - document.news();
    junit_document(&format!(
        "<testsuite name=\"tcplab drill on {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{cases}</testsuite>\n",
        xml(&document.stack),
        document.results.len(),
        document.news(),
        document.skipped + known,
    ))
}

fn case(result: &CaseResult) -> String {
    let (script, mode) = (xml(&result.script), result.mode);
    let mut out = format!("  <testcase classname=\"{script}\" name=\"{mode}\"");
    let reason = xml(result.reason());
    let _ = match (result.verdict, result.known) {
        (Verdict::Pass, _) => writeln!(out, "/>"),
        (Verdict::Fail, false) => {
            let lines: Vec<String> = result.why.lines().map(xml).collect();
            let why = lines.join("\n");
            writeln!(
                out,
                "><failure message=\"{reason}\">{why}</failure></testcase>"
            )
        }
        (Verdict::Fail, true) => {
            writeln!(
                out,
                "><skipped message=\"known failure: {reason}\"/></testcase>"
            )
        }
        (Verdict::Skip, _) => writeln!(out, "><skipped message=\"{reason}\"/></testcase>"),
    };
    out
}

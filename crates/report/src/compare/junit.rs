//! The table as JUnit XML: one test case for each row; `worse`, `differs` and `invalid` are failures, what is open is skipped.

use tcplab_base::{REPLACEMENT, is_hidden};
use tcplab_compare::{Comparison, QaDocument, Verdict};

use super::{Form, figures};

pub(super) const FORM: Form = Form {
    option: "--junit",
    help: "Write a JUnit XML report",
    comparison: |comparison| {
        let title = format!("tcplab compare {}", figures::title(comparison));
        document(&suite(&title, comparison))
    },
    qa: of_sections,
};

/// A suite for each section; one that was not run is a skipped test.
fn of_sections(report: &QaDocument) -> String {
    let suites = report.sections.iter().map(|section| {
        match &section.comparison {
            Some(comparison) => suite(&section.title, comparison),
            None => format!(
                "<testsuite name=\"{0}\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\">\n  <testcase \
                 classname=\"section\" name=\"{0}\"><skipped message=\"{1}\"/></testcase>\n</testsuite>\n",
                xml(&section.title),
                xml(&section.why),
            ),
        }
    });
    let suites: String = suites.collect();
    document(&format!(
        "<testsuites name=\"tcplab qa\">\n{suites}</testsuites>\n"
    ))
}

/// The whole document around what it holds.
pub fn document(inner: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{inner}")
}

/// One comparison as a suite of this name.
fn suite(title: &str, comparison: &Comparison) -> String {
    let mut cases = String::new();
    let (mut failures, mut skipped, mut tests) = (0, 0, 0);
    let rows = comparison.rows.iter().map(|row| {
        let what = format!(
            "{} -> {} {} ({} %, {}){}",
            figures::exact(row, row.before),
            figures::exact(row, row.after),
            row.unit,
            figures::change(row),
            figures::verdict(row),
            if row.why.is_empty() {
                String::new()
            } else {
                format!(": {}", row.why)
            },
        );
        ("metrics", row.label(), row.verdict, what)
    });
    let counts = comparison.counts.iter().map(|row| {
        let mut what = row.verdict.word().to_owned();
        if !row.newly_failed.is_empty() {
            what += &format!("; newly failed: {}", row.newly_failed.join(", "));
        }
        ("tests", row.name.clone(), row.verdict, what)
    });
    for (class, name, verdict, what) in rows.chain(counts) {
        tests += 1;
        let head = format!("  <testcase classname=\"{class}\" name=\"{}\"", xml(&name));
        let what = xml(&what);
        cases += &match verdict {
            Verdict::Worse | Verdict::Differs | Verdict::Invalid => {
                failures += 1;
                let word = verdict.word();
                format!("{head}><failure type=\"{word}\" message=\"{what}\"/></testcase>\n")
            }
            Verdict::Undecided | Verdict::TooNoisy | Verdict::Missing => {
                skipped += 1;
                format!("{head}><skipped message=\"{what}\"/></testcase>\n")
            }
            _ => format!("{head}><system-out>{what}</system-out></testcase>\n"),
        };
    }
    for flag in &comparison.flags {
        let text = format!("{}: {}", flag.text, flag.rows.join("; "));
        cases += &format!("  <system-out>{}</system-out>\n", xml(&text));
    }
    let title = xml(title);
    format!(
        "<testsuite name=\"{title}\" tests=\"{tests}\" \
         failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n{cases}</testsuite>\n"
    )
}

/// Text as XML and HTML; characters that XML does not have are gone, and those that hide or reorder text are shown.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c if is_hidden(c) => out.push(REPLACEMENT),
            c => out.push(c),
        }
    }
    out
}

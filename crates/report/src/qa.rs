//! The report of `tcplab qa`: a list of its sections, then each with its table; terminal, Markdown, HTML.

use tcplab_compare::{Comparison, Count, CountRow, QaDocument, Row, Section, Standing, Verdict};

use crate::compare::{cell, markdown as table_markdown, terminal as table_terminal};
use crate::terminal::Theme;
use crate::terminal::style::{Ink, safe};
use crate::terminal::table::{Align, Cell, Table};

/// The report on a terminal; with `all` also what is equal.
pub fn terminal(document: &QaDocument, all: bool, theme: &Theme) -> String {
    let mut out = format!("{}\n\n", theme.paint(Ink::Bold, &safe(&title(document))));
    for section in &document.sections {
        out += &format!("{}\n", theme.paint(Ink::Bold, &safe(&section.title)));
        match &section.comparison {
            Some(comparison) => out += &table_terminal(comparison, all, theme),
            None => out += &format!("  not run: {}\n", safe(&section.why)),
        }
        out.push('\n');
    }
    let mut table = Table::new(&[("section", Align::Left), ("verdict", Align::Left)]);
    for section in &document.sections {
        let word = section.standing.word();
        let cell = match section.standing {
            Standing::Worse => Cell::inked(word, Ink::Red),
            _ => Cell::from(word),
        };
        table.row(vec![Cell::from(safe(&section.title).as_str()), cell]);
    }
    out + &table.render(theme)
}

/// The report as Markdown.
pub fn markdown(document: &QaDocument) -> String {
    let mut out = format!(
        "# {}\n\n| section | verdict | |\n|---|---|---|\n",
        cell(&title(document))
    );
    for section in &document.sections {
        let (title, word) = (cell(&section.title), section.standing.word());
        out += &format!("| {title} | {word} | {} |\n", cell(&line(section)));
    }
    for section in &document.sections {
        out += &format!("\n## {}\n\n", cell(&section.title));
        match &section.comparison {
            Some(comparison) => {
                let (lean, left_out) = lean(comparison);
                out += &table_markdown(&lean);
                if left_out > 0 {
                    out += &format!("\n{left_out} equal rows are not shown.\n");
                }
            }
            None => out += &format!("Not run: {}.\n", cell(&section.why)),
        }
    }
    out
}

/// The comparison without its equal rows, if they are many, and their number.
pub(crate) fn lean(comparison: &Comparison) -> (Comparison, usize) {
    const FEW: usize = 12;
    let is_equal = |row: &Row| row.verdict == Verdict::Equal;
    let equal = comparison.rows.iter().filter(|row| is_equal(row)).count();
    let mut lean = comparison.clone();
    if equal <= FEW {
        return (lean, 0);
    }
    lean.rows.retain(|row| !is_equal(row));
    (lean, equal)
}

pub(crate) fn title(document: &QaDocument) -> String {
    let (before, after) = (&document.before, &document.after);
    format!("{before} \u{2192} {after}: {}", document.standing.word())
}

/// What a section says, in a line.
pub(crate) fn line(section: &Section) -> String {
    let Some(comparison) = &section.comparison else {
        return section.why.clone();
    };
    let mut parts: Vec<String> = comparison
        .summary
        .iter()
        .map(|(word, n)| format!("{n} {}", word.replace('-', " ")))
        .collect();
    for row in &comparison.counts {
        parts.push(format!("passed {}", pair(row, |count| count.passed)));
    }
    parts.join(", ")
}

/// A number of tests on both sides.
pub(crate) fn pair(row: &CountRow, of: fn(&Count) -> Option<u64>) -> String {
    sides(row, of).join(" \u{2192} ")
}

/// A figure before and after, as it is shown.
pub(crate) fn sides(row: &CountRow, of: fn(&Count) -> Option<u64>) -> [String; 2] {
    [&row.before, &row.after].map(|count| {
        let n = count.as_ref().and_then(of);
        n.map_or("-".to_owned(), |n| n.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::FORMS;
    use tcplab_compare::{Arm, Better, Metric, Options, Run, compare};

    fn html(document: &QaDocument) -> String {
        (crate::page::compare::FORM.qa)(document)
    }

    fn document() -> QaDocument {
        let arm = |value: f64| {
            let mut metric = Metric::new("a<b: client.TcpInSegs", "", Better::Neither);
            metric.exact = true;
            metric.runs.push(Run::of(value));
            let mut arm = Arm::named("x");
            arm.metrics.push(metric);
            arm
        };
        let mut document = QaDocument::new(&["uml:6.1".into(), "uml:6.1+x".into()]);
        let compared = compare(&arm(1.0), &arm(2.0), &Options::default());
        document.add(Section::of("counters", "Counters".into(), compared));
        document.add(Section::not_run("drill", "Scripts", "none were named"));
        document
    }

    #[test]
    fn every_form_has_every_section_and_the_verdict() {
        let document = document();
        let forms = [
            terminal(
                &document,
                false,
                &Theme {
                    width: 100,
                    ..Theme::default()
                },
            ),
            markdown(&document),
            html(&document),
        ];
        for text in forms {
            for part in [
                "uml:6.1+x",
                "differs",
                "Counters",
                "Scripts",
                "none were named",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
        assert!(html(&document).contains("a\\u003cb"));
    }

    /// For each form, both documents have the verdict, and characters that hide or reorder text do not reach the
    /// reader.
    #[test]
    fn every_file_says_what_differs() {
        let document = document();
        for form in &FORMS {
            let of_qa = (form.qa)(&document);
            let compared = document.sections.iter().find_map(|s| s.comparison.as_ref());
            let of_one = (form.comparison)(compared.unwrap());
            for text in [of_qa, of_one] {
                assert!(text.contains("TcpInSegs"), "{}: {text}", form.option);
                assert!(text.contains("differs"), "{}: {text}", form.option);
            }
        }
    }

    #[test]
    fn names_are_neither_markdown_nor_html_nor_hidden() {
        let mut document = document();
        let hostile = "x|`y` <img src=x onerror=z>\u{202e}\u{9b}\x1b[2J[a](b)";
        document.add(Section::not_run("script", hostile, hostile));
        document.before = hostile.into();
        let theme = Theme {
            width: 100,
            ..Theme::default()
        };
        let (text, page) = (markdown(&document), html(&document));
        for form in [&terminal(&document, false, &theme), &text, &page] {
            let hidden = |c: char| c != '\n' && tcplab_base::is_hidden(c);
            assert!(!form.contains(hidden), "{form:?}");
        }
        assert!(!text.contains("<img") && !page.contains("<img"));
        assert!(
            text.contains(r"x\|\`y\` &lt;img") && text.contains(r"\[a\](b)"),
            "{text}"
        );
    }

    #[test]
    fn the_page_has_the_policy() {
        let page = html(&document());
        let head = page.split_once("<body").unwrap().0;
        let (_, policy) = head.split_once("Content-Security-Policy").unwrap();
        for part in [
            "default-src 'none'",
            "base-uri 'none'; form-action 'none'",
            // It rules what comes behind it.
            "<script",
        ] {
            assert!(policy.contains(part), "{head}");
        }
    }
}

//! Collects the report's content from the outputs of one capture, in bounded memory: the findings (the analyser bounds
//! them), the most interesting streams, and counts.

use std::fmt::Write;

use tcplab_analyze::budget::Budget;
use tcplab_analyze::findings::Finding;
use tcplab_analyze::report::{Stream, Totals};

use super::bars::{self, Bar};
use super::caqm::Caqm;
use super::coverage::{Coverage, lacks_ends};
use super::notes::Notes;
use super::streams::{Row, Shown};
use super::style::{Ink, safe};
use super::{Theme, findings, notes, streams, units};
use crate::{glossary, scope};

/// Streams shown unless all are asked for.
const SHOWN: usize = 30;

/// The report on one capture in the making.
#[derive(Debug, Default)]
pub struct Collector {
    rows: Vec<Row>,
    findings: Vec<Finding>,
    notes: Notes,
    caqm: Caqm,
    coverage: Coverage,
    budget: Budget,
    streams: u64,
    limit: Option<usize>,
}

impl Collector {
    /// `all` keeps a row for every stream.
    pub fn new(all: bool) -> Self {
        Self {
            limit: (!all).then_some(SHOWN),
            ..Self::default()
        }
    }

    /// Takes a stream; its findings follow it.
    pub fn stream(&mut self, stream: &Stream) {
        self.streams += 1;
        self.notes.stream(stream);
        self.coverage.stream(stream);
        self.budget.add_all(&stream.budget_us);
        self.caqm.stream(stream, self.limit.is_none());
        if let Some(limit) = self.limit
            && self.rows.len() >= 4 * limit
        {
            self.rows.sort_by_key(Row::rank);
            self.rows.truncate(limit);
        }
        self.rows.push(Row::new(stream));
    }

    /// Takes a finding.
    pub fn finding(&mut self, finding: &Finding) {
        let mine = self
            .rows
            .iter_mut()
            .rev()
            .find(|r| r.number == finding.stream);
        if let Some(row) = mine {
            row.finding(finding);
        }
        self.coverage.finding(finding);
        self.findings.push(finding.clone());
    }

    /// The report. `file` is the name of the capture.
    pub fn render(mut self, theme: &Theme, file: &str, totals: &Totals) -> String {
        let mut out = format!("{}\n", theme.paint(Ink::Bold, &safe(file)));
        let width = theme.width.saturating_sub(2);
        let unread = totals.error.as_ref().filter(|_| totals.packets == 0);
        if let Some(error) = unread {
            let text = format!("Not read: {}", error.message);
            out.push_str(&theme.lines(&safe(&text), width, "  ", Some(Ink::Red)));
            return out;
        }
        out.push_str(&notes::headline(totals, self.streams));
        if let Some(error) = &totals.error {
            let text = format!(
                "Not read to its end: offset {}: {}",
                error.offset, error.message
            );
            out.push_str(&theme.lines(&safe(&text), width, "  ", Some(Ink::Red)));
        }
        if let Some(text) = scope::absent(totals) {
            out.push_str(&theme.lines(&text, width, "  ", Some(Ink::Yellow)));
        }
        if self.streams == 0 && self.findings.is_empty() {
            out.push_str(&self.notes.render(theme, totals));
            return out;
        }
        out.push_str(&bars::sentence(theme, totals, self.streams));
        out.push('\n');
        let told = self.told(theme, totals);
        out.push_str(&told);
        out.push('\n');
        if lacks_ends(totals) {
            self.rows.iter_mut().for_each(Row::lacks_end);
        }
        self.rows.sort_by_key(Row::rank);
        let time = self.time(theme);
        out.push_str(&time);
        let shown = Shown {
            of: self.streams,
            limit: self.limit,
        };
        out.push_str(&streams::render(theme, &self.rows, shown));
        out.push_str(&self.caqm.render(theme));
        out.push_str(&self.notes.render(theme, totals));
        let said = self.said(theme, totals) + &time;
        out.push_str(&glossary::under_a_report(theme, &said, &told));
        out
    }

    /// Findings, unexplained waits, and findings that could not be looked for.
    fn told(&mut self, theme: &Theme, totals: &Totals) -> String {
        self.coverage.settle();
        let mut out = String::new();
        let is_about_the_capture = |f: &Finding| f.id.is_about_the_capture();
        if self.findings.iter().all(is_about_the_capture) {
            out.push_str(&self.coverage.all_clear(theme, totals, self.streams));
        }
        if !self.findings.is_empty() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&findings::render(theme, &self.findings, totals));
        }
        out.push_str(&self.coverage.render(theme, totals));
        out
    }

    /// What happened, without the remedies.
    fn said(&self, theme: &Theme, totals: &Totals) -> String {
        let mut said = self.coverage.render(theme, totals);
        for f in &self.findings {
            let _ = writeln!(said, "{}\n{}", f.title, f.cause);
        }
        said
    }

    /// A bar for each row.
    fn time(&self, theme: &Theme) -> String {
        let bars: Vec<Bar> = self.rows.iter().filter_map(|row| row.bar).collect();
        let is_limited = self.limit.is_some();
        let text = bars::render(theme, &bars, &self.budget, self.streams, is_limited);
        if text.is_empty() {
            return text;
        }
        text + "\n"
    }
}

/// A heading over a part of the report.
pub(super) fn heading(theme: &Theme, text: &str, remark: &str) -> String {
    let remark = if remark.is_empty() {
        String::new()
    } else {
        format!("  {}", theme.paint(Ink::Dim, remark))
    };
    format!("{}{remark}\n", theme.paint(Ink::Bold, text))
}

/// `2 streams` or `stream 7`, for what many findings have in common.
pub(super) fn which_streams(numbers: &[u64]) -> String {
    match numbers {
        [one] => format!("stream {one}"),
        many => format!(
            "{}: {}",
            units::plural(many.len() as u64, "stream"),
            units::some_of(many, 8)
        ),
    }
}

//! Collects from the outputs of one capture what the report shows of it, in bounded memory: the
//! findings (the analyser bounds them), the most interesting streams, and counts.

use tcplab_analyze::findings::Finding;
use tcplab_analyze::report::{Stream, Totals};

use super::caqm::Caqm;
use super::notes::Notes;
use super::streams::{Row, Shown};
use super::style::{Ink, safe};
use super::{Theme, findings, notes, streams, units};

/// Streams shown unless all are asked for.
const SHOWN: usize = 30;

/// The report on one capture in the making.
#[derive(Debug)]
pub struct Collector {
    rows: Vec<Row>,
    findings: Vec<Finding>,
    notes: Notes,
    caqm: Caqm,
    streams: u64,
    limit: Option<usize>,
}

impl Collector {
    /// `all` keeps a row for every stream.
    pub fn new(all: bool) -> Self {
        Self {
            rows: Vec::new(),
            findings: Vec::new(),
            notes: Notes::default(),
            caqm: Caqm::default(),
            streams: 0,
            limit: (!all).then_some(SHOWN),
        }
    }

    /// Takes a stream; its findings follow it.
    pub fn stream(&mut self, stream: &Stream) {
        self.streams += 1;
        self.notes.stream(stream);
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
        self.findings.push(finding.clone());
    }

    /// The report. `file` is the name of the capture.
    pub fn render(mut self, theme: &Theme, file: &str, totals: &Totals) -> String {
        let mut out = format!("{}\n", theme.paint(Ink::Bold, &safe(file)));
        out.push_str(&notes::headline(totals, self.streams));
        if let Some(error) = &totals.error {
            let text = format!(
                "Not read to its end: offset {}: {}",
                error.offset, error.message
            );
            for line in super::style::wrap(&safe(&text), theme.width.saturating_sub(2)) {
                out.push_str(&format!("  {}\n", theme.paint(Ink::Red, &line)));
            }
        }
        if self.streams == 0 && self.findings.is_empty() {
            out.push_str(&self.notes.render(theme, totals));
            return out;
        }
        out.push('\n');
        out.push_str(&findings::render(theme, &self.findings, totals));
        out.push('\n');
        self.rows.sort_by_key(Row::rank);
        let shown = Shown {
            of: self.streams,
            limit: self.limit,
        };
        out.push_str(&streams::render(theme, &self.rows, shown));
        out.push_str(&self.caqm.render(theme));
        out.push_str(&self.notes.render(theme, totals));
        out
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

//! The JSON document of the page, schema `tcplab.page/1`: what `tcplab.analyze/1` says, with
//! one line for each stream and the full figures only where they will be looked at.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tcplab_analyze::budget::{Budget, Class};
use tcplab_analyze::compat::Verdicts;
use tcplab_analyze::findings::{Finding, Need};
use tcplab_analyze::report::{Capture, Report, State, Stream, Totals, Unexplained};

use super::gather::{self, Gathered};
use super::not_checked::{self, Missing};
use super::{Chart, Options, Page};
use crate::glossary::{self, meaning};
use crate::terminal::bars::{spoken_of, waited};
use crate::terminal::coverage::Coverage;
use crate::terminal::notes::Notes;
use crate::terminal::streams::once;
use crate::{groups, scope};

/// The whole document.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    captures: Vec<CapturePart<'a>>,
    charts: Vec<&'a Chart>,
    /// Wireshark's names of the bits in the column of verdicts.
    wireshark: Vec<(u32, &'static str)>,
    /// The classes of time: name in JSON, name in text, meaning. Spans and lines name a class by its place here.
    classes: Vec<(&'static str, &'static str, &'static str)>,
    /// Streams that could have had charts and do not.
    charts_left_out: usize,
}

#[derive(Serialize)]
struct CapturePart<'a> {
    file: &'a str,
    totals: &'a Totals,
    /// How many streams were looked at, and in words: which of how many.
    checked: u64,
    extent: String,
    /// Streams that were asked for and are not there.
    absent: Option<String>,
    findings: &'a [Finding],
    /// Indexes of findings that are told together.
    groups: Vec<Vec<usize>>,
    /// Words in them that need a word: each with its meaning.
    words: Vec<(&'static str, &'static str)>,
    /// The meaning of silence, if there are no findings, or only findings about the capture.
    verdict: Option<String>,
    /// Trouble that no finding explains.
    unexplained: Vec<String>,
    /// Time of a program, its buffer or its window that no finding names.
    two_ends: Vec<String>,
    /// Packets that no detector has seen.
    not_read: Vec<String>,
    /// Where the capture was taken, what it cannot show, what was left out.
    about: Vec<String>,
    /// How long clients waited and for what, or what the streams took.
    waited: Option<String>,
    /// The time that this sentence is about.
    waited_us: &'a Budget,
    /// What could not be looked for.
    not_checked: Vec<Missing>,
    /// Words for `not_checked` of the streams.
    missing: BTreeMap<Need, &'static str>,
    /// One line each, by number.
    lines: Vec<Line<'a>>,
    /// Streams that have no line.
    lines_left_out: usize,
    /// All figures of the streams that matter.
    details: Vec<&'a Stream>,
}

/// A stream in the table.
#[derive(Serialize)]
struct Line<'a> {
    stream: u32,
    client: &'a str,
    server: &'a str,
    state: State,
    start_ns: i64,
    duration_us: u64,
    packets: u64,
    /// Payload bytes of both directions, each once.
    bytes: u64,
    retransmissions: u64,
    delayed_acks: u64,
    findings: usize,
    /// Where the time went: class and microseconds.
    budget: Vec<(usize, u64)>,
}

impl<'a> Document<'a> {
    pub(super) fn new(report: &'a Report, charts: &[&'a Chart], page: &'a Page) -> Self {
        let captures = report.captures.iter().enumerate().map(|(index, capture)| {
            let charted = charts.iter().filter(|c| c.capture == index);
            let gathered = page.gathered.get(index);
            let charted = charted.map(|c| c.stream).collect();
            capture_part(capture, gathered, charted, &page.options)
        });
        Self {
            schema: "tcplab.page/1",
            version: env!("CARGO_PKG_VERSION"),
            captures: captures.collect(),
            charts: charts.to_vec(),
            wireshark: Verdicts::FIELDS.to_vec(),
            classes: Class::ALL
                .map(|c| (c.name(), c.words(), meaning(c)))
                .to_vec(),
            charts_left_out: page.left_out,
        }
    }
}

fn capture_part<'a>(
    capture: &'a Capture,
    gathered: Option<&'a Gathered>,
    charted: BTreeSet<u32>,
    options: &Options,
) -> CapturePart<'a> {
    let streams = gathered.into_iter().flat_map(Gathered::streams);
    let mut lines: Vec<(&Stream, Line<'a>)> = streams.map(|(s, n)| (s, line(s, n))).collect();
    // What matters first: charts, findings, trouble, size.
    lines.sort_by_key(|(s, l)| {
        let key = (
            charted.contains(&s.stream),
            l.findings,
            l.retransmissions + l.delayed_acks,
            l.packets,
        );
        (std::cmp::Reverse(key), s.stream)
    });
    let dropped = gathered.map_or(0, Gathered::dropped);
    let lines_left_out = lines.len().saturating_sub(options.streams) + dropped;
    lines.truncate(options.streams);
    let mut details: Vec<&Stream> = lines
        .iter()
        .take(charted.len().saturating_add(options.details))
        .map(|(s, _)| *s)
        .collect();
    details.sort_by_key(|s| s.stream);
    let mut lines: Vec<Line<'a>> = lines.into_iter().map(|(_, l)| l).collect();
    lines.sort_by_key(|l| l.stream);
    let mut coverage = gathered.map(|g| g.coverage.clone()).unwrap_or_default();
    coverage.settle();
    let totals = &capture.totals;
    let checked = gathered.map_or(0, Gathered::count);
    CapturePart {
        file: &capture.file,
        totals: &capture.totals,
        checked,
        extent: scope::extent(totals, checked),
        absent: scope::absent(totals),
        findings: &capture.findings,
        groups: groups::fold(&capture.findings),
        words: words(&capture.findings),
        verdict: verdict(capture, &coverage, checked),
        unexplained: texts(coverage.unexplained()),
        two_ends: texts(coverage.of_ends()),
        not_read: coverage.not_read(totals),
        about: about(gathered, totals),
        waited: waited(totals, checked),
        waited_us: spoken_of(totals),
        not_checked: not_checked::of(&capture.totals),
        missing: not_checked::words(details.iter().copied()),
        lines,
        lines_left_out,
        details,
    }
}

/// What it means that no connection has a finding; nothing where one has, or where no connection was looked at.
fn verdict(capture: &Capture, coverage: &Coverage, checked: u64) -> Option<String> {
    let mut findings = capture.findings.iter();
    if checked == 0 || !findings.all(|f| f.id.is_about_the_capture()) {
        return None;
    }
    Some(coverage.verdict(&capture.totals, checked).0)
}

/// The section "About this capture": where nothing could be read, the counts say so.
fn about(gathered: Option<&Gathered>, totals: &Totals) -> Vec<String> {
    let empty = Notes::default();
    gathered.map_or(&empty, |g| &g.notes).sentences(totals)
}

fn texts(left: Vec<Unexplained>) -> Vec<String> {
    left.into_iter().map(|left| left.text).collect()
}

/// The words of the glossary in findings.
fn words(findings: &[Finding]) -> Vec<(&'static str, &'static str)> {
    let mut text = String::new();
    for group in groups::fold(findings) {
        let f = &findings[group[0]];
        let parts = [&f.title, &f.cause].into_iter().chain(&f.remedy);
        parts.for_each(|part| text.extend([part, "\n"]));
    }
    let entries = glossary::occurring(&text);
    entries.iter().map(|e| (e.word, e.short)).collect()
}

fn line(s: &Stream, findings: usize) -> Line<'_> {
    let (a, b) = (&s.client_to_server, &s.server_to_client);
    Line {
        stream: s.stream,
        client: &s.client,
        server: &s.server,
        state: s.state,
        start_ns: s.start_ns,
        duration_us: s.duration_us,
        packets: gather::packets(s),
        bytes: once(a).saturating_add(once(b)),
        retransmissions: a
            .retransmissions
            .total
            .saturating_add(b.retransmissions.total),
        delayed_acks: a.acks_sent.delayed.saturating_add(b.acks_sent.delayed),
        findings,
        budget: s
            .budget_us
            .parts()
            .map(|(c, us)| (c as usize, us))
            .collect(),
    }
}

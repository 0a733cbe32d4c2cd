//! The HTML page: one file that opens from disk and needs no network.
//!
//! The page is written in TypeScript (`web/`). `make web` builds `page/index.html` of this crate, which is committed
//! and embedded, so tcplab builds without Node. This module puts the data into it: a JSON document (`tcplab.page/1`)
//! and, for each stream with charts, its packets (see [`columns`]) in base64.
//!
//! A capture may hold many thousand streams, so the page is bounded: charts for the streams with the most severe
//! findings and for the largest; full figures for these and for streams with findings; one line for the rest, up to a
//! limit. The page says what it leaves out. Streams that do not fit are dropped as they come, which bounds the memory
//! too.

mod columns;
pub(crate) mod compare;
mod document;
mod gather;
pub mod matrix;
mod not_checked;
pub mod population;
mod requests;
mod spans;

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use tcplab_analyze::findings::{Finding, Severity};
use tcplab_analyze::report::{Report, Stream};
use tcplab_analyze::trace::{Row, SegmentKind, StreamTrace};

/// The built page.
pub(crate) const TEMPLATE: &str = include_str!("../../page/index.html");

/// Where the data goes; a test looks whether it is there exactly once.
const PLACE: &str = "<!--TCPLAB-DATA-->";

/// Bounds of the page.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Streams with charts.
    pub charts: usize,
    /// Packets with charts, over all streams; a packet takes about 25 bytes of the page.
    pub packets: usize,
    /// Packets with charts in one stream; the first ones are kept. The analyser need not keep more rows.
    pub packets_per_stream: usize,
    /// Streams with all their figures, beyond those with charts; those with findings come first.
    pub details: usize,
    /// Streams in the table.
    pub streams: usize,
    /// Requests of one stream: so many of the first ones, and as many of the slowest.
    pub requests: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            charts: 50,
            packets: 1_000_000,
            packets_per_stream: 500_000,
            details: 200,
            streams: 5_000,
            requests: 100,
        }
    }
}

/// The packets of one stream, packed. The document says where they are: in the element `tcplab-chart-N`, N counted
/// from 0; its spans are in `tcplab-spans-N`.
#[derive(Debug, Serialize)]
struct Chart {
    capture: usize,
    stream: u32,
    /// Packets in `bytes`.
    rows: usize,
    /// Packets of the stream.
    packets: usize,
    /// Time stamp of the first packet, nanoseconds since 1970.
    origin_ns: i64,
    /// Findings: high, medium, info.
    #[serde(skip)]
    trouble: [usize; 3],
    #[serde(skip)]
    bytes: Vec<u8>,
    /// Where the time went, packed.
    #[serde(skip)]
    spans: Vec<u8>,
}

/// Collects what the page shows, then writes it.
#[derive(Debug, Default)]
pub struct Page {
    options: Options,
    /// The streams of each capture.
    gathered: Vec<gather::Gathered>,
    charts: Vec<Chart>,
    left_out: usize,
}

impl Page {
    /// An empty page.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            gathered: Vec::new(),
            charts: Vec::new(),
            left_out: 0,
        }
    }

    /// Takes a stream of capture number `capture` (from 0); its findings and its packets follow.
    pub fn add_stream(&mut self, capture: usize, stream: Stream) {
        if self.gathered.len() <= capture {
            self.gathered.resize_with(capture + 1, Default::default);
        }
        let charts = &self.charts;
        let has_chart = |n| charts.iter().any(|c| (c.capture, c.stream) == (capture, n));
        if let Some(gathered) = self.gathered.get_mut(capture) {
            gathered.stream(stream, &self.options, has_chart);
        }
    }

    /// Counts a finding on a stream of that capture.
    pub fn add_finding(&mut self, capture: usize, finding: &Finding) {
        if let Some(gathered) = self.gathered.get_mut(capture) {
            gathered.finding(finding);
        }
    }

    /// Offers the packets of a stream of capture number `capture` (from 0) with its findings.
    /// Memory is bounded: beyond the limits the streams that matter least are dropped.
    pub fn add_trace<'a>(
        &mut self,
        capture: usize,
        trace: &StreamTrace,
        findings: impl IntoIterator<Item = &'a Finding>,
    ) {
        let Some(first) = trace.rows.first() else {
            return;
        };
        let mut trouble = [0; 3];
        for finding in findings {
            trouble[match finding.severity {
                Severity::High => 0,
                Severity::Medium => 1,
                Severity::Info => 2,
            }] += 1;
        }
        // Behind a gap a chart would lie.
        let whole = trace.whole.min(self.options.packets_per_stream);
        let kept = trace.rows.get(..whole).unwrap_or_default();
        // What an ICMP error quotes is no packet of the ends: it is not drawn.
        let quoted = |row: &&Row| row.kind == SegmentKind::Quoted;
        let quotes = kept.iter().filter(quoted).count();
        let rows = kept.len() - quotes;
        let packets = usize::try_from(trace.packets).unwrap_or(usize::MAX) - quotes;
        self.charts.push(Chart {
            capture,
            stream: trace.stream,
            trouble,
            packets,
            rows,
            origin_ns: first.time.as_nanos(),
            bytes: Vec::new(),
            spans: Vec::new(),
        });
        self.shrink();
        // Packed only when it stays: most streams of a large capture do not.
        let same = |c: &&mut Chart| (c.capture, c.stream) == (capture, trace.stream);
        if let Some(chart) = self.charts.last_mut().filter(same) {
            chart.bytes = columns::encode(kept);
            // About two for each packet: packets begin and end them.
            let most = trace.spans.len().min(2 * rows);
            chart.spans = spans::encode(trace.spans.get(..most).unwrap_or_default());
        }
    }

    /// Writes the page: `report` is the whole answer, with all captures; their streams are those of
    /// [`Page::add_stream`].
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, report: &Report, out: &mut impl Write) -> io::Result<()> {
        let (head, tail) = template();
        out.write_all(head.as_bytes())?;
        let mut charts: Vec<&Chart> = self.charts.iter().collect();
        charts.sort_by_key(|c| (c.capture, c.stream));
        let document = document::Document::new(report, &charts, self);
        write_json(&document, out)?;
        for (index, chart) in charts.iter().enumerate() {
            writeln!(
                out,
                "<script id=\"tcplab-chart-{index}\" type=\"text/plain\">{}</script>",
                STANDARD.encode(&chart.bytes)
            )?;
            writeln!(
                out,
                "<script id=\"tcplab-spans-{index}\" type=\"text/plain\">{}</script>",
                STANDARD.encode(&chart.spans)
            )?;
        }
        out.write_all(tail.as_bytes())
    }

    /// Drops the streams that matter least until the limits are kept.
    fn shrink(&mut self) {
        loop {
            let rows: usize = self.charts.iter().map(|c| c.rows).sum();
            let many = rows > self.options.packets && self.charts.len() > 1;
            // Dropping small streams would not help against too many packets.
            let heavy = if many { self.options.packets / 10 } else { 0 };
            if !many && self.charts.len() <= self.options.charts {
                return;
            }
            let spared = if many { Vec::new() } else { self.largest() };
            let least = (0..self.charts.len())
                .filter(|i| self.charts[*i].rows > heavy && !spared.contains(i))
                .min_by_key(|&i| self.charts[i].weight())
                .unwrap_or(self.charts.len() - 1);
            self.charts.remove(least);
            self.left_out += 1;
        }
    }

    /// The largest streams (one chart in five) always keep their charts: without findings, readers look there.
    fn largest(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.charts.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(self.charts[i].packets));
        order.truncate(self.options.charts / 5);
        order
    }
}

/// The page before and after its data.
fn template() -> (&'static str, &'static str) {
    TEMPLATE.split_once(PLACE).unwrap_or((TEMPLATE, ""))
}

/// Writes the element with the page's JSON document.
fn write_json(document: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"<script id=\"tcplab-page\" type=\"application/json\">")?;
    serde_json::to_writer(NoMarkup(&mut *out), document).map_err(io::Error::from)?;
    out.write_all(b"</script>\n")
}

/// Writes a page that is one JSON document.
fn write_document(document: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let (head, tail) = template();
    out.write_all(head.as_bytes())?;
    write_json(document, out)?;
    out.write_all(tail.as_bytes())
}

impl Chart {
    /// More matters more: severe findings, then others, then size.
    fn weight(&self) -> ([usize; 3], usize) {
        (self.trouble, self.packets)
    }
}

/// Writes JSON so that no `<` is left in it: names of files and hosts come from outside, and
/// `</script` inside a script element would end it. In JSON a `<` stands only in strings.
struct NoMarkup<W>(W);

impl<W: Write> Write for NoMarkup<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|&b| b == b'<') {
            self.0.write_all(rest.get(..at).unwrap_or_default())?;
            self.0.write_all(b"\\u003c")?;
            rest = rest.get(at + 1..).unwrap_or_default();
        }
        self.0.write_all(rest)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests;

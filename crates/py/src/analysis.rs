//! Captures to tables, and to the document of `tcplab analyze --json`.

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tcplab_analyze::report::{Capture, ReadError, Report, SCHEMA, Totals};
use tcplab_analyze::trace::Rows;
use tcplab_analyze::{Analyzer, Options, Output, Parser};
use tcplab_capture::Reader;
use tcplab_report::terminal::Coverage;
use tcplab_tables::capture::{Tables, Trace};
use tcplab_wire::Config;

use crate::source::{Bytes, Watch, Watched, open};
use crate::table::by_name;

/// What is asked of a capture.
#[derive(Clone, Debug)]
struct Asked {
    traced: Option<Trace>,
    max_packets: Option<usize>,
    max_streams: Option<usize>,
    streams: Vec<u32>,
}

impl Asked {
    #[expect(
        clippy::disallowed_methods,
        reason = "the key of a hash table: it guards against chosen addresses and never shows"
    )]
    fn analyzer(&self) -> Analyzer {
        let options = Options {
            rows: match self.traced {
                Some(Trace::Acks) => Rows {
                    first: 0,
                    marked: true,
                },
                Some(_) => Rows::ALL,
                None => Rows::NONE,
            },
            max_rows: self.max_packets,
            max_streams: self.max_streams,
            // So that nobody can choose addresses that all meet in one place of the table.
            hash_seed: RandomState::new().hash_one(0),
            ..Options::default()
        };
        Analyzer::new(options).only(&self.streams)
    }
}

/// Reads a capture to its end, or to where it is damaged.
fn read(bytes: Bytes, asked: &Asked, watch: &Watch, mut take: impl FnMut(Output)) -> Totals {
    let mut analyzer = asked.analyzer();
    let reader = Reader::new(Watched::new(bytes, watch.clone()));
    let damage = analyzer.read(reader, Parser::new(Config::default()), |output| {
        take(output);
        Ok::<(), Infallible>(())
    });
    let mut totals = analyzer.totals().clone();
    if let Ok(Some(e)) = damage {
        totals.error = Some(ReadError {
            offset: e.offset,
            message: e.message,
        });
    }
    totals
}

/// Tables by name, and the totals as JSON.
#[pyfunction]
#[pyo3(signature = (source, name, *, traced, max_packets, max_streams, streams, progress))]
#[expect(
    clippy::too_many_arguments,
    reason = "the facade in Python has their defaults and says what they are"
)]
pub(crate) fn analyze(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    name: &str,
    traced: Option<&str>,
    max_packets: Option<usize>,
    max_streams: Option<usize>,
    streams: Vec<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Py<PyDict>, Py<PyBytes>)> {
    let traced = match traced {
        None => None,
        Some("acks") => Some(Trace::Acks),
        Some("packets") => Some(Trace::Packets),
        Some("spans") => Some(Trace::Spans),
        Some(other) => return Err(PyValueError::new_err(format!("no table `{other}`"))),
    };
    let asked = Asked {
        traced,
        max_packets,
        max_streams,
        streams,
    };
    let (bytes, size) = open(source)?;
    let watch = Watch::new(progress, size);
    let (tables, totals) = py.detach(|| {
        let mut tables = Tables::new(traced);
        tables.begin(name);
        let totals = read(bytes, &asked, &watch, |output| tables.see(&output));
        let mut tables = tables.finish();
        tables.iter_mut().for_each(|table| table.sort("stream"));
        (tables, totals)
    });
    if let Some(e) = watch.failure() {
        return Err(e);
    }
    let totals = serde_json::to_vec(&totals).unwrap_or_default();
    Ok((by_name(py, tables)?, PyBytes::new(py, &totals).unbind()))
}

/// The document of one capture.
#[pyfunction]
#[pyo3(signature = (source, name, *, max_streams, streams, progress))]
pub(crate) fn report(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    name: &str,
    max_streams: Option<usize>,
    streams: Vec<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyBytes>> {
    let asked = Asked {
        traced: None,
        max_packets: None,
        max_streams,
        streams,
    };
    let (bytes, size) = open(source)?;
    let watch = Watch::new(progress, size);
    let text = py.detach(|| {
        let mut capture = Capture {
            file: name.to_owned(),
            ..Capture::default()
        };
        let mut coverage = Coverage::default();
        capture.totals = read(bytes, &asked, &watch, |output| match output {
            Output::Stream(stream) => {
                coverage.stream(&stream);
                capture.streams.push(*stream);
            }
            Output::Finding(finding) => {
                coverage.finding(&finding);
                capture.findings.push(*finding);
            }
            Output::Trace(_) => {}
        });
        coverage.settle();
        capture.not_explained = coverage.unexplained();
        capture.two_ends = coverage.of_ends();
        capture.streams.sort_by_key(|stream| stream.stream);
        let findings = &mut capture.findings;
        findings.sort_by_key(|f| (f.severity, f.stream, f.packets.first().copied()));
        let report = Report {
            schema: SCHEMA.to_owned(),
            captures: vec![capture],
        };
        serde_json::to_vec(&report).unwrap_or_default()
    });
    match watch.failure() {
        Some(e) => Err(e),
        None => Ok(PyBytes::new(py, &text).unbind()),
    }
}

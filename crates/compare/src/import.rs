//! Importers: the results of other tools become arms with metrics and counts. Each format has its
//! own file.
//!
//! The content tells the format. An unknown format or a damaged file is an error that names the
//! place, the fault and the remedy. No input panics.

mod ab;
mod builder;
mod csv;
mod csv_cells;
mod csv_lines;
mod error;
mod fortio;
mod iperf3;
mod json;
mod kirk;
mod ktap;
mod lmbench;
mod ltp;
mod named;
mod netperf;
mod netperf_omni;
mod nstat;
mod own;
mod packetdrill;
mod reports;
mod run;
mod wrk;

pub use error::ImportError;
pub use run::arms as of_run;

use crate::metrics::{Arm, Metrics};

/// A file's text and its name.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// For messages and provenance.
    pub name: &'a str,
    /// What stands in it.
    pub text: &'a str,
}

/// What a file can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `tcplab.metrics/1`.
    Metrics,
    /// `summary.json` of a result folder, `tcplab run --json`.
    Run,
    /// `iperf3 --json`, also several after one another, and `--json-stream`.
    Iperf3,
    /// netperf's tables for people.
    Netperf,
    /// netperf's omni output: CSV (`-o`) and key values (`-k`).
    NetperfOmni,
    /// lmbench's lines.
    Lmbench,
    /// wrk and wrk2.
    Wrk,
    /// ApacheBench.
    Ab,
    /// fortio's JSON.
    Fortio,
    /// kirk's JSON report (LTP).
    Kirk,
    /// The summary of kirk or of runltp as text, and its list of tests.
    Ltp,
    /// TAP and KTAP.
    Ktap,
    /// packetdrill's run_all.py.
    Packetdrill,
    /// nstat, text and JSON.
    Nstat,
    /// CSV with a heading: metric, unit, better, value (docs/compare.md).
    Csv,
}

/// Name, whether a text is one, and what reads it.
type Reader = (
    Format,
    &'static str,
    fn(&str) -> bool,
    fn(&Input) -> Result<Vec<Arm>, ImportError>,
);

/// All formats, in the order in which a text is tried: the surest signs first.
const READERS: [Reader; 15] = [
    (Format::Metrics, "metrics", own::is, own::read),
    (Format::Run, "run", run::is, run::read),
    (Format::Iperf3, "iperf3", iperf3::is, iperf3::read),
    (Format::Fortio, "fortio", fortio::is, fortio::read),
    (Format::Kirk, "kirk", kirk::is, kirk::read),
    (Format::Nstat, "nstat", nstat::is, nstat::read),
    (Format::Ab, "ab", ab::is, ab::read),
    (Format::Wrk, "wrk", wrk::is, wrk::read),
    (
        Format::NetperfOmni,
        "netperf-omni",
        netperf_omni::is,
        netperf_omni::read,
    ),
    (Format::Netperf, "netperf", netperf::is, netperf::read),
    (
        Format::Packetdrill,
        "packetdrill",
        packetdrill::is,
        packetdrill::read,
    ),
    (Format::Ktap, "ktap", ktap::is, ktap::read),
    (Format::Ltp, "ltp", ltp::is, ltp::read),
    (Format::Csv, "csv", csv::is, csv::read),
    (Format::Lmbench, "lmbench", lmbench::is, lmbench::read),
];

impl Format {
    /// Its name, as `--format` takes it.
    pub fn name(self) -> &'static str {
        let own = READERS.iter().find(|(format, ..)| *format == self);
        own.map_or("", |(_, name, ..)| name)
    }

    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        READERS.iter().map(|(_, name, ..)| *name)
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        let own = READERS.iter().find(|(_, own, ..)| *own == name);
        own.map(|(format, ..)| *format)
    }

    /// What a text is by its content.
    pub fn of(text: &str) -> Option<Self> {
        let own = READERS.iter().find(|(_, _, is, _)| is(text));
        own.map(|(format, ..)| *format)
    }
}

/// Reads a text: by its content, or as the format that was asked for.
pub fn read(input: &Input, format: Option<Format>) -> Result<Metrics, ImportError> {
    let Some(format) = format.or_else(|| Format::of(input.text)) else {
        return Err(unknown(input));
    };
    let reader = READERS.iter().find(|(own, ..)| *own == format);
    let Some((_, _, _, read)) = reader else {
        return Err(unknown(input));
    };
    let mut arms = read(input)?;
    let says_nothing =
        |arm: &Arm| arm.metrics.is_empty() && arm.counts.is_empty() && arm.remarks.is_empty();
    if arms.iter().all(says_nothing) {
        let name = format.name();
        return Err(ImportError::new(
            input,
            "",
            format!("no measurement found (read as {name})"),
            "give the tool's complete output, or name its format with `--format`",
        ));
    }
    for arm in &mut arms {
        for source in &mut arm.sources {
            format.name().clone_into(&mut source.format);
        }
    }
    Ok(Metrics::of(arms))
}

fn unknown(input: &Input) -> ImportError {
    let first = input.text.lines().find(|line| !line.trim().is_empty());
    let (place, what) = match first {
        None => ("", "the file is empty".to_owned()),
        Some(line) => {
            let start: String = line.chars().filter(|c| !c.is_control()).take(40).collect();
            ("line 1", format!("unknown format (begins with `{start}`)"))
        }
    };
    let names: Vec<&str> = Format::names().collect();
    let way_out = format!(
        "give the output of one of these tools, or name the format with `--format`: {}",
        names.join(", ")
    );
    ImportError::new(input, place, what, way_out)
}

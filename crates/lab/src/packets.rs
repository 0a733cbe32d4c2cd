//! What the analyser reads from the captures of a run: an independent witness of the kernel's counters.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use tcplab_analyze::findings::Finding;
use tcplab_analyze::report::Stream;
use tcplab_analyze::trace::{Rows, StreamTrace};
use tcplab_analyze::{Analyzer, Options, Output, Parser};
use tcplab_capture::Reader;
use tcplab_plan::Point;
use tcplab_plan::measure::Sent;
use tcplab_plan::network::{capture_files, host_address};
use tcplab_tcp::Sysctl;
use tcplab_wire::Config;

use crate::error::LabError;
use crate::figures::figure;

/// For each host what it sent on each TCP connection of its captures, as the analyser says.
pub(crate) fn sent_by_hosts(
    point: &Point,
    addresses: &BTreeMap<String, String>,
    folder: &Path,
) -> Result<BTreeMap<String, Vec<Sent>>, LabError> {
    let mut sent: BTreeMap<String, Vec<Sent>> = BTreeMap::new();
    for (host, _, file) in capture_files(point) {
        let name = &point.hosts[host].name;
        let ip = match addresses.get(name) {
            Some(ip) => ip.clone(),
            None => host_address(point.ip, host).to_string(),
        };
        let directions = sent.entry(name.clone()).or_default();
        for stream in streams(&folder.join(file), &config(point, host))? {
            directions.extend(own(&ip, &stream));
        }
    }
    Ok(sent)
}

/// The directions that this host sends: both, when it talks to itself.
fn own(ip: &str, stream: &Stream) -> Vec<Sent> {
    let is_own = |end: &str| {
        let address = end.rsplit_once(':').map_or(end, |(address, _)| address);
        let address = address.trim_start_matches('[').trim_end_matches(']');
        address == ip || ["127.0.0.1", "::1"].contains(&address)
    };
    let directions = [
        (&stream.client, &stream.client_to_server),
        (&stream.server, &stream.server_to_client),
    ];
    let own = directions.into_iter().filter(|(end, _)| is_own(end));
    own.map(|(_, direction)| Sent::of(|name| figure(direction, name), direction.data_ns))
        .collect()
}

/// How its captures are read: its CAQM tags have the EtherType of its sysctl.
pub(crate) fn config(point: &Point, host: usize) -> Config {
    const TPID: &str = "net.core.sysctl_caqm_tpid";
    let mut sysctl = Sysctl::default();
    if let Some(value) = point.hosts[host].sysctl.get(TPID) {
        // The run has said what is wrong with it.
        let _ = sysctl.set(TPID, value);
    }
    Config {
        caqm_ethertype: sysctl.sysctl_caqm_tpid,
        ..Config::default()
    }
}

fn streams(path: &Path, config: &Config) -> Result<Vec<Stream>, LabError> {
    let mut streams = Vec::new();
    read(path, config, Options::default(), |output| {
        if let Output::Stream(stream) = output {
            streams.push(*stream);
        }
    })?;
    streams.sort_by_key(|stream| stream.stream);
    Ok(streams)
}

/// What the analyser says of a capture of one connection.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub findings: Vec<Finding>,
    pub stream: Stream,
    pub trace: StreamTrace,
}

/// Has the analyser read a capture of one connection, and keeps these rows.
pub(crate) fn heard(path: &Path, rows: Rows) -> Result<Heard, LabError> {
    let options = Options {
        rows,
        ..Options::default()
    };
    let mut heard = Heard::default();
    read(path, &Config::default(), options, |output| match output {
        Output::Finding(finding) => heard.findings.push(*finding),
        Output::Trace(trace) => heard.trace = *trace,
        Output::Stream(stream) => heard.stream = *stream,
    })?;
    Ok(heard)
}

/// The packets of each connection of a capture, with verdicts.
pub(crate) fn traces(path: &Path) -> Result<Vec<StreamTrace>, LabError> {
    let options = Options {
        rows: Rows::ALL,
        ..Options::default()
    };
    let mut traces = Vec::new();
    read(path, &Config::default(), options, |output| {
        if let Output::Trace(trace) = output {
            traces.push(*trace);
        }
    })?;
    traces.sort_by_key(|trace| trace.stream);
    Ok(traces)
}

/// Gives what the analyser says of a capture.
fn read(
    path: &Path,
    config: &Config,
    options: Options,
    mut take: impl FnMut(Output),
) -> Result<(), LabError> {
    let file = File::open(path).map_err(LabError::at(path))?;
    let damaged = |e: &dyn std::fmt::Display| LabError::Wrong(format!("{}: {e}", path.display()));
    let mut analyzer = Analyzer::new(options);
    let damage = analyzer.read(Reader::new(file), Parser::new(*config), |output| {
        take(output);
        Ok::<(), LabError>(())
    })?;
    damage.map_or(Ok(()), |e| Err(damaged(&e)))
}

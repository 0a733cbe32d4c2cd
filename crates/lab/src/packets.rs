//! What the analyser reads from the captures of a run: an independent witness of the kernel's counters.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use serde_json::Value as Json;
use tcplab_analyze::report::Stream;
use tcplab_analyze::{Analyzer, Options, Output};
use tcplab_capture::{Body, Reader};
use tcplab_plan::Point;
use tcplab_plan::network::{capture_files, host_address};
use tcplab_wire::{Config, Parsed, parse_frame};

use crate::error::LabError;

/// For each host what it sent on each TCP connection of its captures, as the analyser's JSON.
pub(crate) fn sent_by_hosts(
    point: &Point,
    folder: &Path,
) -> Result<BTreeMap<String, Vec<Json>>, LabError> {
    let mut sent: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for (host, _, file) in capture_files(point) {
        let name = &point.hosts[host].name;
        let directions = sent.entry(name.clone()).or_default();
        for stream in streams(&folder.join(file))? {
            directions.extend(own(host, &stream));
        }
    }
    Ok(sent)
}

/// The directions that this host sends: both, when it talks to itself.
fn own(host: usize, stream: &Stream) -> Vec<Json> {
    let ip = host_address(host).to_string();
    let is_own = |end: &str| {
        let address = end.rsplit_once(':').map_or(end, |(address, _)| address);
        address == ip || address == "127.0.0.1"
    };
    let mut own = Vec::new();
    if is_own(&stream.client) {
        own.extend(serde_json::to_value(&stream.client_to_server));
    }
    if is_own(&stream.server) {
        own.extend(serde_json::to_value(&stream.server_to_client));
    }
    own
}

fn streams(path: &Path) -> Result<Vec<Stream>, LabError> {
    let file = File::open(path).map_err(LabError::at(path))?;
    let damaged = |e: &dyn std::fmt::Display| LabError::Wrong(format!("{}: {e}", path.display()));
    let mut reader = Reader::new(file).map_err(|e| damaged(&e))?;
    let mut analyzer = Analyzer::new(Options::default());
    let mut streams = Vec::new();
    while let Some(record) = reader.next().map_err(|e| damaged(&e))? {
        if let Body::Frame {
            link,
            data,
            orig_len,
        } = record.body
        {
            match parse_frame(link, data, orig_len, &Config::default()) {
                Parsed::Tcp(packet) => analyzer.packet(record.number, record.time, &packet),
                Parsed::NotTcp(why) => analyzer.other(why),
            }
            drain(&mut analyzer, &mut streams);
        }
    }
    analyzer.finish();
    drain(&mut analyzer, &mut streams);
    streams.sort_by_key(|stream| stream.stream);
    Ok(streams)
}

fn drain(analyzer: &mut Analyzer, streams: &mut Vec<Stream>) {
    while let Some(output) = analyzer.poll() {
        if let Output::Stream(stream) = output {
            streams.push(*stream);
        }
    }
}

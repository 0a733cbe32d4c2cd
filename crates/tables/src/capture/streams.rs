//! A row for each stream: its own columns, then those of each direction with the prefix `c2s_` (client to server) or
//! `s2c_`. Names and units are the JSON's.

use tcplab_analyze::Output;
use tcplab_analyze::report::{Handshake, Stream};

use super::directions::DIRECTION;
use super::name;
use crate::field::{Field, Kind};
use crate::table::{Row, Table};

/// Column of the names of the findings.
const FINDINGS: usize = 1;

/// How a cell is made.
enum Get {
    Int(fn(&Stream) -> Option<i64>),
    Text(fn(&Stream) -> String),
}

const STREAM: &[(&str, Get, &str)] = &[
    (
        "stream",
        Get::Int(|s| Some(s.stream.into())),
        "Number of the stream, as tcp.stream.",
    ),
    (
        "client",
        Get::Text(|s| s.client.clone()),
        "Address and port of the client.",
    ),
    (
        "server",
        Get::Text(|s| s.server.clone()),
        "Address and port of the server.",
    ),
    (
        "start_ns",
        Get::Int(|s| Some(s.start_ns)),
        "Time stamp of its first packet, since 1970.",
    ),
    (
        "duration_us",
        Get::Int(|s| s.duration_us.try_into().ok()),
        "From its first packet to its last.",
    ),
    ("state", Get::Text(|s| name(&s.state)), "How it ended."),
    (
        "vantage",
        Get::Text(|s| name(&s.vantage)),
        "Where on the path the capture was made.",
    ),
    (
        "artefacts",
        Get::Text(|s| {
            let names: Vec<String> = s.artefacts.iter().map(name).collect();
            names.join(",")
        }),
        "What the capture itself did to its packets, separated by commas.",
    ),
    (
        "requests",
        Get::Int(|s| {
            (s.requests.len() as u64 + s.requests_not_listed)
                .try_into()
                .ok()
        }),
        "Requests; the table `requests` has the first 256 of them.",
    ),
    (
        "syn_retransmissions",
        Get::Int(|s| handshake(s, |h| Some(h.syn_retransmissions))),
        "SYNs sent again.",
    ),
    (
        "synack_retransmissions",
        Get::Int(|s| handshake(s, |h| Some(h.synack_retransmissions))),
        "SYN-ACKs sent again.",
    ),
    (
        "server_rtt_us",
        Get::Int(|s| handshake(s, |h| h.server_rtt_us)),
        "From the SYN to the SYN-ACK.",
    ),
    (
        "client_rtt_us",
        Get::Int(|s| handshake(s, |h| h.client_rtt_us)),
        "From the SYN-ACK to its ACK.",
    ),
    (
        "caqm",
        Get::Text(|s| {
            let offer = s.handshake.as_ref().and_then(|h| h.caqm);
            offer.map_or_else(String::new, |o| name(&o))
        }),
        "What the ends agreed on about CAQM.",
    ),
];

fn handshake(s: &Stream, get: fn(&Handshake) -> Option<u32>) -> Option<i64> {
    s.handshake.as_ref().and_then(get).map(i64::from)
}

fn fields() -> Vec<Field> {
    let mut all = Field::all(&[
        ("file", Kind::Word, "Capture."),
        (
            "findings",
            Kind::Text,
            "Names of its findings, separated by commas.",
        ),
    ]);
    all.extend(STREAM.iter().map(|(name, get, about)| {
        let kind = match get {
            Get::Int(_) => Kind::Int,
            Get::Text(_) => Kind::Text,
        };
        Field::new(*name, kind, *about)
    }));
    for (side, words) in [("c2s", "Client to server"), ("s2c", "Server to client")] {
        all.extend(DIRECTION.iter().map(|(name, about, _)| {
            Field::new(
                format!("{side}_{name}"),
                Kind::Int,
                format!("{words}: {about}"),
            )
        }));
    }
    all
}

fn cells(mut row: Row<'_>, file: &str, s: &Stream) {
    row.text(file);
    row.text("");
    for (_, get, _) in STREAM {
        match get {
            Get::Int(get) => row.maybe(get(s)),
            Get::Text(get) => row.text(&get(s)),
        }
    }
    for direction in [&s.client_to_server, &s.server_to_client] {
        for (_, _, get) in DIRECTION {
            row.maybe(get(direction));
        }
    }
}

/// The table in the making.
#[derive(Debug)]
pub struct Streams {
    table: Table,
    file: String,
    /// Number of the last row's stream, and whether it has findings yet.
    last: Option<(u32, bool)>,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            table: Table::new("streams", fields()),
            file: String::new(),
            last: None,
        }
    }
}

impl Streams {
    /// A capture of this name begins.
    pub fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
        self.last = None;
    }

    /// Takes what the analyser hands out. The findings of a stream come after it.
    pub fn see(&mut self, output: &Output) {
        match output {
            Output::Stream(s) => {
                cells(self.table.row(), &self.file, s);
                self.last = Some((s.stream, false));
            }
            Output::Finding(f) => {
                if let Some((stream, has)) = self.last.filter(|(stream, _)| *stream == f.stream) {
                    let gap = if has { "," } else { "" };
                    self.table.lengthen(FINDINGS, gap);
                    self.table.lengthen(FINDINGS, f.id.name());
                    self.last = Some((stream, true));
                }
            }
            Output::Trace(_) => {}
        }
    }

    /// Its columns.
    pub fn fields(&self) -> &[Field] {
        &self.table.fields
    }

    /// Rows of it.
    pub fn rows(&self) -> usize {
        self.table.rows()
    }

    /// Takes the rows.
    pub fn take(&mut self) -> Table {
        let empty = Table::new(self.table.name, self.table.fields.clone());
        std::mem::replace(&mut self.table, empty)
    }

    /// The table.
    pub fn finish(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_row_has_a_cell_for_each_column_and_names_differ() {
        let mut streams = Streams::default();
        streams.begin("x.pcap");
        streams.see(&Output::Stream(Box::default()));
        let table = streams.finish();
        let names: HashSet<_> = table.fields.iter().map(|f| &f.name).collect();
        assert_eq!(names.len(), table.fields.len());
        assert_eq!(table.fields[FINDINGS].name, "findings");
        // A row asserts that no column is left over.
        assert_eq!(table.plain().next().unwrap().len(), table.fields.len());
    }
}

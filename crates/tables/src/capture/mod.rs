//! The tables of a capture: its streams, their findings, where their time went, their ACKs and packets.

mod acks;
mod budget;
mod directions;
mod findings;
mod packets;
mod streams;

use serde::Serialize;
use tcplab_analyze::Output;
use tcplab_analyze::trace::StreamTrace;

pub use acks::class_name;
pub use streams::Streams;

use crate::table::Table;

/// The tables of captures.
#[derive(Debug)]
pub struct Tables {
    streams: Streams,
    findings: Table,
    budget: Table,
    requests: Table,
    episodes: Table,
    traced: Option<Traced>,
    file: String,
}

/// Tables that need the packets of each stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// ACKs of new data.
    Acks,
    /// All packets.
    Packets,
    /// Where the time went, stretch by stretch.
    Spans,
}

/// The one that is wanted.
#[derive(Debug)]
struct Traced {
    what: Trace,
    table: Table,
    flags: packets::Flags,
}

impl Tables {
    /// Tables without rows, and one of those that need all packets.
    pub fn new(traced: Option<Trace>) -> Self {
        Self {
            streams: Streams::default(),
            findings: findings::table(),
            budget: budget::table(),
            requests: budget::requests_table(),
            episodes: directions::episodes_table(),
            traced: traced.map(Traced::new),
            file: String::new(),
        }
    }

    /// A capture of this name begins.
    pub fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
        self.streams.begin(file);
    }

    /// Takes what the analyser hands out.
    pub fn see(&mut self, output: &Output) {
        let file = self.file.as_str();
        self.streams.see(output);
        match output {
            Output::Stream(stream) => {
                budget::rows(&mut self.budget, file, stream);
                budget::requests(&mut self.requests, file, stream);
                directions::episodes(&mut self.episodes, file, stream);
            }
            Output::Finding(finding) => findings::row(&mut self.findings, file, finding),
            Output::Trace(trace) => {
                if let Some(traced) = &mut self.traced {
                    traced.see(file, trace);
                }
            }
        }
    }

    /// All of them.
    pub fn finish(self) -> Vec<Table> {
        let mut all = vec![
            self.streams.finish(),
            self.findings,
            self.budget,
            self.requests,
            self.episodes,
        ];
        if let Some(traced) = self.traced {
            all.push(traced.table);
        }
        all
    }
}

impl Traced {
    fn new(what: Trace) -> Self {
        let table = match what {
            Trace::Acks => acks::table(),
            Trace::Packets => packets::table(),
            Trace::Spans => budget::spans_table(),
        };
        let flags = packets::Flags::new();
        Self { what, table, flags }
    }

    fn see(&mut self, file: &str, trace: &StreamTrace) {
        match self.what {
            Trace::Acks => acks::rows(&mut self.table, file, trace),
            Trace::Packets => packets::rows(&mut self.table, &self.flags, file, trace),
            Trace::Spans => budget::spans(&mut self.table, file, trace),
        }
    }
}

/// `client` or `server`.
fn side(is_client: bool) -> &'static str {
    match is_client {
        true => "client",
        false => "server",
    }
}

/// The name of a unit variant in the JSON.
fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}

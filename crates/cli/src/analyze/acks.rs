//! `--acks`: every ACK of new data, as a table or (with `--json`) as one JSON object a line.

use std::io::{self, Write};

use serde::Serialize;
use tcplab_analyze::Output;
use tcplab_analyze::report::Totals;
use tcplab_analyze::trace::StreamTrace;
use tcplab_report::terminal::{Theme, acks, style};
use tcplab_tables::capture::class_name;
use tcplab_wire::CaqmUnits;

use crate::analyze::form::Form;
use crate::failure::Failure;
use crate::files::Out;
use crate::screen;

/// One line of `--acks --json`.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    stream: u32,
    from: &'static str,
    time_ns: i64,
    packet: u64,
    ack: Option<u64>,
    bytes: u32,
    segments: u32,
    newest_segment: u64,
    trigger: u64,
    wait_us: u32,
    since_last_us: u32,
    path_us: u32,
    class: &'static str,
    credits: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caqm_bytes: Option<i64>,
}

/// The form.
pub struct Acks {
    json: bool,
    theme: Theme,
    units: CaqmUnits,
    file: String,
    captures: usize,
    ends: (u32, String, String),
}

impl Acks {
    /// As JSON lines, or as a table.
    pub fn new(json: bool, theme: Theme, units: CaqmUnits) -> Self {
        Self {
            json,
            theme,
            units,
            file: String::new(),
            captures: 0,
            ends: Default::default(),
        }
    }

    fn lines(&self, out: &mut Out, trace: &StreamTrace) -> io::Result<()> {
        for (row, ack) in acks::acks(trace) {
            let line = Line {
                file: &self.file,
                stream: trace.stream,
                from: if row.from_client { "client" } else { "server" },
                time_ns: row.time.as_nanos(),
                packet: row.number,
                ack: row.ack,
                bytes: ack.bytes,
                segments: ack.segments,
                newest_segment: ack.newest_segment,
                trigger: ack.trigger,
                wait_us: ack.wait_us,
                since_last_us: ack.since_last_us,
                path_us: ack.path_us,
                class: class_name(ack.class),
                credits: ack.credits,
                caqm_bytes: row.caqm.map(|info| info.value(&self.units)),
            };
            serde_json::to_writer(screen::json(&mut *out), &line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl Form for Acks {
    fn begin(&mut self, out: &mut Out, file: &str) -> io::Result<()> {
        file.clone_into(&mut self.file);
        self.captures += 1;
        match self.captures {
            2.. if !self.json => writeln!(out, "== {}\n", style::safe(file)),
            _ => Ok(()),
        }
    }

    fn output(&mut self, out: &mut Out, output: Output) -> io::Result<()> {
        match output {
            // Comes before its packets.
            Output::Stream(s) => {
                self.ends = (s.stream, s.client, s.server);
                Ok(())
            }
            Output::Trace(trace) if self.json => self.lines(out, &trace),
            Output::Trace(trace) => {
                let (stream, client, server) = &self.ends;
                let (client, server) = match *stream == trace.stream {
                    true => (client.as_str(), server.as_str()),
                    false => ("client", "server"),
                };
                acks::write(&self.theme, &trace, client, server, out)
            }
            Output::Finding(_) => Ok(()),
        }
    }

    fn end(&mut self, out: &mut Out, totals: &Totals) -> io::Result<()> {
        match totals.rows_left_out {
            n @ 1.. if self.json => writeln!(out, "{{\"rows_left_out\":{n}}}"),
            _ => Ok(()),
        }
    }

    fn close(&mut self, out: &mut Out, failure: Option<&Failure>) -> io::Result<()> {
        match failure {
            _ if !self.json => out.write_all(acks::LEGEND.as_bytes()),
            Some(failure) => {
                out.write_all(b"{\"error\":")?;
                serde_json::to_writer(screen::json(&mut *out), failure)?;
                out.write_all(b"}\n")
            }
            None => Ok(()),
        }
    }
}

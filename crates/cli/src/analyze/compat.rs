//! `--tshark-compat`: the verdicts in Wireshark's terms, frame by frame, in the order of the
//! file: `FRAME STREAM FIELD[,FIELD]`, with the names of Wireshark's fields.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use tcplab_analyze::Output;
use tcplab_analyze::compat::Verdicts;
use tcplab_analyze::report::{ReadError, Totals};

use crate::analyze::form::Form;
use crate::args::Bound;
use crate::failure::Failure;
use crate::files::Out;
use crate::screen;

/// `schema` of the document of `--tshark-compat --json`.
const SCHEMA: &str = "tcplab.tshark/1";

/// One frame that has a verdict.
#[derive(Clone, Copy, Serialize)]
struct Frame {
    frame: u64,
    stream: u32,
    #[serde(rename = "fields", serialize_with = "fields")]
    verdicts: Verdicts,
}

fn fields<S: Serializer>(verdicts: &Verdicts, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(verdicts.fields())
}

#[derive(Serialize)]
struct JsonCapture<'a> {
    file: &'a str,
    frames: Vec<Frame>,
    #[serde(skip_serializing_if = "is_zero")]
    rows_left_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ReadError>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The form. Holds 24 bytes for each frame that has a verdict, of so many frames as `--max-packets` says.
pub struct Compat {
    json: bool,
    file: String,
    captures: usize,
    frames: Vec<Frame>,
    most: usize,
    left_out: u64,
}

impl Compat {
    /// As a document, or as lines.
    pub fn new(json: bool, most: Bound) -> Self {
        Self {
            json,
            file: String::new(),
            captures: 0,
            frames: Vec::new(),
            most: most.0.unwrap_or(usize::MAX),
            left_out: 0,
        }
    }
}

impl Form for Compat {
    fn open(&mut self, out: &mut Out) -> io::Result<()> {
        if self.json {
            write!(out, "{{\"schema\":\"{SCHEMA}\",\"captures\":[")?;
        }
        Ok(())
    }

    fn begin(&mut self, out: &mut Out, file: &str) -> io::Result<()> {
        file.clone_into(&mut self.file);
        self.captures += 1;
        match (self.json, self.captures) {
            (true, 2..) => out.write_all(b",\n"),
            (false, 2..) => writeln!(out, "# {}", tcplab_report::terminal::style::safe(file)),
            _ => Ok(()),
        }
    }

    fn output(&mut self, _out: &mut Out, output: Output) -> io::Result<()> {
        if let Output::Trace(trace) = output {
            let marked = trace.rows.iter().filter(|r| !r.verdicts.is_empty());
            let room = self.most.saturating_sub(self.frames.len());
            self.left_out += marked.clone().count().saturating_sub(room) as u64;
            self.frames.extend(marked.take(room).map(|r| Frame {
                frame: r.number,
                stream: trace.stream,
                verdicts: r.verdicts,
            }));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out, totals: &Totals) -> io::Result<()> {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            super::left_out(&self.file, left_out);
        }
        let mut frames = std::mem::take(&mut self.frames);
        frames.sort_unstable_by_key(|f| f.frame);
        if self.json {
            let capture = JsonCapture {
                file: &self.file,
                frames,
                rows_left_out: totals.rows_left_out + left_out,
                error: totals.error.as_ref(),
            };
            serde_json::to_writer(screen::json(&mut *out), &capture)?;
            return Ok(());
        }
        for f in &frames {
            write!(out, "{} {} ", f.frame, f.stream)?;
            for (i, field) in f.verdicts.fields().enumerate() {
                write!(out, "{}{field}", if i == 0 { "" } else { "," })?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn close(&mut self, out: &mut Out, failure: Option<&Failure>) -> io::Result<()> {
        if !self.json {
            return Ok(());
        }
        out.write_all(b"]")?;
        if let Some(failure) = failure {
            out.write_all(b",\"error\":")?;
            serde_json::to_writer(screen::json(&mut *out), failure)?;
        }
        out.write_all(b"}\n")
    }
}

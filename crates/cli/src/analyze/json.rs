//! `--json`: the document of schema `tcplab.analyze/1`, written while the captures are read, so
//! that a capture with any number of streams needs no memory for them.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_analyze::Output;
use tcplab_analyze::findings::Finding;
use tcplab_analyze::report::{Report, SCHEMA, Totals, Unexplained};
use tcplab_report::terminal::Coverage;

use crate::analyze::fast::Text;
use crate::analyze::form::Form;
use crate::analyze::order::Reorder;
use crate::failure::Failure;
use crate::files::Out;
use crate::json;
use crate::screen;

/// Document of `tcplab analyze --json`, also after a failure.
// Only the schema is made from this type: the writer below never holds a whole document.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "tcplab analyze --json")]
pub struct Document {
    /// What was found.
    #[serde(flatten)]
    pub report: Report,
    /// First failure; the exit code is not 0 then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// What follows the findings of a capture: the last members of `report::Capture`.
#[derive(Serialize)]
struct Rest<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_explained: Vec<Unexplained>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    two_ends: Vec<Unexplained>,
    #[serde(flatten)]
    totals: &'a Totals,
}

/// Writes the document piece by piece.
#[derive(Default)]
pub struct Json {
    text: Box<Text>,
    window: Reorder,
    findings: Vec<Finding>,
    coverage: Coverage,
    captures: usize,
    streams: usize,
}

impl Json {
    /// Writes a stream on a line of its own.
    fn stream(&mut self, out: &mut Out, text: Vec<u8>) -> io::Result<()> {
        if self.streams > 0 {
            out.write_all(b",")?;
        }
        self.streams += 1;
        out.write_all(&text)?;
        self.window.give_back(text);
        Ok(())
    }
}

impl Form for Json {
    fn open(&mut self, out: &mut Out) -> io::Result<()> {
        write!(out, "{{\"schema\":\"{SCHEMA}\",\"captures\":[")
    }

    fn begin(&mut self, out: &mut Out, file: &str) -> io::Result<()> {
        out.write_all(if self.captures == 0 {
            b"{\"file\":"
        } else {
            b",{\"file\":"
        })?;
        self.captures += 1;
        self.streams = 0;
        self.window.reset();
        serde_json::to_writer(screen::json(&mut *out), file)?;
        out.write_all(b",\"streams\":[")
    }

    fn output(&mut self, out: &mut Out, output: Output) -> io::Result<()> {
        match output {
            Output::Stream(stream) => {
                self.coverage.stream(&stream);
                // As text, because a stream holds many small pieces of memory, and the next one can use them again.
                let mut text = self.window.buffer();
                text.push(b'\n');
                self.text.append_json(&mut text, &stream)?;
                self.window.push(stream.stream, text);
                while let Some(ready) = self.window.ready() {
                    self.stream(out, ready)?;
                }
            }
            Output::Finding(finding) => {
                self.coverage.finding(&finding);
                self.findings.push(*finding);
            }
            Output::Trace(_) => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out, totals: &Totals) -> io::Result<()> {
        while let Some(text) = self.window.pop() {
            self.stream(out, text)?;
        }
        out.write_all(b"],\"findings\":[")?;
        let mut findings = std::mem::take(&mut self.findings);
        findings.sort_by_key(|f| (f.severity, f.stream, f.packets.first().copied()));
        let mut text = Vec::new();
        for (i, finding) in findings.iter().enumerate() {
            text.extend_from_slice(if i == 0 { b"\n" } else { b",\n" });
            self.text.append_json(&mut text, finding)?;
            out.write_all(&text)?;
            text.clear();
        }
        out.write_all(b"],")?;
        let mut coverage = std::mem::take(&mut self.coverage);
        coverage.settle();
        let rest = Rest {
            not_explained: coverage.unexplained(),
            two_ends: coverage.of_ends(),
            totals,
        };
        write_members(out, &rest)?;
        out.write_all(b"}")
    }

    fn close(&mut self, out: &mut Out, failure: Option<&Failure>) -> io::Result<()> {
        out.write_all(b"]")?;
        if let Some(failure) = failure {
            out.write_all(b",\"error\":")?;
            serde_json::to_writer(screen::json(&mut *out), failure)?;
        }
        out.write_all(b"}\n")
    }
}

/// The members of an object without the braces around them.
fn write_members(out: &mut Out, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(value)?;
    let inner = text.strip_prefix(b"{").and_then(|t| t.strip_suffix(b"}"));
    screen::json(out).write_all(inner.unwrap_or_default())
}

/// The document of a command that failed before it could begin one, on standard output.
pub fn empty_document(failure: &Failure) {
    let document = Document {
        report: Report {
            schema: SCHEMA.into(),
            captures: Vec::new(),
        },
        error: Some(failure.clone()),
    };
    // When standard output is gone there is only the exit code left.
    let _ = json::print_line(&document);
}

//! `tcplab probe ... --json`: one document of schema `tcplab.probe/1`, also when something failed.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_probe::{Report, SCHEMA};

use crate::failure::Failure;
use crate::screen;

/// Document of `tcplab probe ... --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "tcplab probe ... --json")]
pub struct Document {
    /// What happened.
    #[serde(flatten)]
    pub report: Report,
    /// Why the probe did not complete; the exit code is not 0 then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl Document {
    /// Prints it on standard output.
    pub fn print(&self) -> io::Result<()> {
        let mut out = screen::json(io::BufWriter::new(io::stdout().lock()));
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

/// The document of a command that failed before it could begin.
pub fn empty_document(failure: Failure) {
    let report = Report {
        schema: SCHEMA.into(),
        ..Report::default()
    };
    let document = Document {
        report,
        error: Some(failure),
    };
    // When standard output is gone there is only the exit code left.
    let _ = document.print();
}

//! `tcplab probe ... --json`: one document of schema `tcplab.probe/1`, also when something failed.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_probe::{Report, SCHEMA};

use crate::failure::Failure;
use crate::json;

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
    let _ = json::print_line(&document);
}

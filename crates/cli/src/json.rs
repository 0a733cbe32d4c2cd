//! The one JSON document of a command: its answer, or why there is none.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::failure::Failure;

/// What a command prints when it failed.
#[derive(Serialize)]
struct Failed<'a> {
    schema: &'a str,
    error: &'a Failure,
}

/// Prints a document on standard output.
pub fn print(document: &impl Serialize) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// The exit code of a command; with `--json` its failure is a document too.
pub fn finish(schema: &str, json: bool, result: Result<ExitCode, Failure>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            if json {
                // When standard output is gone there is only the exit code left.
                let _ = print(&Failed {
                    schema,
                    error: &error,
                });
            }
            error.report()
        }
    }
}

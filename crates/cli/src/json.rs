//! The one JSON document of a command: its answer, or its error.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::failure::Failure;
use crate::screen;

/// What a command prints when it failed.
#[derive(Serialize)]
struct Failed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a str>,
    error: &'a Failure,
}

/// Prints a document on standard output.
pub fn print(document: &impl Serialize) -> Result<(), Failure> {
    // A document has many short lines; standard output would write each one by itself.
    let mut out = screen::json(io::BufWriter::new(io::stdout().lock()));
    serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// Prints a document as one line.
pub fn print_line(document: &impl Serialize) -> Result<(), Failure> {
    let mut out = screen::json(io::BufWriter::new(io::stdout().lock()));
    serde_json::to_writer(&mut out, document).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}

/// Prints a document with `--json`, else what `words` prints for people.
pub fn or_words(
    json: bool,
    document: &impl Serialize,
    words: impl FnOnce() -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    match json {
        true => print(document)?,
        false => words()?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the document of a command that failed; without a schema when it is not known which one.
pub fn print_failure(schema: Option<&str>, error: &Failure) {
    // When standard output is gone there is only the exit code left.
    let _ = print(&Failed { schema, error });
}

/// The exit code of a command; with `--json` its failure is a document too.
pub fn finish(schema: &str, json: bool, result: Result<ExitCode, Failure>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            if json {
                print_failure(Some(schema), &error);
            }
            error.report()
        }
    }
}

//! `tcplab doctor`: what this machine can do, or far hosts, and how to get the rest.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_guest::doctor::{Check, Verdict, examine};
use tcplab_guest::store::Store;

use crate::args::DoctorArgs;
use crate::failure::Failure;
use crate::{json, screen, ssh};

/// Schema of the answer.
pub const SCHEMA: &str = "tcplab.doctor/1";

/// The answer of `doctor --json`.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    checks: Vec<Check>,
}

/// Runs the checks.
pub fn main(args: &DoctorArgs) -> ExitCode {
    let done = match &args.on {
        Some(hosts) => ssh::doctor(hosts, &args.ssh, args.json),
        None => run(args.json),
    };
    json::finish(SCHEMA, args.json, done)
}

fn run(json: bool) -> Result<ExitCode, Failure> {
    let document = Document {
        schema: SCHEMA,
        checks: examine(Store::of_user().ok().as_ref()),
    };
    json::or_words(json, &document, || print(&document.checks))
}

fn print(checks: &[Check]) -> Result<(), Failure> {
    let width = checks.iter().map(|c| c.id.len()).max().unwrap_or(0);
    let mut out = screen::plain();
    for check in checks {
        let verdict = match check.verdict {
            Verdict::Works => "ok",
            Verdict::Missing => "no",
            Verdict::Unknown => "?",
        };
        writeln!(out, "{verdict:2}  {:width$}  {}", check.id, check.found)?;
        if let Some(remedy) = &check.remedy {
            writeln!(out, "    {:width$}  for {}: {remedy}", "", check.used_for)?;
        }
    }
    Ok(())
}

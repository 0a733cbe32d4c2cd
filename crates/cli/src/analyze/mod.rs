//! `tcplab analyze`: reads captures, gives their packets to the analyser and its answers to the
//! outputs that were asked for. One file for each form of output.

pub mod fail_on;
mod form;
pub mod json;
mod order;
mod run;
mod text;

use std::path::Path;
use std::process::ExitCode;

use tcplab_analyze::report::{ReadError, Totals};

use crate::analyze::form::Form;
use crate::args::{AnalyzeArgs, Color};
use crate::failure::{Failure, Kind};
use crate::files::Out;

/// Runs the command. Failures after this point are part of the document when `--json` is on.
pub fn main(args: &AnalyzeArgs, color: Color) -> Result<ExitCode, Failure> {
    match analyze(args, color) {
        // When standard output itself failed, its document is broken beyond repair.
        Err(failure) if args.json && (failure.kind != Kind::Output || args.output.is_some()) => {
            json::empty_document(&failure);
            Err(failure)
        }
        done => done,
    }
}

fn analyze(args: &AnalyzeArgs, color: Color) -> Result<ExitCode, Failure> {
    if args.needs_trace() || args.flows.is_some() || args.interface.is_some() {
        return Err(Failure::cannot_run("this form of output is not built yet"));
    }
    let mut out = Out::open(args.output.as_deref())?;
    let mut form = form::choose(args, color);
    let mut verdict = fail_on::Verdict::new(&args.fail_on);
    let mut failure: Option<Failure> = None;
    form.open(&mut out)?;
    for file in &args.files {
        if let Err(f) = one_file(args, file, &mut out, form.as_mut(), &mut verdict)? {
            // Said at once, so that it stands beside the progress of the files after it.
            f.report();
            failure.get_or_insert(f);
        }
    }
    form.close(&mut out, failure.as_ref())?;
    out.close()?;
    Ok(match failure {
        Some(f) => ExitCode::from(f.code()),
        None => verdict.exit_code(),
    })
}

/// One file of the command line. The outer error ends the command (nobody takes the result); the
/// inner one is about this file only.
fn one_file(
    args: &AnalyzeArgs,
    path: &Path,
    out: &mut Out,
    form: &mut dyn Form,
    verdict: &mut fail_on::Verdict,
) -> Result<Result<(), Failure>, Failure> {
    let name = path.display().to_string();
    form.begin(out, &name)?;
    let (totals, failure) = match run::file(args, path, &mut |o| {
        verdict.see(&o);
        form.output(out, o)
    })? {
        Ok(totals) => {
            let failure = totals.error.as_ref().map(|e| damaged(&name, e));
            (totals, failure)
        }
        Err(failure) => {
            let totals = Totals {
                error: Some(ReadError {
                    offset: 0,
                    message: failure.message.clone(),
                }),
                ..Totals::default()
            };
            (totals, Some(failure))
        }
    };
    form.end(out, &totals)?;
    Ok(failure.map_or(Ok(()), Err))
}

fn damaged(name: &str, e: &ReadError) -> Failure {
    Failure::input(format!("{name}: offset {}: {}", e.offset, e.message))
}

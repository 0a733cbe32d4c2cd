//! `tcplab drill`: packetdrill scripts, in virtual time or on a kernel.

mod args;
mod capture;
mod expect;
mod junit;
mod names;
mod tap;
mod text;

use std::io::{self, Write};
use std::process::ExitCode;

use tcplab_lab::drill::{self, Captures, Case, DRILL_SCHEMA, DrillDocument, Job};

pub use args::DrillArgs;

use crate::args::Color;
use crate::failure::Failure;
use crate::files::{check_outputs, write};
use crate::progress::Bar;
use crate::run::{lab, processors};
use crate::{json, screen, terminal};

/// Runs `tcplab drill`.
pub fn main(args: &DrillArgs, color: Color) -> ExitCode {
    json::finish(DRILL_SCHEMA, args.json, run(args, color))
}

fn run(args: &DrillArgs, color: Color) -> Result<ExitCode, Failure> {
    check_outputs(&args.paths, &[("--junit", args.junit.as_deref())])?;
    let expected = args.expect.as_deref().map(expect::read).transpose()?;
    let scripts = drill::scripts(&args.paths)?;
    let cases = drill::cases(&scripts, &args.modes());
    if args.dry_run {
        return list(&cases);
    }
    let lab = lab()?;
    let stack = lab.stack(&args.on)?;
    let jobs = match args.serialized {
        true => 1,
        false => args.jobs.unwrap_or_else(processors),
    };
    let job = Job {
        stack: &stack,
        cases: &cases,
        jobs,
        tolerance_us: args.tolerance_us,
        defines: &args.define,
        logs: args.verbose > 1 || args.log_on_error || args.log_on_success,
        captures: match args.pcap {
            Some(_) => Captures::All,
            None => Captures::Failed,
        },
        mutants: args.mutants,
    };
    let bar = Bar::new("cases", "[{bar:30}] {pos} of {len} cases, {eta} left");
    let mut document = drill::run(&lab, &job, |done| {
        bar.show(done as u64, cases.len() as u64);
    })?;
    bar.clear();
    document.leave_out(&drill::left_out(&args.paths, &args.modes()), &scripts);
    if let Some(list) = &expected {
        expect::mark(&mut document, list);
    }
    match &args.pcap {
        Some(folder) => capture::write(folder, &mut document)?,
        None => capture::keep_failed(&mut document),
    }
    if let Some(folder) = &args.tap_dir {
        tap::write(folder, &args.paths, &document)?;
    }
    if let Some(file) = &args.junit {
        write(file, &junit::text(&document))?;
    }
    if args.json {
        json::print(&document)?;
    } else if args.tap {
        tap::print(&document)?;
    } else {
        text::print(&document, args, &terminal::theme(color, false))?;
    }
    Ok(ExitCode::from(code(&document)))
}

/// 1: a case failed that is not on the list of known failures; 4: no case could be run.
fn code(document: &DrillDocument) -> u8 {
    match (document.news(), document.passed + document.failed) {
        (1.., _) => 1,
        (0, 1..) => 0,
        (0, 0) => 4,
    }
}

/// `--dry-run`: the cases.
fn list(cases: &[Case]) -> Result<ExitCode, Failure> {
    let mut out = io::BufWriter::new(screen::plain());
    for case in cases {
        let (script, mode) = (case.script.display(), drill::word(case.mode));
        writeln!(out, "{script} ({mode})")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

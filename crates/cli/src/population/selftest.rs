//! `tcplab population self-test`: does the table decide what is not there?

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use tcplab_lab::population::{SelfTest, self_test};
use tcplab_os::Stop;

use super::args::SelfTestArgs;
use super::progress::Progress;
use crate::failure::Failure;
use crate::json;
use crate::run::processors;
use crate::screen;

/// Runs a self-test.
pub fn run(args: &SelfTestArgs) -> Result<ExitCode, Failure> {
    let text = crate::files::experiment(&args.experiment)?;
    let population = super::read(&args.experiment, &text, args.variant.as_deref(), args.seed)?;
    let stop = Stop::on_signals().map_err(|e| Failure::cannot_run(format!("signals: {e}")))?;
    let progress = Progress::new(1);
    let jobs = args.jobs.unwrap_or_else(processors);
    let size = (args.seeds, args.connections);
    let result = self_test(&population, &args.on, size, jobs, &stop, &|p| {
        progress.show(p)
    });
    progress.clear();
    let result = result?;
    json::or_words(args.json, &result, || print(&result))
}

fn print(result: &SelfTest) -> Result<(), Failure> {
    let mut out = screen::plain();
    writeln!(
        out,
        "{}: {} seeds from {}, {} connections each\n",
        result.experiment, result.seeds, result.first_seed, result.connections
    )?;
    writeln!(
        out,
        "  A/A test (two independent halves): {} of {} tables had a false decision (5 % are expected)",
        result.false_tables, result.seeds
    )?;
    let mut rows: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, row) in &result.false_rows {
        *rows.entry(row).or_default() += 1;
    }
    for (row, times) in rows {
        writeln!(out, "    {times} x {row}")?;
    }
    match result.planted {
        0 => writeln!(
            out,
            "  planted effect (5 % more timeouts): not tested, no table has a timeout to plant; use more --connections or worse paths"
        )?,
        _ => writeln!(
            out,
            "  planted effect (5 % more timeouts): detected in {} of {} tables",
            result.planted_found, result.seeds
        )?,
    }
    Ok(())
}

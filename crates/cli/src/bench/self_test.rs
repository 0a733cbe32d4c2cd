//! `tcplab bench --self-test`: the changes that a bench finds on this machine, and those that it invents.

use std::io::{self, Write};
use std::process::ExitCode;

use tcplab_bench::{Plan, SelfTest, self_test};
use tcplab_compare::Verdict;
use tcplab_os::Stop;
use tcplab_os::say;

use super::args::BenchArgs;
use crate::failure::{Failure, INTERRUPTED};
use crate::json;
use crate::screen;

/// Runs it and tells what it found.
pub fn run(args: &BenchArgs, tables: u32) -> Result<ExitCode, Failure> {
    let plan = super::plan(args)?;
    let stop = Stop::on_signals().map_err(|e| Failure::cannot_run(e.to_string()))?;
    let shows = crate::progress::is_for_people();
    let found = self_test(&plan, tables, &super::judged(args), &stop, |table, turn| {
        if shows {
            let (run, workload) = (turn.block + 1, turn.workload);
            let _ = write!(
                io::stderr(),
                "\r\x1b[Ktable {} of {tables}, run {run}: {workload}",
                table + 1
            );
        }
    })?;
    if shows {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    if found.tables.is_empty() {
        return Err(Failure::interrupted("interrupted before a table was done"));
    }
    match args.output.json {
        true => json::print(&found)?,
        false => screen::plain().write_all(text(&plan, &found).as_bytes())?,
    }
    if stop.wanted() {
        let done = found.tables.len();
        say(&format!(
            "tcplab: interrupted after {done} of {tables} tables"
        ));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

fn text(plan: &Plan, found: &SelfTest) -> String {
    let tables = found.tables.len();
    let mut out = format!(
        "Tables: {tables} of {}, {} pairs of runs of {} ms each\n\n",
        found.workloads.join(", "),
        pairs(found),
        plan.time.as_nanos() / 1_000_000
    );
    out += &format!(
        "  arms that are alike: {} of {tables} had a row that is worse or better\n",
        found.false_tables()
    );
    for (number, table) in found.tables.iter().enumerate() {
        for (row, change) in &table.false_rows {
            out += &format!("    table {}: {row} {change:+.1} %\n", number + 1);
        }
    }
    for percent in [10, 5] {
        out += &planted(found, percent);
    }
    out
}

/// Pairs of a workload in a table.
fn pairs(found: &SelfTest) -> String {
    let all = || found.tables.iter().flat_map(|table| &table.runs);
    match (all().min(), all().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        _ => found.runs.to_string(),
    }
}

/// What became of the slowdowns of one size.
fn planted(found: &SelfTest, percent: u32) -> String {
    let all: Vec<_> = found.planted(percent).collect();
    let firsts = |verdict| all.iter().filter(move |p| p.first.verdict == verdict);
    let mut out = format!(
        "  one workload slowed by {percent} %: found in {} of {}",
        firsts(Verdict::Worse).count(),
        all.len()
    );
    let undecided = firsts(Verdict::Undecided).count();
    if undecided > 0 {
        let thens: Vec<_> = all.iter().filter_map(|p| p.then.as_ref()).collect();
        let decided = thens.iter().filter(|said| said.verdict == Verdict::Worse);
        let runs = thens.iter().map(|said| said.runs);
        out += &format!("; undecided in {undecided}");
        if let (Some(least), Some(most)) = (runs.clone().min(), runs.max()) {
            out += &format!(
                ", found with the runs that were asked for ({least} to {most}) in {} of {}",
                decided.count(),
                thens.len()
            );
        }
    }
    let others = all
        .iter()
        .filter(|p| !matches!(p.first.verdict, Verdict::Worse | Verdict::Undecided));
    for other in others {
        out += &format!("; {} in {}", other.first.verdict.word(), other.workload);
    }
    out + "\n"
}

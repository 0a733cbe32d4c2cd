//! `cargo xtask fidelity`: the same experiments on a real kernel and on the model, packet by packet.
//!
//! The list is `tests/fidelity/*.toml` ([`list`]); `--random` draws scenarios that nobody chose
//! ([`random`]). Both stacks run in virtual time and begin at the same place in a tick
//! (`run.boot`), so timers of both must fire at the same jiffy. What differs falls into classes, and
//! [`reasons`] says of some why.

mod compare;
mod end;
mod list;
mod packets;
mod runs;
mod show;
mod table;
mod verdict;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use list::Scenario;
use runs::{Pair, Runs};
use verdict::Verdict;

/// What `cargo xtask fidelity` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Only scenarios whose name matches (`*` stands for anything)
    #[arg(long, value_name = "GLOB")]
    only: Option<String>,
    /// Show this scenario side by side
    #[arg(long, value_name = "NAME")]
    show: Option<String>,
    /// With --show: all packets, not only those around the first difference
    #[arg(long)]
    whole: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// The kernel
    #[arg(long, value_name = "STACK", default_value = "uml:6.1@1000")]
    oracle: String,
    /// What is compared with it
    #[arg(long, value_name = "STACK", default_value = "model:linux-6.1@1000")]
    model: String,
    /// Runs at once
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Run the kernel again, where a result of it is kept
    #[arg(long)]
    fresh: bool,
    /// Least share of equal scenarios, in percent; below it the exit code is 1
    #[arg(long, value_name = "PERCENT", default_value_t = 90.0)]
    least: f64,
}

/// A scenario and what came of it.
pub struct Judged {
    scenario: Scenario,
    pair: Pair,
    verdict: Verdict,
}

/// Runs the command.
pub fn run(root: &Path, args: &Args) -> Result<ExitCode> {
    let runs = Runs::new(root, &args.oracle, &args.model, args.fresh)?;
    let mut scenarios = list::scenarios(root)?;
    let wanted = args.show.as_ref().or(args.only.as_ref());
    if let Some(glob) = wanted {
        scenarios.retain(|s| matches(glob, &s.name));
    }
    if scenarios.is_empty() {
        bail!("no scenario has such a name");
    }
    let judged = judge(&runs, scenarios, args)?;
    if args.show.is_some() {
        judged.iter().for_each(|j| show_one(j, args.whole));
        return Ok(ExitCode::SUCCESS);
    }
    match args.json {
        true => println!("{}", table::json(&judged)?),
        false => print!("{}", table::text(&judged)),
    }
    let share = table::share(&judged);
    Ok(ExitCode::from(u8::from(share < args.least)))
}

/// Runs every scenario on both stacks and compares.
fn judge(runs: &Runs, scenarios: Vec<Scenario>, args: &Args) -> Result<Vec<Judged>> {
    let hz = hz(&args.oracle);
    let pairs = runs::on_all(&scenarios, args.jobs, |s: &Scenario, cpu| {
        let pair = runs.pair(&s.point, cpu);
        pair.map_err(|e| e.context(s.name.clone()))
    })?;
    let both = scenarios.into_iter().zip(pairs);
    Ok(both
        .map(|(scenario, pair)| Judged {
            verdict: Verdict::of(&scenario.point, hz, &pair),
            scenario,
            pair,
        })
        .collect())
}

fn show_one(j: &Judged, whole: bool) {
    println!("== {}: {}", j.scenario.name, j.verdict.class());
    let warnings = j.pair.a.result.warnings.iter();
    warnings.for_each(|warning| println!("warning: {warning}"));
    let b = j.pair.b.as_ref().map(|r| r.packets.as_slice());
    let b = b.unwrap_or_default();
    print!(
        "{}",
        show::side_by_side(&j.pair.a.packets, b, &j.verdict.packets, whole)
    );
    print!("{}", show::others(&j.verdict));
}

/// The tick of a stack by its name: `@1000` at its end, or 250.
fn hz(stack: &str) -> i64 {
    let at = stack.rsplit_once('@').map(|(_, hz)| hz);
    at.and_then(|hz| hz.parse().ok()).unwrap_or(250)
}

/// Whether a name matches a pattern in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let before: &str = before;
            match rest.find(before) {
                Some(at) => rest = &rest[at + before.len()..],
                None => return false,
            }
        }
    }
    match last {
        None => rest.is_empty(),
        Some(end) => rest.len() >= end.len() && rest.ends_with(end),
    }
}

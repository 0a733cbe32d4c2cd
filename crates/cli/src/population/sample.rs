//! `tcplab population sample`: some connections on a real kernel, and the same on the model.

use std::io::Write;
use std::process::ExitCode;

use tcplab_lab::population::sample::{Extent, Sample, SampleArm, SampleSums, sample};
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::table::{Align, Cell, Table};

use super::args::SampleArgs;
use crate::args::Color;
use crate::failure::Failure;
use crate::files;
use crate::json;
use crate::run::{lab, processors};
use crate::screen;
use crate::terminal;

/// `schema` of the document.
pub const SCHEMA: &str = tcplab_lab::population::sample::SCHEMA;

/// Connections that differ whose numbers are shown.
const SHOWN: usize = 15;

/// A row: its title, and what it is of the sums.
type Row = (&'static str, fn(&SampleSums) -> Option<f64>);

const ROWS: [Row; 9] = [
    ("TCPTimeouts", |s| counter(s, "TcpExtTCPTimeouts")),
    ("TCPLossProbes", |s| counter(s, "TcpExtTCPLossProbes")),
    ("TCPDSACKRecv", |s| counter(s, "TcpExtTCPDSACKRecv")),
    ("cwnd undos", |s| {
        let names = ["Full", "Partial", "Loss", "DSACK"];
        names
            .iter()
            .map(|name| counter(s, &format!("TcpExtTCP{name}Undo")))
            .sum()
    }),
    ("RetransSegs", |s| counter(s, "TcpRetransSegs")),
    ("OutSegs", |s| counter(s, "TcpOutSegs")),
    ("recovery latency, mean ms", |s| {
        let count = counter(s, "TcpExtTCPRecovCnt").filter(|n| *n > 0.0)?;
        Some(counter(s, "TcpExtTCPRecovLat")? / count / 1e3)
    }),
    ("response, mean ms", |s| Some(s.mean_us / 1e3)),
    ("response, p95 ms", |s| Some(s.p95_us as f64 / 1e3)),
];

fn counter(sums: &SampleSums, name: &str) -> Option<f64> {
    sums.counters.get(name).map(|n| *n as f64)
}

/// Runs a sample.
pub fn run(args: &SampleArgs, color: Color) -> Result<ExitCode, Failure> {
    let text = files::experiment(&args.experiment)?;
    let mut population = super::read(&args.experiment, &text, args.variant.as_deref(), args.seed)?;
    if !args.arms.is_empty() {
        let is_there = |name: &&String| population.arms.iter().any(|arm| arm.name == **name);
        if let Some(wrong) = args.arms.iter().find(|name| !is_there(name)) {
            return Err(super::no_arm(wrong, &population));
        }
        population.arms.retain(|arm| args.arms.contains(&arm.name));
    }
    let lab = lab()?;
    let stacks = (args.model.as_str(), args.on.as_str());
    let jobs = args.jobs.unwrap_or_else(processors);
    let bar = crate::population::progress::guests();
    let sample = sample(
        &lab,
        &population,
        stacks,
        Extent {
            connections: args.connections as usize,
            together: usize::from(args.together),
            jobs,
        },
        &|done, all| {
            bar.show(done as u64, all as u64);
        },
    );
    bar.clear();
    let sample = sample?;
    json::or_words(args.json, &sample, || {
        print(&sample, &terminal::theme(color, false))
    })
}

fn print(sample: &Sample, theme: &Theme) -> Result<(), Failure> {
    let mut out = screen::painted(theme);
    writeln!(
        out,
        "{}: {} connections of seed {} in each arm ({} skipped: their client is not plain Linux)\n",
        sample.experiment, sample.connections, sample.seed, sample.passed_over
    )?;
    let mut columns = vec![("", Align::Left)];
    let names: Vec<String> = sample
        .arms
        .iter()
        .flat_map(|arm| ["model", "kernel"].map(|side| format!("{} {side}", arm.name)))
        .collect();
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for (title, of) in ROWS {
        let mut cells: Vec<Cell> = vec![title.into()];
        for arm in &sample.arms {
            for (side, sums) in arm.sums.iter().enumerate() {
                let baseline = sample.arms.first().and_then(|first| of(&first.sums[side]));
                let is_first = sample
                    .arms
                    .first()
                    .is_some_and(|first| first.name == arm.name);
                cells.push(value(of(sums), baseline.filter(|_| !is_first)).into());
            }
        }
        table.row(cells);
    }
    write!(out, "{}", table.render(theme))?;
    writeln!(out)?;
    for arm in &sample.arms {
        writeln!(
            out,
            "  {}: {} of {} connections got every response at the same time on both, to within a jiffy",
            arm.name, arm.alike, sample.connections
        )?;
        if !arm.differ.is_empty() {
            writeln!(out, "     not {}", others(arm))?;
        }
    }
    Ok(())
}

/// The numbers of the connections that differ, as far as a line holds them.
fn others(arm: &SampleArm) -> String {
    let shown: Vec<String> = arm
        .differ
        .iter()
        .take(SHOWN)
        .map(|one| one.connection.to_string())
        .collect();
    match arm.differ.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more (--json)", shown.join(", ")),
    }
}

/// The value, and in per cent of the baseline's.
fn value(value: Option<f64>, baseline: Option<f64>) -> String {
    let Some(value) = value else {
        return "-".to_owned();
    };
    let digits = if value.fract() == 0.0 { 0 } else { 1 };
    match baseline.filter(|b| *b != 0.0) {
        Some(b) => format!("{value:.digits$} ({:+.1} %)", (value / b - 1.0) * 100.0),
        None => format!("{value:.digits$}"),
    }
}

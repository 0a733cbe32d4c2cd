//! `tcplab population show`: the distributions as they are drawn.

use std::io::Write;
use std::process::ExitCode;

use tcplab_lab::population::shown::{Document, Shown, show};
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::table::{Align, Cell, Table};

use super::args::ShowArgs;
use crate::args::Color;
use crate::failure::Failure;
use crate::files::{self, check_outputs};
use crate::json;
use crate::screen;
use crate::terminal;

/// `schema` of the document.
pub const SCHEMA: &str = tcplab_lab::population::shown::SCHEMA;

/// Shows a population.
pub fn run(args: &ShowArgs, color: Color) -> Result<ExitCode, Failure> {
    check_outputs([&args.experiment], &[("--html", args.html.as_deref())])?;
    let text = files::experiment(&args.experiment)?;
    let population = super::read(&args.experiment, &text, args.variant.as_deref(), None)?;
    let shown = show(&population, args.draws);
    if let Some(html) = &args.html {
        super::page::write_shown(html, &shown)?;
    }
    json::or_words(args.json, &shown, || {
        print(&shown, &terminal::theme(color, false))
    })
}

fn print(shown: &Document, theme: &Theme) -> Result<(), Failure> {
    let mut out = screen::painted(theme);
    writeln!(
        out,
        "{}: {} connections drawn with seed {}\n",
        shown.experiment, shown.draws, shown.seed
    )?;
    let mut table = Table::new(&[
        ("", Align::Left),
        ("mean", Align::Right),
        ("p5", Align::Right),
        ("p25", Align::Right),
        ("p50", Align::Right),
        ("p75", Align::Right),
        ("p95", Align::Right),
        ("p99", Align::Right),
        ("by equal steps of the logarithm", Align::Left),
    ]);
    for one in &shown.quantities {
        table.row(row(one));
    }
    write!(out, "{}", table.render(theme))?;
    writeln!(out)?;
    for kind in &shown.kinds {
        writeln!(out, "  {}", kind.what)?;
        for (name, part) in &kind.parts {
            writeln!(out, "    {:>6.2} %  {name}", part * 100.0)?;
        }
    }
    writeln!(out, "\n  What is drawn:")?;
    for (key, text) in &shown.texts {
        writeln!(out, "    {key} = {text}")?;
    }
    Ok(())
}

fn row(one: &Shown) -> Vec<Cell> {
    let value = |n: f64| -> Cell { one.unit.text(n).into() };
    let mut cells: Vec<Cell> = vec![one.what.as_str().into(), value(one.mean)];
    cells.extend(one.percentiles.iter().map(|(_, n)| value(*n as f64)));
    cells.push(bars(&one.histogram.iter().map(|(_, n)| *n).collect::<Vec<_>>()).into());
    cells
}

/// A histogram in eighths of a line.
fn bars(counts: &[u64]) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let level = |n: &u64| match n {
        0 => ' ',
        n => LEVELS[(n * 7).div_ceil(most) as usize],
    };
    counts.iter().map(level).collect()
}

//! The variants of a population's file: which are wanted, and the table of what becomes of each row.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use tcplab_plan::Population;
use tcplab_plan::population::{Cell as Outcome, Effect, VariantsDocument, Verdict};
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::table::{Align, Cell, Table};

use super::page::{Source, Variant};
use super::table::{cost_words, inked, mark};
use crate::args::Color;
use crate::failure::Failure;
use crate::run::args::RunArgs;
use crate::{json, screen, terminal};

/// The variants of a file, or those named in `only`. Empty when the file has no variants.
pub fn chosen(path: &Path, text: &str, only: &[String]) -> Result<Vec<Population>, Failure> {
    let name = crate::files::name_of(path);
    let mut all = Population::variants(&name, text).map_err(|e| Failure::input(e.to_string()))?;
    let names: Vec<String> = all.iter().filter_map(|v| v.variant.clone()).collect();
    if let Some(wrong) = only.iter().find(|name| !names.contains(name)) {
        return Err(Failure::usage(match names.is_empty() {
            true => format!("{name} has no [[variant]] tables, so no variant `{wrong}`"),
            false => format!(
                "no variant `{wrong}`; the variants are {}",
                names.join(", ")
            ),
        }));
    }
    if !only.is_empty() {
        all.retain(|v| v.variant.as_ref().is_some_and(|name| only.contains(name)));
    }
    Ok(all)
}

/// How the page names each of them on a command line.
pub fn sources<'a>(args: &'a RunArgs, populations: &'a [Population]) -> Vec<Variant<'a>> {
    let source = |population: &'a Population| Source {
        path: args.out.as_ref().unwrap_or(&args.experiment),
        seed: args.seed.filter(|_| args.out.is_none()),
        variant: population.variant.as_deref(),
    };
    let one = |population| Variant {
        population,
        source: source(population),
    };
    populations.iter().map(one).collect()
}

/// Prints what variants came to.
pub fn tell(
    document: &VariantsDocument,
    as_json: bool,
    out: Option<&Path>,
    color: Color,
) -> Result<ExitCode, Failure> {
    json::or_words(as_json, document, || {
        let theme = terminal::theme(color, false);
        for variant in &document.variants {
            super::table::print(variant, &theme)?;
            screen::plain().write_all(b"\n")?;
        }
        print(document, &theme)?;
        super::say_where(out)
    })
}

/// The tables side by side: one for each arm, a row for each quantity, a column for each variant.
fn print(document: &VariantsDocument, theme: &Theme) -> Result<(), Failure> {
    let Some(first) = document.variants.first() else {
        return Ok(());
    };
    let mut out = io::BufWriter::new(screen::painted(theme));
    for arm in first.arms.iter().skip(1) {
        writeln!(
            out,
            "{} in percent of {}, by variant\n",
            arm.name, document.variants[0].baseline
        )?;
        let of_arm = |effect: &&Effect| effect.arm == arm.name;
        let effects = document.effects.iter().filter(of_arm);
        writeln!(out, "{}", side_by_side(effects).render(theme))?;
    }
    writeln!(
        out,
        "  * differs from the baseline; = the same, inside the band; ? undecided; - no value. Intervals: above, and in --json"
    )?;
    if let Some(cost) = &document.cost {
        writeln!(out, "\n{}", cost_words(cost))?;
    }
    out.flush()?;
    Ok(())
}

fn side_by_side<'a>(effects: impl Iterator<Item = &'a Effect>) -> Table {
    let effects: Vec<&Effect> = effects.collect();
    let cells = effects.first().map(|e| e.cells.as_slice());
    let names = cells.unwrap_or_default().iter().map(|c| c.variant.as_str());
    let mut columns = vec![("", Align::Left)];
    columns.extend(names.map(|name| (name, Align::Right)));
    let mut table = Table::new(&columns);
    for effect in effects {
        let mut row: Vec<Cell> = vec![effect.title.as_str().into()];
        row.extend(effect.cells.iter().map(cell));
        table.row(row);
    }
    table
}

fn cell(outcome: &Outcome) -> Cell {
    match outcome.percent {
        None if outcome.verdict == Verdict::Undecided => "-".into(),
        // The baseline is 0.
        None => inked(
            format!("{} {}", outcome.verdict.word(), mark(outcome.verdict)),
            outcome.verdict,
        ),
        Some(percent) => {
            let digits = if percent.abs() < 10.0 { 2 } else { 1 };
            let text = format!("{percent:+.digits$} {}", mark(outcome.verdict));
            inked(text, outcome.verdict)
        }
    }
}

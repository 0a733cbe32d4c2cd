//! The table of a population, as the netdev message prints it: a row for each quantity, a column for each arm.

use std::io::{self, Write};

use indicatif::HumanCount;
use tcplab_plan::population::{ArmResult, PopulationCost, PopulationDocument, Row, Verdict};
use tcplab_plan::profile::unverified;
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::style::Ink;
use tcplab_report::terminal::table::{Align, Cell, Table};

use crate::failure::Failure;
use crate::screen;

/// Prints a run's table.
pub fn print(document: &PopulationDocument, theme: &Theme) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(screen::painted(theme));
    let variant = document.variant.iter().map(|name| format!(" ({name})"));
    let name = document.experiment.clone() + &variant.collect::<String>();
    match &document.title {
        Some(title) => writeln!(out, "{name}: {title}\n")?,
        None => writeln!(out, "{name}\n")?,
    }
    let part = match document.shard.as_str() {
        "1/1" => String::new(),
        shard => format!(" (shard {shard})"),
    };
    writeln!(
        out,
        "{}, seed {}, {} connections in each of {} arms{part}{}\n",
        document.stack,
        document.seed,
        HumanCount(document.connections),
        document.arms.len(),
        if document.stopped {
            "; stopped: every row is decided"
        } else {
            ""
        }
    )?;
    if let Some(note) = unverified(&document.stack) {
        writeln!(out, "{note}\n")?;
    }
    write!(out, "{}", arms(document).render(theme))?;
    if let Some(words) = cut_short(document) {
        writeln!(out, "\n  {words}")?;
    }
    if document.arms.len() > 1 {
        writeln!(
            out,
            "\nChange from {} in percent, with 95 % intervals (paired bootstrap over groups of connections)\n",
            document.baseline
        )?;
        write!(out, "{}", differences(document).render(theme))?;
        writeln!(
            out,
            "\n  * differs, at a false discovery rate of {} % over the table; = the same, inside the band; ? undecided",
            document.level * 100.0
        )?;
        for note in notes(document) {
            writeln!(out, "  {note}")?;
        }
    }
    if let Some(cost) = &document.cost {
        writeln!(out, "\n{}", cost_words(cost))?;
    }
    out.flush()?;
    Ok(())
}

/// What a run cost.
pub fn cost_words(cost: &PopulationCost) -> String {
    let rate = cost.connections as f64 / cost.user_s.max(1e-9);
    format!(
        "{} connections in {:.1} s: {} a CPU second, {:.1} million packets, {} MB",
        HumanCount(cost.connections),
        cost.wall_s,
        HumanCount(rate as u64),
        cost.tcp_packets as f64 / 1e6,
        cost.peak_rss_bytes / 1_000_000
    )
}

/// What each arm did.
fn arms(document: &PopulationDocument) -> Table {
    let mut table = Table::new(&[
        ("arm", Align::Left),
        ("responses", Align::Right),
        ("unfinished", Align::Right),
        ("lossy connections", Align::Right),
        ("mean", Align::Right),
        ("p50", Align::Right),
        ("p95", Align::Right),
        ("p99", Align::Right),
        ("without the slowest 1 %", Align::Right),
        ("recoveries", Align::Right),
        ("mean", Align::Right),
    ]);
    let ms = |us: Option<f64>| us.map_or("-".to_owned(), |us| format!("{:.1} ms", us / 1e3));
    for arm in &document.arms {
        let latency = &arm.latency;
        let lossy = arm.lossy_connections as f64 / arm.connections.max(1) as f64;
        table.row(vec![
            arm.name.as_str().into(),
            HumanCount(latency.count).to_string().into(),
            HumanCount(arm.requests - latency.count.min(arm.requests))
                .to_string()
                .into(),
            format!("{:.2} %", lossy * 100.0).into(),
            ms(latency.mean_us).into(),
            ms(latency.p50_us.map(|us| us as f64)).into(),
            ms(latency.p95_us.map(|us| us as f64)).into(),
            ms(latency.p99_us.map(|us| us as f64)).into(),
            ms(latency.trimmed_mean_us).into(),
            HumanCount(arm.recovery.count).to_string().into(),
            ms(arm.recovery.mean_us).into(),
        ]);
    }
    table
}

/// The connections that the limit of a run ended; none: no connection reached it.
fn cut_short(document: &PopulationDocument) -> Option<String> {
    let counts = document.arms.iter().filter(|arm| arm.cut_short > 0);
    let counts: Vec<String> = counts
        .map(|arm| format!("{} of {}", HumanCount(arm.cut_short), arm.name))
        .collect();
    (!counts.is_empty()).then(|| {
        format!(
            "connections that the limit of one hour ended, not their network: {}",
            counts.join(", ")
        )
    })
}

fn differences(document: &PopulationDocument) -> Table {
    let others: Vec<&str> = document.arms[1..].iter().map(|a| a.name.as_str()).collect();
    let mut columns = vec![
        ("", Align::Left),
        (document.baseline.as_str(), Align::Right),
    ];
    columns.extend(others.iter().map(|name| (*name, Align::Right)));
    let mut table = Table::new(&columns);
    for rows in document.rows.chunks(others.len().max(1)) {
        let Some(first) = rows.first() else { continue };
        let mut cells: Vec<Cell> = vec![first.title.as_str().into(), baseline(rows).into()];
        cells.extend(rows.iter().map(cell));
        table.row(cells);
    }
    table
}

/// The baseline's value: from its least to its most where it depends on the arm, as a mean over the responses that
/// finished in both does.
fn baseline(rows: &[Row]) -> String {
    let told = rows.iter().filter_map(|row| Some((row.baseline?, row)));
    let by_value = |a: &(f64, &Row), b: &(f64, &Row)| a.0.total_cmp(&b.0);
    let (least, most) = (told.clone().min_by(by_value), told.max_by(by_value));
    let words = |end: Option<(f64, &Row)>| end.map(|(value, row)| amount(value, row));
    match (words(least), words(most)) {
        (Some(least), Some(most)) if least != most => {
            let number = least.split(' ').next().unwrap_or_default();
            format!("{number}-{most}")
        }
        (Some(value), _) => value,
        _ => "-".to_owned(),
    }
}

/// A value with the row's unit.
fn amount(value: f64, row: &Row) -> String {
    let unit = match row.unit.starts_with("per 1000 ") {
        true => "/1000",
        false => row.unit.as_str(),
    };
    let digits = if value.abs() >= 100.0 { 1 } else { 2 };
    format!("{value:.digits$} {unit}")
}

fn cell(row: &Row) -> Cell {
    let mark = mark(row.verdict);
    let Some(percent) = row.percent else {
        return match (row.value, &row.missing) {
            (None, _) => "-".into(),
            (Some(value), Some(_)) => Cell::from(format!("{} -", amount(value, row))),
            // The baseline is 0: no per cent, but perhaps a verdict.
            (Some(value), None) => inked(format!("{} {mark}", amount(value, row)), row.verdict),
        };
    };
    let digits = if percent.abs() < 10.0 { 2 } else { 1 };
    let range = row.interval.map_or(String::new(), |[low, high]| {
        format!(" [{low:+.digits$} {high:+.digits$}]")
    });
    inked(format!("{percent:+.digits$}{range} {mark}"), row.verdict)
}

/// The letter of a verdict.
pub fn mark(verdict: Verdict) -> char {
    match verdict {
        Verdict::Lower | Verdict::Higher => '*',
        Verdict::Same => '=',
        Verdict::Undecided => '?',
    }
}

/// A text in the ink of its verdict.
pub fn inked(text: String, verdict: Verdict) -> Cell {
    match verdict {
        Verdict::Undecided => Cell::inked(text, Ink::Dim),
        Verdict::Same => Cell::from(text),
        Verdict::Lower | Verdict::Higher => Cell::inked(text, Ink::Bold),
    }
}

/// How many connections the undecided rows want, and why some have no value.
fn notes(document: &PopulationDocument) -> Vec<String> {
    let wants = |row: &&Row| row.verdict == Verdict::Undecided && row.missing.is_none();
    let undecided: Vec<&Row> = document.rows.iter().filter(wants).collect();
    let mut notes = Vec::new();
    if !undecided.is_empty() {
        let mut needs: Vec<u64> = undecided
            .iter()
            .filter_map(|r| r.more_connections)
            .collect();
        needs.sort_unstable();
        let half = needs.get(needs.len().saturating_sub(1) / 2);
        let more = half.map_or(String::new(), |n| {
            format!(
                "; {} more connections would decide about half of them, if the measured differences are real",
                HumanCount(*n)
            )
        });
        notes.push(format!(
            "{} of {} rows are undecided{more}",
            undecided.len(),
            document.rows.len()
        ));
    }
    let mut missing: Vec<String> = document
        .rows
        .iter()
        .filter_map(|row| Some(format!("-: {}: {}", row.title, row.missing.as_ref()?)))
        .collect();
    missing.dedup();
    notes.extend(missing);
    notes.extend(alike(&document.arms));
    let left = |arm: &ArmResult| arm.latency.count < arm.requests;
    if document.arms.iter().any(left) {
        notes.push(
            "response means: of the responses that finished in both arms (first table: in each arm); quantiles count an unfinished response as the slowest"
                .to_owned(),
        );
    }
    notes
}

/// The arms that gave the same; none: each gave something of its own.
fn alike(arms: &[ArmResult]) -> Option<String> {
    let gave = |arm: &ArmResult| ArmResult {
        name: String::new(),
        ..arm.clone()
    };
    let mut kinds: Vec<(ArmResult, Vec<&str>)> = Vec::new();
    for arm in arms {
        let gave = gave(arm);
        match kinds.iter_mut().find(|(known, _)| *known == gave) {
            Some((_, names)) => names.push(arm.name.as_str()),
            None => kinds.push((gave, vec![arm.name.as_str()])),
        }
    }
    let several = kinds.iter().filter(|(_, names)| names.len() > 1);
    let named: Vec<String> = several
        .map(|(_, names)| format!("`{}`", names.join("`, `")))
        .collect();
    (!named.is_empty()).then(|| {
        format!(
            "the arms {} gave the same in every row: what sets them apart changed no result",
            named.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_that_gave_the_same_are_named() {
        let arm = |name: &str, requests| ArmResult {
            name: name.to_owned(),
            requests,
            ..ArmResult::default()
        };
        let arms = [arm("B", 7), arm("D", 8), arm("twin", 7)];
        let said = alike(&arms).unwrap();
        assert!(
            said.starts_with("the arms `B`, `twin` gave the same"),
            "{said}"
        );
        assert_eq!(alike(&arms[..2]), None);
    }
}

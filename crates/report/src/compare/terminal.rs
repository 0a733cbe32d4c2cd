//! The table on a terminal: what changed, the suites of tests, objections, what the words mean.

use tcplab_compare::{Comparison, Count, CountRow, Flag, FlagKind, Row, Verdict};

use super::{figures, legend, shown, verdicts};
use crate::qa::sides;
use crate::terminal::Theme;
use crate::terminal::style::{Ink, safe, wrap};
use crate::terminal::table::{Align, Cell, Table};

/// Fewest columns of the table, even on a narrower terminal.
const LEAST_WIDTH: usize = 100;
/// Names are not cut below this.
const LEAST_NAME: usize = 16;
/// So many rows of an objection are listed.
const LISTED: usize = 6;

/// Draws the comparison; with `all` also what is equal or on one side only.
pub fn terminal(comparison: &Comparison, all: bool, theme: &Theme) -> String {
    let width = theme.width.max(LEAST_WIDTH);
    let mut out = format!(
        "{}\n\n",
        theme.paint(Ink::Bold, &safe(&figures::title(comparison)))
    );
    let (rows, left_out) = shown(comparison, all);
    if !rows.is_empty() {
        out += &metrics(&rows, width, theme);
    }
    if left_out > 0 {
        out += &format!("  {left_out} rows are equal or on one side only (--all shows them)\n");
    }
    if !comparison.counts.is_empty() {
        let gap = if rows.is_empty() { "" } else { "\n" };
        out += &format!("{gap}{}", suites(&comparison.counts, theme));
    }
    for flag in &comparison.flags {
        out += &format!("\n{}", objection(flag, all, width, theme));
    }
    out += &format!("\n{}\n", theme.paint(Ink::Bold, &verdicts(comparison)));
    for line in legend(comparison) {
        out += &theme.lines(&line, width - 2, "  ", Some(Ink::Dim));
    }
    out
}

fn metrics(rows: &[&Row], width: usize, theme: &Theme) -> String {
    let whole = table(rows, usize::MAX, true);
    if whole.width() <= width {
        return whole.render(theme);
    }
    let without_p = table(rows, usize::MAX, false);
    let over = without_p.width().saturating_sub(width);
    if over == 0 {
        return without_p.render(theme);
    }
    let longest = rows.iter().map(|row| row.label().chars().count()).max();
    let name = longest.unwrap_or(0).saturating_sub(over).max(LEAST_NAME);
    table(rows, name, false).render(theme)
}

fn table(rows: &[&Row], name: usize, with_p: bool) -> Table {
    let mut columns = vec![
        ("metric", Align::Left),
        ("unit", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("change %", Align::Right),
        ("interval", Align::Right),
        ("p", Align::Right),
        ("runs", Align::Right),
        ("verdict", Align::Left),
    ];
    if !with_p {
        columns.remove(6);
    }
    let mut table = Table::new(&columns);
    for row in rows {
        let [unit, before, after] = figures::sides(row);
        let unit = format!("{unit} {}", figures::arrow(row.better));
        let mut cells: Vec<Cell> = vec![
            cut(&safe(&row.label()), name).into(),
            safe(unit.trim()).into(),
            before.into(),
            after.into(),
            figures::change(row).into(),
            figures::interval(row).into(),
            figures::p(row).into(),
            figures::runs(row).into(),
            Cell::inked(figures::verdict(row), ink(row.verdict)),
        ];
        if !with_p {
            cells.remove(6);
        }
        table.row(cells);
    }
    table.drop_empty(&[]);
    table
}

/// The colour of a verdict.
pub(crate) const fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Worse => Ink::Red,
        Verdict::Better => Ink::Green,
        Verdict::Same | Verdict::Equal => Ink::Dim,
        _ => Ink::Yellow,
    }
}

/// A name without its middle.
fn cut(name: &str, most: usize) -> String {
    let count = name.chars().count();
    if count <= most {
        return name.to_owned();
    }
    let keep = most.saturating_sub(1);
    let head: String = name.chars().take(keep - keep / 2).collect();
    let tail: String = name.chars().skip(count - keep / 2).collect();
    format!("{head}\u{2026}{tail}")
}

fn suites(counts: &[CountRow], theme: &Theme) -> String {
    let mut table = Table::new(&[
        ("tests", Align::Left),
        ("passed", Align::Right),
        ("failed", Align::Right),
        ("skipped", Align::Right),
        ("verdict", Align::Left),
    ]);
    for row in counts {
        let pair = |of: fn(&Count) -> Option<u64>| {
            let [before, after] = sides(row, of);
            match before == after {
                true => before,
                false => format!("{before} -> {after}"),
            }
        };
        table.row(vec![
            safe(&row.name).into(),
            pair(|c| c.passed).into(),
            pair(|c| c.failed).into(),
            pair(|c| c.skipped).into(),
            Cell::inked(row.verdict.word(), ink(row.verdict)),
        ]);
    }
    let mut out = table.render(theme);
    for row in counts {
        for (what, names) in [
            ("newly failed", &row.newly_failed),
            ("newly passed", &row.newly_passed),
            ("newly skipped", &row.newly_skipped),
        ] {
            if !names.is_empty() {
                let head = format!("{} {what}", row.name);
                out += &format!("  {}: {}\n", safe(&head), some(names, LISTED));
            }
        }
    }
    out
}

fn some(names: &[String], most: usize) -> String {
    let mut text = names
        .iter()
        .take(most)
        .map(|n| safe(n))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > most {
        text += &format!(" and {} more", names.len() - most);
    }
    text
}

fn objection(flag: &Flag, all: bool, width: usize, theme: &Theme) -> String {
    let mark = match flag.kind {
        FlagKind::Note | FlagKind::NotInterleaved => "note",
        _ => "look",
    };
    let mut out = String::new();
    let head = format!("{}: {}", mark, safe(&flag.text));
    for (at, line) in wrap(&head, width - 2).iter().enumerate() {
        let line = match at {
            0 => line.replacen(mark, &theme.paint(Ink::Yellow, mark), 1),
            _ => format!("  {line}"),
        };
        out += &format!("{line}\n");
    }
    let most = if all { usize::MAX } else { LISTED };
    // One line where they are short.
    let joined = some(&flag.rows, most);
    if joined.chars().count() <= 2 * width {
        return out + &theme.lines(&joined, width - 4, "  ", None);
    }
    for row in flag.rows.iter().take(most) {
        out += &theme.lines(&safe(row), width - 4, "  ", None);
    }
    if flag.rows.len() > most {
        out += &format!("  and {} more (--all)\n", flag.rows.len() - most);
    }
    out
}

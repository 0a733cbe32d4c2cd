//! The table as Markdown, for a merge request or a report.

use tcplab_base::{REPLACEMENT, is_hidden};
use tcplab_compare::{Better, Comparison, Row};

use super::{figures, legend, verdicts};
use crate::qa::pair;

/// Draws the comparison.
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = format!(
        "**{} \u{2192} {}**: {}\n",
        cell(&comparison.before),
        cell(&comparison.after),
        verdicts(comparison)
    );
    if !comparison.rows.is_empty() {
        out += "\n| metric | unit | better | before | after | change % | interval | p | runs | verdict |\n";
        out += "|---|---|---|--:|--:|--:|:-:|--:|--:|---|\n";
        for row in &comparison.rows {
            out += &line(row);
        }
    }
    if !comparison.counts.is_empty() {
        out += "\n| tests | passed | failed | skipped | verdict |\n|---|--:|--:|--:|---|\n";
        for row in &comparison.counts {
            out += &format!(
                "| {} | {} | {} | {} | {} |\n",
                cell(&row.name),
                pair(row, |c| c.passed),
                pair(row, |c| c.failed),
                pair(row, |c| c.skipped),
                row.verdict.word()
            );
        }
    }
    for row in comparison
        .counts
        .iter()
        .filter(|row| !row.newly_failed.is_empty())
    {
        let names: Vec<String> = row.newly_failed.iter().map(|n| cell(n)).collect();
        out += &format!("\n{} newly failed: {}\n", cell(&row.name), names.join(", "));
    }
    if !comparison.flags.is_empty() {
        out.push('\n');
    }
    for flag in &comparison.flags {
        let rows: Vec<String> = flag.rows.iter().map(|row| cell(row)).collect();
        out += &format!("- {}: {}\n", cell(&flag.text), rows.join("; "));
    }
    let legend = legend(comparison);
    if !legend.is_empty() {
        out += &format!("\n{}.\n", legend.join("; "));
    }
    out
}

fn line(row: &Row) -> String {
    let better = match row.better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "",
    };
    let [unit, before, after] = figures::sides(row);
    format!(
        "| {} | {} | {better} | {} | {} | {} | {} | {} | {} | {} |\n",
        cell(&row.label()),
        cell(&unit),
        before,
        after,
        figures::change(row),
        figures::interval(row),
        figures::p(row).replace('<', "&lt;"),
        figures::runs(row),
        figures::verdict(row)
            .replace('~', "\\~")
            .replace('>', "&gt;"),
    )
}

/// Text that is no Markdown, cannot leave its cell, and hides nothing.
pub fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' | '`' | '*' | '_' | '[' | ']' | '~' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            c if c.is_control() => out.push(' '),
            c if is_hidden(c) => out.push(REPLACEMENT),
            c => out.push(c),
        }
    }
    out
}

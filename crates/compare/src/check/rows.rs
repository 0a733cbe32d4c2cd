//! Objections to rows of metrics.

use std::collections::{BTreeMap, BTreeSet};

use super::Checked;
use crate::comparison::{Flag, FlagKind};
use crate::metrics::{Metric, Role};
use crate::pairs::Sequence;
use crate::row::{Row, Verdict};

/// A flag over these rows; `None` when `rows` is empty.
pub(super) fn over(kind: FlagKind, text: impl Into<String>, rows: Vec<String>) -> Option<Flag> {
    (!rows.is_empty()).then(|| Flag {
        kind,
        text: text.into(),
        rows,
    })
}

fn percent(row: &Row) -> f64 {
    row.change_percent.unwrap_or_default()
}

/// Client and server of one metric change in opposite directions, both by more than the band: noise, or something that
/// one end alone has.
pub(super) fn opposite_signs(checked: &Checked) -> Option<Flag> {
    let band = checked.options.rules.band_percent;
    let mut ends: BTreeMap<&str, [Option<f64>; 2]> = BTreeMap::new();
    for row in checked.rows {
        let end = match row.role {
            Role::Client => 0,
            Role::Server => 1,
            Role::None => continue,
        };
        ends.entry(&row.metric).or_default()[end] = row.change_percent;
    }
    let opposite = |(name, ends): (&str, [Option<f64>; 2])| {
        let (client, server) = (ends[0]?, ends[1]?);
        let is_opposite = client * server < 0.0 && client.abs().min(server.abs()) > band;
        is_opposite.then(|| format!("{name} (client {client:+.2} %, server {server:+.2} %)"))
    };
    over(
        FlagKind::OppositeSigns,
        "client and server changed in opposite directions: either noise, or an effect on one end only; repeat the runs",
        ends.into_iter().filter_map(opposite).collect(),
    )
}

/// What the two halves of an arm's runs differ by, per cent; of two or three runs, what the runs do.
fn own_noise(values: &[f64]) -> Option<f64> {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let whole = mean(values);
    if values.len() < 2 || whole <= 0.0 {
        return None;
    }
    let moved = match values.len() {
        2 | 3 => {
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            high - low
        }
        many => {
            let (first, second) = values.split_at(many / 2);
            (mean(first) - mean(second)).abs()
        }
    };
    Some(100.0 * moved / whole)
}

/// Rows that are open and whose arms differ from themselves by more than from each other: an A/A comparison of one arm's runs
/// would have shown as much. In pairs this is no objection: what drifts is in both runs of a pair.
pub(super) fn noise_above_change(checked: &Checked) -> Option<Flag> {
    let one = |row: &Row| {
        let change = row.change_percent?;
        let noise = [&row.runs_before, &row.runs_after]
            .into_iter()
            .filter_map(|runs| own_noise(runs))
            .fold(0.0, f64::max);
        let is_noise = row.verdict.is_open() && !row.paired && noise > change.abs();
        is_noise.then(|| format!("{} ({noise:.1} % against {:+.1} %)", row.label(), change))
    };
    over(
        FlagKind::NoiseAboveChange,
        "the change is within the noise: runs of one arm differ by more than the two arms do",
        checked.rows.iter().filter_map(one).collect(),
    )
}

/// The units of both sides differ.
pub(super) fn units(checked: &Checked) -> Option<Flag> {
    over(
        FlagKind::Units,
        "the two sides have different units and were not compared",
        invalid(checked, has_other_units),
    )
}

/// Rows that cannot be compared, and why.
pub(super) fn not_compared(checked: &Checked) -> Option<Flag> {
    over(
        FlagKind::NotCompared,
        "these rows were not compared",
        invalid(checked, |row| !has_other_units(row)),
    )
}

fn has_other_units(row: &Row) -> bool {
    row.why.contains(" before, in ")
}

fn invalid(checked: &Checked, is_of: impl Fn(&Row) -> bool) -> Vec<String> {
    let rows = checked.rows.iter();
    let rows = rows.filter(|row| row.verdict == Verdict::Invalid && is_of(row));
    rows.map(|row| format!("{}: {}", row.label(), row.why))
        .collect()
}

/// Units of the same quantity that were converted: the reader's tool may mean 1,024 by K.
pub(super) fn converted(checked: &Checked) -> Option<Flag> {
    let one = |row: &Row| {
        let here = |metric: &&Metric| (&metric.name, metric.role) == (&row.metric, row.role);
        let mut there = checked.after.metrics.iter().filter(here).peekable();
        let first = *there.peek()?;
        let has_same = there.any(|metric| metric.unit == row.unit);
        let is_converted = row.verdict != Verdict::Missing
            && !has_same
            && crate::units::ratio(&first.unit, &row.unit).is_some();
        is_converted.then(|| {
            format!(
                "{} ({} after, shown in {})",
                row.label(),
                first.unit,
                row.unit
            )
        })
    };
    let mut has_bytes = false;
    let mut rows = Vec::new();
    for row in checked.rows {
        if let Some(text) = one(row) {
            has_bytes |= row.unit.contains('B');
            rows.push(text);
        }
    }
    let text = match has_bytes {
        true => {
            "units were converted with 1 MB = 1,000 KB and 1 MiB = 1,024 KiB, whatever the tool meant"
        }
        false => "units were converted",
    };
    over(FlagKind::Converted, text, rows)
}

/// A side lacks it, or both have no result.
pub(super) fn one_side(checked: &Checked) -> Option<Flag> {
    let missing = |row: &&Row| row.verdict == Verdict::Missing;
    let rows = checked.rows.iter().filter(missing);
    let rows = rows.map(|row| format!("{} ({})", row.label(), row.why));
    let counts = checked.counts.iter();
    let counts = counts.filter(|row| row.verdict == Verdict::Missing);
    let counts = counts.map(|row| {
        let side = match (&row.before, &row.after) {
            (Some(_), Some(_)) => return format!("{} (no test ran on either side)", row.name),
            (Some(_), None) => checked.before,
            _ => checked.after,
        };
        format!("{} (only in {})", row.name, side.name)
    });
    over(
        FlagKind::OneSide,
        "a side has no value: another version measured it, or it was not measured, or it was lost",
        rows.chain(counts).collect(),
    )
}

/// Digits behind the point with which a value is written.
fn decimals(value: f64) -> i32 {
    let text = value.to_string();
    text.split_once('.')
        .map_or(0, |(_, digits)| digits.len() as i32)
}

/// A printed change that does not follow from the printed values, whichever way they were rounded.
pub(super) fn stated_change(checked: &Checked) -> Option<Flag> {
    let stated: BTreeMap<_, f64> = checked
        .after
        .metrics
        .iter()
        .filter_map(|m| Some(((m.name.as_str(), m.role), m.stated_percent?)))
        .collect();
    let one = |row: &Row| {
        let stated = *stated.get(&(row.metric.as_str(), row.role))?;
        let (before, after) = (row.before?, row.after?);
        let half = 0.5 * 10_f64.powi(-decimals(before).max(decimals(after)));
        let rounding = 100.0 * (half / before.abs() + half * after.abs() / (before * before));
        // As printed, and an improvement of what is better when it is lower.
        let is_near = |change: f64| (stated - change).abs() <= rounding + 0.006;
        let change = percent(row);
        let is_told = is_near(change) || (row.is_gain().is_some() && is_near(-change));
        (!is_told).then(|| {
            format!(
                "{} (printed {stated:+.2} %, from its values {change:+.2} %)",
                row.label()
            )
        })
    };
    over(
        FlagKind::StatedChange,
        "the stated change does not match the stated values",
        checked.rows.iter().filter_map(one).collect(),
    )
}

/// Runs of one arm were made together: a machine that changed in between looks like a change.
pub(super) fn not_interleaved(checked: &Checked) -> Option<Flag> {
    let of = |wanted: Sequence| -> Vec<String> {
        let rows = checked.sequences.iter().filter(|(_, lie)| *lie == wanted);
        rows.map(|(label, _)| label.clone()).collect()
    };
    let several: BTreeSet<String> = checked
        .rows
        .iter()
        .filter(|row| row.runs_before.len() > 1 && row.runs_after.len() > 1)
        .map(Row::label)
        .collect();
    let here = |rows: Vec<String>| -> Vec<String> {
        rows.into_iter()
            .filter(|row| several.contains(row))
            .collect()
    };
    let apart = here(of(Sequence::Apart));
    if !apart.is_empty() {
        let metrics = checked.before.metrics.iter().chain(&checked.after.metrics);
        let mut runs = metrics.flat_map(|metric| &metric.runs);
        let blocks = match runs.any(|run| run.block.is_some()) {
            true => ". Their blocks say otherwise, and were not used as pairs",
            false => "",
        };
        let text = "all runs before the change preceded all runs after it, so a change of the machine would look the same: interleave the runs";
        return over(FlagKind::NotInterleaved, format!("{text}{blocks}"), apart);
    }
    let tied = here(of(Sequence::Tied));
    if !tied.is_empty() {
        return over(
            FlagKind::NotInterleaved,
            "runs have the same time, so their sequence is unknown. If each arm ran as a group, a change of the machine \
             would look the same: interleave the runs",
            tied,
        );
    }
    over(
        FlagKind::NotInterleaved,
        "the files do not tell when runs were made (no block, order or time). If each arm ran as a group, a change of the \
         machine would look the same: interleave the runs",
        here(of(Sequence::Unknown)),
    )
}

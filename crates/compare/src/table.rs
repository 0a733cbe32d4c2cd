//! The table: the metrics of two arms side by side, their changes judged together.

use std::collections::{BTreeMap, BTreeSet};

use tcplab_stats::{Change, Decision, NoChange, Rules, Runs, change, decide};

use crate::comparison::{COMPARE_SCHEMA, Comparison, Summary};
use crate::metrics::{Arm, Better, Combine, Metric, Role, Run};
use crate::pairs::{Sequence, sequence};
use crate::row::{CountRow, Row, Verdict};
use crate::shown::{counting, figure, mean, show, values};
use crate::suites::counts;
use crate::{check, exact, units};

/// By what arms are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// What decides.
    pub rules: Rules,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Whether repeats of exact values are samples, such as other seeds of one experiment.
    pub is_sampled: bool,
    /// Whether means are of the middle 60 % of runs.
    pub is_robust: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            level: 0.95,
            is_sampled: false,
            is_robust: false,
        }
    }
}

/// Compares two arms.
pub fn compare(before: &Arm, after: &Arm, options: &Options) -> Comparison {
    let mut rows = Vec::new();
    let mut changes = Vec::new();
    let mut sequences = Vec::new();
    for (b, a) in sides(before, after) {
        // Shown as before; what is another quantity stays as it is, and is refused.
        let converted = b.zip(a).and_then(|(b, a)| {
            (b.unit != a.unit)
                .then(|| units::convert(a, &b.unit))
                .flatten()
        });
        let a = converted.as_ref().or(a);
        if b.is_none() != a.is_none() && is_idle(b) && is_idle(a) {
            continue;
        }
        let mut row = empty(b.or(a));
        let found = match (b, a) {
            (Some(b), Some(a)) => fill(&mut row, b, a, options, &mut sequences),
            _ => {
                let side = if b.is_some() { before } else { after };
                one_side(&mut row, b.or(a), side, b.is_some());
                None
            }
        };
        changes.push(found);
        rows.push(row);
    }
    judge(&mut rows, &changes, options);
    let counts = counts(before, after);
    let flags = check::flags(&check::Checked {
        before,
        after,
        rows: &rows,
        counts: &counts,
        sequences: &sequences,
        options,
    });
    let summary = summary(&rows, &counts);
    Comparison {
        schema: COMPARE_SCHEMA.into(),
        before: before.name.clone(),
        after: after.name.clone(),
        q: options.rules.q,
        band_percent: options.rules.band_percent,
        find_percent: options.rules.find_percent,
        most_runs: options.rules.most_runs,
        assumed_noise_percent: options.rules.assumed_noise_percent,
        level: options.level,
        rows,
        counts,
        flags,
        summary,
        sources_before: before.sources.clone(),
        sources_after: after.sources.clone(),
        error: None,
    }
}

/// How often each verdict stands in the table.
fn summary(rows: &[Row], counts: &[CountRow]) -> Summary {
    let mut summary = Summary::new();
    let verdicts = rows.iter().map(|row| row.verdict);
    for verdict in verdicts.chain(counts.iter().map(|row| row.verdict)) {
        *summary.entry(verdict.word().into()).or_default() += 1;
    }
    summary
}

/// The metrics of both, by name and role: in the order of `before`, then what only `after` has.
fn sides<'a>(before: &'a Arm, after: &'a Arm) -> Vec<(Option<&'a Metric>, Option<&'a Metric>)> {
    let key = |metric: &'a Metric| (metric.name.as_str(), metric.role);
    let mut others: BTreeMap<(&str, Role), Vec<&Metric>> = BTreeMap::new();
    for metric in after.metrics.iter().rev() {
        others.entry(key(metric)).or_default().push(metric);
    }
    let mut sides = Vec::new();
    for metric in &before.metrics {
        let other = others.get_mut(&key(metric)).and_then(|same| {
            // The one of the same unit, if there are several, or of the same quantity.
            let at = same.iter().rposition(|m| m.unit == metric.unit);
            let is_alike = |m: &&Metric| units::ratio(&m.unit, &metric.unit).is_some();
            let at = at.or_else(|| same.iter().rposition(is_alike));
            let at = at.or(same.len().checked_sub(1))?;
            Some(same.remove(at))
        });
        sides.push((Some(metric), other));
    }
    let left: BTreeSet<*const Metric> = others.values().flatten().map(|m| &raw const **m).collect();
    let only = after
        .metrics
        .iter()
        .filter(|m| left.contains(&(&raw const **m)));
    sides.extend(only.map(|metric| (None, Some(metric))));
    sides
}

/// A counter that is not there, or never counted: a kernel without it is no other kernel.
fn is_idle(metric: Option<&Metric>) -> bool {
    let is_zero = |run: &Run| run.counts() == Some(0.0);
    metric.is_none_or(|metric| metric.exact && metric.runs.iter().all(is_zero))
}

fn empty(metric: Option<&Metric>) -> Row {
    let metric = metric.cloned().unwrap_or_default();
    Row {
        metric: metric.name,
        role: metric.role,
        unit: metric.unit,
        better: metric.better,
        combine: metric.combine,
        exact: metric.exact,
        ..Row::default()
    }
}

fn one_side(row: &mut Row, metric: Option<&Metric>, side: &Arm, is_before: bool) {
    let values = metric.map_or(Vec::new(), |m| values(&counting(&m.runs)));
    let figure = figure(&values, row.combine);
    row.verdict = Verdict::Missing;
    row.why = format!("only in {}", side.name);
    match is_before {
        true => (row.before, row.runs_before) = (figure, values),
        false => (row.after, row.runs_after) = (figure, values),
    }
}

/// Fills in what both sides have; gives the change, if there is one, for the judgement of the whole table.
fn fill(
    row: &mut Row,
    before: &Metric,
    after: &Metric,
    options: &Options,
    sequences: &mut Vec<(String, Sequence)>,
) -> Option<Change> {
    let (b, a) = (counting(&before.runs), counting(&after.runs));
    row.exact = before.exact && after.exact && !options.is_sampled;
    if options.is_robust && row.combine == Combine::Mean && !row.exact {
        row.combine = Combine::Trimmed;
    }
    show(row, &b, &a);
    if let Some(why) = apart(row, before, after) {
        row.why = why;
        return None;
    }
    if row.exact {
        exact::judge(row, before, after);
        return None;
    }
    if let Some(why) = before.slowest().or_else(|| after.slowest()) {
        (row.verdict, row.why) = (Verdict::Missing, why.to_owned());
        row.change_percent = None;
        row.before = row.before.filter(|_| before.slowest().is_none());
        row.after = row.after.filter(|_| after.slowest().is_none());
        return None;
    }
    let lie = sequence(&b, &a);
    let pairs = match &lie {
        Sequence::Pairs(pairs) => pairs.as_slice(),
        _ => &[],
    };
    let found = change(&Runs {
        before: &row.runs_before,
        after: &row.runs_after,
        pairs,
        mean: mean(row.combine),
        level: options.level,
    });
    if let Sequence::Pairs(pairs) = &lie {
        // A paired row shows the runs that it rests on.
        let paired: (Vec<&Run>, Vec<&Run>) =
            pairs.iter().map(|(was, is)| (b[*was], a[*is])).unzip();
        show(row, &paired.0, &paired.1);
    }
    sequences.push((row.label(), lie));
    match found {
        Ok(found) => {
            take(row, &found);
            Some(found)
        }
        Err(NoChange::OneRun) => {
            row.verdict = Verdict::Undecided;
            None
        }
        Err(NoChange::Empty) => {
            empty_side(row, before, after);
            None
        }
        Err(e) => {
            row.why = e.to_string();
            None
        }
    }
}

/// Why two metrics of one name cannot be compared.
fn apart(row: &mut Row, before: &Metric, after: &Metric) -> Option<String> {
    let says = |metric: &Metric| metric.better != Better::Neither;
    let (was, is) = (&before.total_over, &after.total_over);
    let why = match was.as_ref().zip(is.as_ref()) {
        _ if before.unit != after.unit => {
            format!("in {} before, in {} after", unit(before), unit(after))
        }
        _ if says(before) && says(after) && before.better != after.better => {
            return Some("the sides say opposite ways of what is better".to_owned());
        }
        Some((was, is)) if was != is => format!("a total over {was} before, over {is} after"),
        _ => return None,
    };
    row.change_percent = None;
    Some(why)
}

/// A side without a value: runs failed there, or there was nothing to measure.
fn empty_side(row: &mut Row, before: &Metric, after: &Metric) {
    let sides = [
        (&row.runs_before, before, "before"),
        (&row.runs_after, after, "after"),
    ];
    let empty = sides.into_iter().filter(|(values, ..)| values.is_empty());
    let why: Option<Vec<String>> = empty
        .map(|(_, metric, side)| Some(format!("nothing {side}: {}", exact::absent(metric)?)))
        .collect();
    match why {
        None => "one side has no valid run".clone_into(&mut row.why),
        Some(why) => (row.verdict, row.why) = (Verdict::Missing, why.join("; ")),
    }
}

fn unit(metric: &Metric) -> &str {
    match metric.unit.as_str() {
        "" => "no unit",
        unit => unit,
    }
}

fn take(row: &mut Row, found: &Change) {
    row.paired = found.is_paired;
    row.p = Some(found.p);
    if found.is_relative {
        row.change_percent = Some(found.change).filter(|c| c.is_finite());
        let ends = (found.low, found.high);
        row.interval_percent = Some(ends).filter(|(l, h)| l.is_finite() && h.is_finite());
    }
}

/// Judges all rows that are not judged yet.
fn judge(rows: &mut [Row], changes: &[Option<Change>], options: &Options) {
    let open = |row: &Row, found: &Option<Change>| found.is_some() || row.verdict.is_open();
    let places: Vec<usize> = (0..rows.len())
        .filter(|i| open(&rows[*i], &changes[*i]))
        .collect();
    let table: Vec<Option<Change>> = places.iter().map(|i| changes[*i]).collect();
    let (decisions, adjusted) = decide(&table, &options.rules);
    for ((place, decision), adjusted) in places.iter().zip(decisions).zip(adjusted) {
        let row = &mut rows[*place];
        row.adjusted_p = row.p.map(|_| adjusted);
        say(row, decision, options);
    }
}

fn say(row: &mut Row, decision: Decision, options: &Options) {
    let is_up = decision == Decision::Higher;
    row.verdict = match (decision, row.better) {
        (Decision::Same, _) => Verdict::Same,
        (Decision::Higher, Better::Neither) => Verdict::Higher,
        (Decision::Lower, Better::Neither) => Verdict::Lower,
        (Decision::Higher | Decision::Lower, better) => match is_up == (better == Better::Higher) {
            true => Verdict::Better,
            false => Verdict::Worse,
        },
        (Decision::Undecided { needs }, _) => {
            row.needs = needs;
            Verdict::Undecided
        }
        (Decision::TooNoisy { finds_percent }, _) => {
            row.finds_percent = Some(finds_percent);
            Verdict::TooNoisy
        }
    };
    row.why = match (row.verdict, row.needs) {
        (Verdict::Undecided, needs) if row.p.is_none() => one_run(row, needs, options),
        (Verdict::Undecided, Some(needs)) => {
            format!("about {needs} runs per side would decide, if the change is as measured")
        }
        (Verdict::Undecided, None) => "needs more runs with differing values".into(),
        (Verdict::TooNoisy, _) => {
            let finds = row.finds_percent.unwrap_or_default();
            let most = options.rules.most_runs;
            format!("even {most} runs per side detect no change below {finds:.0} %")
        }
        _ => String::new(),
    };
}

fn one_run(row: &Row, needs: Option<u32>, options: &Options) -> String {
    let (b, a) = (row.runs_before.len(), row.runs_after.len());
    let runs = match (b, a) {
        (1, 1) => "1 run per side decides nothing".to_owned(),
        _ => format!("{b} and {a} runs decide nothing"),
    };
    match needs {
        Some(needs) => format!(
            "{runs}; about {needs} detect {} % if runs differ by {} %",
            options.rules.find_percent, options.rules.assumed_noise_percent
        ),
        None => runs,
    }
}

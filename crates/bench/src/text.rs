//! One arm's figures as a table.

use std::collections::BTreeMap;

use tcplab_base::safe;
use tcplab_compare::{Metric, Metrics, Role};
use tcplab_report::compare::cell;
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::table::{Align, Cell, Table};

/// The table and the runs that failed, as text or as Markdown.
pub fn one_arm(metrics: &Metrics, markdown: bool, theme: &Theme) -> String {
    let mut out = table(metrics, markdown, theme);
    for text in failures(metrics) {
        out += &format!("\n{text}\n");
    }
    out
}

/// Of each kind of failure, how many runs of a row had it.
fn failures(metrics: &Metrics) -> Vec<String> {
    let mut most: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for metric in metrics.arms.iter().flat_map(|arm| &arm.metrics) {
        let mut here: BTreeMap<&str, usize> = BTreeMap::new();
        for why in metric.runs.iter().filter_map(|run| run.failed.as_deref()) {
            *here.entry(why).or_default() += 1;
        }
        for (why, n) in here {
            let most = most.entry(why).or_default();
            *most = (*most).max((n, metric.runs.len()));
        }
    }
    let say = |(why, (n, of)): (&str, (usize, usize))| {
        format!("{n} of {of} runs failed and do not count: {}", safe(why))
    };
    most.into_iter().map(say).collect()
}

fn table(metrics: &Metrics, markdown: bool, theme: &Theme) -> String {
    let rows = metrics.arms.iter().flat_map(|arm| &arm.metrics);
    let rows: Vec<[String; 6]> = rows.map(row).collect();
    let heads = ["workload", "unit", "mean", "least", "most", "runs"];
    if markdown {
        let mut out = format!("| {} |\n|---|---|---:|---:|---:|---:|\n", heads.join(" | "));
        for row in rows {
            out += &format!("| {} |\n", row.map(|text| cell(&text)).join(" | "));
        }
        return out;
    }
    let mut table = Table::new(&[
        (heads[0], Align::Left),
        (heads[1], Align::Left),
        (heads[2], Align::Right),
        (heads[3], Align::Right),
        (heads[4], Align::Right),
        (heads[5], Align::Right),
    ]);
    for row in rows {
        table.row(row.into_iter().map(Cell::from).collect());
    }
    table.render(theme)
}

fn row(metric: &Metric) -> [String; 6] {
    let values: Vec<f64> = metric.runs.iter().filter_map(|run| run.counts()).collect();
    let of = |value: f64| match value.is_finite() {
        true => figure(value),
        false => "-".into(),
    };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let role = match metric.role {
        Role::Client => " sent",
        Role::Server => " received",
        Role::None => "",
    };
    [
        format!("{}{role}", metric.name),
        metric.unit.clone(),
        of(mean),
        of(least),
        of(most),
        values.len().to_string(),
    ]
}

/// Four digits at least.
fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 1_000.0 => format!("{value:.0}"),
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_compare::{Arm, Better, Run};

    #[test]
    fn failed_runs_are_told_below_the_table() {
        let mut metric = Metric::new("elapsed", "s", Better::Lower);
        metric.runs = vec![Run::of(1.0), Run::of(2.0), Run::default()];
        metric.runs[2].failed = Some("exit code 7: connect: refused".into());
        let mut arm = Arm::named("x");
        arm.metrics = vec![metric.clone(), metric];
        let metrics = Metrics::of(vec![arm]);
        for markdown in [false, true] {
            let text = one_arm(&metrics, markdown, &Theme::default());
            let told = text.split("\n\n").last();
            assert_eq!(
                told,
                Some("1 of 3 runs failed and do not count: exit code 7: connect: refused\n")
            );
        }
    }
}

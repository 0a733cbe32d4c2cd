//! The page of a comparison, or of a report of `tcplab qa` (`tcplab.page-compare/1`): for each section its table, with a
//! picture of each row's runs. Figures come as the text that the terminal shows, and as numbers where they are drawn.

use serde::Serialize;
use tcplab_base::safe;
use tcplab_compare::{Better, Comparison, Count, CountRow, Noise, Row, Section, Source, Standing};

use super::write_document;
use crate::compare::{Form, figures, legend, verdicts};
use crate::qa;

pub(crate) const FORM: Form = Form {
    option: "--html",
    help: "Write a self-contained HTML page that plots the runs of each row",
    comparison: |comparison| page(&names(comparison), vec![Part::of(comparison, 0)]),
    qa: |document| {
        let parts = document.sections.iter().map(Part::of_section);
        page(&qa::title(document), parts.collect())
    },
};

#[derive(Serialize)]
struct ComparePage {
    schema: &'static str,
    version: &'static str,
    title: String,
    parts: Vec<Part>,
}

/// A section.
#[derive(Default, Serialize)]
struct Part {
    /// Empty when there is but one.
    title: String,
    /// Its verdict: a word, and the class of its colour.
    verdict: [&'static str; 2],
    /// What it says, in a line.
    line: String,
    /// It has no table, for the reason in `line`.
    not_run: bool,
    /// Equal rows that are not shown.
    left_out: usize,
    verdicts: String,
    rows: Vec<RowPart>,
    /// The widest change that the scale of the table shows, per cent.
    reach: f64,
    band_percent: f64,
    suites: Vec<[String; 6]>,
    flags: Vec<(String, Vec<String>)>,
    legend: Vec<String>,
    sources: [Vec<String>; 2],
}

#[derive(Serialize)]
struct RowPart {
    label: String,
    unit: String,
    /// Before, after, change, interval, p, runs, verdict.
    texts: [String; 7],
    /// Class of the verdict's colour.
    class: &'static str,
    why: String,
    /// What the machine did beside the runs.
    beside: String,
    arms: [Runs; 2],
    change_percent: Option<f64>,
    interval_percent: Option<(f64, f64)>,
}

/// The runs of an arm.
#[derive(Serialize)]
struct Runs {
    figure: Option<f64>,
    /// Value, what the machine did beside it, whether much of its time was stolen.
    runs: Vec<(f64, String, bool)>,
}

fn names(comparison: &Comparison) -> String {
    format!("{} \u{2192} {}", comparison.before, comparison.after)
}

fn page(title: &str, parts: Vec<Part>) -> String {
    let page = ComparePage {
        schema: "tcplab.page-compare/1",
        version: env!("CARGO_PKG_VERSION"),
        title: safe(title),
        parts,
    };
    let mut out = Vec::new();
    // Writing into memory does not fail.
    let _ = write_document(&page, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

impl Part {
    fn of(comparison: &Comparison, left_out: usize) -> Self {
        let flags = comparison.flags.iter();
        Self {
            left_out,
            verdicts: verdicts(comparison),
            rows: comparison.rows.iter().map(RowPart::of).collect(),
            reach: reach(&comparison.rows),
            band_percent: comparison.band_percent,
            suites: comparison.counts.iter().map(suite).collect(),
            flags: flags
                .map(|flag| {
                    (
                        safe(&flag.text),
                        flag.rows.iter().map(|r| safe(r)).collect(),
                    )
                })
                .collect(),
            legend: legend(comparison),
            sources: [&comparison.sources_before, &comparison.sources_after]
                .map(|sources| sources.iter().map(source).collect()),
            ..Self::default()
        }
    }

    fn of_section(section: &Section) -> Self {
        let part = match &section.comparison {
            Some(comparison) => {
                let (lean, left_out) = qa::lean(comparison);
                Self::of(&lean, left_out)
            }
            None => Self {
                not_run: true,
                ..Self::default()
            },
        };
        Self {
            title: safe(&section.title),
            verdict: [section.standing.word(), class(section.standing)],
            line: safe(&qa::line(section)),
            ..part
        }
    }
}

impl RowPart {
    fn of(row: &Row) -> Self {
        let better = match row.better {
            Better::Higher => " \u{2191}",
            Better::Lower => " \u{2193}",
            Better::Neither => "",
        };
        let [unit, before, after] = figures::sides(row);
        Self {
            label: safe(&row.label()),
            unit: safe(&unit) + better,
            texts: [
                before,
                after,
                figures::change(row),
                figures::interval(row),
                figures::p(row),
                figures::runs(row),
                figures::verdict(row),
            ],
            class: row.verdict.word(),
            why: safe(&row.why),
            beside: figures::noise_of_arms(row),
            arms: [
                Runs::of(&row.runs_before, &row.noise_before, row.before),
                Runs::of(&row.runs_after, &row.noise_after, row.after),
            ],
            change_percent: row.change_percent,
            interval_percent: row.interval_percent,
        }
    }
}

impl Runs {
    fn of(values: &[f64], noise: &[Noise], figure: Option<f64>) -> Self {
        let run = |(at, value): (usize, &f64)| {
            let beside = noise.get(at);
            let words = beside.map_or(String::new(), figures::noise);
            (*value, words, beside.is_some_and(Noise::is_stolen))
        };
        Self {
            figure,
            runs: values.iter().enumerate().map(run).collect(),
        }
    }
}

fn reach(rows: &[Row]) -> f64 {
    let end = |row: &Row| {
        let change = row.change_percent.map(|c| (c, c));
        let (low, high) = row.interval_percent.or(change)?;
        Some(low.abs().max(high.abs())).filter(|end| end.is_finite())
    };
    let mut ends: Vec<f64> = rows.iter().filter_map(end).collect();
    ends.sort_by(f64::total_cmp);
    // One wild row must not flatten the others.
    let most = ends.get(ends.len() * 9 / 10).copied().unwrap_or(1.0);
    most.clamp(2.0, 100.0)
}

/// Name, passed, failed, skipped, verdict, newly failed.
fn suite(row: &CountRow) -> [String; 6] {
    let pair = |of: fn(&Count) -> Option<u64>| qa::pair(row, of);
    [
        safe(&row.name),
        pair(|c| c.passed),
        pair(|c| c.failed),
        pair(|c| c.skipped),
        row.verdict.word().to_owned(),
        safe(&row.newly_failed.join(", ")),
    ]
}

fn source(source: &Source) -> String {
    let settings = source.settings.iter();
    let settings = settings.map(|(key, value)| format!("{key}: {value}"));
    let parts = [&source.name, &source.format, &source.tool, &source.system];
    let parts = parts.into_iter().filter(|p| !p.is_empty()).cloned();
    let parts: Vec<String> = parts.chain(settings).collect();
    safe(&parts.join("; "))
}

/// The class of a verdict's colour.
const fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Worse => "worse",
        Standing::Differs => "differs",
        Standing::Open => "undecided",
        Standing::Same => "same",
        Standing::NotRun => "missing",
    }
}

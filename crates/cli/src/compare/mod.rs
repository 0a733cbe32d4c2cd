//! `tcplab compare`: a table of what changed, with verdicts.

pub mod args;
mod input;
mod manifests;

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_compare::{
    COMPARE_SCHEMA, Comparison, Flag, FlagKind, Metrics, Options, Verdict, compare,
};
use tcplab_os::say;
use tcplab_report::compare::{self as report, Form};
use tcplab_report::terminal::Theme;

use self::args::{CompareArgs, JudgeArgs, OutputArgs};
use crate::args::Color;
use crate::failure::Failure;
use crate::files::{check_outputs, write};
use crate::{json, screen, terminal};

/// Runs `tcplab compare`.
pub fn main(args: &CompareArgs, color: Color) -> ExitCode {
    json::finish(COMPARE_SCHEMA, args.output.json, run(args, color))
}

fn run(args: &CompareArgs, color: Color) -> Result<ExitCode, Failure> {
    let named = args.first.iter().chain(&args.second);
    let mut outputs = vec![("--metrics", args.metrics.as_deref())];
    outputs.extend(args.output.files());
    args.output.markdown.beside_json(args.output.json)?;
    check_outputs(named.chain(&args.before).chain(&args.after), &outputs)?;
    let (before, after) = input::arms(args)?;
    let options = options(&args.judge);
    let mut comparison = compare(&before, &after, &options);
    comparison.flags.extend(other_points(args));
    if let Some(path) = &args.metrics {
        let document = Metrics::of(vec![before, after]);
        let text = serde_json::to_string_pretty(&document).map_err(std::io::Error::from)?;
        write(path, &format!("{text}\n"))?;
    }
    tell(&comparison, &args.output, color)?;
    Ok(ExitCode::from(code(&args.judge, &comparison)))
}

/// The flag of two result folders with other points.
fn other_points(args: &CompareArgs) -> Option<Flag> {
    match (&args.first, &args.second) {
        (Some(before), Some(after)) => manifests::flag(before, after),
        (None, None) => match (&args.before[..], &args.after[..]) {
            ([before], [after]) => manifests::flag(before, after),
            _ => None,
        },
        _ => None,
    }
}

/// The rules of a command line.
pub fn options(args: &JudgeArgs) -> Options {
    let mut options = Options::default();
    let rules = &mut options.rules;
    rules.q = args.level.unwrap_or(rules.q);
    rules.band_percent = args.band.unwrap_or(rules.band_percent);
    rules.find_percent = args.find.unwrap_or(rules.find_percent);
    rules.most_runs = args.most_runs.unwrap_or(rules.most_runs);
    rules.assumed_noise_percent = args.noise.unwrap_or(rules.assumed_noise_percent);
    options.is_sampled = args.sampled;
    options.is_robust = args.robust;
    options
}

/// Shows a comparison.
pub fn tell(comparison: &Comparison, args: &OutputArgs, color: Color) -> Result<(), Failure> {
    let forms = Forms {
        file: |form| form.comparison,
        markdown: report::markdown,
        terminal: report::terminal,
    };
    forms.tell(comparison, args, color)
}

/// How a document is written in each form.
pub struct Forms<D> {
    /// The form of a file, for this document.
    pub file: fn(&Form) -> fn(&D) -> String,
    pub markdown: fn(&D) -> String,
    /// With all rows, or without those that are equal.
    pub terminal: fn(&D, bool, &Theme) -> String,
}

impl<D: Serialize> Forms<D> {
    /// Writes the files that are asked for, and prints one form.
    pub fn tell(&self, document: &D, args: &OutputArgs, color: Color) -> Result<(), Failure> {
        for (form, path) in &args.files.0 {
            write(path, &(self.file)(form)(document))?;
        }
        let is_told = args.markdown.tell(|| (self.markdown)(document))?;
        let theme = terminal::theme(color, false);
        match (args.json, is_told) {
            (true, _) => json::print(document)?,
            (_, true) => {}
            _ => screen::painted(&theme)
                .write_all((self.terminal)(document, args.all, &theme).as_bytes())?,
        }
        Ok(())
    }
}

/// Says where `--fail-on` asks for what exact values cannot be: they are equal, or they differ.
fn tell_exact(args: &JudgeArgs, comparison: &Comparison) {
    let asks = |verdict| args.fail_on.contains(&verdict);
    let rows = comparison.rows.iter();
    let exact = rows.filter(|row| row.verdict == Verdict::Differs).count();
    if exact > 0 && asks(Verdict::Worse) && !asks(Verdict::Differs) {
        say(&format!(
            "tcplab: --fail-on worse ignores {exact} rows of exact values (virtual time), whose verdict is `differs` or `equal`: \
             add `differs`, or treat the runs as samples with --sampled"
        ));
    }
}

/// The exit code of a comparison.
pub fn code(args: &JudgeArgs, comparison: &Comparison) -> u8 {
    tell_exact(args, comparison);
    let rows = comparison.rows.iter().map(|row| row.verdict);
    let counts = comparison.counts.iter().map(|row| row.verdict);
    let mut verdicts = rows.chain(counts);
    if verdicts
        .clone()
        .any(|verdict| args.fail_on.contains(&verdict))
    {
        return 1;
    }
    let is_open = verdicts.clone().any(Verdict::is_open);
    // Rows of one side only, or that cannot be compared, say nothing.
    let is_said = |verdict| !matches!(verdict, Verdict::Missing | Verdict::Invalid);
    let is_nothing = !verdicts.any(is_said) && (has_failed(comparison) || args.require_verdict);
    if is_nothing || args.require_verdict && is_open {
        3
    } else {
        0
    }
}

/// Whether runs of a side failed.
pub fn has_failed(comparison: &Comparison) -> bool {
    let mut flags = comparison.flags.iter();
    flags.any(|flag| flag.kind == FlagKind::FailedRun)
}

//! `tcplab qa`: before and after as a report with a verdict for each section.

pub mod args;

use std::process::ExitCode;

use tcplab_compare::{QA_SCHEMA, QaDocument, Standing};
use tcplab_lab::qa::{self, Wanted};
use tcplab_os::say;
use tcplab_report::qa as report;

use self::args::QaArgs;
use crate::args::Color;
use crate::compare::{Forms, code as code_of, has_failed, options};
use crate::failure::Failure;
use crate::files::{self, check_outputs};
use crate::json;
use crate::run::{lab, processors};

/// Runs `tcplab qa`.
pub fn main(args: &QaArgs, color: Color) -> ExitCode {
    json::finish(QA_SCHEMA, args.output.json, run(args, color))
}

fn run(args: &QaArgs, color: Color) -> Result<ExitCode, Failure> {
    let output = &args.output;
    output.markdown.beside_json(output.json)?;
    check_outputs(args.experiments.iter().chain(&args.drill), &output.files())?;
    let mut experiments = Vec::new();
    for path in &args.experiments {
        let text = files::experiment(path)?;
        experiments.push((path.display().to_string(), text));
    }
    let lab = lab()?;
    let stacks = [lab.stack(&args.before)?, lab.stack(&args.after)?];
    let wanted = Wanted {
        experiments: &experiments,
        stacks: &stacks,
        scripts: &args.drill,
        frames: args.frames,
        suite: !args.no_suite,
        jobs: args.jobs.unwrap_or_else(processors),
        options: options(&args.judge),
    };
    let shows = crate::progress::is_for_people();
    let document = qa::run(&lab, &wanted, |name| {
        if shows {
            say(&format!("tcplab: {name}"));
        }
    })?;
    let forms = Forms {
        file: |form| form.qa,
        markdown: report::markdown,
        terminal: report::terminal,
    };
    forms.tell(&document, output, color)?;
    Ok(ExitCode::from(code(args, &document)))
}

/// 1: worse, or what `--fail-on` names; 3: a point failed, or `--require-verdict` and a row is open or nothing ran.
fn code(args: &QaArgs, document: &QaDocument) -> u8 {
    let verdicts = document
        .sections
        .iter()
        .filter_map(|section| section.comparison.as_ref());
    let codes: Vec<u8> = verdicts
        .map(|comparison| match code_of(&args.judge, comparison) {
            // A missing measurement is no answer.
            0 if has_failed(comparison) => 3,
            code => code,
        })
        .collect();
    match document.standing {
        Standing::Worse => 1,
        _ if codes.contains(&1) => 1,
        _ if codes.is_empty() && args.judge.require_verdict => 3,
        _ => codes.into_iter().max().unwrap_or(0),
    }
}

//! One script in one mode: read, set up, run, told.

use tcplab_drill::run::{self, Failure, Report, run};
use tcplab_drill::script::Script;
use tcplab_drill::{Model as Host, SCRIPT_PHASE, ScriptError, Settings, parse};

use super::document::{CaseResult, Verdict};
use super::find::{Case, word};
use super::strict::Mutants;
use super::{Captures, Job, Text};
use crate::model::Model;

/// The seed of the host's secret: scripts must not depend on it, and runs must repeat.
const SEED: u64 = 1;

/// Runs a case on the model.
pub(super) fn on_model(job: &Job<'_>, case: &Case, text: &Text, model: &Model) -> CaseResult {
    let (script, settings) = match prepare(job, case, text) {
        Ok(ready) => ready,
        Err(wrong) => return unreadable(case, &wrong),
    };
    let report = report(&script, &settings, model);
    let mut result = result(job, case, &report);
    if result.verdict == Verdict::Pass {
        result.mutants = Mutants::of(case, (&script, &settings), model, job.mutants);
    }
    result
}

/// Runs a script on a fresh host.
pub(super) fn report(script: &Script, settings: &Settings, model: &Model) -> Report {
    let (profile, hz) = model.of_host();
    let phase = SCRIPT_PHASE.as_nanos();
    let mut host = Host::new(profile, settings.network.clone(), hz, phase, SEED);
    run(script, settings, &mut host)
}

/// The script and its settings.
pub(super) fn prepare(
    job: &Job<'_>,
    case: &Case,
    text: &Text,
) -> Result<(Script, Settings), ScriptError> {
    let defines = job.defines(case).unwrap_or_default();
    let script = parse(&text.script, &defines)?;
    let mut settings = Settings::of(&script, case.mode, &job.options())?;
    settings.defaults = text.defaults.clone();
    Ok((script, settings))
}

/// The result of a script that cannot be parsed, or whose settings make no sense.
pub(super) fn unreadable(case: &Case, wrong: &ScriptError) -> CaseResult {
    CaseResult {
        script: case.script.display().to_string(),
        mode: word(case.mode),
        verdict: Verdict::Fail,
        line: wrong.place.line,
        why: format!("{}:{wrong}", case.script.display()),
        ..CaseResult::default()
    }
}

/// Line and column; a line from its begin has no column.
fn place(failure: &Failure) -> String {
    match failure.column {
        0 | 1 => failure.line.to_string(),
        column => format!("{}:{column}", failure.line),
    }
}

/// What a run came to.
pub(super) fn result(job: &Job<'_>, case: &Case, report: &Report) -> CaseResult {
    let script = case.script.display().to_string();
    let (verdict, line, why) = match &report.verdict {
        run::Verdict::Pass => (Verdict::Pass, 0, String::new()),
        run::Verdict::Fail(failure) => (
            Verdict::Fail,
            failure.line,
            format!("{script}:{}: {}", place(failure), failure.why),
        ),
        run::Verdict::Skip { line, why } => (Verdict::Skip, *line, why.clone()),
    };
    let mut pcapng = Vec::new();
    let wanted = match job.captures {
        Captures::None => false,
        Captures::Failed => verdict == Verdict::Fail,
        Captures::All => true,
    };
    if wanted && report.has_packets() && report.write_pcapng(&script, &mut pcapng).is_err() {
        // A vector takes everything; what cannot be written is no capture.
        pcapng.clear();
    }
    let log = match job.logs {
        true => report
            .transcript(&script)
            .lines()
            .map(str::to_owned)
            .collect(),
        false => Vec::new(),
    };
    CaseResult {
        script,
        mode: word(case.mode),
        verdict,
        line,
        why,
        log,
        pcapng,
        ..CaseResult::default()
    }
}

//! packetdrill scripts on a stack: finding them, running each in its IP modes, one document.
//!
//! On the model each case is a host of its own in virtual time, on as many processors as there are. A kernel runs its
//! cases where it lives (`tcplab_kernel::drill`). Results are in the order of the cases, whichever was finished first.

mod document;
mod find;
#[cfg(target_os = "linux")]
mod kernel;
mod one;
mod strict;

use std::path::Path;

use tcplab_drill::Defines;
use tcplab_os::text::{TextError, read_bytes};

pub use document::{CaseResult, DRILL_SCHEMA, DrillDocument, Expected, Verdict};
pub use find::{Case, MODES, cases, left_out, scripts, word};
pub use strict::{Mutants, UnchangedNumbers};

use crate::error::LabError;
use crate::model::Model;
use crate::pool;
use crate::stack::{Kind, Lab, Stack};

/// The longest script that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Whose packets are wanted as pcapng.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Captures {
    /// Nobody's.
    None,
    /// Those of cases that fail.
    Failed,
    /// Those of each case.
    All,
}

/// What shall be run.
#[derive(Debug)]
pub struct Job<'a> {
    /// The stack.
    pub stack: &'a Stack,
    /// The cases, in order.
    pub cases: &'a [Case],
    /// Cases at once.
    pub jobs: usize,
    /// How late or early something may be, in place of what scripts say.
    pub tolerance_us: Option<u64>,
    /// `NAME=VALUE` for all scripts.
    pub defines: &'a [String],
    /// What happened is wanted as text.
    pub logs: bool,
    /// Whose packets are wanted.
    pub captures: Captures,
    /// Mutants of each case that passes, on the model only.
    pub mutants: u64,
}

impl Job<'_> {
    /// The symbols of a case: those of packetdrill's runner, then the user's.
    fn defines(&self, case: &Case) -> Result<Defines, LabError> {
        let mut defines = tcplab_drill::options::runner_defines(case.mode);
        for text in self.defines {
            defines.define(text).map_err(LabError::Wrong)?;
        }
        Ok(defines)
    }

    /// Options of the command line that scripts cannot say otherwise.
    fn options(&self) -> Vec<(String, Option<String>)> {
        let tolerance = self.tolerance_us.map(|us| us.to_string());
        let tolerance = tolerance.map(|us| ("tolerance_usecs".to_owned(), Some(us)));
        tolerance.into_iter().collect()
    }
}

/// Runs all cases. `progress` gets the number of finished cases.
///
/// # Errors
/// An unreadable file, an invalid definition, a stack that cannot run scripts, a request to stop. An invalid script
/// fails alone, and its result names the place.
pub fn run(
    lab: &Lab,
    job: &Job<'_>,
    progress: impl Fn(usize) + Sync,
) -> Result<DrillDocument, LabError> {
    if job.mutants > 0 && !matches!(job.stack.kind, Kind::Model(_)) {
        return Err(LabError::Wrong(
            "--mutants works on the model only: omit --on, or name model:PROFILE".into(),
        ));
    }
    let texts: Vec<Text> = (job.cases.iter())
        .map(|case| Text::of(&case.script))
        .collect::<Result<_, _>>()?;
    for case in job.cases.iter().take(1) {
        job.defines(case)?;
    }
    let results = match &job.stack.kind {
        Kind::Model(model) => on_model(lab, job, &texts, model, &progress)?,
        #[cfg(target_os = "linux")]
        Kind::Real(real) => kernel::run(lab, job, texts, real, &progress)?,
        #[cfg(not(target_os = "linux"))]
        Kind::Real(real) => match *real {},
    };
    Ok(DrillDocument::new(&job.stack.name, results))
}

/// What a case is read from.
#[derive(Debug)]
struct Text {
    script: String,
    /// The `defaults.sh` that the script names, from beside it.
    defaults: Option<String>,
}

impl Text {
    fn of(path: &Path) -> Result<Self, LabError> {
        let script = read(path)?;
        let file = tcplab_drill::shell::defaults_of(&script)
            .map(|name| path.parent().unwrap_or(Path::new("")).join(name))
            .filter(|file| file.is_file());
        let defaults = file.map(|file| read(&file)).transpose()?;
        Ok(Self { script, defaults })
    }
}

/// A script's text; what is no UTF-8 is shown as such in comments and strings.
pub(crate) fn read(path: &Path) -> Result<String, LabError> {
    let bytes = read_bytes(path, |_| MOST_BYTES).map_err(|e| match e {
        TextError::Io { path, source } => LabError::Io { path, source },
        TextError::TooLong { path, most } => LabError::Wrong(format!(
            "{}: too large for a script (more than {most} bytes)",
            path.display()
        )),
        e => LabError::Wrong(e.to_string()),
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// All cases on the model.
fn on_model(
    lab: &Lab,
    job: &Job<'_>,
    texts: &[Text],
    model: &Model,
    progress: &(impl Fn(usize) + Sync),
) -> Result<Vec<CaseResult>, LabError> {
    let mut results = vec![None; job.cases.len()];
    let mut done = 0;
    pool::each(
        job.cases.len(),
        &pool::anywhere(job.jobs),
        |_| Ok(()),
        |(), number| match lab.stop.wanted() {
            true => Err(LabError::Interrupted),
            false => Ok(one::on_model(
                job,
                &job.cases[number],
                &texts[number],
                model,
            )),
        },
        |number, result| {
            done += 1;
            progress(done);
            results[number] = Some(result);
            Ok(())
        },
    )?;
    Ok(results.into_iter().flatten().collect())
}

//! The folder through which a run and its caller exchange files.

use std::fs;
use std::path::{Path, PathBuf};

use tcplab_plan::{Outcome, Point};

use tcplab_os::Context;

use super::error::GuestError;
use crate::{rates, replay};

/// The file of a point, the question of a run.
pub const POINT: &str = "point.json";
const OUTCOME: &str = "outcome.json";
const FAILED: &str = "failed.txt";

/// The files of a question by their names: the point with its traces of rates, and the frames of its replays.
pub(super) fn question(point: &Point) -> Result<Vec<(String, Vec<u8>)>, GuestError> {
    let point = &*rates::filled(point).map_err(GuestError::Run)?;
    let text = serde_json::to_vec(point).tried("cannot write a point")?;
    let mut files = vec![(POINT.to_owned(), text)];
    for (app, trace) in replay::load(point).map_err(GuestError::Run)? {
        let mut bytes = Vec::new();
        let written = trace.write(&mut bytes);
        written.tried("cannot write frames to replay")?;
        files.push((replay::name(app), bytes));
    }
    Ok(files)
}

/// Whether a file of the folder belongs to the question.
pub(super) fn is_of_question(name: &str) -> bool {
    name == POINT || replay::is_name(name)
}

/// Writes the question.
pub(super) fn ask(folder: &Path, point: &Point) -> Result<(), GuestError> {
    for (name, bytes) in question(point)? {
        let path = folder.join(name);
        fs::write(&path, bytes).context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Names of all files that an answer may consist of.
pub(super) fn answer_names(point: &Point) -> Vec<String> {
    let captures = tcplab_plan::network::capture_files(point);
    let captures = captures.into_iter().map(|(_, _, name)| name);
    captures
        .chain([OUTCOME, FAILED].map(str::to_owned))
        .collect()
}

/// Reads the point, runs it here, writes the answer.
///
/// # Errors
/// A folder without a point, or one that cannot be written to. What `run` says is an answer.
pub fn answer(
    folder: &Path,
    run: impl FnOnce(&Point) -> Result<Outcome, String>,
) -> Result<(), GuestError> {
    let path = folder.join(POINT);
    let text = fs::read(&path).context(|| format!("cannot read {}", path.display()))?;
    let refused = |wrong| GuestError::Run(format!("cannot understand a point: {wrong}"));
    let point = Point::from_json(&text).map_err(refused)?;
    let done =
        run(&point).and_then(|outcome| serde_json::to_string(&outcome).map_err(|e| e.to_string()));
    let (name, text) = match done {
        Ok(json) => (OUTCOME, json),
        Err(words) => (FAILED, words),
    };
    let path = folder.join(name);
    fs::write(&path, text).context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// What is there: the outcome, the run's own error, or nothing.
pub(super) fn read(folder: &Path) -> Option<Result<Outcome, GuestError>> {
    if let Ok(text) = fs::read_to_string(folder.join(FAILED)) {
        return Some(Err(GuestError::Run(text)));
    }
    let text = fs::read_to_string(folder.join(OUTCOME)).ok()?;
    let outcome = serde_json::from_str(&text).tried("cannot understand an outcome");
    Some(outcome.map_err(GuestError::from))
}

/// The captures of a run in `from`, moved to `to`.
pub(super) fn move_captures(point: &Point, from: &Path, to: &Path) -> Result<(), GuestError> {
    for (_, _, name) in tcplab_plan::network::capture_files(point) {
        let (old, new): (PathBuf, PathBuf) = (from.join(&name), to.join(&name));
        // Another file system, mostly: copied.
        fs::copy(&old, &new).context(|| format!("cannot write {}", new.display()))?;
        fs::remove_file(&old).context(|| format!("cannot remove {}", old.display()))?;
    }
    Ok(())
}

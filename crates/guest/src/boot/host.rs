//! A point on this machine's own kernel, in namespaces that vanish with the process.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tcplab_os::{Context, OsError, Scratch, Stop};
use tcplab_plan::{Outcome, Point};

use super::cost::Cost;
use super::error::GuestError;
use super::folder;
use super::process::{self, Ended, words};
use super::stage::{Task, WORD};

/// Real time that a run may take beyond the point's own limit: set-up and the end.
const SPARE: Duration = Duration::from_secs(20);

/// Runs a point on this kernel; captures go into `out`.
///
/// # Errors
/// Without root and without user namespaces, without TUN, and what the run itself says.
pub fn run_on_host(point: &Point, out: &Path, stop: &Stop) -> Result<(Outcome, Cost), GuestError> {
    let work = Scratch::new();
    let work = work.tried("cannot make a temporary folder")?;
    folder::ask(work.path(), point)?;
    let task = Task {
        folder: work.path().to_owned(),
        cost: work.path().join("cost.json"),
        cpu: None,
        guest: None,
    };
    let longest = Duration::from_nanos(point.max_ns.max(0) as u64) + SPARE;
    let (ended, cost) = stage_run(&task, longest, stop)?;
    let status = ended.in_time(longest)?;
    let outcome = folder::read(work.path()).unwrap_or_else(|| {
        Err(GuestError::Run(match ended.console.trim() {
            "" => format!("the run ended with {}", words(status)),
            text => text.to_owned(),
        }))
    })?;
    folder::move_captures(point, work.path(), out)?;
    Ok((outcome, cost))
}

/// Starts this executable as a stage with a task, and waits for it.
pub(super) fn stage_run(
    task: &Task,
    limit: Duration,
    stop: &Stop,
) -> Result<(Ended, Cost), GuestError> {
    stage_run_watched(task, limit, stop, &mut || false)
}

/// The same; the limit begins anew whenever `moved` says that the work has moved on.
#[expect(
    clippy::disallowed_methods,
    reason = "the cost of a run has its wall time"
)]
pub(super) fn stage_run_watched(
    task: &Task,
    limit: Duration,
    stop: &Stop,
    moved: &mut dyn FnMut() -> bool,
) -> Result<(Ended, Cost), GuestError> {
    let program = std::env::current_exe().tried("cannot find this program's own file")?;
    let input = serde_json::to_vec(task).tried("cannot write a task")?;
    let begun = Instant::now();
    let ended = process::run(Command::new(program).arg(WORD), &input, limit, stop, moved)?;
    let cost = fs::read_to_string(&task.cost).unwrap_or_default();
    let mut cost: Cost = serde_json::from_str(&cost).unwrap_or_default();
    cost.wall_s = begun.elapsed().as_secs_f64();
    Ok((ended, cost))
}

/// Makes the folders of a guest, which runs as nobody and may pass through the folder around them.
pub(super) fn folders(work: &Scratch, names: [&str; 2]) -> Result<[PathBuf; 2], OsError> {
    let folders = names.map(|name| work.path().join(name));
    for folder in &folders {
        fs::create_dir(folder).context(|| folder.display().to_string())?;
    }
    let (around, mode) = (work.path(), fs::Permissions::from_mode(0o711));
    fs::set_permissions(around, mode).context(|| around.display().to_string())?;
    Ok(folders)
}

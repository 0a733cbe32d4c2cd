//! The folder of a bench: `runs.jsonl`, a line for each run, and `metrics.json`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tcplab_os::output::write_own;

use super::{Plan, Turn};
use crate::ends::Measured;

/// The runs.
const RUNS: &str = "runs.jsonl";
/// Captures of both ends, where runs are between two hosts and captured.
const CAPTURES: &str = "captures";
/// What is compared.
const METRICS: &str = "metrics.json";

/// One run, as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its arm.
    pub arm: String,
    /// Its workload.
    pub workload: String,
    /// `free`, `pinned` or `one`.
    pub cpus: String,
    /// Which repetition.
    pub block: u32,
    /// Its place among all runs, from 0.
    pub order: u64,
    /// When it began, seconds since 1970.
    pub began_s: f64,
    /// What it found.
    #[serde(flatten)]
    pub measured: Measured,
}

/// Where runs are kept.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    runs: File,
}

impl Folder {
    /// Makes a folder that is not there yet, or is empty.
    ///
    /// # Errors
    /// It has files, or cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        if fs::read_dir(path)?.next().is_some() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "the folder has files: choose another one or remove it",
            ));
        }
        let runs = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(path.join(RUNS))?;
        Ok(Self {
            path: path.to_owned(),
            runs,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Files for the captures of a run, the client's first, where the plan wants any: `captures/0003-TCP_RR-after-client.pcapng`.
    pub(super) fn captures(
        &self,
        plan: &Plan,
        turn: &Turn,
        number: usize,
    ) -> io::Result<Option<[PathBuf; 2]>> {
        if !plan.captures {
            return Ok(None);
        }
        let folder = self.path.join(CAPTURES);
        fs::create_dir_all(&folder)?;
        let workload = turn.workload.to_string().replace(':', "-");
        let arm = plan.arms.get(turn.arm).map_or("", |arm| &arm.name);
        let arm: String = arm.chars().map(plain).collect();
        let file = |side| folder.join(format!("{number:04}-{workload}-{arm}-{side}.pcapng"));
        Ok(Some(["client", "server"].map(file)))
    }

    /// Keeps a run.
    pub(super) fn add(&mut self, run: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_string(run)?;
        line.push('\n');
        self.runs.write_all(line.as_bytes())
    }

    /// Keeps what is compared; gives the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(&self, metrics: &impl Serialize) -> io::Result<PathBuf> {
        let file = self.path.join(METRICS);
        let mut text = serde_json::to_string_pretty(metrics)?;
        text.push('\n');
        write_own(&file, text)?;
        Ok(file)
    }
}

/// What a file's name may hold.
fn plain(c: char) -> char {
    match c {
        c if c.is_ascii_alphanumeric() => c,
        '.' | '_' => c,
        _ => '-',
    }
}

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a run says when it was")]
pub(super) fn now_s() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

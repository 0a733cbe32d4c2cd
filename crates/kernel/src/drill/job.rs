//! Several scripts, one after the other, on the kernel that this process sees: in a guest, or in
//! namespaces of this machine.
//!
//! `drill.json` goes in; of each script that is over one line goes into `reports.jsonl`, so that
//! what is done is done even when the kernel dies of the next one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;

use serde::{Deserialize, Serialize};
use tcplab_base::Duration;
use tcplab_drill::run::{Failure, Report, Verdict};
use tcplab_drill::{Defines, ScriptError, Settings, options};
use tcplab_guest::boot::Errand;
use tcplab_os::clock::Pace;

use super::case::{Case, Written};
use super::target::KernelTarget;

const JOB: &str = "drill.json";
const REPORTS: &str = "reports.jsonl";

/// Scripts with their numbers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) cases: Vec<(usize, Case)>,
    /// How long one may take, in seconds of the kernel's time.
    pub(super) limit_s: i64,
}

impl Job {
    /// Writes the job.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(REPORTS), "")?;
        fs::write(folder.join(JOB), serde_json::to_vec(self)?)
    }
}

/// Runs the scripts of the folder.
pub(crate) const SCRIPTS: Errand = Errand {
    question: JOB,
    needs_sysfs: true,
    work: answer,
};

/// Runs the scripts of a folder, writes the reports.
fn answer(folder: &Path, pace: Pace) -> Result<(), String> {
    let text = fs::read(folder.join(JOB)).map_err(|e| format!("cannot read {JOB}: {e}"))?;
    let job: Job =
        serde_json::from_slice(&text).map_err(|e| format!("cannot understand {JOB}: {e}"))?;
    let mut reports = OpenOptions::new()
        .append(true)
        .open(folder.join(REPORTS))
        .map_err(|e| format!("cannot open {REPORTS}: {e}"))?;
    let mut say = |line: &str| {
        let written = reports.write_all(format!("{line}\n").as_bytes());
        written.map_err(|e| format!("cannot write {REPORTS}: {e}"))
    };
    // From here on, a failure is a script's fault.
    say("")?;
    let limit = Duration::from_secs(job.limit_s);
    for (number, case) in job.cases {
        let with_entries = case.with_entries;
        // A thread of its own: its network namespace goes with it.
        let ran = thread::Builder::new()
            .spawn(move || run(&case, pace, limit))
            .map_err(|e| format!("cannot start a thread: {e}"))?
            .join();
        let report = ran.unwrap_or_else(|_| failed(0, 0, "the run ended with a panic".into()));
        let written = Written::new(number, report, with_entries);
        say(&serde_json::to_string(&written).map_err(|e| e.to_string())?)?;
    }
    Ok(())
}

/// Runs one script here.
fn run(case: &Case, pace: Pace, limit: Duration) -> Report {
    let read = || -> Result<_, ScriptError> {
        let mut defines: Defines = options::runner_defines(case.mode);
        for (name, value) in &case.defines {
            defines.set(name, value);
        }
        let script = tcplab_drill::parse(&case.text, &defines)?;
        let mut settings = Settings::of(&script, case.mode, &case.options)?;
        settings.defaults = case.defaults.clone();
        Ok((script, settings))
    };
    let (script, settings) = match read() {
        Ok(read) => read,
        Err(e) => return failed(e.place.line, e.place.column, e.what),
    };
    match KernelTarget::new(&settings.network, pace, limit) {
        Ok(mut target) => tcplab_drill::run::run(&script, &settings, &mut target),
        Err(e) => skipped(e.to_string()),
    }
}

/// A report without a run.
pub(super) fn failed(line: u32, column: u32, why: String) -> Report {
    Report {
        verdict: Verdict::Fail(Failure { line, column, why }),
        entries: Vec::new(),
    }
}

fn skipped(why: String) -> Report {
    Report {
        verdict: Verdict::Skip { line: 0, why },
        entries: Vec::new(),
    }
}

/// Reads reports while they are written.
pub(super) struct Reports {
    file: Option<File>,
    read: u64,
    /// The job has begun.
    pub(super) begun: bool,
}

impl Reports {
    pub(super) fn of(folder: &Path) -> Self {
        Self {
            file: File::open(folder.join(REPORTS)).ok(),
            read: 0,
            begun: false,
        }
    }

    /// Those that are complete since the last time.
    pub(super) fn new_ones(&mut self) -> Vec<(usize, Report)> {
        let mut found = Vec::new();
        let Some(file) = &mut self.file else {
            return found;
        };
        if file.seek(SeekFrom::Start(self.read)).is_err() {
            return found;
        }
        let mut lines = BufReader::new(file);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok() && line.ends_with(b"\n") {
            self.read += line.len() as u64;
            self.begun = true;
            if let Ok(written) = serde_json::from_slice::<Written>(&line) {
                found.push((written.number, written.report));
            }
            line.clear();
        }
        found
    }
}

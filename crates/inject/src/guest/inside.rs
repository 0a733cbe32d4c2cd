//! The guest's side: frames into the kernel that this process is init of.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use tcplab_os::clock::Pace;
use tcplab_wire::malformed::Case;

use super::super::kernel::Kernel;
use super::super::one::{Label, Part, Seat, Watch, all, digits};
use super::super::target::{self, Target};
use super::super::{Job, jobs};
use super::record::{LINES, Line, QUESTION, Question, STEP, Step};
use crate::error::InjectError;

/// Writes what happens into the folder.
struct Clerk {
    lines: File,
    step: File,
    /// What could not be written; nothing is sent without having been written down.
    broken: Option<String>,
}

impl Clerk {
    fn open(folder: &Path) -> Result<Self, String> {
        let open = |name: &str, options: &mut OpenOptions| {
            options
                .open(folder.join(name))
                .map_err(|e| format!("{name}: {e}"))
        };
        Ok(Self {
            lines: open(LINES, OpenOptions::new().append(true))?,
            step: open(STEP, OpenOptions::new().write(true))?,
            broken: None,
        })
    }

    fn line(&mut self, line: &Line) {
        let written = serde_json::to_string(line)
            .map_err(Into::into)
            .and_then(|text| self.lines.write_all(format!("{text}\n").as_bytes()));
        self.broken = written.err().map(|e| e.to_string()).or(self.broken.take());
    }

    fn step(&mut self, step: &Step) {
        let written = serde_json::to_string(step)
            .map_err(Into::into)
            .and_then(|text| self.step.write_all_at(format!("{text}\n").as_bytes(), 0));
        self.broken = written.err().map(|e| e.to_string()).or(self.broken.take());
    }
}

impl Watch for Clerk {
    fn sends(&mut self, pick: usize, number: u64, case: &Case, part: &Part) {
        self.step(&Step {
            pick,
            number: Some(number),
            frame: digits(std::iter::once(&case.frame).chain(&case.rest)),
            part: part.clone(),
        });
    }

    fn checks(&mut self, pick: usize, part: &Part) {
        self.step(&Step {
            pick,
            number: None,
            frame: String::new(),
            part: part.clone(),
        });
    }

    fn over(&mut self, pick: usize, part: &Part) {
        self.line(&Line::Over(pick, part.clone()));
    }
}

/// Answers the question in the folder.
pub(super) fn work(folder: &Path, _: Pace) -> Result<(), String> {
    let text = fs::read(folder.join(QUESTION)).map_err(|e| format!("{QUESTION}: {e}"))?;
    let question: Question =
        serde_json::from_slice(&text).map_err(|e| format!("{QUESTION}: {e}"))?;
    let mut clerk = Clerk::open(folder)?;
    if let Err(e) = send(&question, &mut clerk) {
        clerk.line(&Line::Failed(e.to_string()));
    }
    clerk.broken.map_or(Ok(()), Err)
}

fn send(question: &Question, clerk: &mut Clerk) -> Result<(), InjectError> {
    let all_jobs = jobs(&question.wanted())?;
    let mut picked = Vec::new();
    for pick in &question.picks {
        let job = all_jobs.get(pick.job);
        let Job { group, numbers } =
            job.ok_or_else(|| InjectError::Wrong("no such group".into()))?;
        picked.push(Job {
            group,
            numbers: numbers.at(pick.from, pick.to),
        });
    }
    let seat = Seat {
        label: Label::of_target(&question.name, question.seed),
        make: &|| Ok(Box::new(Kernel::new(question.rate)?) as Box<dyn Target>),
        parse: target::parse,
        is_parser: false,
        has_effects: true,
        is_kernel: true,
    };
    all(&seat, &picked, &|| false, clerk).map(drop)
}

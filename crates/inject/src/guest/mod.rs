//! A kernel in a guest as a target: what [`super::kernel::Kernel`] does on this machine, inside the guest and in its virtual time.
//!
//! A kernel that dies or hangs has done so at a step that it had written down before: that is harm with the frame, and the frames
//! behind it go on in another guest.

mod inside;
mod record;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tcplab_guest::boot::{Errand, GuestError, Initramfs, Place, Talk, run_job};
use tcplab_os::{Stop, cpu};

use self::record::{Heard, LINES, Pick, QUESTION, Question, STEP, Step};
use super::one::{Done, Label, Part};
use super::{Guest, Job, Wanted};
use crate::arena::faults;
use crate::error::InjectError;

/// What init of a guest can be asked for.
pub const ERRAND: Errand = Errand {
    question: QUESTION,
    needs_sysfs: false,
    work: inside::work,
};

/// A kernel that has taken no step for so long hangs: in virtual time waiting takes none, but a busy machine gives a guest little.
const PATIENCE: Duration = Duration::from_secs(200);

/// After so many dead kernels what is left is left out.
const DEATHS: usize = 10;

/// Sends all groups into kernels of this stack, one after the other while they die.
pub(super) fn run(
    at: &Guest,
    jobs: &[Job],
    wanted: &Wanted,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Done, InjectError> {
    let initramfs = Initramfs::of_this_program()?;
    let guest = |picks: &[Pick]| {
        let question = Question {
            name: at.name.clone(),
            seed: wanted.seed,
            count: wanted.count,
            only: wanted.only.clone(),
            rate: wanted.rate,
            picks: picks.to_vec(),
        };
        ask(&question, Place::Uml(&at.kernel, &initramfs), stop)
    };
    let label = Label::of_target(&at.name, wanted.seed);
    let all = jobs.iter().enumerate().map(|(job, of)| Pick {
        job,
        from: 0,
        to: of.numbers.len(),
    });
    let mut course = Course {
        label,
        jobs,
        left: all.filter(|pick| pick.to > 0).collect(),
        parts: jobs.iter().map(|_| Part::default()).collect(),
        deaths: 0,
    };
    while !course.left.is_empty() && !stop() {
        let (heard, ended) = guest(&course.left)?;
        course.take(heard, ended)?;
    }
    Ok(Done {
        parts: course.parts,
        site: None,
    })
}

/// Lets one guest work; what it has said counts however it ended.
fn ask(
    question: &Question,
    place: Place<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(Heard, Result<(), GuestError>), InjectError> {
    let text = serde_json::to_vec(question).map_err(|e| InjectError::CannotRun(e.to_string()))?;
    let write = |folder: &Path| {
        fs::write(folder.join(LINES), "")?;
        fs::write(folder.join(STEP), "")?;
        fs::write(folder.join(QUESTION), &text)
    };
    let end = Stop::never();
    let mut heard = Heard::default();
    let mut look = |folder: &Path| {
        if stop() {
            end.request();
        }
        match Heard::read(folder) {
            Ok(now) if now != heard => {
                heard = now;
                true
            }
            _ => false,
        }
    };
    let talk = Talk {
        ask: &write,
        look: &mut look,
    };
    // A guest that moves between CPUs takes three times as long; two at once take one each.
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let nth = std::process::id() as usize + STARTED.fetch_add(1, Ordering::Relaxed);
    let cpus = cpu::allowed();
    let cpu = cpus.get(nth % cpus.len().max(1));
    let ended = run_job(place, cpu.copied(), (PATIENCE, &end), talk);
    Ok((heard, ended.map(drop)))
}

/// How far frames have come.
struct Course<'a> {
    label: Label,
    jobs: &'a [Job],
    /// What is still to be sent.
    left: Vec<Pick>,
    /// What came of each group.
    parts: Vec<Part>,
    deaths: usize,
}

impl Course<'_> {
    /// Takes what a guest has said and how it ended.
    fn take(&mut self, heard: Heard, ended: Result<(), GuestError>) -> Result<(), InjectError> {
        let picks = std::mem::take(&mut self.left);
        let mut over = 0;
        for (pick, part) in heard.over {
            over = over.max(pick + 1);
            if let Some(pick) = picks.get(pick) {
                self.add(pick.job, part);
            }
        }
        let rest = picks.get(over..).unwrap_or_default();
        let step = heard.step.filter(|step| step.pick >= over);
        match ended {
            Ok(()) => match (heard.failed, over) {
                // The target could not be made again: in another guest it can.
                (None, 1..) => self.left = rest.to_vec(),
                (Some(why), 0) => {
                    return Err(InjectError::CannotRun(format!(
                        "{}: {why}",
                        self.label.name
                    )));
                }
                (why, _) => self.give_up(&picks, &why.unwrap_or_else(|| "it said nothing".into())),
            },
            Err(GuestError::Interrupted) => {
                if let (Some(step), Some(pick)) = (step, rest.first()) {
                    self.add(pick.job, step.part);
                }
            }
            Err(e @ (GuestError::Died { .. } | GuestError::TooLong { .. })) => {
                let what = end_of(&e);
                match (step, over) {
                    (Some(step), _) => self.died_at(step, rest, what),
                    // Before a frame of the next group was sent.
                    (None, 1..) => {
                        if let Some(last) = picks.get(over - 1) {
                            self.died(last.job, Part::default(), None, what);
                        }
                        self.left = rest.to_vec();
                    }
                    (None, 0) if self.deaths == 0 => return Err(e.into()),
                    (None, 0) => self.give_up(&picks, &what),
                }
                if self.deaths >= DEATHS && !self.left.is_empty() {
                    let left = std::mem::take(&mut self.left);
                    self.give_up(&left, &format!("{DEATHS} kernels have died"));
                }
            }
            Err(e) => return Err(e.into()),
        }
        Ok(())
    }

    /// The kernel died at a step of the first of these picks.
    fn died_at(&mut self, step: Step, rest: &[Pick], what: String) {
        let Some((pick, behind)) = rest.split_first() else {
            return;
        };
        let next = Pick {
            from: pick.from + step.part.frames,
            ..*pick
        };
        if step.number.is_some() && next.from < next.to {
            self.left.push(next);
        }
        self.left.extend_from_slice(behind);
        self.died(
            pick.job,
            step.part,
            step.number.map(|n| (n, step.frame)),
            what,
        );
    }

    fn died(&mut self, job: usize, mut part: Part, at: Option<(u64, String)>, what: String) {
        self.deaths += 1;
        let group = self.jobs.get(job).map_or("", |job| job.group.name);
        let (number, frame) = at.map_or((None, String::new()), |(n, frame)| (Some(n), frame));
        part.told(self.label.harm(group, number, frame, what));
        self.add(job, part);
    }

    fn add(&mut self, job: usize, part: Part) {
        if let Some(known) = self.parts.get_mut(job) {
            known.absorb(part);
        }
    }

    /// Says that these were not sent.
    fn give_up(&mut self, left: &[Pick], why: &str) {
        let names = left.iter().filter_map(|pick| self.jobs.get(pick.job));
        let names: Vec<&str> = names.map(|job| job.group.name).collect();
        let note = format!(
            "{}: frames of {} were not sent: {why}",
            self.label.name,
            names.join(", ")
        );
        if let Some(first) = left.first() {
            let mut part = Part::default();
            part.notes.push(note);
            self.add(first.job, part);
        }
    }
}

/// How a kernel ended, and what it said of that.
fn end_of(e: &GuestError) -> String {
    let (how, console) = match e {
        GuestError::Died { console, .. } => ("the kernel died".to_owned(), console),
        GuestError::TooLong { after, console } => {
            let s = after.as_secs();
            (format!("the kernel hangs: no progress for {s} s"), console)
        }
        e => return e.to_string(),
    };
    let said = faults(console);
    match said.is_empty() {
        true => how,
        false => format!("{how}: {}", said.join("; ")),
    }
}

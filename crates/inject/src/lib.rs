//! Malformed frames at targets: the parser of captures, the analyser, our endpoint, a kernel; and whether they are well after
//! each group of frames (`tcplab inject`).
//!
//! Level 7 of the map. The frames come from [`tcplab_wire::malformed`], which also says what each of them may do. A target is a [`Target`]:
//! it gives the connection that frames are aimed at, takes one frame after another, and is looked at after each group.
//! A panic in a target is harm like any other: it is caught, told with the frame and the command that sends it again.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod analyser;
#[cfg(target_os = "linux")]
mod arena;
mod digest;
mod document;
mod endpoint;
mod error;
#[cfg(target_os = "linux")]
mod fields;
#[cfg(target_os = "linux")]
mod guest;
#[cfg(target_os = "linux")]
mod kernel;
mod one;
mod pair;
mod parser;
mod target;
#[cfg(test)]
mod tests;
pub mod text;

use std::path::PathBuf;
use std::thread;

use tcplab_wire::malformed::{Group, Sample, groups};

#[cfg(target_os = "linux")]
pub use self::arena::{Destination, Spot, prepare};

#[cfg(target_os = "linux")]
pub use self::guest::ERRAND;

pub use self::error::InjectError;
pub use document::{
    ErrorRecord, GroupResult, Harm, INJECT_SCHEMA, InjectDocument, KernelCounter, SiteRecord,
};

use self::one::Done;
use self::target::Parse;

/// Interfaces that there are can be sent into on Linux only.
#[cfg(not(target_os = "linux"))]
#[derive(Clone, Debug)]
pub enum Destination {}

/// A kernel in a guest.
#[derive(Clone, Debug)]
pub struct Guest {
    /// The name of its stack.
    pub name: String,
    /// Its executable, for `uml:`.
    pub kernel: PathBuf,
}

/// What frames go into.
#[derive(Clone, Debug)]
pub enum TargetName {
    /// The parser of captures.
    Parser,
    /// The analyser.
    Analyser,
    /// Our own TCP.
    Endpoint,
    /// This machine's kernel, in namespaces made for it.
    Kernel,
    /// The same at an interface that there is.
    Into,
    /// The same inside a guest, in virtual time.
    Guest(Guest),
}

impl PartialEq for TargetName {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl TargetName {
    /// As it is written.
    pub fn name(&self) -> &str {
        match self {
            Self::Parser => "parser",
            Self::Analyser => "analyser",
            Self::Endpoint => "endpoint",
            Self::Kernel => "kernel",
            Self::Into => "into",
            Self::Guest(guest) => &guest.name,
        }
    }

    fn is_kernel(&self) -> bool {
        matches!(self, Self::Kernel | Self::Into | Self::Guest(_))
    }
}

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What frames and samples are drawn from.
    pub seed: u64,
    /// Frames in all; small groups are whole, the others have alike many.
    pub count: u64,
    /// One group only, or one frame of it.
    pub only: Option<(String, Option<u64>)>,
    /// What they go into; the parser always counts.
    pub targets: Vec<TargetName>,
    /// The interface that [`TargetName::Into`] means.
    pub into: Option<Destination>,
    /// Frames a second into a kernel, at most.
    pub rate: Option<u64>,
}

/// The numbers of each group that are sent.
#[derive(Clone, Debug)]
struct Job {
    group: &'static Group,
    numbers: Numbers,
}

/// Some of the chosen numbers, by their places in the choice.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    choice: Choice,
    from: u64,
    to: u64,
}

#[derive(Clone, Copy, Debug)]
enum Choice {
    One(u64),
    Some(Sample),
}

impl Numbers {
    fn len(self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    fn iter(self) -> Box<dyn Iterator<Item = u64>> {
        let all: Box<dyn Iterator<Item = u64>> = match self.choice {
            Choice::One(number) => Box::new(std::iter::once(number)),
            Choice::Some(sample) => Box::new(sample.numbers()),
        };
        Box::new(all.skip(self.from as usize).take(self.len() as usize))
    }

    /// Only those at these places of the choice.
    #[cfg(target_os = "linux")]
    fn at(self, from: u64, to: u64) -> Self {
        let to = to.min(self.to);
        Self { from, to, ..self }
    }
}

fn jobs(wanted: &Wanted) -> Result<Vec<Job>, InjectError> {
    let chosen: Vec<&'static Group> = match &wanted.only {
        None => groups().collect(),
        Some((name, _)) => groups().filter(|group| group.name == name).collect(),
    };
    if chosen.is_empty() {
        let name = wanted.only.as_ref().map_or("", |(name, _)| name);
        return Err(InjectError::Wrong(format!(
            "no group {name}; `tcplab inject --list` shows the groups"
        )));
    }
    if let Some((name, Some(number))) = &wanted.only {
        let count = chosen.iter().map(|group| group.count).sum();
        if *number >= count {
            return Err(InjectError::Wrong(format!(
                "{name} has frames 0 to {}, but no frame {number}",
                count - 1
            )));
        }
    }
    let one = wanted.only.as_ref().and_then(|(_, number)| *number);
    let shares = Sample::shares(&chosen, wanted.count);
    let job = |(group, share): (&'static Group, u64)| Job {
        group,
        numbers: match one {
            Some(number) => Numbers {
                choice: Choice::One(number),
                from: 0,
                to: 1,
            },
            None => Numbers {
                choice: Choice::Some(Sample::new(group, share, wanted.seed)),
                from: 0,
                to: share,
            },
        },
    };
    Ok(chosen.into_iter().zip(shares).map(job).collect())
}

/// Sends frames into all targets, each on a thread of its own. `stop` is asked between frames; when it says so, what was
/// done until then is the result.
///
/// # Errors
/// A wrong name, or a target that cannot be set up.
pub fn run(
    wanted: &Wanted,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<InjectDocument, InjectError> {
    run_with(wanted, target::parse, stop)
}

/// The same with another parser in front of the parser's and the analyser's target.
fn run_with(
    wanted: &Wanted,
    parse: Parse,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<InjectDocument, InjectError> {
    let jobs = jobs(wanted)?;
    let mut targets = wanted.targets.clone();
    if !targets.contains(&TargetName::Parser) {
        targets.insert(0, TargetName::Parser);
    }
    let kernels = targets.iter().filter(|target| target.is_kernel()).count();
    if kernels > 1 {
        return Err(InjectError::Wrong(
            "a run tests one kernel only: run the command once per kernel".into(),
        ));
    }
    let parts: Vec<Result<Done, InjectError>> = thread::scope(|scope| {
        let jobs = &jobs;
        let work = move |target: &TargetName| match target {
            #[cfg(target_os = "linux")]
            TargetName::Guest(at) => guest::run(at, jobs, wanted, stop),
            target => one::run(target, jobs, (wanted, parse), stop),
        };
        let start = |target| scope.spawn(move || work(target));
        let threads: Vec<_> = targets.iter().map(start).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(parts) => parts,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().map(join).collect()
    });
    let mut document = InjectDocument {
        schema: INJECT_SCHEMA.into(),
        seed: wanted.seed,
        targets: targets.iter().map(|target| target.name().into()).collect(),
        site: None,
        frames: 0,
        planned: jobs.iter().map(|job| job.numbers.len()).sum(),
        got: Vec::new(),
        harm: 0,
        groups: jobs.iter().map(empty).collect(),
        harms: Vec::new(),
        notes: Vec::new(),
        error: None,
    };
    for done in parts {
        add(&mut document, done?);
    }
    sum_up(&mut document);
    Ok(document)
}

/// Adds what came of one target.
fn add(document: &mut InjectDocument, done: Done) {
    let got = done.parts.iter().map(|part| part.frames).sum();
    document.got.push(got);
    document.site = document.site.take().or(done.site);
    for (result, part) in document.groups.iter_mut().zip(done.parts) {
        part.add_to(result, &mut document.harms, &mut document.notes);
    }
}

/// The sums over all groups, and the targets that got fewer frames than that.
fn sum_up(document: &mut InjectDocument) {
    document.groups.retain(|group| group.frames > 0);
    let frames = document.groups.iter().map(|group| group.frames).sum();
    document.frames = frames;
    document.harm = document.groups.iter().map(|group| group.harm).sum();
    let each = document.targets.iter().zip(&document.got);
    let fewer = each.filter(|(_, got)| **got < frames);
    let notes = fewer.map(|(target, got)| format!("{target} got {got} of {frames} frames"));
    document.notes.extend(notes);
}

fn empty(job: &Job) -> GroupResult {
    GroupResult {
        group: job.group.name.into(),
        of: job.group.count,
        ..GroupResult::default()
    }
}

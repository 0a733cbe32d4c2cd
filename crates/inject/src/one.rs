//! All groups into one target, with panics caught.

use std::any::Any;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};
#[cfg(target_os = "linux")]
use tcplab_base::quoted;
use tcplab_wire::malformed::Case;

use super::analyser::Analyser;
use super::document::{GroupResult, Harm, KernelCounter, SiteRecord};
use super::endpoint::OwnEndpoint;
use super::parser::{Kinds, Parser};
use super::target::{Effect, Parse, Target, kind};
use super::{Job, TargetName, Wanted};
use crate::error::InjectError;

/// Harms of a group and target that are told one by one.
const TOLD: u64 = 3;
/// After so many the group is given up: the target is broken, and making it anew takes time.
const MOST: u64 = 50;

/// What came of a group in one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) frames: u64,
    /// The parser's counts.
    #[serde(skip)]
    kinds: Option<Kinds>,
    /// Taken, and changes that may be; of our endpoint, and of a kernel.
    pub(super) effects: Option<[u64; 2]>,
    /// The target is a kernel.
    pub(super) is_kernel: bool,
    counters: Vec<KernelCounter>,
    harm: u64,
    harms: Vec<Harm>,
    pub(super) notes: Vec<String>,
}

/// Who hears of steps: before they are taken, when nothing can be said any more after one.
pub(super) trait Watch {
    /// A frame is about to be sent, of the group that is the `job`-th; `part` is what came of those before it.
    fn sends(&mut self, _job: usize, _number: u64, _case: &Case, _part: &Part) {}

    /// All of a group's frames were sent; whether the target is well comes next.
    fn checks(&mut self, _job: usize, _part: &Part) {}

    /// A group is over.
    fn over(&mut self, _job: usize, _part: &Part) {}
}

/// Nobody listens.
struct Nobody;

impl Watch for Nobody {}

impl Part {
    /// Adds it to the group's row.
    pub(super) fn add_to(
        self,
        row: &mut GroupResult,
        harms: &mut Vec<Harm>,
        notes: &mut Vec<String>,
    ) {
        row.frames = row.frames.max(self.frames);
        if let Some(kinds) = self.kinds {
            (row.parsed, row.not_tcp, row.malformed) =
                (kinds.parsed, kinds.not_tcp, kinds.malformed);
        }
        if self.is_kernel {
            row.sent_to_kernel = self.effects.map(|[taken, _]| taken);
            row.kernel_counters = self.counters;
        } else if let Some([accepted, changed]) = self.effects {
            (row.accepted, row.state_changes) = (Some(accepted), Some(changed));
        }
        row.harm += self.harm;
        harms.extend(self.harms);
        for note in self.notes {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }

    /// Adds what came of the same group's other frames.
    #[cfg(target_os = "linux")]
    pub(super) fn absorb(&mut self, other: Self) {
        self.frames += other.frames;
        self.is_kernel |= other.is_kernel;
        self.effects = match (self.effects, other.effects) {
            (Some([a, b]), Some([c, d])) => Some([a + c, b + d]),
            (a, b) => a.or(b),
        };
        for counter in other.counters {
            match self.counters.iter_mut().find(|c| c.name == counter.name) {
                Some(known) => known.by += counter.by,
                None => self.counters.push(counter),
            }
        }
        self.harm += other.harm;
        self.harms.extend(other.harms);
        self.harms.truncate(TOLD as usize);
        self.notes.extend(other.notes);
    }

    /// One more harm; the first ones are told.
    pub(super) fn told(&mut self, harm: Harm) {
        self.harm += 1;
        if self.harm <= TOLD {
            self.harms.push(harm);
        }
    }

    fn add(&mut self, effect: Effect) {
        if let Some([accepted, changed]) = &mut self.effects {
            *accepted += u64::from(effect.accepted);
            *changed += u64::from(effect.changed);
        }
    }
}

/// What a target is called, and the seed of its frames.
#[derive(Clone, Debug)]
pub(super) struct Label {
    /// Its name in results.
    pub(super) name: String,
    /// The options that name it.
    options: String,
    pub(super) seed: u64,
}

impl Label {
    /// A target that `--target` names.
    pub(super) fn of_target(name: &str, seed: u64) -> Self {
        Self {
            name: name.into(),
            options: format!("--target {name}"),
            seed,
        }
    }

    fn of(name: &TargetName, wanted: &Wanted) -> Self {
        let label = Self::of_target(name.name(), wanted.seed);
        match (&wanted.into, name) {
            (Some(into), TargetName::Into) => Self {
                options: words_of(into),
                ..label
            },
            _ => label,
        }
    }

    /// A harm: by the frame of this number, whose digits `frame` has; or found by the check after the group.
    pub(super) fn harm(
        &self,
        group: &str,
        number: Option<u64>,
        frame: String,
        what: String,
    ) -> Harm {
        let mut again = format!("tcplab inject {} --only {group}", self.options);
        if let Some(number) = number {
            let _ = write!(again, ":{number}");
        }
        let _ = write!(again, " --seed {}", self.seed);
        Harm {
            target: self.name.clone(),
            group: group.into(),
            number,
            what,
            frame,
            again,
        }
    }
}

/// Makes a target.
type Make<'a> = &'a dyn Fn() -> Result<Box<dyn Target>, InjectError>;

/// A target, made anew when a panic has broken it.
pub(super) struct Seat<'a> {
    pub(super) label: Label,
    pub(super) make: Make<'a>,
    pub(super) parse: Parse,
    /// It is the parser's: what that says of frames is counted.
    pub(super) is_parser: bool,
    /// What it did with each frame is counted.
    pub(super) has_effects: bool,
    pub(super) is_kernel: bool,
}

/// The options that name an interface.
#[cfg(target_os = "linux")]
fn words_of(into: &super::Destination) -> String {
    let mut words = format!("--into {}", quoted(&into.at.to_string()));
    if let Some(from) = &into.from {
        let _ = write!(words, " --from {}", quoted(&from.to_string()));
    }
    if let Some(port) = into.port {
        let _ = write!(words, " --port {port}");
    }
    if into.any {
        words.push_str(" --allow-any-target");
    }
    words
}

#[cfg(not(target_os = "linux"))]
fn words_of(into: &super::Destination) -> String {
    match *into {}
}

fn make(name: &TargetName, wanted: &Wanted, parse: Parse) -> Result<Box<dyn Target>, InjectError> {
    Ok(match name {
        TargetName::Parser => Box::new(Parser::new(parse)),
        TargetName::Analyser => Box::new(Analyser::new(parse, wanted.seed)),
        TargetName::Endpoint => Box::new(OwnEndpoint::new(wanted.seed)),
        #[cfg(target_os = "linux")]
        TargetName::Kernel => Box::new(super::kernel::Kernel::new(wanted.rate)?),
        #[cfg(target_os = "linux")]
        TargetName::Into => match &wanted.into {
            Some(into) => Box::new(super::kernel::Kernel::at(into, wanted.rate)?),
            None => return Err(InjectError::Wrong("no interface is named".into())),
        },
        #[cfg(not(target_os = "linux"))]
        TargetName::Kernel | TargetName::Into => {
            return Err(InjectError::CannotRun(
                "frames into a kernel need Linux".into(),
            ));
        }
        TargetName::Guest(guest) => {
            return Err(InjectError::CannotRun(format!(
                "{}: frames are sent inside the guest",
                guest.name
            )));
        }
    })
}

/// What came of all groups in one target.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) parts: Vec<Part>,
    /// The interface that frames went into.
    pub(super) site: Option<SiteRecord>,
}

/// Sends all groups into a target of this process.
pub(super) fn run(
    name: &TargetName,
    jobs: &[Job],
    (wanted, parse): (&Wanted, Parse),
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Done, InjectError> {
    let seat = Seat {
        label: Label::of(name, wanted),
        make: &|| make(name, wanted, parse),
        parse,
        is_parser: *name == TargetName::Parser,
        has_effects: *name == TargetName::Endpoint || name.is_kernel(),
        is_kernel: name.is_kernel(),
    };
    all(&seat, jobs, stop, &mut Nobody)
}

/// Sends all groups into the target of a seat.
pub(super) fn all(
    seat: &Seat<'_>,
    jobs: &[Job],
    stop: &(dyn Fn() -> bool + Sync),
    watch: &mut dyn Watch,
) -> Result<Done, InjectError> {
    let mut target = (seat.make)()?;
    let site = target.site();
    let mut parts = Vec::new();
    for (at, job) in jobs.iter().enumerate() {
        let mut part = Part {
            kinds: seat.is_parser.then(Kinds::default),
            effects: seat.has_effects.then_some([0, 0]),
            is_kernel: seat.is_kernel,
            ..Part::default()
        };
        let went = match job.numbers.len() == 0 || stop() {
            true => Ok(()),
            false => group(seat, &mut target, (at, job, &mut part), (stop, watch)),
        };
        part.notes.extend(target.notes());
        let is_harmed = part.harm > 0 || parts.iter().any(|part: &Part| part.harm > 0);
        let went = match went {
            // What was found until here is the result.
            Err(e) if is_harmed => {
                let name = &seat.label.name;
                let note = format!("{name}: it cannot be set up again: {e}");
                part.notes.push(note);
                Err(None)
            }
            went => went.map_err(Some),
        };
        watch.over(at, &part);
        parts.push(part);
        match went {
            Ok(()) => {}
            Err(None) => break,
            Err(Some(e)) => return Err(e),
        }
    }
    Ok(Done { parts, site })
}

fn group(
    seat: &Seat<'_>,
    target: &mut Box<dyn Target>,
    (at, job, part): (usize, &Job, &mut Part),
    (stop, watch): (&(dyn Fn() -> bool + Sync), &mut dyn Watch),
) -> Result<(), InjectError> {
    let Job { group, numbers } = job;
    if let Some(why) = target.lacks(group) {
        part.notes.push(why);
        return Ok(());
    }
    target.begin(group)?;
    for number in numbers.iter() {
        if part.frames.is_multiple_of(256) && stop() {
            break;
        }
        part.frames += 1;
        let (mut frame, mut rest) = (Vec::new(), Vec::new());
        let done = caught(|| {
            let flow = target.flow(group.aim)?;
            let case = group.case(&flow, number, seat.label.seed);
            frame.clone_from(&case.frame);
            rest.clone_from(&case.rest);
            watch.sends(at, number, &case, part);
            target.take(&case)
        });
        let harm = |what| {
            let frames = digits(std::iter::once(&frame).chain(&rest));
            seat.label.harm(group.name, Some(number), frames, what)
        };
        match done {
            Ok(Ok(effect)) => part.add(effect),
            Ok(Err(what)) => part.told(harm(what)),
            Err(what) => {
                part.told(harm(what));
                *target = (seat.make)()?;
                target.begin(group)?;
            }
        }
        if let Some(kinds) = &mut part.kinds {
            kinds.add(caught(|| kind(&(seat.parse)(&frame))).ok());
        }
        if part.harm >= MOST {
            part.notes.push(format!(
                "{}: {} was given up after {MOST} harms",
                seat.label.name, group.name
            ));
            break;
        }
    }
    part.counters = target.counters();
    watch.checks(at, part);
    if let Err(what) = caught(|| target.end(group)).and_then(|ended| ended) {
        let harm = seat.label.harm(group.name, None, String::new(), what);
        part.told(harm);
        *target = (seat.make)()?;
    }
    Ok(())
}

/// Frames in hexadecimal digits.
pub(super) fn digits<'a>(frames: impl Iterator<Item = &'a Vec<u8>>) -> String {
    let frames: Vec<String> = frames.map(|frame| hex(frame)).collect();
    frames.join(" ")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What a call gives, or the words of its panic.
fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| format!("panic: {}", words(&*panic)))
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    text.or(owned).unwrap_or("without words")
}

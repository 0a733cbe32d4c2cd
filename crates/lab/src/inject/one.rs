//! All groups into one target, with panics caught.

use std::any::Any;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::analyser::Analyser;
use super::document::{GroupResult, Harm, KernelCounter, SiteRecord};
use super::endpoint::OwnEndpoint;
use super::parser::{Kinds, Parser};
use super::target::{Effect, Parse, Target, kind};
use super::{Job, TargetName, Wanted};
use crate::error::LabError;

/// Harms of a group and target that are told one by one.
const TOLD: u64 = 3;
/// After so many the group is given up: the target is broken, and making it anew takes time.
const MOST: u64 = 50;

/// What came of a group in one target.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    frames: u64,
    /// The parser's counts.
    kinds: Option<Kinds>,
    /// Taken, and changes that may be; of our endpoint, and of a kernel.
    effects: Option<[u64; 2]>,
    /// The target is a kernel.
    is_kernel: bool,
    counters: Vec<KernelCounter>,
    harm: u64,
    harms: Vec<Harm>,
    notes: Vec<String>,
}

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

    fn add(&mut self, effect: Effect) {
        if let Some([accepted, changed]) = &mut self.effects {
            *accepted += u64::from(effect.accepted);
            *changed += u64::from(effect.changed);
        }
    }
}

/// A target, made anew when a panic has broken it.
struct Seat<'a> {
    name: TargetName,
    wanted: &'a Wanted,
    parse: Parse,
    target: Box<dyn Target>,
}

impl<'a> Seat<'a> {
    fn new(name: TargetName, wanted: &'a Wanted, parse: Parse) -> Result<Self, LabError> {
        Ok(Self {
            name,
            wanted,
            parse,
            target: make(name, wanted, parse)?,
        })
    }

    fn renew(&mut self) -> Result<(), LabError> {
        self.target = make(self.name, self.wanted, self.parse)?;
        Ok(())
    }

    fn harm(
        &self,
        job: &Job,
        number: Option<u64>,
        (frame, rest): (&[u8], &[Vec<u8>]),
        what: String,
    ) -> Harm {
        let into = self.wanted.into.as_ref();
        let target = match into.filter(|_| self.name == TargetName::Into) {
            Some(into) => words_of(into),
            None => format!("--target {}", self.name.name()),
        };
        let mut again = format!("tcplab inject {target} --only {}", job.group.name);
        if let Some(number) = number {
            let _ = write!(again, ":{number}");
        }
        let _ = write!(again, " --seed {}", self.wanted.seed);
        Harm {
            target: self.name.name().into(),
            group: job.group.name.into(),
            number,
            what,
            frame: rest
                .iter()
                .fold(hex(frame), |text, piece| text + " " + &hex(piece)),
            again,
        }
    }
}

/// The options that name an interface.
#[cfg(target_os = "linux")]
fn words_of(into: &super::Destination) -> String {
    let mut words = format!("--into {}", into.at);
    if let Some(from) = &into.from {
        let _ = write!(words, " --from {from}");
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

fn make(name: TargetName, wanted: &Wanted, parse: Parse) -> Result<Box<dyn Target>, LabError> {
    Ok(match name {
        TargetName::Parser => Box::new(Parser::new(parse)),
        TargetName::Analyser => Box::new(Analyser::new(parse, wanted.seed)),
        TargetName::Endpoint => Box::new(OwnEndpoint::new(wanted.seed)),
        #[cfg(target_os = "linux")]
        TargetName::Kernel => Box::new(super::kernel::Kernel::new(wanted.rate)?),
        #[cfg(target_os = "linux")]
        TargetName::Into => match &wanted.into {
            Some(into) => Box::new(super::kernel::Kernel::at(into, wanted.rate)?),
            None => return Err(LabError::Wrong("no interface is named".into())),
        },
        #[cfg(not(target_os = "linux"))]
        TargetName::Kernel | TargetName::Into => {
            return Err(LabError::CannotRun(
                "frames into a kernel need Linux".into(),
            ));
        }
    })
}

/// What came of all groups in one target.
pub(super) struct Done {
    pub(super) parts: Vec<Part>,
    /// The interface that frames went into.
    pub(super) site: Option<SiteRecord>,
}

/// Sends all groups into a target.
pub(super) fn run(
    name: TargetName,
    jobs: &[Job],
    (wanted, parse): (&Wanted, Parse),
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Done, LabError> {
    let mut seat = Seat::new(name, wanted, parse)?;
    let site = seat.target.site();
    let mut parts = Vec::new();
    for job in jobs {
        let mut part = Part {
            kinds: (name == TargetName::Parser).then(Kinds::default),
            effects: (name == TargetName::Endpoint || name.is_kernel()).then_some([0, 0]),
            is_kernel: name.is_kernel(),
            ..Part::default()
        };
        let went = group(&mut seat, job, &mut part, stop);
        part.notes.extend(seat.target.notes());
        let is_harmed = part.harm > 0 || parts.iter().any(|part: &Part| part.harm > 0);
        parts.push(part);
        match went {
            Ok(()) => {}
            // What was found until here is the result.
            Err(e) if is_harmed => {
                let note = format!("{}: it cannot be set up again: {e}", name.name());
                if let Some(part) = parts.last_mut() {
                    part.notes.push(note);
                }
                break;
            }
            Err(e) => return Err(e),
        }
    }
    Ok(Done { parts, site })
}

fn group(
    seat: &mut Seat<'_>,
    job: &Job,
    part: &mut Part,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), LabError> {
    if job.numbers.len() == 0 || stop() {
        return Ok(());
    }
    if let Some(why) = seat.target.lacks(job.group) {
        part.notes.push(why);
        return Ok(());
    }
    seat.target.begin(job.group)?;
    for number in job.numbers.iter() {
        if part.frames.is_multiple_of(256) && stop() {
            break;
        }
        part.frames += 1;
        let (mut frame, mut rest) = (Vec::new(), Vec::new());
        let done = caught(|| {
            let flow = seat.target.flow(job.group.aim)?;
            let case = job.group.case(&flow, number, seat.wanted.seed);
            frame.clone_from(&case.frame);
            rest.clone_from(&case.rest);
            seat.target.take(&case)
        });
        match done {
            Ok(Ok(effect)) => part.add(effect),
            Ok(Err(what)) => told(part, seat.harm(job, Some(number), (&frame, &rest), what)),
            Err(what) => {
                told(part, seat.harm(job, Some(number), (&frame, &rest), what));
                seat.renew()?;
                seat.target.begin(job.group)?;
            }
        }
        if let Some(kinds) = &mut part.kinds {
            kinds.add(caught(|| kind(&(seat.parse)(&frame))).ok());
        }
        if part.harm >= MOST {
            part.notes.push(format!(
                "{}: {} was given up after {MOST} harms",
                seat.name.name(),
                job.group.name
            ));
            break;
        }
    }
    part.counters = seat.target.counters();
    match caught(|| seat.target.end(job.group)) {
        Ok(Ok(())) => {}
        Ok(Err(what)) | Err(what) => {
            told(part, seat.harm(job, None, (&[], &[]), what));
            seat.renew()?;
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn told(part: &mut Part, harm: Harm) {
    part.harm += 1;
    if part.harm <= TOLD {
        part.harms.push(harm);
    }
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

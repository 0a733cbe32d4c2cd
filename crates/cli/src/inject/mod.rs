//! `tcplab inject`: malformed frames at the parser, the analyser, our endpoint and a kernel.

pub mod args;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use tcplab_inject::{
    self as inject, INJECT_SCHEMA, InjectDocument, InjectError, TargetName, Wanted, text,
};
use tcplab_lab::{Lab, LabError};
use tcplab_os::Stop;
use tcplab_os::say;
use tcplab_wire::malformed::groups;

use self::args::{InjectArgs, Into};
use crate::args::Color;
use crate::failure::{Failure, INTERRUPTED};
use crate::{json, screen, terminal};

/// Runs `tcplab inject`.
pub fn main(args: &InjectArgs, color: Color) -> ExitCode {
    json::finish(INJECT_SCHEMA, args.json, run(args, color))
}

/// Frames where the user says nothing.
const COUNT: u64 = 20_000;

fn run(args: &InjectArgs, color: Color) -> Result<ExitCode, Failure> {
    args.check()?;
    if args.list {
        return list(args, color);
    }
    let only = args.only.clone();
    let wanted = Wanted {
        seed: args.seed,
        count: args.count.unwrap_or(COUNT),
        only: only.map(|only| (only.group, only.number)),
        targets: targets(args)?,
        into: into(args)?,
        rate: args.rate,
    };
    #[cfg(target_os = "linux")]
    if wanted.targets.contains(&TargetName::Kernel) {
        let prepared = tcplab_inject::prepare();
        prepared.map_err(|e| Failure::cannot_run(e.to_string()))?;
    }
    let stop = Stop::on_signals().map_err(|e| Failure::cannot_run(e.to_string()))?;
    let mut document = sent(&wanted, args.duration, &stop)?;
    if stop.wanted() && document.frames == 0 {
        return Err(Failure::interrupted("interrupted before a frame was sent"));
    }
    if stop.wanted() {
        let frames = document.frames;
        (document.notes).push(format!("interrupted after {frames} frames"));
    }
    match args.json {
        true => json::print(&document)?,
        false => {
            let theme = terminal::theme(color, false);
            text::result(&document, &theme, &mut screen::painted(&theme))?;
        }
    }
    if document.harm > 0 {
        return Ok(ExitCode::from(1));
    }
    if !stop.wanted() && document.got.contains(&0) {
        say("tcplab: a target got no frame: it was not tested");
        return Ok(ExitCode::from(3));
    }
    if !stop.wanted() {
        return Ok(ExitCode::SUCCESS);
    }
    let frames = document.frames;
    say(&format!(
        "tcplab: interrupted after {frames} frames; the remaining frames were not tested"
    ));
    Ok(ExitCode::from(INTERRUPTED))
}

/// Sends the frames, for this long at most; notes say when that was not enough.
#[allow(
    clippy::disallowed_methods,
    reason = "--for works on real-time targets only"
)]
fn sent(
    wanted: &Wanted,
    duration: Option<Duration>,
    stop: &Stop,
) -> Result<InjectDocument, Failure> {
    let end = duration.map(|duration| Instant::now() + duration);
    let was_late = AtomicBool::new(false);
    let is_over = || {
        let is_late = end.is_some_and(|end| Instant::now() >= end);
        was_late.fetch_or(is_late, Ordering::Relaxed);
        stop.wanted() || is_late
    };
    let mut document = inject::run(wanted, &is_over)?;
    let (frames, planned) = (document.frames, document.planned);
    let is_short = frames < planned || document.got.iter().any(|got| *got < planned);
    if let Some(duration) = duration
        && was_late.into_inner()
        && is_short
    {
        let note = match frames < planned {
            true => format!("ended after {duration:?}: {frames} of {planned} frames were sent"),
            false => format!("ended after {duration:?}, before every target had its frames"),
        };
        document.notes.insert(0, note);
    }
    Ok(document)
}

/// The named targets, each once; by default those that run on any machine.
fn targets(args: &InjectArgs) -> Result<Vec<TargetName>, Failure> {
    let mut targets: Vec<TargetName> = match (args.target.as_slice(), &args.into) {
        ([], None) => vec![
            TargetName::Parser,
            TargetName::Analyser,
            TargetName::Endpoint,
        ],
        (chosen, _) => chosen.iter().map(name).collect::<Result<_, _>>()?,
    };
    targets.extend(args.into.as_ref().map(|_| TargetName::Into));
    let mut once: Vec<TargetName> = Vec::new();
    for target in targets {
        if !once.contains(&target) {
            once.push(target);
        }
    }
    Ok(once)
}

/// The interface that `--into` names.
#[cfg(target_os = "linux")]
fn into(args: &InjectArgs) -> Result<Option<inject::Destination>, Failure> {
    Ok(args.into.clone().map(|at| inject::Destination {
        at,
        from: args.from.clone(),
        port: args.port,
        any: args.allow_any_target,
    }))
}

#[cfg(not(target_os = "linux"))]
fn into(args: &InjectArgs) -> Result<Option<inject::Destination>, Failure> {
    match args.into {
        None => Ok(None),
        Some(_) => Err(Failure::cannot_run("--into needs Linux")),
    }
}

fn name(target: &Into) -> Result<TargetName, Failure> {
    Ok(match target {
        Into::Parser => TargetName::Parser,
        Into::Analyser => TargetName::Analyser,
        Into::Endpoint => TargetName::Endpoint,
        Into::Kernel => TargetName::Kernel,
        Into::Stack(name) => Lab::new(Stop::never()).stack(name)?.as_target()?,
    })
}

/// A group in `--list --json`.
#[derive(Serialize)]
struct Listed {
    group: &'static str,
    frames: u64,
    about: &'static str,
}

/// The document of `--list --json`.
#[derive(Serialize)]
struct Groups {
    schema: &'static str,
    groups: Vec<Listed>,
}

fn list(args: &InjectArgs, color: Color) -> Result<ExitCode, Failure> {
    let only = args.only.as_ref().map(|only| only.group.as_str());
    let chosen = groups().filter(|group| only.is_none_or(|only| only == group.name));
    if args.json {
        let one = |group: &tcplab_wire::malformed::Group| Listed {
            group: group.name,
            frames: group.count,
            about: group.about,
        };
        json::print(&Groups {
            schema: "tcplab.inject-groups/1",
            groups: chosen.map(one).collect(),
        })?;
    } else {
        let theme = terminal::theme(color, false);
        text::list(chosen, &theme, &mut screen::painted(&theme))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl From<InjectError> for Failure {
    fn from(e: InjectError) -> Self {
        LabError::from(e).into()
    }
}

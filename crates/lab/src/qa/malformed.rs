//! Malformed frames before and after: does either stack come to harm?

use std::collections::BTreeMap;
use std::thread;

use tcplab_compare::{Arm, Count, RemarkKind, Section, TestResult, compare};
use tcplab_inject::{self as inject, InjectDocument, TargetName};

use super::Wanted;
use crate::real::Real;
use crate::stack::Kind;
use crate::{Lab, LabError, Stack};

const KIND: &str = "malformed";
const TITLE: &str = "Malformed frames";

/// Where draws begin: both stacks get the same frames.
const SEED: u64 = 1;

/// Sends frames into both stacks.
pub(super) fn section(lab: &Lab, wanted: &Wanted<'_>) -> Result<Section, LabError> {
    if wanted.frames == 0 {
        return Ok(Section::not_run(KIND, TITLE, "send some with --frames N"));
    }
    let mut targets = Vec::new();
    for stack in wanted.stacks {
        let Some(target) = target(stack) else {
            let why = format!(
                "{}: frames go into the model, this machine's kernel and kernels of uml:; `tcplab inject` has other targets",
                stack.name
            );
            return Ok(Section::not_run(KIND, TITLE, why));
        };
        targets.push((stack, target));
    }
    let send = |target: &TargetName| {
        let asked = inject::Wanted {
            seed: SEED,
            count: wanted.frames,
            only: None,
            targets: vec![target.clone()],
            into: None,
            rate: None,
        };
        inject::run(&asked, &|| lab.stop.wanted()).map_err(LabError::from)
    };
    let at_once = wanted.jobs > 1 && wanted.stacks.iter().all(Stack::is_virtual);
    let found: Vec<_> = match at_once {
        true => thread::scope(|scope| {
            let send = &send;
            let start = |target| scope.spawn(move || send(target));
            let threads: Vec<_> = targets.iter().map(|(_, target)| start(target)).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(found) => found,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect()
        }),
        false => targets.iter().map(|(_, target)| send(target)).collect(),
    };
    let mut arms = Vec::new();
    for ((stack, _), found) in targets.iter().zip(found) {
        let found = match found {
            Err(LabError::CannotRun(why)) => return Ok(Section::not_run(KIND, TITLE, why)),
            found => found?,
        };
        if lab.stop.wanted() {
            return Err(LabError::Interrupted);
        }
        arms.push(arm(stack, &found));
    }
    Ok(match arms.as_slice() {
        [before, after] => Section::of(KIND, TITLE.into(), compare(before, after, &wanted.options)),
        _ => Section::not_run(KIND, TITLE, "there are no two stacks"),
    })
}

fn target(stack: &Stack) -> Option<TargetName> {
    match stack.kind {
        Kind::Model(_) => Some(TargetName::Endpoint),
        Kind::Real(Real::Host) => Some(TargetName::Kernel),
        Kind::Real(Real::Uml(_)) => stack.as_target().ok(),
        Kind::Real(Real::Qemu(_) | Real::Ssh(_)) => None,
    }
}

/// Groups of frames as tests: one that did harm failed.
fn arm(stack: &Stack, found: &InjectDocument) -> Arm {
    let mut arm = Arm::named(stack.name.clone());
    let result = |harm: u64| match harm {
        0 => TestResult::Passed,
        _ => TestResult::Failed,
    };
    let tests: BTreeMap<_, _> = found
        .groups
        .iter()
        .map(|group| (group.group.clone(), result(group.harm)))
        .collect();
    let failed = tests.values().filter(|r| **r == TestResult::Failed).count() as u64;
    for harm in found.harms.iter().take(NAMED) {
        arm.remark(RemarkKind::Note, harm.group.clone(), harm.what.clone());
    }
    let frames = found.frames;
    arm.remark(
        RemarkKind::Note,
        "",
        format!("{frames} frames, seed {SEED}"),
    );
    arm.counts.push(Count {
        name: "groups of malformed frames".into(),
        passed: Some(tests.len() as u64 - failed),
        failed: Some(failed),
        skipped: Some(0),
        total: Some(tests.len() as u64),
        tests,
        ..Count::default()
    });
    arm
}

/// Harms that are told.
const NAMED: usize = 20;

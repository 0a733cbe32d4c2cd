//! packetdrill scripts before and after: the cases that pass on one side only are named.

use std::collections::BTreeMap;

use tcplab_compare::{Arm, Count, RemarkKind, Section, TestResult, compare};

use super::Wanted;
use crate::drill::{self, Captures, DrillDocument, Job, Verdict};
use crate::{Lab, LabError, Stack};

const KIND: &str = "drill";
const TITLE: &str = "packetdrill scripts";

/// Runs the scripts on both stacks.
pub(super) fn section(lab: &Lab, wanted: &Wanted<'_>) -> Result<Section, LabError> {
    if wanted.scripts.is_empty() {
        let why = "name scripts with --drill PATH, such as packetdrill's gtests/net/tcp";
        return Ok(Section::not_run(KIND, TITLE, why));
    }
    let scripts = drill::scripts(wanted.scripts)?;
    let cases = drill::cases(&scripts, &drill::MODES);
    let mut arms = Vec::new();
    for stack in wanted.stacks {
        let job = Job {
            stack,
            cases: &cases,
            jobs: wanted.jobs,
            tolerance_us: None,
            defines: &[],
            logs: false,
            captures: Captures::None,
            mutants: 0,
        };
        let found = match drill::run(lab, &job, |_| {}) {
            // A stack on which no scripts run is no reason to lose the other sections.
            Err(LabError::CannotRun(why)) => return Ok(Section::not_run(KIND, TITLE, why)),
            found => found?,
        };
        arms.push(arm(stack, &found));
    }
    Ok(match arms.as_slice() {
        [before, after] => Section::of(KIND, TITLE.into(), compare(before, after, &wanted.options)),
        _ => Section::not_run(KIND, TITLE, "there are no two stacks"),
    })
}

fn arm(stack: &Stack, found: &DrillDocument) -> Arm {
    let mut arm = Arm::named(stack.name.clone());
    let mut tests = BTreeMap::new();
    for case in &found.results {
        let result = match case.verdict {
            Verdict::Pass => TestResult::Passed,
            Verdict::Fail => TestResult::Failed,
            Verdict::Skip => TestResult::Skipped,
        };
        tests.insert(case.name(), result);
    }
    let failed = found.results.iter().filter(|c| c.verdict == Verdict::Fail);
    for case in failed.take(NAMED) {
        arm.remark(RemarkKind::Note, case.name(), case.reason());
    }
    arm.counts.push(Count {
        name: TITLE.into(),
        passed: Some(found.passed as u64),
        failed: Some(found.failed as u64),
        skipped: Some(found.skipped as u64),
        total: Some(found.results.len() as u64),
        tests,
        ..Count::default()
    });
    arm
}

/// Cases whose reason is told.
const NAMED: usize = 20;

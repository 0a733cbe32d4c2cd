//! Suites of workloads before and after: the order of runs, their results, and the data for the
//! comparison.
//!
//! Level 7 of the map; Linux only. [`ends`] is one run of a workload, the rest of this crate which runs there are.
//!
//! Arms take turns (A B, B A, A B ...): what drifts on the machine drifts for both. Each run is kept in `runs.jsonl` as
//! it was found; [`metrics`] makes of them what `tcplab compare` reads.
#![cfg(target_os = "linux")]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod arm;
mod command;
pub mod ends;
mod enough;
mod error;
mod folder;
mod hosts;
mod metrics;
mod schedule;
mod self_test;
pub mod text;

use std::io;
use std::path::PathBuf;

use tcplab_os::Stop;

use ends::{Place, Spec};

pub use arm::{Arm, Setting, places};
pub use command::Commands;
pub use error::BenchError;
pub use folder::{Folder, Run};
pub use hosts::{Reach, far_places, is_far};
pub use metrics::metrics;
pub use schedule::{Count, Pinning, Plan, Turn};
pub use self_test::{SELF_TEST_SCHEMA, SelfTest, self_test};

/// How many runs are done, of how many.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The run that begins now, from 0.
    pub number: usize,
    /// All of them.
    pub of: usize,
    /// What it is.
    pub turn: &'a Turn,
    /// The name of its arm.
    pub arm: &'a str,
}

/// This machine in a line: kernel, processors.
pub fn system() -> String {
    let [name, release] = ["ostype", "osrelease"].map(tcplab_os::sysctl::kernel);
    let processors = tcplab_os::cpu::allowed().len();
    format!("{name} {release}, {processors} processors")
}

/// The machines of each arm in a line.
pub fn systems(places: &[Place]) -> Vec<String> {
    let line = |place: &Place| match place {
        Place::Here | Place::Own(_) => system(),
        Place::Hosts(hosts) => hosts.systems().join("; "),
    };
    places.iter().map(line).collect()
}

/// Runs a plan in its arms' [`places`]; each run goes into the folder as it ends. On success the answer has all runs,
/// or those before the user stopped.
///
/// # Errors
/// What an arm or a workload cannot do here; a folder that cannot be written.
pub fn run(
    plan: &Plan,
    places: &[Place],
    folder: &mut Folder,
    stop: &Stop,
    mut each: impl FnMut(Progress<'_>),
) -> Result<Vec<Run>, BenchError> {
    let mut runs = Vec::with_capacity(plan.least());
    let mut done = vec![0; plan.kinds().len()];
    let mut wanted = vec![plan.runs.least(); done.len()];
    loop {
        let turns = plan.turns(&done, &wanted);
        let of = runs.len() + turns.len();
        for turn in &turns {
            let (number, arm) = (runs.len(), &plan.arms[turn.arm]);
            each(Progress {
                number,
                of,
                turn,
                arm: &arm.name,
            });
            let captures = folder
                .captures(plan, turn, number)
                .map_err(|e| folder.failed(e))?;
            let at = (&places[turn.arm], captures.as_ref());
            let Some(run) = one(plan, turn, number, at, 0, stop)? else {
                return Ok(runs);
            };
            folder.add(&run).map_err(|e| folder.failed(e))?;
            runs.push(run);
        }
        let more = enough::wanted(plan, &runs, &wanted);
        done = std::mem::replace(&mut wanted, more);
        if done == wanted {
            return Ok(runs);
        }
    }
}

/// One run of an arm, at its place, and captured there where the place is two hosts; none: the user wants an end.
fn one(
    plan: &Plan,
    turn: &Turn,
    number: usize,
    (place, captures): (&Place, Option<&[PathBuf; 2]>),
    slowed_percent: u32,
    stop: &Stop,
) -> Result<Option<Run>, BenchError> {
    let arm = &plan.arms[turn.arm];
    arm.prepare(turn.block + 1)?;
    let spec = Spec {
        slowed_percent,
        ..spec(plan, turn)
    };
    let began_s = folder::now_s();
    let measured = match place {
        Place::Hosts(hosts) => hosts.run(&spec, captures, stop),
        Place::Here | Place::Own(_) => ends::run(&spec, place, stop),
    };
    let measured = measured.map_err(|e| {
        BenchError::CannotRun(format!("{} in the arm {}: {e}", turn.workload, arm.name))
    })?;
    Ok(measured.map(|measured| Run {
        arm: arm.name.clone(),
        workload: turn.workload.to_string(),
        cpus: turn.pinning.word().into(),
        block: turn.block,
        order: number as u64,
        began_s,
        measured,
    }))
}

fn spec(plan: &Plan, turn: &Turn) -> Spec {
    Spec {
        workload: turn.workload,
        warm_ns: plan.warm.as_nanos(),
        time_ns: plan.time.as_nanos(),
        cpus: turn.pinning.cpus(),
        congestion: plan.congestion.clone(),
        slowed_percent: 0,
    }
}

impl Folder {
    fn failed(&self, e: io::Error) -> BenchError {
        BenchError::at(self.path())(e)
    }
}

//! Commands as the things that are measured.

use tcplab_bench::{Arm, Commands, Setting};
use tcplab_compare::Metrics;
use tcplab_os::Stop;

use super::args::BenchArgs;
use super::out::Out;
use super::progress::Progress;
use crate::failure::Failure;

/// Runs of a command that count, where the user says nothing.
const RUNS: u32 = 10;
/// Runs before them.
const WARM_RUNS: u32 = 1;

/// The commands that shall be measured; none: it is about workloads.
pub fn asked(args: &BenchArgs) -> Result<Option<Vec<Arm>>, Failure> {
    let arm = |name: &str, setting: &Setting| Arm {
        name: name.into(),
        setting: setting.clone(),
    };
    let arms = match (&args.before, &args.after, &args.command) {
        (_, _, Some(command)) => vec![arm("command", &Setting::Command(command.clone()))],
        (Some(before), Some(after), None) => vec![arm("before", before), arm("after", after)],
        _ => return Ok(None),
    };
    let is_command = |arm: &&Arm| matches!(arm.setting, Setting::Command(_));
    let Some(command) = arms.iter().find(is_command) else {
        return Ok(None);
    };
    let words = command.setting.words();
    if !args.workloads.is_empty() {
        return Err(Failure::usage(format!(
            "`{words}` is a command, and there are workloads: leave the workloads out to measure the command itself, or write \
             `setup:{words}` for a command that prepares the machine before each run of its arm"
        )));
    }
    if let Some(other) = arms.iter().find(|arm| !is_command(arm)) {
        return Err(Failure::usage(format!(
            "`{words}` is a command and `{}` is none: a command is measured beside another one; `setup:{words}` prepares the \
             machine for workloads",
            other.setting.words()
        )));
    }
    if !args.cpus.is_empty()
        || args.congestion.is_some()
        || args.run_for.is_some()
        || args.warm.is_some()
        || args.on.is_some()
    {
        return Err(Failure::usage(
            "--cpus, --congestion, --for, --warm and --on apply to workloads; a command decides itself how long a run takes \
             (--repeat, --warm-runs)",
        ));
    }
    Ok(Some(arms))
}

/// Measures them. `stopped`: the user wanted an end, in words.
pub fn run(
    args: &BenchArgs,
    arms: Vec<Arm>,
    stopped: &mut Option<String>,
) -> Result<Metrics, Failure> {
    let commands = Commands {
        arms,
        runs: args.repeat.unwrap_or(RUNS),
        warm_runs: args.warm_runs.unwrap_or(WARM_RUNS),
    };
    let mut out = Out::open(args)?;
    let stop = Stop::on_signals().map_err(|e| Failure::cannot_run(e.to_string()))?;
    let progress = Progress::of(commands.count());
    let mut ran = 0;
    let metrics = commands.run(&mut out.folder, &stop, |number, arm| {
        ran = number;
        progress.at(number, arm.to_owned());
    })?;
    progress.clear();
    let Some(mut metrics) = metrics else {
        return Err(Failure::interrupted("interrupted before a run was done"));
    };
    if stop.wanted() {
        *stopped = Some(super::interrupted(&mut metrics, ran));
    }
    out.finish(&metrics, "runs, outputs")?;
    Ok(metrics)
}

//! `tcplab bench`: workloads between two processes, in one arm or in two that take turns; or a suite on two stacks.

pub mod args;
mod commands;
mod out;
mod progress;
mod self_test;
mod stacks;

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use tcplab_base::Duration;
use tcplab_bench::ends::{Place, Workload};
use tcplab_bench::{
    self as bench, Arm, BenchError, Count, Pinning, Plan, SELF_TEST_SCHEMA, Setting,
};
use tcplab_compare::{COMPARE_SCHEMA, METRICS_SCHEMA, Metrics, Options, RemarkKind, compare};
use tcplab_os::say;
use tcplab_os::{Stop, cpu};

use self::args::{BenchArgs, Cpus};
use self::out::Out;
use self::progress::Progress;
use crate::args::Color;
use crate::compare::{code, has_failed, options, tell};
use crate::failure::{Failure, INTERRUPTED};
use crate::files::check_outputs;
use crate::{json, screen, terminal};

/// The most runs of a workload in an arm that are sensible, where the user does not say.
pub const MOST_RUNS: u32 = 400;

/// Runs `tcplab bench`.
pub fn main(args: &BenchArgs, color: Color) -> ExitCode {
    let schema = match (&args.before, args.self_test) {
        (_, Some(_)) => SELF_TEST_SCHEMA,
        (Some(_), None) => COMPARE_SCHEMA,
        (None, None) => METRICS_SCHEMA,
    };
    json::finish(schema, args.output.json, run(args, color))
}

fn run(args: &BenchArgs, color: Color) -> Result<ExitCode, Failure> {
    check_output(args)?;
    args.check()?;
    if let Some(tables) = args.self_test {
        return self_test::run(args, tables);
    }
    let mut stopped = None;
    let metrics = match (&args.before, &args.after) {
        (Some(Setting::Stack(before)), Some(Setting::Stack(after))) => {
            stacks::run(args, [before, after])?
        }
        (Some(Setting::Stack(stack)), Some(other)) | (Some(other), Some(Setting::Stack(stack))) => {
            return Err(Failure::usage(format!(
                "{stack} is a stack and `{}` is none: two stacks run one suite, two settings of this machine another",
                other.words()
            )));
        }
        _ => match commands::asked(args)? {
            Some(arms) => commands::run(args, arms, &mut stopped)?,
            None => here(args, &mut stopped)?,
        },
    };
    let code = match metrics.arms.as_slice() {
        [before, after] => {
            let comparison = compare(before, after, &judged(args));
            tell(&comparison, &args.output, color)?;
            match code(&args.judge, &comparison) {
                // A point of a stack's suite that failed is no answer.
                0 if matches!(args.before, Some(Setting::Stack(_))) && has_failed(&comparison) => 3,
                code => code,
            }
        }
        _ => {
            one_arm(args, &metrics, color)?;
            0
        }
    };
    let Some(words) = stopped else {
        return Ok(ExitCode::from(code));
    };
    say(&format!("tcplab: {words}"));
    Ok(ExitCode::from(INTERRUPTED))
}

/// Refuses before the first run what could not be written after the last.
fn check_output(args: &BenchArgs) -> Result<(), Failure> {
    let output = &args.output;
    check_outputs([], &output.files())?;
    let is_alone = args.before.is_none();
    if let (true, Some((form, _))) = (is_alone, output.files.0.first()) {
        return Err(Failure::usage(format!(
            "{} writes a comparison: give two arms with --before and --after, or keep the runs with --out and run \
             `tcplab compare` on two folders",
            form.option
        )));
    }
    output.markdown.beside_json(output.json)
}

/// Says in the metrics, and in words for the user, that the bench is not whole.
fn interrupted(metrics: &mut Metrics, runs: u64) -> String {
    let words = format!("interrupted after {runs} runs: these are all that there is");
    for arm in &mut metrics.arms {
        arm.remark(RemarkKind::Note, "", words.clone());
    }
    words
}

/// By what rows are judged: runs of a tenth of a second are made by the hundred.
fn judged(args: &BenchArgs) -> Options {
    let mut options = options(&args.judge);
    options.rules.most_runs = args.judge.most_runs.unwrap_or(MOST_RUNS);
    options
}

/// Workloads on this machine. `stopped`: the user wanted an end, in words.
fn here(args: &BenchArgs, stopped: &mut Option<String>) -> Result<Metrics, Failure> {
    let plan = plan(args)?;
    let mut out = Out::open(args)?;
    let (places, stop) = places(args, &plan)?;
    let progress = Progress::new(&plan);
    let runs = bench::run(&plan, &places, &mut out.folder, &stop, |p| progress.show(p))?;
    progress.clear();
    if stop.wanted() && runs.is_empty() {
        return Err(Failure::interrupted("interrupted before a run was done"));
    }
    let mut metrics = bench::metrics(&plan, &runs, &bench::systems(&places));
    if stop.wanted() {
        *stopped = Some(interrupted(&mut metrics, runs.len() as u64));
    }
    out.finish(&metrics, "runs")?;
    Ok(metrics)
}

/// Where the arms' runs are, and the wish to stop.
fn places(args: &BenchArgs, plan: &Plan) -> Result<(Vec<Place>, Stop), Failure> {
    let signals = || Stop::on_signals().map_err(|e| Failure::cannot_run(e.to_string()));
    if args.on.is_none() && !bench::is_far(&plan.arms) {
        let places = bench::places(&plan.arms)?;
        // After the places: a user namespace is entered by a process with one thread.
        return Ok((places, signals()?));
    }
    let stop = signals()?;
    let reach = bench::Reach {
        options: &args.ssh.options(),
        stop: &stop,
        say: &say,
    };
    let places = bench::far_places(&plan.arms, args.on.as_deref(), reach)?;
    Ok((places, stop))
}

/// Runs at least, warm-up and time where the user says nothing: here many short ones, between hosts long enough for a window to grow.
const NEAR: (u32, i64, i64) = (30, 50, 100);
const FAR: (u32, i64, i64) = (10, 500, 1_000);

fn plan(args: &BenchArgs) -> Result<Plan, Failure> {
    let arm = |name: &str, setting: &Setting| Arm {
        name: name.into(),
        setting: setting.clone(),
    };
    let arms = match (&args.before, &args.after) {
        (Some(before), Some(after)) => vec![arm("before", before), arm("after", after)],
        _ => {
            let name = args.on.as_deref().unwrap_or("this machine");
            vec![arm(name, &Setting::AsItIs)]
        }
    };
    let is_far = args.on.is_some() || bench::is_far(&arms);
    if args.captures && !is_far {
        return Err(Failure::usage(
            "--captures is for runs between two hosts (--on ssh:A,B); here: `tcplab analyze -i lo`",
        ));
    }
    let (runs, warm_ms, time_ms) = if is_far { FAR } else { NEAR };
    let span = |t: Option<std::time::Duration>, usual_ms| match t {
        Some(t) => Duration::from_nanos(i64::try_from(t.as_nanos()).unwrap_or(i64::MAX)),
        None => Duration::from_millis(usual_ms),
    };
    Ok(Plan {
        workloads: workloads(&args.workloads, is_far, args.congestion.as_deref())?,
        runs: match args.repeat {
            Some(runs) => Count::Just(runs),
            None if is_far || arms.len() < 2 && args.self_test.is_none() => Count::Just(runs),
            None => {
                let options = judged(args);
                Count::Enough(runs.min(options.rules.most_runs), options)
            }
        },
        arms,
        warm: span(args.warm, warm_ms),
        time: span(args.run_for, time_ms),
        pinning: pinning(&args.cpus, is_far)?,
        congestion: args.congestion.clone(),
        captures: args.captures,
    })
}

/// The default is the steadiest pinning here; between hosts, no pinning.
fn pinning(asked: &[Cpus], is_far: bool) -> Result<Vec<Pinning>, Failure> {
    let one = |cpus: &Cpus| match cpus {
        Cpus::Free => Pinning::Free,
        Cpus::Pinned => Pinning::Pinned,
        Cpus::One => Pinning::One,
        Cpus::Steady => Pinning::Steady,
    };
    match asked {
        [] if is_far => return Ok(vec![Pinning::Free]),
        [] => return Ok(vec![Pinning::Steady]),
        [_, _, ..] if asked.contains(&Cpus::Steady) => {
            return Err(Failure::usage(
                "--cpus steady is one of the others for each workload: name it alone, or several of pinned, one, free",
            ));
        }
        _ if asked.contains(&Cpus::Pinned) && !is_far && cpu::allowed().len() == 1 => {
            return Err(Failure::cannot_run(
                "--cpus pinned needs two CPUs, and this process may use one: `--cpus one` is a setting of its own",
            ));
        }
        _ => {}
    }
    let mut all: Vec<Pinning> = asked.iter().map(one).collect();
    let mut seen = Vec::new();
    all.retain(|one| {
        !seen.contains(one) && {
            seen.push(*one);
            true
        }
    });
    Ok(all)
}

/// Those that were named, or the suite; between hosts without what lies within one machine.
fn workloads(
    names: &[String],
    is_far: bool,
    congestion: Option<&str>,
) -> Result<Vec<Workload>, Failure> {
    let named: Result<Vec<Workload>, String> = names.iter().map(|name| name.parse()).collect();
    let goes = |workload: &Workload| !is_far || workload.goes_far();
    let named = named.map_err(Failure::usage)?;
    if let Some(within) = named.iter().find(|workload| !goes(workload)) {
        return Err(Failure::usage(format!(
            "{within} stays within one machine; only TCP and UDP workloads run between hosts"
        )));
    }
    if named.is_empty() {
        return Ok(Workload::suite().into_iter().filter(goes).collect());
    }
    each_once("workload", &named)?;
    if let Some(name) = congestion
        && let Some(other) = named.iter().find(|workload| !workload.is_tcp())
    {
        return Err(Failure::usage(format!(
            "--congestion {name}: {other} has no congestion control: leave --congestion out, or name TCP workloads only"
        )));
    }
    Ok(named)
}

/// Refuses what is named twice: its runs would be taken for those of one.
fn each_once<T: PartialEq + Display>(what: &str, named: &[T]) -> Result<(), Failure> {
    let twice = (1..named.len()).find(|n| named[..*n].contains(&named[*n]));
    match twice.map(|n| &named[n]) {
        None => Ok(()),
        Some(one) => Err(Failure::usage(format!(
            "the {what} {one} is named twice: name it once"
        ))),
    }
}

/// What one arm found.
fn one_arm(args: &BenchArgs, metrics: &Metrics, color: Color) -> Result<(), Failure> {
    let output = &args.output;
    let theme = terminal::theme(color, false);
    let is_told = output
        .markdown
        .tell(|| tcplab_bench::text::one_arm(metrics, true, &theme))?;
    if output.json {
        json::print(metrics)?;
    } else if !is_told {
        screen::painted(&theme)
            .write_all(tcplab_bench::text::one_arm(metrics, false, &theme).as_bytes())?;
    }
    Ok(())
}

impl From<BenchError> for Failure {
    fn from(e: BenchError) -> Self {
        match e {
            BenchError::Wrong(text) => Self::usage(text),
            BenchError::CannotRun(text) => Self::cannot_run(text),
            BenchError::Interrupted => Self::interrupted(e.to_string()),
            BenchError::Io { .. } => Self::input(e.to_string()),
        }
    }
}

//! `tcplab diff`: the same scenarios on two stacks, packet by packet.

pub mod args;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use tcplab_diff::{
    DIFF_SCHEMA, DiffDocument, Judged, Minimal, Runs, Scenario, list, random, table, words,
};
use tcplab_guest::store::cache_folder;
use tcplab_lab::{LabError, MANIFEST_SCHEMA, Manifest};
use tcplab_os::say;
use tcplab_plan::profile::unverified;

use self::args::DiffArgs;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::run::{lab, processors};
use crate::{files, json, screen};

/// Runs `tcplab diff`.
pub fn main(args: &DiffArgs) -> ExitCode {
    json::finish(DIFF_SCHEMA, args.json, run(args))
}

fn run(args: &DiffArgs) -> Result<ExitCode, Failure> {
    args.check()?;
    let scenarios = scenarios(args)?;
    if args.list {
        let mut out = screen::plain();
        for scenario in &scenarios {
            writeln!(out, "{}", scenario.name)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = args.shrink.as_deref().filter(|folder| folder.exists()) {
        let folder = folder.display();
        return Err(Failure::usage(format!(
            "{folder} already exists: name a new folder"
        )));
    }
    let kept = cache_folder()?.join("diff");
    let runs = Runs::new(lab()?, [&args.a, &args.b], kept, args.fresh)?;
    warn_of_clocks(args, &runs, &scenarios)?;
    let jobs = args.jobs.unwrap_or_else(processors);
    let judged = watched("scenarios", scenarios.len(), |done| {
        tcplab_diff::judge(&runs, scenarios, jobs, done)
    })?;
    if args.show.is_some() {
        let mut out = screen::plain();
        for j in &judged {
            out.write_all(tcplab_diff::show(j, args.whole).as_bytes())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let smallest = match &args.shrink {
        None => Vec::new(),
        Some(folder) => shrink(&runs, &judged, jobs, folder)?,
    };
    match args.json {
        true => json::print(&DiffDocument::new(&runs, &judged, &smallest))?,
        false => tell(args, &runs, &judged, &smallest)?,
    }
    Ok(ExitCode::from(code(args, &judged)))
}

/// What is run: the list, the points of files, or random scenarios; of these, those with the name that was asked for.
fn scenarios(args: &DiffArgs) -> Result<Vec<Scenario>, Failure> {
    let mut all = match args.random {
        Some(count) => random::scenarios(args.seed, count)?,
        None if args.experiments.is_empty() => list::scenarios()?,
        None => Vec::new(),
    };
    for path in &args.experiments {
        let text = files::experiment(path)?;
        let name = path.display().to_string();
        if text.trim_start().starts_with('{') {
            all.append(&mut of_manifest(path, &Manifest::read(&name, &text)?));
        } else {
            all.append(&mut list::of_file(&name, &text)?);
        }
    }
    if let Some(name) = &args.show {
        all.retain(|s| s.name == *name);
    }
    if let Some(glob) = &args.only {
        all.retain(|s| tcplab_diff::matches(glob, &s.name));
    }
    match (all.is_empty(), args.show.as_ref().or(args.only.as_ref())) {
        (false, _) => Ok(all),
        (true, Some(name)) => Err(Failure::usage(format!(
            "no scenario is named {name}; `--list` prints the names"
        ))),
        (true, None) => Err(Failure::input("there is no scenario to run")),
    }
}

/// The points of a manifest, such as `--shrink` writes.
fn of_manifest(path: &Path, manifest: &Manifest) -> Vec<Scenario> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let points = manifest.points.iter().enumerate();
    let named = points.map(|(n, point)| Scenario {
        name: match manifest.points.len() {
            1 => stem.to_string(),
            _ => format!("{stem}/{}", n + 1),
        },
        point: point.clone(),
    });
    named.collect()
}

/// Says where the timers of the two stacks cannot agree.
fn warn_of_clocks(args: &DiffArgs, runs: &Runs, scenarios: &[Scenario]) -> Result<(), Failure> {
    let Some(first) = scenarios.first() else {
        return Ok(());
    };
    if let Some([a, b]) = runs.clocks(&first.point)? {
        let hz = |all: &[u32]| all.first().copied().unwrap_or_default();
        say(&format!(
            "tcplab: {} has {} timer ticks a second, {} has {}: their timers fire at other times; give both the same \
             (uml:6.1@1000, model:linux-6.1@1000)",
            args.a,
            hz(&a),
            args.b,
            hz(&b)
        ));
    }
    Ok(())
}

/// Work with a bar; `all` is how much there is.
fn watched<T>(
    what: &'static str,
    all: usize,
    work: impl FnOnce(&(dyn Fn() + Sync)) -> Result<T, LabError>,
) -> Result<T, Failure> {
    let bar = Bar::new(what, "[{bar:30}] {pos} of {len}, {eta} left");
    let done = AtomicU64::new(0);
    let result = work(&|| bar.show(done.fetch_add(1, Ordering::Relaxed) + 1, all as u64));
    bar.clear();
    match result {
        Err(LabError::Interrupted) => Err(Failure::interrupted(
            "interrupted; what kernels did so far is kept, and the same command goes on",
        )),
        result => Ok(result?),
    }
}

/// A small scenario of each class, each as a manifest that `tcplab run` takes.
fn shrink(
    runs: &Runs,
    judged: &[Judged],
    jobs: usize,
    folder: &Path,
) -> Result<Vec<Minimal>, Failure> {
    let classes = table::classes(judged).len();
    let smallest = watched("classes", classes, |done| {
        tcplab_diff::smallest(runs, judged, jobs, done)
    })?;
    fs::create_dir_all(folder).map_err(|e| Failure::output(folder, &e))?;
    for m in &smallest {
        let manifest = Manifest {
            schema: MANIFEST_SCHEMA.into(),
            experiment: "diff".into(),
            tcplab: String::new(),
            program_sha256: String::new(),
            stacks: [&runs.a, &runs.b]
                .map(|stack| (stack.name.clone(), String::new()))
                .to_vec(),
            measures: Vec::new(),
            files: BTreeMap::new(),
            view: None,
            points: vec![m.point.clone()],
        };
        let path = folder.join(format!("{}.json", m.class.replace([' ', '/'], "-")));
        let text = serde_json::to_string_pretty(&manifest).map_err(std::io::Error::from)?;
        files::write(&path, &text)?;
    }
    Ok(smallest)
}

fn tell(
    args: &DiffArgs,
    runs: &Runs,
    judged: &[Judged],
    smallest: &[Minimal],
) -> Result<(), Failure> {
    let mut out = screen::plain();
    if args.each {
        writeln!(out, "{}", table::each(judged, |_| None))?;
    }
    write!(out, "{}", table::summary(runs, judged))?;
    for note in [&args.a, &args.b]
        .into_iter()
        .filter_map(|stack| unverified(stack))
    {
        writeln!(out, "{note}")?;
    }
    if !smallest.is_empty() {
        writeln!(out)?;
    }
    for m in smallest {
        writeln!(
            out,
            "{}, from {}:\n    {}",
            m.class,
            m.name,
            words::of(&m.point)
        )?;
    }
    out.flush()?;
    let differing = judged.iter().find(|j| j.verdict.packets.first.is_some());
    if let Some(j) = differing.filter(|_| !args.each && args.experiments.is_empty()) {
        let more = match args.random {
            Some(count) => format!(" --random {count} --seed {}", args.seed),
            None => String::new(),
        };
        let (a, b, name) = (&args.a, &args.b, &j.scenario.name);
        say(&format!(
            "tcplab: one of them side by side: tcplab diff {a} {b}{more} --show {name}"
        ));
    }
    Ok(())
}

/// 1: a scenario differs; 3: one has no run, or no packet to compare.
fn code(args: &DiffArgs, judged: &[Judged]) -> u8 {
    let differs = judged.iter().any(|j| j.verdict.packets.first.is_some());
    let is_open = |j: &Judged| j.verdict.failed.is_some() || j.verdict.is_empty();
    match args.fail_on_difference {
        true if differs => 1,
        true if judged.iter().any(is_open) => 3,
        _ => 0,
    }
}

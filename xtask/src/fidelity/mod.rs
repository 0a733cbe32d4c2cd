//! `cargo xtask fidelity`: the same experiments on a real kernel and on the model, packet by packet.
//!
//! The list is `tests/fidelity/*.toml` ([`list`]); `--random` draws scenarios that nobody chose
//! ([`random`]). Both stacks run in virtual time and begin at the same place in a tick
//! (`run.boot`), so timers of both must fire at the same jiffy. What differs falls into classes, and
//! [`reasons`] says of some why.

mod document;
mod end;
mod keys;
mod list;
mod random;
mod reasons;
mod runs;
mod show;
mod shrink;
mod table;
mod verdict;
mod words;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use tcplab_plan::Point;

use document::Findings;
use list::Scenario;
use reasons::Reasons;
use runs::{Pair, Runs};
use verdict::Verdict;

/// What `cargo xtask fidelity` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Only scenarios whose name matches (`*` stands for anything)
    #[arg(long, value_name = "GLOB")]
    only: Option<String>,
    /// Show this scenario side by side
    #[arg(long, value_name = "NAME")]
    show: Option<String>,
    /// With --show: all packets, not only those around the first difference
    #[arg(long)]
    whole: bool,
    /// Draw this many scenarios; alone, or after the list with --document
    #[arg(long, value_name = "N")]
    random: Option<u64>,
    /// Seed of the drawn scenarios
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Make a small scenario of each class of difference among those drawn
    #[arg(long, requires = "random")]
    shrink: bool,
    /// A table of the drawn scenarios by what they set, the worst first
    #[arg(long, requires = "random")]
    keys: bool,
    /// Write the findings into docs/fidelity.md
    #[arg(long, conflicts_with_all = ["only", "show"])]
    document: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// The kernel
    #[arg(long, value_name = "STACK", default_value = "uml:6.1@1000")]
    oracle: String,
    /// What is compared with it
    #[arg(long, value_name = "STACK", default_value = "model:linux-6.1@1000")]
    model: String,
    /// Runs at once
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Run the kernel again, where a result of it is kept
    #[arg(long)]
    fresh: bool,
    /// Least share of equal scenarios, in percent; below it the exit code is 1
    #[arg(long, value_name = "PERCENT", default_value_t = 90.0)]
    least: f64,
    /// The same of drawn scenarios
    #[arg(long, value_name = "PERCENT", default_value_t = 80.0)]
    least_random: f64,
}

/// A small scenario that has a class of difference.
pub struct Minimal {
    /// The class.
    class: String,
    /// The drawn scenario that it was made of.
    name: String,
    /// What is left of it.
    point: Point,
}

/// A scenario and what came of it.
pub struct Judged {
    scenario: Scenario,
    pair: Pair,
    verdict: Verdict,
}

/// Runs the command.
pub fn run(root: &Path, args: &Args) -> Result<ExitCode> {
    let runs = Runs::new(root, &args.oracle, &args.model, args.fresh)?;
    let reasons = Reasons::read(root)?;
    let wanted = args.show.as_ref().or(args.only.as_ref());
    let keep = |s: &Scenario| wanted.is_none_or(|glob| matches(glob, &s.name));
    let (mut list, mut random) = (Vec::new(), Vec::new());
    if args.random.is_none() || args.document {
        list = list::scenarios(root)?;
    }
    if let Some(count) = args.random {
        random = random::scenarios(args.seed, count)?;
    }
    list.retain(keep);
    random.retain(keep);
    if list.is_empty() && random.is_empty() {
        bail!("no scenario has such a name");
    }
    let list = judge(&runs, list, args)?;
    let random = judge(&runs, random, args)?;
    if args.show.is_some() {
        (list.iter().chain(&random)).for_each(|j| show_one(j, args.whole));
        return Ok(ExitCode::SUCCESS);
    }
    for judged in [&list, &random].into_iter().filter(|j| !j.is_empty()) {
        match args.json {
            true => println!("{}", table::json(judged)?),
            false => print!("{}", table::text(judged, &reasons)),
        }
    }
    let by_key = keys::table(&random, &random::base()?)?;
    if args.keys {
        print!("{by_key}");
    }
    let minimal = match args.shrink {
        true => smallest(root, &runs, &random, args)?,
        false => Vec::new(),
    };
    if args.document {
        let findings = Findings {
            list: &list,
            random: &random,
            minimal: &minimal,
            keys: &by_key,
            command: std::env::args()
                .skip(1)
                .fold("cargo xtask".into(), |c, a| c + " " + &a),
            stacks: (args.oracle.clone(), args.model.clone()),
        };
        document::write(root, &findings, &reasons)?;
    }
    Ok(ExitCode::from(u8::from(!is_enough(
        &list, &random, args, &reasons,
    ))))
}

/// Whether what was promised holds: the shares, and no promised counter that differs without a reason.
fn is_enough(list: &[Judged], random: &[Judged], args: &Args, reasons: &Reasons) -> bool {
    let share = |judged: &[Judged], least| judged.is_empty() || table::share(judged) >= least;
    let stated = |j: &Judged| {
        let broken = j.verdict.broken_promises();
        let class = j.verdict.class();
        broken.is_empty() || reasons.of(&j.scenario.name, &class).is_some()
    };
    share(list, args.least) && share(random, args.least_random) && list.iter().all(stated)
}

/// A small scenario of each class; each is kept as a manifest that `tcplab run` takes.
fn smallest(root: &Path, runs: &Runs, judged: &[Judged], args: &Args) -> Result<Vec<Minimal>> {
    let mut classes = table::classes(judged);
    classes.retain(|(class, _)| class != "equal");
    let minimal = runs::on_all(&classes, args.jobs, |(class, names), cpu| {
        // The one with the fewest packets before the difference is the nearest to a small one.
        let of_class = judged
            .iter()
            .filter(|j| names.contains(&j.scenario.name.as_str()));
        let first = of_class
            .min_by_key(|j| j.verdict.packets.equal)
            .context("no scenario")?;
        let keeps = |point: &Point| {
            let pair = runs.pair(point, cpu)?;
            Ok(Verdict::of(&pair).class() == *class)
        };
        Ok(Minimal {
            class: class.clone(),
            name: first.scenario.name.clone(),
            point: shrink::shrink(&first.scenario.point, keeps)?,
        })
    })?;
    for m in &minimal {
        println!("{}\n    {}: {}", m.class, m.name, words::of(&m.point));
        keep(root, m, args)?;
    }
    Ok(minimal)
}

fn keep(root: &Path, m: &Minimal, args: &Args) -> Result<()> {
    let folder = root.join("target/fidelity/minimal");
    std::fs::create_dir_all(&folder)?;
    let manifest = tcplab_lab::Manifest {
        schema: tcplab_lab::MANIFEST_SCHEMA.into(),
        experiment: "fidelity".into(),
        tcplab: String::new(),
        program_sha256: String::new(),
        stacks: vec![
            (args.oracle.clone(), String::new()),
            (args.model.clone(), String::new()),
        ],
        measures: Vec::new(),
        view: None,
        points: vec![m.point.clone()],
    };
    let path = folder.join(format!("{}.json", m.class.replace([' ', '/'], "-")));
    std::fs::write(&path, serde_json::to_string_pretty(&manifest)?)
        .with_context(|| path.display().to_string())
}

/// Runs every scenario on both stacks and compares.
fn judge(runs: &Runs, scenarios: Vec<Scenario>, args: &Args) -> Result<Vec<Judged>> {
    let pairs = runs::on_all(&scenarios, args.jobs, |s: &Scenario, cpu| {
        let pair = runs.pair(&s.point, cpu);
        let pair = pair.map_err(|e: anyhow::Error| e.context(s.name.clone()))?;
        let verdict = Verdict::of(&pair);
        Ok((pair, verdict))
    })?;
    let both = scenarios.into_iter().zip(pairs);
    Ok(both
        .map(|(scenario, (pair, verdict))| Judged {
            scenario,
            pair,
            verdict,
        })
        .collect())
}

fn show_one(j: &Judged, whole: bool) {
    println!("== {}: {}", j.scenario.name, j.verdict.class());
    let warnings = j.pair.a.result.warnings.iter();
    warnings.for_each(|warning| println!("warning: {warning}"));
    let b = j.pair.b.as_ref().map(|r| r.sent.packets.as_slice());
    let b = b.unwrap_or_default();
    print!(
        "{}",
        show::side_by_side(&j.pair.a.sent.packets, b, &j.verdict.packets, whole)
    );
    print!("{}", show::others(&j.verdict));
}

/// Whether a name matches a pattern in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let before: &str = before;
            match rest.find(before) {
                Some(at) => rest = &rest[at + before.len()..],
                None => return false,
            }
        }
    }
    match last {
        None => rest.is_empty(),
        Some(end) => rest.len() >= end.len() && rest.ends_with(end),
    }
}

//! `tcplab run` of a population, `tcplab population`, `tcplab merge`.

pub mod args;
mod connection;
pub mod page;
mod progress;
mod sample;
mod selftest;
mod show;
mod table;
mod variants;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tcplab_lab::campaign;
use tcplab_lab::population::{self, Request, RowsTo, SELF_TEST_SCHEMA, Shard};
use tcplab_os::Stop;
use tcplab_os::say;
use tcplab_plan::Population;
use tcplab_plan::population::{POPULATION_SCHEMA, PopulationDocument};

use crate::args::Color;
use crate::failure::Failure;
use crate::json;
use crate::run::args::RunArgs;
use crate::run::input::Changes;
use crate::run::pending;
use crate::run::plan;
use crate::run::processors;
use crate::terminal;
use args::{MergeArgs, PopulationCommand, ReportArgs};

/// Runs `tcplab population`.
pub fn main(command: &PopulationCommand, color: Color) -> ExitCode {
    match command {
        PopulationCommand::Show(args) => {
            json::finish(show::SCHEMA, args.json, show::run(args, color))
        }
        PopulationCommand::Sample(args) => {
            json::finish(sample::SCHEMA, args.json, sample::run(args, color))
        }
        PopulationCommand::SelfTest(args) => {
            json::finish(SELF_TEST_SCHEMA, args.json, selftest::run(args))
        }
        PopulationCommand::Connection(args) => {
            json::finish(connection::SCHEMA, args.json, connection::run(args, color))
        }
    }
}

/// Reads a population's file, or a variant of it.
pub fn read(
    path: &Path,
    text: &str,
    variant: Option<&str>,
    seed: Option<u64>,
) -> Result<Population, Failure> {
    let name = crate::files::name_of(path);
    let mut population = match variant {
        Some(variant) => variants::chosen(path, text, &[variant.to_owned()])?.remove(0),
        None => Population::parse(&name, text).map_err(|e| Failure::input(e.to_string()))?,
    };
    population.seed = seed.unwrap_or(population.seed);
    Ok(population)
}

/// Runs `tcplab run` of a population.
pub fn run(args: &RunArgs, text: &str, color: Color) -> ExitCode {
    let done = simulate(args, text, color);
    let done = done.map_err(|e| e.resumable("groups", args.out.as_deref()));
    json::finish(POPULATION_SCHEMA, args.json, done)
}

/// The populations that the command line asks for: the file's variants, or the file itself without variants.
fn wanted(args: &RunArgs, text: &str) -> Result<Vec<Population>, Failure> {
    let changes = Changes {
        seed: None,
        ..args.changes()
    };
    changes
        .refuse("does not apply to populations: write [[variant]] tables into the file instead")?;
    if args.points.is_some() {
        return Err(Failure::usage(
            "--points does not apply to populations: use --shard",
        ));
    }
    if args.csv.is_some() || args.all {
        return Err(Failure::usage(
            "--csv and --all do not apply to populations: use --rows, or --json for the whole table",
        ));
    }
    let mut all = variants::chosen(&args.experiment, text, &args.variant)?;
    if all.is_empty() {
        all.push(read(&args.experiment, text, None, None)?);
    }
    for population in &mut all {
        population.seed = args.seed.unwrap_or(population.seed);
        population.connections = args.connections.unwrap_or(population.connections);
    }
    Ok(all)
}

fn simulate(args: &RunArgs, text: &str, color: Color) -> Result<ExitCode, Failure> {
    let populations = wanted(args, text)?;
    let population = &populations[0];
    if args.bad.is_some() {
        return Err(Failure::usage(
            "--bad does not apply to populations: read the verdicts of the table",
        ));
    }
    let stack = match args.on.as_slice() {
        [] => "model",
        [one] => one,
        _ => {
            return Err(Failure::usage(
                "a population runs on one stack at a time: name one with --on",
            ));
        }
    };
    for population in &populations {
        population::check(population, stack)?;
    }
    if args.dry_run {
        let file = crate::files::name_of(&args.experiment);
        match args.json {
            true => json::print(&population.draw(0))?,
            false => {
                plan::of_population(&populations, (&file, stack), &terminal::theme(color, false))?
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    start(args, &populations, (text, stack), color)
}

/// Runs populations that were checked, or says what is left of them.
fn start(
    args: &RunArgs,
    populations: &[Population],
    (text, stack): (&str, &str),
    color: Color,
) -> Result<ExitCode, Failure> {
    let population = &populations[0];
    let stop = Stop::on_signals().map_err(|e| Failure::cannot_run(format!("signals: {e}")))?;
    let progress = progress::Progress::new(population.arms.len());
    let request = Request {
        population,
        text,
        stack,
        jobs: args.jobs.unwrap_or_else(processors),
        shard: args.shard.unwrap_or(Shard::WHOLE),
        out: args.out.as_deref(),
        rows: args.rows.as_ref().map(|file| match file {
            Some(file) => RowsTo::File(file),
            None => RowsTo::Folder,
        }),
    };
    if args.pending {
        return pending::of_population(populations, &request);
    }
    if args.no_table {
        let show = |p| progress.show(p);
        let done = match population.variant {
            Some(_) => population::variants::run_groups(populations, &request, &stop, &show),
            None => population::run_groups(&request, &stop, &show),
        };
        progress.clear();
        done?;
        let out = request.out.unwrap_or(Path::new("."));
        return tell_part(request.shard, out, args.json);
    }
    if population.variant.is_some() {
        let document = population::variants::run(populations, &request, &stop, &|p| {
            progress.show(p);
        });
        progress.clear();
        let document = document?;
        if let Some(html) = &args.html {
            page::write_all(html, &variants::sources(args, populations), &document, stop)?;
        }
        return variants::tell(&document, args.json, args.out.as_deref(), color);
    }
    let document = population::run(&request, &stop, &|p| progress.show(p));
    progress.clear();
    let document = document?;
    if let Some(html) = &args.html {
        let source = page::Source {
            path: args.out.as_ref().unwrap_or(&args.experiment),
            seed: args.seed.filter(|_| args.out.is_none()),
            variant: None,
        };
        page::write(html, population, &document, &source, stop)?;
    }
    tell(&document, args.json, args.out.as_deref(), color)
}

/// Runs `tcplab report`.
pub fn report(args: &ReportArgs) -> ExitCode {
    json::finish(POPULATION_SCHEMA, false, page::report(args))
}

/// Runs `tcplab merge`.
pub fn merge(args: &MergeArgs, color: Color) -> ExitCode {
    let merged = || {
        let args = &MergeArgs {
            shards: args
                .shards
                .iter()
                .flat_map(|path| shards_in(path))
                .collect(),
            ..args.clone()
        };
        if let Some(out) = args.out.as_deref().filter(|_| args.partial) {
            return part(args, out);
        }
        if args.shards.iter().any(|folder| campaign::is_in(folder)) {
            return points(args);
        }
        if has_variants(args) {
            let document = population::variants::merge(&args.shards, args.out.as_deref())?;
            return variants::tell(&document, args.json, args.out.as_deref(), color);
        }
        let document = population::merge(&args.shards, args.out.as_deref())?;
        tell(&document, args.json, args.out.as_deref(), color)
    };
    json::finish(POPULATION_SCHEMA, args.json, merged())
}

/// The results in a folder that is no result itself; else the folder.
fn shards_in(folder: &Path) -> Vec<PathBuf> {
    let is_result = |path: &Path| path.join("manifest.json").exists();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| is_result(path))
        .collect();
    if is_result(folder) || found.is_empty() {
        return vec![folder.to_owned()];
    }
    found.sort();
    found
}

fn has_variants(args: &MergeArgs) -> bool {
    let mut shards = args.shards.iter();
    shards.any(|folder| population::variants::are_in(folder))
}

/// `tcplab merge --partial`.
fn part(args: &MergeArgs, out: &Path) -> Result<ExitCode, Failure> {
    let part = match has_variants(args) {
        true => population::variants::merge_part(&args.shards, out)?,
        false => population::merge_part(&args.shards, out)?,
    };
    tell_part(part, out, args.json)
}

/// Says that a part of a run is there.
fn tell_part(part: Shard, out: &Path, as_json: bool) -> Result<ExitCode, Failure> {
    let document = serde_json::json!({"schema": "tcplab.part/1", "shard": part.to_string()});
    json::or_words(as_json, &document, || {
        say(&format!("part {part}: {}", out.display()));
        Ok(())
    })
}

/// `tcplab merge` of the points of a campaign.
fn points(args: &MergeArgs) -> Result<ExitCode, Failure> {
    let Some(out) = &args.out else {
        return Err(Failure::usage(
            "--out FOLDER is needed: the shards of points are merged into a result folder",
        ));
    };
    let document = campaign::merge(&args.shards, out)?;
    json::or_words(args.json, &document, || say_where(Some(out)))
}

/// Says where the results are kept.
fn say_where(out: Option<&Path>) -> Result<(), Failure> {
    if let Some(out) = out {
        say(&format!("results: {}", out.display()));
    }
    Ok(())
}

fn tell(
    document: &PopulationDocument,
    as_json: bool,
    out: Option<&Path>,
    color: Color,
) -> Result<ExitCode, Failure> {
    json::or_words(as_json, document, || {
        table::print(document, &terminal::theme(color, false))?;
        say_where(out)
    })
}

/// No arm has the name that was asked for.
fn no_arm(name: &str, population: &Population) -> Failure {
    let names: Vec<&str> = population.arms.iter().map(|a| a.name.as_str()).collect();
    let names = names.join(", ");
    Failure::usage(format!("no arm `{name}`; the arms are {names}"))
}

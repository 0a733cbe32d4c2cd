//! The HTML pages of populations: outliers are run again for them, with captures that are thrown away.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tcplab_base::quoted;
use tcplab_lab::Lab;
use tcplab_lab::population::{self, Look, has_band};
use tcplab_os::Stop;
use tcplab_os::output::need_own;
use tcplab_os::say;
use tcplab_plan::population::{
    OutlierRecord, POPULATION_SCHEMA, PopulationDocument, VARIANTS_SCHEMA, VariantsDocument,
};
use tcplab_plan::result::{RUN_SCHEMA, RunDocument};
use tcplab_plan::{Population, is_plain_name};
use tcplab_report::page::population as page;
use tcplab_report::page::population::{
    MAX_LOOKS, Outcome, Points, Side, write_distributions, write_result, write_variants,
};

use super::args::ReportArgs;
use super::connection::{COUNTERS, path_words, rare_words, think_words};
use crate::failure::Failure;
use crate::files::{self, ResultFile, check_outputs};
use crate::run;

/// The stack of a population when nothing else is said.
const USUAL_STACK: &str = "model:linux-6.1";

/// A page in a result folder, where the user does not name a file.
const PAGE: &str = "report.html";

/// How to name a run on the command line of `tcplab population connection`.
pub struct Source<'a> {
    /// The experiment's file or the result folder.
    pub path: &'a Path,
    /// A seed that the path does not say.
    pub seed: Option<u64>,
    /// The variant of the file.
    pub variant: Option<&'a str>,
}

/// What a variant came to, for the page of all of them.
pub struct Variant<'a> {
    pub population: &'a Population,
    pub source: Source<'a>,
}

/// Writes the page of a result.
pub fn write(
    file: &Path,
    population: &Population,
    document: &PopulationDocument,
    source: &Source<'_>,
    stop: Stop,
) -> Result<(), Failure> {
    let lab = Lab::new(stop);
    let looks = looks(&lab, population, document, source, MAX_LOOKS)?;
    // The cost of a run is not part of its result: `report` does not know it.
    let document = &PopulationDocument {
        cost: None,
        ..document.clone()
    };
    put(file, |out| {
        write_result(&outcome(population, document, &looks), out)
    })
}

/// Writes the page of several variants, in the order of the document; they share the outliers that are run again.
pub fn write_all(
    file: &Path,
    variants: &[Variant<'_>],
    document: &VariantsDocument,
    stop: Stop,
) -> Result<(), Failure> {
    let lab = Lab::new(stop);
    let most = (MAX_LOOKS / variants.len().max(1)).max(1);
    let pairs = || variants.iter().zip(&document.variants);
    let looks = pairs()
        .map(|(v, document)| looks(&lab, v.population, document, &v.source, most))
        .collect::<Result<Vec<Vec<page::Look>>, Failure>>()?;
    let outcomes: Vec<Outcome<'_>> = pairs()
        .zip(&looks)
        .map(|((v, document), looks)| outcome(v.population, document, looks))
        .collect();
    put(file, |out| {
        write_variants(&document.effects, &outcomes, out)
    })
}

/// Runs outliers again.
fn looks(
    lab: &Lab,
    population: &Population,
    document: &PopulationDocument,
    source: &Source<'_>,
    most: usize,
) -> Result<Vec<page::Look>, Failure> {
    let chosen = population::select(&document.outliers, most);
    let looks = chosen.into_iter().map(|outlier| {
        let (number, arm) = (outlier.connection, &outlier.arm);
        let look = population::look(lab, population, &document.stack, number, arm)?;
        Ok(looked_at(population, document, outlier, look, source))
    });
    looks.collect()
}

fn outcome<'a>(
    population: &Population,
    document: &'a PopulationDocument,
    looks: &'a [page::Look],
) -> Outcome<'a> {
    Outcome {
        document,
        band_percent: f64::from(population.compare.band_ppb) / 1e7,
        has_band,
        looks,
    }
}

/// Writes the page of what a population draws.
pub fn write_shown(file: &Path, shown: &population::shown::Document) -> Result<(), Failure> {
    put(file, |out| write_distributions(shown, out))
}

pub fn put(
    path: &Path,
    write: impl FnOnce(&mut ResultFile) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut file = ResultFile::create(path)?;
    write(&mut file).map_err(|e| Failure::output(path, &e))?;
    file.commit()?;
    say(&format!("page: {}", path.display()));
    Ok(())
}

fn looked_at(
    population: &Population,
    document: &PopulationDocument,
    outlier: &OutlierRecord,
    look: Look,
    source: &Source<'_>,
) -> page::Look {
    let drawn = &look.drawn;
    let client = population.clients.get(drawn.client).map(|c| c.words());
    let sizes: Vec<String> = drawn.responses.iter().map(u64::to_string).collect();
    let mut facts = vec![
        ("path", path_words(drawn)),
        ("responses", format!("{} bytes", sizes.join(", "))),
    ];
    if !drawn.think_ns.is_empty() {
        facts.push(("think time", think_words(drawn)));
    }
    facts.extend(rare_words(population, drawn));
    facts.extend(client.map(|words| ("client", words)));
    let mut command = format!(
        "tcplab population connection {} {}",
        quoted(&source.path.display().to_string()),
        outlier.connection
    );
    if let Some(variant) = source.variant {
        command += &format!(" --variant {}", quoted(variant));
    }
    if let Some(seed) = source.seed {
        command += &format!(" --seed {seed}");
    }
    if document.stack != USUAL_STACK {
        command += &format!(" --on {}", quoted(&document.stack));
    }
    page::Look {
        connection: outlier.connection,
        arm: outlier.arm.clone(),
        difference_us: outlier.difference_us,
        drawn: facts
            .into_iter()
            .map(|(name, words)| (name.to_owned(), words))
            .collect(),
        command: command + " --out look",
        sides: look.sides.map(side),
    }
}

fn side(side: population::Side) -> Side {
    let flows = side.result.flows.iter();
    let responses = flows.flat_map(|flow| flow.client.latency_ns.iter().map(|ns| ns / 1_000));
    let server = side.result.counters.get("server");
    let counter = |name: &str| {
        let value = server.and_then(|counters| counters.get(name)).copied();
        (name.to_owned(), value.unwrap_or(0))
    };
    Side {
        responses_us: responses.collect(),
        counters: COUNTERS.iter().map(|name| counter(name)).collect(),
        points: Points::of(&side.trace),
        arm: side.arm,
    }
}

/// Runs `tcplab report`.
pub fn report(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let folder = &args.folder;
    let stop = Stop::on_signals().map_err(|e| Failure::cannot_run(format!("signals: {e}")))?;
    let html = match &args.html {
        Some(html) => {
            // What a page shows lies in the folder.
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let files: Vec<PathBuf> = entries
                .map(|entry| entry.path())
                .filter(|path| path.file_name() != Some(OsStr::new(PAGE)))
                .collect();
            check_outputs(&files, &[("--html", Some(html.as_path()))])?;
            html.clone()
        }
        None => {
            let html = folder.join(PAGE);
            need_own(&html).map_err(|e| Failure::output(&html, &e))?;
            html
        }
    };
    match summary(folder)? {
        Summary::One(document) => {
            let source = Source {
                path: folder,
                seed: None,
                variant: None,
            };
            let population = population::of_folder(folder)?;
            write(&html, &population, &document, &source, stop)?;
        }
        Summary::Points(document) => run::page::of_folder(folder, &html, &document)?,
        Summary::Variants(document) => {
            let named = |v: &PopulationDocument| {
                let name = v.variant.as_deref().unwrap_or_default();
                if !is_plain_name(name) {
                    return Err(Failure::input(format!(
                        "{}/summary.json: {name:?} does not name a variant",
                        folder.display()
                    )));
                }
                Ok(population::of_folder(&folder.join(name))?)
            };
            let named = document.variants.iter().map(named);
            let named = named.collect::<Result<Vec<Population>, Failure>>()?;
            let variants: Vec<Variant<'_>> = named
                .iter()
                .map(|population| Variant {
                    population,
                    source: Source {
                        path: folder,
                        seed: None,
                        variant: population.variant.as_deref(),
                    },
                })
                .collect();
            write_all(&html, &variants, &document, stop)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What a folder holds.
enum Summary {
    One(Box<PopulationDocument>),
    Variants(Box<VariantsDocument>),
    Points(Box<RunDocument>),
}

/// The result of a folder.
fn summary(folder: &Path) -> Result<Summary, Failure> {
    let file = folder.join("summary.json");
    let name = file.display();
    if !file.exists() && folder.join("manifest.json").exists() {
        return Err(Failure::input(format!(
            "{}: the run is not finished; resume it: `tcplab run EXPERIMENT --out {}`",
            folder.display(),
            quoted(&folder.display().to_string())
        )));
    }
    let damaged = |e: serde_json::Error| Failure::input(format!("{name}: {e}"));
    let json: serde_json::Value =
        serde_json::from_str(&files::of_result(&file)?).map_err(damaged)?;
    let schema = json.get("schema").and_then(serde_json::Value::as_str);
    let read = match schema {
        Some(POPULATION_SCHEMA) => serde_json::from_value(json).map(Summary::One),
        Some(VARIANTS_SCHEMA) => serde_json::from_value(json).map(Summary::Variants),
        Some(RUN_SCHEMA) => serde_json::from_value(json).map(Summary::Points),
        _ => {
            let why = format!("{name}: not a result of `tcplab run`");
            return Err(Failure::input(why));
        }
    };
    read.map_err(damaged)
}

//! The variants of a population: each is a separate population; also the changes of every row from one to the next.
//!
//! All variants have the same seed, and a connection's draws depend only on seed, number and key. So connection n
//! differs between two variants only where their keys differ. The result folder has a folder for each variant, which
//! is an ordinary population result: it can be interrupted, sharded, merged and inspected.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tcplab_os::Stop;
use tcplab_plan::population::{PopulationCost, PopulationDocument, VariantsDocument};
use tcplab_plan::{Population, is_plain_name};

use super::engine;
use super::rowfile::Plan;
use super::{Progress, Request, RowsTo, Shard};
use crate::error::LabError;
use crate::folder::{begin_or_resume, must_be_empty, pretty, read, write};

/// Variants at most.
const MAX_VARIANTS: usize = 100;

/// `schema` of a [`Manifest`].
const SCHEMA: &str = "tcplab.population-variants-manifest/1";

/// What the folder of several variants holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    schema: String,
    experiment: String,
    /// Their folders.
    variants: Vec<String>,
}

/// Runs variants one after the other, or what is left of them. Each has a folder of its name in that of the request,
/// whose population is not looked at.
///
/// # Errors
/// As [`super::run`], and when there is no variant.
pub fn run(
    variants: &[Population],
    request: &Request<'_>,
    stop: &Stop,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<VariantsDocument, LabError> {
    if let Some(to) = request.rows {
        if let (RowsTo::File(_), None) = (to, request.out) {
            return Err(LabError::Wrong(
                "--rows of a file with variants needs --out FOLDER: each variant's rows go to its own folder".to_owned(),
            ));
        }
        // Before anything is written.
        Plan::new(to, request.out, request.shard)?;
    }
    if let Some(folder) = request.out {
        begin(folder, &manifest_of(variants)?)?;
    }
    let mut documents = Vec::new();
    let mut cost = None;
    let mut before = Progress::default();
    for population in variants {
        let out = request.out.map(|folder| folder.join(name_of(population)));
        let request = Request {
            population,
            out: out.as_deref(),
            ..*request
        };
        let all = engine::connections(population, request.shard);
        let report = |p: Progress| {
            progress(Progress {
                done: before.done + p.done,
                all: all * variants.len() as u64,
                now: before.now + p.now,
            });
        };
        let mut document = super::run(&request, stop, &report)?;
        before.done += all;
        if let Some(own) = document.cost.take() {
            before.now += own.connections / population.arms.len().max(1) as u64;
            cost = Some(added(cost, own));
        }
        documents.push(document);
    }
    let mut document = VariantsDocument::new(documents);
    if let Some(folder) = request.out {
        summarize(folder, &document)?;
    }
    document.cost = cost;
    Ok(document)
}

/// Runs a part of each variant and keeps its groups, without tables.
///
/// # Errors
/// As [`super::run_groups`].
pub fn run_groups(
    variants: &[Population],
    request: &Request<'_>,
    stop: &Stop,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<(), LabError> {
    let out = request.out.unwrap_or(Path::new("."));
    begin(out, &manifest_of(variants)?)?;
    for population in variants {
        let out = out.join(name_of(population));
        let request = Request {
            population,
            out: Some(&out),
            ..*request
        };
        super::run_groups(&request, stop, progress)?;
    }
    Ok(())
}

/// Opens the folder of variants, and gives the groups of each that are not there yet.
///
/// # Errors
/// As [`super::pending`].
pub fn pending(variants: &[Population], request: &Request<'_>) -> Result<Vec<Vec<u32>>, LabError> {
    let out = request.out.unwrap_or(Path::new("."));
    begin(out, &manifest_of(variants)?)?;
    let one = |population| {
        let out = out.join(name_of(population));
        super::pending(&Request {
            population,
            out: Some(&out),
            ..*request
        })
    };
    variants.iter().map(one).collect()
}

/// Merges the shards of each variant; the result equals that of an unsharded run, byte for byte.
///
/// # Errors
/// As [`super::merge`], and when the folders differ in their variants.
pub fn merge(shards: &[PathBuf], out: Option<&Path>) -> Result<VariantsDocument, LabError> {
    let manifest = of_all(shards)?;
    if let Some(out) = out {
        must_be_empty(out)?;
        begin(out, &manifest)?;
    }
    let one = |name: &String| {
        let out = out.map(|out| out.join(name));
        super::merge(&each(shards, name), out.as_deref())
    };
    let documents: Vec<PopulationDocument> = manifest
        .variants
        .iter()
        .map(one)
        .collect::<Result<_, _>>()?;
    let document = VariantsDocument::new(documents);
    if let Some(out) = out {
        summarize(out, &document)?;
    }
    Ok(document)
}

/// Merges neighbouring shards of each variant into a part of the run.
///
/// # Errors
/// As [`merge`]; shards may be missing before the first and after the last.
pub fn merge_part(shards: &[PathBuf], out: &Path) -> Result<Shard, LabError> {
    let manifest = of_all(shards)?;
    let first = manifest.variants.first();
    let part = first.map(|name| super::merge::part_of(&each(shards, name)));
    let part = part.unwrap_or(Ok(Shard::WHOLE))?;
    if part.is_whole() {
        return merge(shards, Some(out)).map(|_| part);
    }
    must_be_empty(out)?;
    begin(out, &manifest)?;
    for name in &manifest.variants {
        super::merge_part(&each(shards, name), &out.join(name))?;
    }
    Ok(part)
}

/// The manifest of the folders of all shards.
fn of_all(shards: &[PathBuf]) -> Result<Manifest, LabError> {
    let Some((first, others)) = shards.split_first() else {
        return Err(LabError::Wrong("name the folders of the shards".to_owned()));
    };
    let manifest = manifest(first)?;
    for other in others {
        if self::manifest(other)? != manifest {
            return Err(LabError::Wrong(format!(
                "{} and {} have different variants",
                first.display(),
                other.display()
            )));
        }
    }
    Ok(manifest)
}

/// The folders of a variant.
fn each(shards: &[PathBuf], name: &str) -> Vec<PathBuf> {
    shards.iter().map(|folder| folder.join(name)).collect()
}

/// Whether a folder holds the results of several variants, or says so.
pub fn are_in(folder: &Path) -> bool {
    let text = read(&folder.join("manifest.json")).unwrap_or_default();
    serde_json::from_str::<Manifest>(&text).is_ok_and(|manifest| manifest.schema == SCHEMA)
}

fn name_of(population: &Population) -> &str {
    population.variant.as_deref().unwrap_or_default()
}

fn manifest_of(variants: &[Population]) -> Result<Manifest, LabError> {
    let Some(first) = variants.first() else {
        return Err(LabError::Wrong(
            "the file has no [[variant]] table".to_owned(),
        ));
    };
    Ok(Manifest {
        schema: SCHEMA.to_owned(),
        experiment: first.name.clone(),
        variants: variants.iter().map(|v| name_of(v).to_owned()).collect(),
    })
}

fn begin(folder: &Path, manifest: &Manifest) -> Result<(), LabError> {
    begin_or_resume(folder, &pretty(manifest)?, &[], |_| {
        "another result, or a result with other variants".to_owned()
    })
}

fn manifest(folder: &Path) -> Result<Manifest, LabError> {
    let file = folder.join("manifest.json");
    let text = read(&file).map_err(LabError::at(&file))?;
    let manifest: Result<Manifest, _> = serde_json::from_str(&text);
    let wrong = |why: &str| {
        let file = file.display();
        Err(LabError::Wrong(format!(
            "{file}: {why}this is not a result of a population's variants"
        )))
    };
    let manifest = match manifest {
        Ok(manifest) if manifest.schema == SCHEMA => manifest,
        _ => return wrong(""),
    };
    // Each is the name of a folder.
    let names = &manifest.variants;
    let is_good = |(n, name): (usize, &String)| is_plain_name(name) && !names[..n].contains(name);
    match names.len() <= MAX_VARIANTS && names.iter().enumerate().all(is_good) {
        true => Ok(manifest),
        false => wrong("variants: unknown or duplicate name: "),
    }
}

fn summarize(folder: &Path, document: &VariantsDocument) -> Result<(), LabError> {
    write(&folder.join("summary.json"), &pretty(document)?)
}

fn added(sum: Option<PopulationCost>, own: PopulationCost) -> PopulationCost {
    let sum = sum.unwrap_or_default();
    PopulationCost {
        user_s: sum.user_s + own.user_s,
        wall_s: sum.wall_s + own.wall_s,
        connections: sum.connections + own.connections,
        tcp_packets: sum.tcp_packets + own.tcp_packets,
        peak_rss_bytes: sum.peak_rss_bytes.max(own.peak_rss_bytes),
    }
}

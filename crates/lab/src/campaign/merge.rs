//! The shards of a campaign as one result: every point's folder, and the summary of all.

use std::path::{Path, PathBuf};

use tcplab_plan::Point;
use tcplab_plan::result::{PointResult, RunDocument};

use super::kernels::Kernels;
use super::{document, is_of};
use crate::digest;
use crate::error::LabError;
use crate::folder::{Folder, MANIFEST_SCHEMA, Manifest, must_be_empty, read};

/// Whether a folder holds the result of a campaign, or says so.
pub fn is_in(folder: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: String,
    }
    let text = read(&folder.join("manifest.json")).unwrap_or_default();
    serde_json::from_str::<Head>(&text).is_ok_and(|head| head.schema == MANIFEST_SCHEMA)
}

/// Copies the points of all shards of a campaign into `out`, and writes the summary. The result equals that of an
/// unsharded run, byte for byte, except `cost.json`.
///
/// # Errors
/// When the folders belong to different campaigns, a point is missing in all of them, or the points of one stack ran on
/// different kernels.
pub fn merge(shards: &[PathBuf], out: &Path) -> Result<RunDocument, LabError> {
    let manifest = of_all(shards)?;
    must_be_empty(out)?;
    let merged = Folder::open(out, &manifest)?;
    let stacks = manifest.stacks.iter().map(|(name, _)| name.as_str());
    let tasks = stacks.flat_map(|stack| manifest.points.iter().map(move |point| (stack, point)));
    let measures: Vec<String> = manifest.measures.iter().map(|m| m.name.clone()).collect();
    let mut results = Vec::new();
    let mut kernels = Kernels::default();
    // Another program may write more into a result, and its digests are of that.
    let program = digest::of_this_program().map_err(LabError::at(Path::new("/proc/self/exe")))?;
    let is_ours = program == manifest.program_sha256;
    for (number, task) in tasks.enumerate() {
        let (result, rss) = one(shards, &merged, number, (task, &measures))?;
        if is_ours {
            merged.is_as_written(number, &result, task.1)?;
        }
        kernels.check(number, task, &result)?;
        results.push((result, rss));
    }
    let document = document(&manifest.experiment, manifest.measures, results.into_iter());
    merged.summarize(&document)?;
    Ok(document)
}

/// Copies a point from the shard that has it, and reads it.
fn one(
    shards: &[PathBuf],
    merged: &Folder,
    number: usize,
    (task, measures): ((&str, &Point), &[String]),
) -> Result<(PointResult, u64), LabError> {
    let mut having = shards.iter().filter(|shard| Folder::at(shard).has(number));
    if let Some(from) = having.next() {
        for other in having {
            alike(number, from, other)?;
        }
        merged.adopt(number, &Folder::at(from))?;
    }
    let found = merged.finished(number, |result| is_of(result, task, measures))?;
    let (result, cost) = found.ok_or_else(|| {
        LabError::Wrong(format!(
            "point {number} is in none of the folders; run it with --points {number}"
        ))
    })?;
    Ok((result, cost.rss_bytes))
}

/// Refuses a point that two shards have with other results.
fn alike(number: usize, one: &Path, other: &Path) -> Result<(), LabError> {
    let digest = |shard| {
        let found = Folder::at(shard).finished(number, |_| true)?;
        Ok::<_, LabError>(found.map(|(result, _)| result.digest))
    };
    if digest(one)? == digest(other)? {
        return Ok(());
    }
    Err(LabError::Wrong(format!(
        "{} and {} have other results of point {number}: leave one of them out",
        one.display(),
        other.display()
    )))
}

/// The manifest of all, which is the same.
fn of_all(shards: &[PathBuf]) -> Result<Manifest, LabError> {
    let text = |folder: &PathBuf| {
        let file = folder.join("manifest.json");
        read(&file).map_err(LabError::at(&file))
    };
    let Some((first, others)) = shards.split_first() else {
        return Err(LabError::Wrong("name the folders of the shards".to_owned()));
    };
    let manifest = text(first)?;
    for other in others {
        if text(other)? != manifest {
            return Err(LabError::Wrong(format!(
                "{} and {} are not shards of one run: their points, stacks, measures or version differ",
                first.display(),
                other.display()
            )));
        }
    }
    Manifest::read(
        &first.join("manifest.json").display().to_string(),
        &manifest,
    )
}

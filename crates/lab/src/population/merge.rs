//! The shards of a run as one result.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tcplab_os::output::Output;
use tcplab_plan::population::PopulationDocument;

use super::engine::Shard;
use super::expected::Expected;
use super::rowfile::{Plan, RowsTo};
use super::store::{self, Store};
use super::totals::Totals;
use super::{document, folder};
use crate::error::LabError;

/// Reads the folders of all shards of one run; the result goes into `out`, when there is one, and is the same to the
/// byte as that of a run in one piece.
///
/// # Errors
/// When folders are not of one run, when a shard is missing or there twice, or a file is damaged.
pub fn merge(shards: &[PathBuf], out: Option<&Path>) -> Result<PopulationDocument, LabError> {
    let Some(first) = shards.first() else {
        return Err(LabError::Wrong("name the folders of the shards".to_owned()));
    };
    let manifest = folder::manifest(first)?;
    let of = manifest.shard.1;
    let mut there = vec![None::<&PathBuf>; of as usize];
    for path in shards {
        let other = folder::manifest(path)?;
        if !manifest.is_of(&other) {
            return Err(LabError::Wrong(format!(
                "{} and {} are not shards of one run: their population, seed, stack, version, rows or number of shards differ",
                first.display(),
                path.display()
            )));
        }
        // The manifest was checked: its number is one of them.
        let place = &mut there[other.shard.0 as usize - 1];
        if let Some(twice) = place.replace(path) {
            return Err(LabError::Wrong(format!(
                "{} and {} are the same shard, {} of {of}",
                twice.display(),
                path.display(),
                other.shard.0
            )));
        }
    }
    if let Some(missing) = there.iter().position(Option::is_none) {
        return Err(LabError::Wrong(format!(
            "shard {} of {of} is missing; run it with --shard {}/{of}",
            missing + 1,
            missing + 1
        )));
    }
    let file = first.join("population.toml");
    let text = fs::read_to_string(&file).map_err(LabError::at(&file))?;
    let population = folder::of_folder(first)?;
    let arms = population.arms.len();
    let mut totals = Totals::new(arms);
    let rows = out.filter(|_| manifest.rows && of > 1);
    let rows = rows.map(|out| Plan::new(RowsTo::Folder, Some(out), Shard::WHOLE));
    let rows = rows.transpose()?;
    let mut kept = match out {
        Some(out) => {
            folder::merged(out, &manifest, &text)?;
            let mut new = Expected::new(&population, Shard::WHOLE);
            Some(Store::open(out, &mut new, |_| {})?)
        }
        None => None,
    };
    let mut rows = rows.map(Plan::open).transpose()?;
    let mut numbers = Vec::new();
    for (number, path) in (1..).zip(there.into_iter().flatten()) {
        let mut failed = None;
        let before = numbers.len();
        let mut expected = Expected::new(&population, Shard { number, of });
        store::read(path, &mut expected, |group| {
            totals.add(&group);
            numbers.push(group.number);
            if let Some(store) = &mut kept {
                failed = failed.take().or(store.add(&group).err());
            }
        })?;
        if let Some(e) = failed {
            return Err(e);
        }
        if let Some(rows) = &mut rows {
            rows.add_shard(path, &numbers[before..])?;
        }
    }
    totals.finish();
    numbers.sort_unstable();
    let document = document::document(&population, &manifest.stack, Shard::WHOLE, &totals);
    if let Some(rows) = rows {
        rows.finish(&numbers)?;
        rows.remove()?;
    } else if let Some(out) = out.filter(|_| manifest.rows) {
        // One shard is the whole.
        let [from, to] = [first.as_path(), out].map(|folder| folder.join("rows.parquet"));
        let copy = || {
            let mut copy = Output::create_own(&to)?;
            io::copy(&mut File::open(&from)?, &mut copy)?;
            copy.commit_synced()
        };
        copy().map_err(LabError::at(&to))?;
    }
    if let (Some(store), Some(out)) = (kept, out) {
        store.finish(out, &numbers)?;
        folder::summarize(out, &document)?;
    }
    Ok(document)
}

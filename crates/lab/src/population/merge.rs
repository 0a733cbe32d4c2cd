//! Merges all shards of a run into one result, or neighbouring shards into a part that merges further.
//!
//! Merging is a tree of any form: parts of parts come to the same bytes as a run in one piece, since a group is in one
//! shard alone and its bytes are not changed. A part has no table: its groups are not all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tcplab_os::output::Output;
use tcplab_plan::Population;
use tcplab_plan::population::PopulationDocument;

use super::expected::Expected;
use super::folder::Manifest;
use super::record::Group;
use super::rowfile::{Plan, RowsTo};
use super::store::{self, Store};
use super::totals::Totals;
use super::{document, folder};
use crate::error::LabError;
use crate::shard::Shard;

/// Merges the folders of all shards of one run, into `out` if given. The result equals that of a run in one piece,
/// to the byte.
///
/// # Errors
/// The folders are of different runs, a shard is missing or there twice, or a file is damaged.
pub fn merge(shards: &[PathBuf], out: Option<&Path>) -> Result<PopulationDocument, LabError> {
    let parts = Parts::read(shards)?;
    let of = parts.manifest.shard.of();
    if !parts.shard.is_whole() {
        let (first, last) = (parts.shard.first(), parts.shard.last());
        return Err(missing(if first > 1 { 1 } else { last + 1 }, of));
    }
    let mut totals = Totals::new(parts.population.arms.len());
    parts.gather(out, |group| totals.add(group))?;
    totals.finish();
    let stack = &parts.manifest.stack;
    let document = document::document(&parts.population, stack, Shard::WHOLE, &totals);
    if let Some(out) = out {
        folder::summarize(out, &document)?;
    }
    Ok(document)
}

/// Merges neighbouring shards, or parts that were merged of some, into the part of the run that they are. All of them
/// come to what [`merge`] makes.
///
/// # Errors
/// As [`merge`]; shards may be missing before the first and after the last.
pub fn merge_part(shards: &[PathBuf], out: &Path) -> Result<Shard, LabError> {
    let parts = Parts::read(shards)?;
    match parts.shard.is_whole() {
        true => drop(merge(shards, Some(out))?),
        false => parts.gather(Some(out), |_| {})?,
    }
    Ok(parts.shard)
}

/// What these folders are together.
pub(super) fn part_of(shards: &[PathBuf]) -> Result<Shard, LabError> {
    Parts::read(shards).map(|parts| parts.shard)
}

/// The folders of neighbouring shards.
struct Parts<'a> {
    /// In order.
    folders: Vec<(Shard, &'a PathBuf)>,
    /// What they are together.
    shard: Shard,
    /// Of the first one.
    manifest: Manifest,
    population: Population,
}

impl<'a> Parts<'a> {
    fn read(shards: &'a [PathBuf]) -> Result<Self, LabError> {
        let Some(named) = shards.first() else {
            return Err(LabError::Wrong("name the folders of the shards".to_owned()));
        };
        let manifest = folder::manifest(named)?;
        let mut folders = Vec::new();
        for path in shards {
            let other = folder::manifest(path)?;
            if !manifest.is_of(&other) {
                return Err(LabError::Wrong(format!(
                    "{} and {} are not shards of one run: their population, seed, stack, version, rows or number of shards differ",
                    named.display(),
                    path.display()
                )));
            }
            folders.push((other.shard, path));
        }
        folders.sort_by_key(|(shard, _)| shard.first());
        Ok(Self {
            shard: together(&folders)?,
            folders,
            population: folder::of_folder(named)?,
            manifest,
        })
    }

    /// Gives each group to `found`, and puts groups and rows into `out`, when there is one.
    fn gather(&self, out: Option<&Path>, mut found: impl FnMut(&Group)) -> Result<(), LabError> {
        let first = self.folders[0].1;
        let is_whole = self.manifest.shard.is_whole();
        let rows = out.filter(|_| self.manifest.rows && !is_whole);
        let rows = rows.map(|out| Plan::new(RowsTo::Folder, Some(out), self.shard));
        let rows = rows.transpose()?;
        let mut kept = out.map(|out| self.begin(out)).transpose()?;
        let mut rows = rows.map(Plan::open).transpose()?;
        let mut numbers = Vec::new();
        for (shard, path) in &self.folders {
            let mut failed = None;
            let before = numbers.len();
            let mut expected = Expected::new(&self.population, *shard);
            store::read(path, &mut expected, |group| {
                found(&group);
                numbers.push(group.number);
                if let Some(store) = &mut kept {
                    failed = failed.take().or(store.add(&group).err());
                }
            })?;
            failed.map_or(Ok(()), Err)?;
            if let Some(rows) = &mut rows {
                rows.add_shard(path, &numbers[before..])?;
            }
        }
        numbers.sort_unstable();
        if let Some(rows) = rows {
            rows.finish(&numbers)?;
            rows.remove()?;
        } else if let Some(out) = out.filter(|_| self.manifest.rows) {
            // One shard is the whole.
            copy(first, out, "rows.parquet")?;
        }
        match (kept, out) {
            (Some(store), Some(out)) => store.finish(out, &numbers),
            _ => Ok(()),
        }
    }

    /// Opens the folder of the result.
    fn begin(&self, out: &Path) -> Result<Store, LabError> {
        let file = self.folders[0].1.join("population.toml");
        let text = fs::read_to_string(&file).map_err(LabError::at(&file))?;
        folder::merged(out, &self.manifest, self.shard, &text)?;
        Store::open(
            out,
            &mut Expected::new(&self.population, self.shard),
            |_| {},
        )
    }
}

/// What shards in order are together: neighbours, each there once.
fn together(folders: &[(Shard, &PathBuf)]) -> Result<Shard, LabError> {
    let (first, mut before) = (folders[0].0, folders[0]);
    let of = first.of();
    for next in &folders[1..] {
        let last = before.0.last();
        if next.0.first() <= last {
            return Err(LabError::Wrong(format!(
                "{} and {} both contain shard {} of {of}",
                before.1.display(),
                next.1.display(),
                next.0.first()
            )));
        }
        if next.0.first() > last + 1 {
            return Err(missing(last + 1, of));
        }
        before = *next;
    }
    let all = Shard::span(first.first(), before.0.last(), of);
    all.ok_or_else(|| LabError::Wrong("the shards are of no run".to_owned()))
}

fn missing(shard: u32, of: u32) -> LabError {
    LabError::Wrong(format!(
        "shard {shard} of {of} is missing; run it with --shard {shard}/{of}"
    ))
}

fn copy(from: &Path, to: &Path, name: &str) -> Result<(), LabError> {
    let [from, to] = [from, to].map(|folder| folder.join(name));
    let copy = || {
        let mut copy = Output::create_own(&to)?;
        io::copy(&mut File::open(&from)?, &mut copy)?;
        copy.commit_synced()
    };
    copy().map_err(LabError::at(&to))
}

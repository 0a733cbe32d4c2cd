//! The unfinished groups of a run, for a caller that lets other machines run them and puts the results into the
//! folder.

use std::path::Path;

use super::engine::groups;
use super::expected::Expected;
use super::rowfile::Plan;
use super::store::Store;
use super::{Request, check_arms, check_shard, folder, model_of};
use crate::error::LabError;

/// Opens the folder of a request, or goes on with it, and gives the groups that are not there yet, in order. Damaged
/// groups are cut off, as a run does.
///
/// # Errors
/// As [`super::run`]; a request without a folder.
pub fn pending(request: &Request<'_>) -> Result<Vec<u32>, LabError> {
    let population = request.population;
    let (name, _) = model_of(request.stack)?;
    check_shard(request)?;
    check_arms(population, &name)?;
    let out = request.out.unwrap_or(Path::new("."));
    let plan = |to| Plan::new(to, request.out, request.shard);
    let rows = request.rows.map(plan).transpose()?;
    folder::begin(out, request, &name)?;
    if out.join("groups.bin").exists() {
        return Ok(Vec::new());
    }
    let rows = rows.map(Plan::open).transpose()?;
    let mut there = Vec::new();
    Store::open(
        out,
        &mut Expected::new(population, request.shard),
        |group| {
            if rows.as_ref().is_none_or(|rows| rows.has(group.number)) {
                there.push(group.number);
            }
        },
    )?;
    Ok(groups(request.shard)
        .filter(|group| !there.contains(group))
        .collect())
}

//! A run with its folder: what an earlier run has finished, what is left, when all is decided.

use std::collections::BTreeMap;
use std::path::Path;

use super::engine::{self, GROUPS, Progress, Spent, Work, simulate, size};
use super::expected::Expected;
use super::looks::looks;
use super::record::Group;
use super::rowfile::Rows;
use super::store::Store;
use super::totals::Totals;
use crate::error::LabError;

/// What a run keeps.
pub(crate) struct Kept<'a> {
    /// Where finished groups go, when there is a place.
    pub(crate) folder: Option<&'a Path>,
    /// A row for each connection and arm.
    pub(crate) rows: Option<Rows>,
}

/// Runs what is left of a shard.
pub(crate) fn run(
    work: &Work<'_>,
    kept: Kept<'_>,
    totals: &mut Totals,
    is_decided: impl Fn(&Totals) -> bool,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<Spent, LabError> {
    let mut expected = Expected::new(work.population, work.shard);
    let groups: Vec<u32> = engine::groups(work.shard).collect();
    let stops = work.population.compare.stops;
    let mut earlier = Earlier::new(stops);
    let Kept { folder, mut rows } = kept;
    let mut store = match folder {
        Some(folder) => Some(Store::open(folder, &mut expected, |group| {
            // A group whose rows were not kept is run again.
            if rows.as_ref().is_none_or(|rows| rows.has(group.number)) {
                earlier.found(group, totals);
            }
        })?),
        None => None,
    };
    let all = engine::connections(work.population, work.shard);
    let mut spent = Spent::default();
    let mut done = 0;
    let mut finished = 0;
    for end in ends(stops, groups.len()) {
        let part = &groups[finished..end];
        let (there, left): (Vec<u32>, Vec<u32>) = part.iter().partition(|g| earlier.has(**g));
        for group in there {
            earlier.give(group, totals);
            done += size(work.population, group);
        }
        let now = spent.connections;
        let report = |n| {
            progress(Progress {
                done: done + n,
                all,
                now: now + n,
            });
        };
        let mut sink = |group: Group, its_rows: &[u8]| {
            keep(&group, its_rows, (&mut rows, &mut store))?;
            totals.add(&group);
            Ok(())
        };
        let part = simulate(work, &left, &report, &mut sink)?;
        spent.add(part);
        done += part.connections;
        finished = end;
        if stops && finished < groups.len() && is_decided(totals) {
            break;
        }
    }
    totals.finish();
    if let Some(rows) = &rows {
        rows.finish(&groups[..finished])?;
    }
    if let (Some(store), Some(folder)) = (store, folder) {
        store.finish(folder, &groups[..finished])?;
    }
    rows.map_or(Ok(()), Rows::remove)?;
    Ok(spent)
}

/// After how many groups the table is looked at; the last time is the end.
fn ends(stops: bool, groups: usize) -> Vec<usize> {
    match stops {
        true => looks().map(|n| (n as usize).min(groups)).collect(),
        false => vec![groups],
    }
}

fn keep(
    group: &Group,
    its_rows: &[u8],
    (rows, store): (&mut Option<Rows>, &mut Option<Store>),
) -> Result<(), LabError> {
    // First: a group that is kept has its rows.
    if let Some(rows) = rows {
        rows.add(group.number, its_rows)?;
    }
    store.as_mut().map_or(Ok(()), |store| store.add(group))
}

/// Groups that an earlier run of the folder has finished.
struct Earlier {
    /// They are counted only when their turn comes: what is decided by then ends the run.
    in_turn: bool,
    has: Vec<bool>,
    kept: BTreeMap<u32, Group>,
}

impl Earlier {
    fn new(in_turn: bool) -> Self {
        Self {
            in_turn,
            has: vec![false; GROUPS as usize],
            kept: BTreeMap::new(),
        }
    }

    fn found(&mut self, group: Group, totals: &mut Totals) {
        let Some(has) = self.has.get_mut(group.number as usize).filter(|has| !**has) else {
            return;
        };
        *has = true;
        match self.in_turn {
            true => drop(self.kept.insert(group.number, group)),
            false => totals.add(&group),
        }
    }

    fn has(&self, group: u32) -> bool {
        self.has.get(group as usize).is_some_and(|has| *has)
    }

    fn give(&mut self, group: u32, totals: &mut Totals) {
        if let Some(group) = self.kept.remove(&group) {
            totals.add(&group);
        }
    }
}

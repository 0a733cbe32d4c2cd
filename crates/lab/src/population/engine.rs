//! The groups of a run on several processors: which are left, who does which, what is kept.
//!
//! Connection n belongs to group n mod [`GROUPS`]. A group is the unit of the work, of what a killed run loses, of a
//! shard and of the bootstrap. Results do not depend on the number of threads.

use std::sync::atomic::{AtomicU64, Ordering};

use tcplab_os::Stop;
use tcplab_os::cpu::Meter;
use tcplab_plan::Population;
use tcplab_plan::profile::Profile;

use super::connection::Runner;
use super::record::{Group, Outlier};
use super::sums::Sums;
use crate::error::LabError;
use crate::pool;
use crate::shard::{MAX_SHARDS, Shard};

/// Groups of a population.
pub(crate) const GROUPS: u32 = MAX_SHARDS;
/// Outliers that a group keeps of each arm.
const OUTLIERS: usize = 4;

/// The groups of a part of a run, in order.
pub(crate) fn groups(shard: Shard) -> impl Iterator<Item = u32> {
    (0..GROUPS).filter(move |group| shard.has(*group as usize))
}

/// Connections of these groups.
pub(crate) fn connections(population: &Population, shard: Shard) -> u64 {
    groups(shard).map(|group| size(population, group)).sum()
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Connections that are finished, in every arm.
    pub done: u64,
    /// All that the run wants.
    pub all: u64,
    /// Connections of this process, for the rate: a run that goes on has some from before.
    pub now: u64,
}

/// What a run needs.
pub(crate) struct Work<'a> {
    pub(crate) population: &'a Population,
    pub(crate) stack: &'a Profile,
    pub(crate) jobs: usize,
    pub(crate) shard: Shard,
    /// Whether each connection has rows.
    pub(crate) rows: bool,
    pub(crate) stop: &'a Stop,
}

/// CPU seconds and packets of the processes' part.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) user_s: f64,
    pub(crate) connections: u64,
    pub(crate) packets: u64,
}

impl Spent {
    /// Adds another part's.
    pub(crate) fn add(&mut self, other: Self) {
        self.user_s += other.user_s;
        self.connections += other.connections;
        self.packets += other.packets;
    }
}

/// Takes finished groups, and the bytes of their rows.
pub(crate) type Sink<'a> = dyn FnMut(Group, &[u8]) -> Result<(), LabError> + Send + 'a;

/// Connections of a group.
pub(crate) fn size(population: &Population, group: u32) -> u64 {
    let n = population.connections;
    n / u64::from(GROUPS) + u64::from(u64::from(group) < n % u64::from(GROUPS))
}

/// Simulates these groups on several threads; each goes into `sink` when it is finished. `report` hears how many
/// connections are done.
pub(crate) fn simulate(
    work: &Work<'_>,
    groups: &[u32],
    report: &(impl Fn(u64) + Sync),
    sink: &mut Sink<'_>,
) -> Result<Spent, LabError> {
    let done = AtomicU64::new(0);
    let told = || report(done.fetch_add(1, Ordering::Relaxed) + 1);
    let mut spent = Spent::default();
    pool::each(
        groups.len(),
        &pool::anywhere(work.jobs),
        |_| Runner::new(work.population, work.stack),
        |runner, place| one(work, runner, groups[place], &told),
        |_, finished: Finished| {
            spent.add(finished.spent);
            sink(finished.group, &finished.rows)
        },
    )?;
    Ok(spent)
}

/// A group, and what it took.
struct Finished {
    group: Group,
    rows: Vec<u8>,
    spent: Spent,
}

fn one(
    work: &Work<'_>,
    runner: &mut Runner<'_>,
    number: u32,
    told: &impl Fn(),
) -> Result<Finished, LabError> {
    let meter = Meter::start();
    let before = runner.packets;
    let population = work.population;
    let arms = population.arms.len();
    let mut group = Group {
        number,
        arms: vec![Sums::default(); arms],
        outliers: Vec::new(),
    };
    let mut rows = Vec::new();
    let mut furthest: Vec<Vec<Outlier>> = vec![Vec::new(); arms];
    for n in 0..size(population, number) {
        if work.stop.wanted() {
            return Err(LabError::Interrupted);
        }
        let connection = n * u64::from(GROUPS) + u64::from(number);
        let wanted = work.rows.then_some(&mut rows);
        let longer = runner.run(connection, &mut group.arms, wanted)?;
        for (arm, kept) in furthest.iter_mut().enumerate().skip(1) {
            keep(
                kept,
                Outlier {
                    arm: arm as u32,
                    connection,
                    difference_us: longer[arm],
                },
            );
        }
        told();
    }
    group.outliers = furthest.concat();
    group.sort();
    Ok(Finished {
        group,
        rows,
        spent: Spent {
            user_s: meter.stop().cpu_s,
            connections: size(population, number),
            packets: runner.packets - before,
        },
    })
}

/// Keeps the largest few.
fn keep(kept: &mut Vec<Outlier>, one: Outlier) {
    if one.difference_us == 0 {
        return;
    }
    let rank = |o: &Outlier| {
        (
            std::cmp::Reverse(o.difference_us.unsigned_abs()),
            o.connection,
        )
    };
    let place = kept.partition_point(|o| rank(o) < rank(&one));
    if place < OUTLIERS {
        kept.insert(place, one);
        kept.truncate(OUTLIERS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_all_groups_once() {
        let shards = (1..=7).filter_map(|number| Shard::one(number, 7));
        let mut all: Vec<u32> = shards.flat_map(groups).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..GROUPS));
    }

    #[test]
    fn the_largest_differences_are_kept() {
        let mut kept = Vec::new();
        for (connection, difference_us) in [5, -9, 0, 7, 1, -8, 6].into_iter().enumerate() {
            keep(
                &mut kept,
                Outlier {
                    arm: 1,
                    connection: connection as u64,
                    difference_us,
                },
            );
        }
        let kept: Vec<i64> = kept.iter().map(|o| o.difference_us).collect();
        assert_eq!(kept, [-9, -8, 7, 6]);
    }
}

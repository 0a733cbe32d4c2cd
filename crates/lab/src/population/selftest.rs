//! Does the table see differences that are not there, and does it see those that are?
//!
//! A/A: for each seed the baseline's connections in two disjoint halves, compared as two arms that share nothing. Any
//! decided row is a false one. Planted: the same connections as two arms, and one counter of the second one is 5 % larger.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_base::Random;
use tcplab_os::Stop;
use tcplab_plan::Population;
use tcplab_plan::population::{Row, Verdict};
use tcplab_stats::Design;
use tcplab_tcp::Counter;

use super::engine::{self, GROUPS, Progress, Work};
use super::model_of;
use super::record::Group;
use super::rows::rows;
use super::sums::{COUNTERS, Sums};
use super::totals::Totals;
use crate::error::LabError;
use crate::shard::Shard;

/// `schema` of a [`SelfTest`].
pub const SCHEMA: &str = "tcplab.population-selftest/1";

/// Part of the planted counter's events that count twice, in billionths (10^-9).
const PLANTED_PPB: u32 = 50_000_000;
/// The row that the planted counter stands in.
const PLANTED_ROW: &str = "timeouts";

/// What a self-test came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SelfTest {
    /// Always `tcplab.population-selftest/1`.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// Connections of each seed.
    pub connections: u64,
    /// The first seed.
    pub first_seed: u64,
    /// Seeds.
    pub seeds: u64,
    /// Seeds whose A/A table had a row with a verdict of lower or higher.
    pub false_tables: u64,
    /// The rows that had one, with the seed.
    pub false_rows: Vec<(u64, String)>,
    /// Timeouts that were planted, over all seeds; 0: the file has no timeout that could count double.
    pub planted: u64,
    /// Seeds in which the planted effect was decided to be higher.
    pub planted_found: u64,
}

/// Runs a self-test.
///
/// # Errors
/// As [`super::run`].
pub fn self_test(
    population: &Population,
    stack: &str,
    (seeds, connections): (u64, u64),
    jobs: usize,
    stop: &Stop,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<SelfTest, LabError> {
    let (_, model) = model_of(stack)?;
    let mut population = population.clone();
    population.arms.truncate(1);
    population.compare.stops = false;
    population.connections = connections;
    let mut result = SelfTest {
        schema: SCHEMA.to_owned(),
        experiment: population.name.clone(),
        connections,
        first_seed: population.seed,
        seeds,
        ..SelfTest::default()
    };
    for number in 0..seeds {
        let work = Work {
            population: &population,
            stack: model.of_host().0,
            jobs,
            shard: Shard::WHOLE,
            rows: false,
            stop,
        };
        let report = |n| {
            progress(Progress {
                done: number * connections + n,
                all: seeds * connections,
                now: number * connections + n,
            });
        };
        let mut groups = Vec::new();
        let all: Vec<u32> = engine::groups(Shard::WHOLE).collect();
        engine::simulate(&work, &all, &report, &mut |group, _| {
            groups.push(group);
            Ok(())
        })?;
        groups.sort_by_key(|group| group.number);
        let seed = population.seed;
        let halves = judge(&population, &halves(&groups), false, seed);
        let mut wrong: Vec<(u64, String)> = decided(&halves).map(|id| (seed, id)).collect();
        result.false_tables += u64::from(!wrong.is_empty());
        result.false_rows.append(&mut wrong);
        let (totals, events) = planted(&groups, seed);
        result.planted += events;
        let planted = judge(&population, &totals, true, seed);
        let found = |row: &&Row| row.id == PLANTED_ROW && row.verdict == Verdict::Higher;
        result.planted_found += planted.iter().filter(found).count() as u64;
        population.seed += 1;
    }
    Ok(result)
}

/// The table of two arms that are both the baseline.
fn judge(population: &Population, totals: &Totals, paired: bool, seed: u64) -> Vec<Row> {
    let mut two = population.clone();
    two.arms.push(two.arms[0].clone());
    let design = Design {
        paired,
        seed,
        replicates: 1_000,
        ..Design::default()
    };
    rows(&two, totals, &design)
}

fn decided(rows: &[Row]) -> impl Iterator<Item = String> + '_ {
    rows.iter()
        .filter(|row| matches!(row.verdict, Verdict::Lower | Verdict::Higher))
        .map(|row| row.id.clone())
}

/// Groups with an even number are the first arm, the others the second one.
fn halves(groups: &[Group]) -> Totals {
    let mut totals = Totals::sized(2, GROUPS as usize / 2);
    for pair in groups.chunks(2) {
        if let [a, b] = pair {
            totals.add(&Group {
                number: a.number / 2,
                arms: vec![a.arms[0].clone(), b.arms[0].clone()],
                outliers: Vec::new(),
            });
        }
    }
    totals
}

/// The same connections twice; a twentieth of the timeouts counts double in the second arm. And how many did.
fn planted(groups: &[Group], seed: u64) -> (Totals, u64) {
    let place = COUNTERS.iter().position(|c| *c == Counter::Timeouts);
    let place = place.unwrap_or(0);
    let mut random = Random::stream(seed, "selftest/planted");
    let mut totals = Totals::new(2);
    let mut planted = 0;
    for group in groups {
        let mut more: Sums = group.arms[0].clone();
        let events = more.counters[place];
        let twice = (0..events).filter(|_| random.chance(PLANTED_PPB)).count();
        more.counters[place] += twice as u64;
        planted += twice as u64;
        totals.add(&Group {
            number: group.number,
            arms: vec![group.arms[0].clone(), more],
            outliers: Vec::new(),
        });
    }
    (totals, planted)
}

//! The document of a run: what each arm did, the table, the outliers.

use std::collections::BTreeMap;

use tcplab_plan::Population;
use tcplab_plan::population::{
    ArmResult, Distribution, OutlierRecord, POPULATION_SCHEMA, PopulationDocument,
};
use tcplab_stats::{Design, Sketch};
use tcplab_tcp::COUNTERS as NAMES;

use super::engine::{GROUPS, groups};
use super::looks;
use super::rows::{ALL, RECOVERIES, SMALL, rows};
use super::sums::COUNTERS;
use super::totals::{Totals, quantile};
use crate::shard::Shard;

/// Points of a distribution function.
const CDF_POINTS: u64 = 200;
/// Replicates of the bootstrap.
const REPLICATES: usize = 2_000;

/// How the arms of a population are compared.
pub(crate) fn design(population: &Population, totals: &Totals) -> Design {
    let usual = Design::default();
    // Intervals hold with 95 %, whenever the run may have ended.
    let miss = (1.0 - usual.level) * looks::share(population, totals.groups);
    Design {
        seed: population.seed,
        replicates: REPLICATES,
        level: 1.0 - miss,
        ..usual
    }
}

/// Makes the document of finished totals.
pub(crate) fn document(
    population: &Population,
    stack: &str,
    shard: Shard,
    totals: &Totals,
) -> PopulationDocument {
    let wanted = groups(shard).count() as u32;
    PopulationDocument {
        schema: POPULATION_SCHEMA.to_owned(),
        experiment: population.name.clone(),
        title: population.title.clone(),
        variant: population.variant.clone(),
        stack: stack.to_owned(),
        seed: population.seed,
        connections: totals.sum(0, |n| n.connections),
        shard: shard.to_string(),
        groups: totals.groups.min(GROUPS),
        stopped: totals.groups < wanted,
        baseline: population.arms[0].name.clone(),
        level: f64::from(population.compare.level_ppb) / 1e9,
        arms: (0..population.arms.len())
            .map(|arm| arm_result(&population.arms[arm].name, totals, arm))
            .collect(),
        rows: rows(population, totals, &design(population, totals)),
        outliers: totals
            .outliers
            .iter()
            .map(|o| OutlierRecord {
                connection: o.connection,
                arm: population.arms[o.arm as usize].name.clone(),
                difference_us: o.difference_us,
            })
            .collect(),
        cost: None,
        error: None,
    }
}

fn arm_result(name: &str, totals: &Totals, arm: usize) -> ArmResult {
    let counters = COUNTERS.iter().enumerate().map(|(place, counter)| {
        let name = NAMES.iter().find(|(c, _)| c == counter);
        let name = name.map_or("?", |(_, name)| *name);
        (name.to_owned(), totals.sum(arm, |n| n.counters[place]))
    });
    let latency = totals.sketch(arm, ALL);
    let all_us: u64 = totals.sum(arm, |n| n.sum_us[0] + n.sum_us[1]);
    let unfinished = |times| totals.sum(arm, |n| n.unfinished(times));
    let lossy_us = totals.sum(arm, |n| n.lossy_us);
    ArmResult {
        name: name.to_owned(),
        connections: totals.sum(arm, |n| n.connections),
        lossy_connections: totals.sum(arm, |n| n.lossy),
        cut_short: totals.sum(arm, |n| n.cut_short),
        requests: totals.sum(arm, |n| n.requests),
        counters: counters.collect::<BTreeMap<_, _>>(),
        latency: distribution(&latency, all_us, unfinished(ALL)),
        latency_lt4k: distribution(
            &totals.sketch(arm, SMALL),
            totals.sum(arm, |n| n.sum_us[0]),
            unfinished(SMALL),
        ),
        lossy_share_of_latency: (all_us > 0).then(|| lossy_us as f64 / all_us as f64),
        recovery: distribution(
            &totals.sketch(arm, RECOVERIES),
            totals.sum(arm, |n| n.sum_us[2]),
            0,
        ),
    }
}

/// Of finished samples and of `unfinished` ones, which are later. The sum is exact, the rest has three digits.
fn distribution(sketch: &Sketch, sum_us: u64, unfinished: u64) -> Distribution {
    let count = sketch.count();
    let at = |part| quantile(sketch, unfinished, part);
    // Part of the finished ones among the slowest 1 % of all; none: some of these 1 % are all unfinished.
    let slowest = 0.01 * (count + unfinished) as f64 - unfinished as f64;
    let slowest = (slowest >= 0.0).then(|| slowest / count.max(1) as f64);
    let cdf = (1..=CDF_POINTS).filter_map(|n| {
        let part = n as f64 / CDF_POINTS as f64;
        Some((at(part)?, part))
    });
    Distribution {
        count,
        mean_us: (count > 0).then(|| sum_us as f64 / count as f64),
        trimmed_mean_us: slowest.and_then(|part| sketch.trimmed_mean(0.0, part)),
        top1_share: sketch.tail_share(0.01),
        p50_us: at(0.5),
        p95_us: at(0.95),
        p99_us: at(0.99),
        cdf: cdf.collect(),
    }
}

//! Ratios of sums over groups of connections, and their relative differences between arms.
//!
//! A connection belongs to a group (its number modulo the number of groups); a group is what the
//! bootstrap draws. Counters and latencies have heavy tails and zeros, so a replicate is judged by
//! its own standard error (the bootstrap-t of Efron, on the logarithm of the ratio): see `interval`.

use crate::interval::{self, Estimate};
use crate::resample::{Design, LANES, Weights, sum2};
use crate::{Difference, MIN_GROUPS, NoDifference};

/// One row of one arm: a numerator and a denominator for each group. Both are sums over the group's
/// connections: timeouts and connections, microseconds of latency and responses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ratio {
    /// Sums of what is counted.
    pub numerator: Vec<u64>,
    /// Sums of what it is counted per.
    pub denominator: Vec<u64>,
}

impl Ratio {
    /// Zeros for so many groups.
    pub fn new(groups: usize) -> Self {
        Self {
            numerator: vec![0; groups],
            denominator: vec![0; groups],
        }
    }

    /// Adds to a group; beyond the last one nothing happens.
    pub fn add(&mut self, group: usize, numerator: u64, denominator: u64) {
        let both = self
            .numerator
            .get_mut(group)
            .zip(self.denominator.get_mut(group));
        if let Some((n, d)) = both {
            *n = n.saturating_add(numerator);
            *d = d.saturating_add(denominator);
        }
    }

    /// Sum of the numerators by sum of the denominators; none when the latter is 0.
    pub fn value(&self) -> Option<f64> {
        let sum = |of: &[u64]| of.iter().map(|n| u128::from(*n)).sum::<u128>() as f64;
        let denominator = sum(&self.denominator);
        (denominator > 0.0).then(|| sum(&self.numerator) / denominator)
    }
}

/// Compares the arms of each row with its first one, the baseline: an answer for each other arm.
///
/// All rows share the draws of groups, so differences of several rows can be taken together. Costs
/// about 12 operations for each group, replicate, row and arm.
pub fn compare(rows: &[Vec<Ratio>], design: &Design) -> Vec<Vec<Result<Difference, NoDifference>>> {
    let mut draws = Draws::default();
    let row = |row: &Vec<Ratio>| {
        let arms: Vec<Arm> = row.iter().map(Arm::new).collect();
        let Some((baseline, others)) = arms.split_first() else {
            return Vec::new();
        };
        compare_row(baseline, others, design, &mut draws)
    };
    rows.iter().map(row).collect()
}

/// One arm's sums as doubles, filled up with zeros to whole [`LANES`].
struct Arm {
    groups: usize,
    numerator: Vec<f64>,
    denominator: Vec<f64>,
    totals: Totals,
    /// Groups whose numerator is not 0.
    busy: usize,
}

#[derive(Clone, Copy, Default)]
struct Totals {
    numerator: f64,
    denominator: f64,
}

impl Arm {
    fn new(ratio: &Ratio) -> Self {
        let groups = ratio.numerator.len().min(ratio.denominator.len());
        let doubles = |of: &[u64]| {
            let mut out: Vec<f64> = of.iter().take(groups).map(|n| *n as f64).collect();
            out.resize(groups.next_multiple_of(LANES), 0.0);
            out
        };
        let (numerator, denominator) = (doubles(&ratio.numerator), doubles(&ratio.denominator));
        Self {
            groups,
            totals: Totals {
                numerator: numerator.iter().sum(),
                denominator: denominator.iter().sum(),
            },
            busy: numerator.iter().filter(|n| **n > 0.0).count(),
            numerator,
            denominator,
        }
    }

    fn totals(&self, weights: &[f64]) -> Totals {
        Totals {
            numerator: sum2(&self.numerator, weights, |n, w| n * w),
            denominator: sum2(&self.denominator, weights, |d, w| d * w),
        }
    }
}

/// Draws by arm and number of groups, made once.
#[derive(Default)]
struct Draws(Vec<(usize, usize, Weights)>);

impl Draws {
    /// Makes the draws of an arm if they are not there yet; where they are.
    fn of(&mut self, design: &Design, arm: usize, groups: usize) -> usize {
        let arm = if design.paired { 0 } else { arm };
        let found = self
            .0
            .iter()
            .position(|(a, g, _)| (*a, *g) == (arm, groups));
        found.unwrap_or_else(|| {
            self.0
                .push((arm, groups, Weights::new(design, arm, groups)));
            self.0.len() - 1
        })
    }
}

/// Adds half an event to rows with so few events that a replicate may have no event.
///
/// Haldane's correction: log((n + 1/2) / (m + 1/2)) has no infinite values and little bias, and 1 / (n + 1/2) is its
/// variance for counts. The event's size is the mean over groups with events.
fn half_event(a: &Arm, b: &Arm) -> f64 {
    const PLENTY: usize = 30;
    match a.busy.min(b.busy) < PLENTY {
        true => {
            let groups = (a.busy + b.busy).max(1) as f64;
            0.5 * (a.totals.numerator + b.totals.numerator) / groups
        }
        false => 0.0,
    }
}

fn compare_row(
    baseline: &Arm,
    others: &[Arm],
    design: &Design,
    draws: &mut Draws,
) -> Vec<Result<Difference, NoDifference>> {
    let at: Vec<usize> = std::iter::once(baseline)
        .chain(others)
        .enumerate()
        .map(|(arm, sums)| draws.of(design, arm, sums.groups))
        .collect();
    let mut pairs: Vec<Result<Pair, NoDifference>> = others
        .iter()
        .map(|arm| Pair::new(arm, baseline, design))
        .collect();
    let (mut own, mut theirs) = (Vec::new(), Vec::new());
    for replicate in 0..design.replicates {
        draws.0[at[0]].2.fill(replicate, &mut theirs);
        let totals = baseline.totals(&theirs);
        for (i, pair) in pairs.iter_mut().enumerate() {
            let Ok(pair) = pair else { continue };
            if design.paired {
                pair.replicate(&theirs, &theirs, totals);
            } else {
                draws.0[at[i + 1]].2.fill(replicate, &mut own);
                pair.replicate(&own, &theirs, totals);
            }
        }
    }
    let finish = |pair: Result<Pair, NoDifference>| pair.map(|pair| pair.finish(design.level));
    pairs.into_iter().map(finish).collect()
}

/// An arm against the baseline.
struct Pair<'a> {
    arm: &'a Arm,
    baseline: &'a Arm,
    paired: bool,
    /// [`half_event`].
    half: f64,
    estimate: Estimate,
    /// Each replicate's distance from the estimate, in its own standard errors.
    distances: Vec<f64>,
}

impl<'a> Pair<'a> {
    fn new(arm: &'a Arm, baseline: &'a Arm, design: &Design) -> Result<Self, NoDifference> {
        if baseline.totals.denominator <= 0.0 || arm.totals.denominator <= 0.0 {
            return Err(NoDifference::EmptyArm);
        }
        if baseline.totals.numerator <= 0.0 && arm.totals.numerator <= 0.0 {
            return Err(NoDifference::NoEvents);
        }
        let unequal = design.paired && arm.groups != baseline.groups;
        if unequal || arm.groups.min(baseline.groups) < MIN_GROUPS {
            return Err(NoDifference::FewGroups);
        }
        let mut pair = Self {
            arm,
            baseline,
            paired: design.paired,
            half: half_event(arm, baseline),
            estimate: Estimate::default(),
            distances: Vec::with_capacity(design.replicates),
        };
        let (own, theirs) = (
            vec![1.0; arm.numerator.len()],
            vec![1.0; baseline.numerator.len()],
        );
        let variance = pair.variance(&own, &theirs, arm.totals, baseline.totals);
        let raw = (arm.totals.numerator / arm.totals.denominator)
            / (baseline.totals.numerator / baseline.totals.denominator);
        pair.estimate = Estimate {
            ratio: raw,
            log: pair.log(arm.totals, baseline.totals),
            // Each group is one of n: n / (n - 1), as for any sample variance.
            se: (variance * arm.groups as f64 / (arm.groups as f64 - 1.0)).sqrt(),
            bearing: pair.bearing(),
        };
        Ok(pair)
    }

    fn log(&self, own: Totals, theirs: Totals) -> f64 {
        let over = (own.numerator + self.half) / own.denominator;
        let under = (theirs.numerator + self.half) / theirs.denominator;
        libm::log(over / under)
    }

    /// The variance of [`Pair::log`] by the infinitesimal jackknife: the square of what each group
    /// adds to it.
    fn variance(&self, own: &[f64], theirs: &[f64], a: Totals, b: Totals) -> f64 {
        let [an, ad, bn, bd] = self.scales(a, b);
        let squares = if self.paired {
            let mut lanes = [0.0; LANES];
            let rows = self.arm.numerator.chunks_exact(LANES);
            let rows = rows.zip(self.arm.denominator.chunks_exact(LANES));
            let rows = rows.zip(self.baseline.numerator.chunks_exact(LANES));
            let rows = rows.zip(self.baseline.denominator.chunks_exact(LANES));
            for ((((n, d), m), e), w) in rows.zip(own.chunks_exact(LANES)) {
                for i in 0..LANES {
                    let part = n[i] * an - d[i] * ad - m[i] * bn + e[i] * bd;
                    lanes[i] += w[i] * part * part;
                }
            }
            lanes.iter().sum()
        } else {
            one_sided(self.arm, own, an, ad) + one_sided(self.baseline, theirs, bn, bd)
        };
        squares + 2.0 * self.half * self.half * (an * an + bn * bn)
    }

    fn scales(&self, a: Totals, b: Totals) -> [f64; 4] {
        [
            1.0 / (a.numerator + self.half),
            1.0 / a.denominator,
            1.0 / (b.numerator + self.half),
            1.0 / b.denominator,
        ]
    }

    /// [`Difference::bearing_groups`].
    fn bearing(&self) -> f64 {
        let [an, ad, bn, bd] = self.scales(self.arm.totals, self.baseline.totals);
        let parts = |arm: &Arm, n: f64, d: f64| -> Vec<f64> {
            let both = arm.numerator.iter().zip(&arm.denominator);
            both.map(|(x, y)| x * n - y * d).collect()
        };
        let (own, theirs) = (parts(self.arm, an, ad), parts(self.baseline, bn, bd));
        let all: Vec<f64> = match self.paired {
            true => own.iter().zip(&theirs).map(|(a, b)| a - b).collect(),
            false => own.into_iter().chain(theirs).collect(),
        };
        let squares: f64 = all.iter().map(|x| x * x).sum();
        let fourths: f64 = all.iter().map(|x| x * x * x * x).sum();
        match fourths > 0.0 {
            true => squares * squares / fourths,
            false => 0.0,
        }
    }

    fn replicate(&mut self, own: &[f64], theirs: &[f64], baseline: Totals) {
        let arm = self.arm.totals(own);
        let moved = match arm.denominator > 0.0 && baseline.denominator > 0.0 {
            true => self.log(arm, baseline) - self.estimate.log,
            false => f64::NAN,
        };
        let se = match moved.is_finite() {
            true => self.variance(own, theirs, arm, baseline).sqrt(),
            false => 0.0,
        };
        self.distances.push(interval::distance(moved, se));
    }

    fn finish(mut self, level: f64) -> Difference {
        self.estimate.judge(&mut self.distances, level)
    }
}

fn one_sided(arm: &Arm, weights: &[f64], n: f64, d: f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let rows = arm.numerator.chunks_exact(LANES);
    let rows = rows.zip(arm.denominator.chunks_exact(LANES));
    for ((over, under), w) in rows.zip(weights.chunks_exact(LANES)) {
        for i in 0..LANES {
            let part = over[i] * n - under[i] * d;
            lanes[i] += w[i] * part * part;
        }
    }
    lanes.iter().sum()
}

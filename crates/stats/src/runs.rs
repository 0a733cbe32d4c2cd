//! The difference between a few runs before and a few runs after: 2 to some dozens a side.
//!
//! Paired runs (interleaved, ABBA): each pair gives one difference, and Student's t is taken over them, because slow
//! drift affects both runs of a pair alike. Unpaired runs: Welch's t, with a standard error widened by the
//! autocorrelation of neighbouring runs (lag 1). Consecutive runs on a busy machine are not independent, and two
//! blocks of them differ more than their spread suggests.
//!
//! p is that of t, but at least the share of relabellings that lie as far out (Fisher's permutations), if there are
//! enough. t assumes a normal distribution, so outliers and skewed rows would otherwise be believed.

use crate::relabel::{signs, splits};
use crate::t::{t_of, t_two_sided};

/// How the runs of an arm become one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mean {
    /// Their sum by their number.
    Arithmetic,
    /// The exponential of the mean logarithm.
    Geometric,
    /// The mean of the middle 60 %: what something took away in a few runs does not count. Of fewer than 10 runs the
    /// mean of all: their middle says too little about its own spread.
    Trimmed,
}

/// Runs of one metric in two arms, in the order in which they were made.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'a> {
    /// Values before; finite.
    pub before: &'a [f64],
    /// Values after; finite.
    pub after: &'a [f64],
    /// Which run before (by its place) belongs to which one after; empty when runs are not paired.
    pub pairs: &'a [(usize, usize)],
    /// How runs are combined.
    pub mean: Mean,
    /// Level of the interval, such as 0.95.
    pub level: f64,
}

/// How far `after` is from `before`, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The arm's figure before.
    pub before: f64,
    /// The arm's figure after.
    pub after: f64,
    /// Whether the four figures below are per cent of `before`; else they are in the metric's unit, because `before`
    /// is 0 or values have both signs.
    pub is_relative: bool,
    /// The change.
    pub change: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Its standard error.
    pub se: f64,
    /// Two-sided chance of a change at least as large if there is no real change.
    pub p: f64,
    /// Degrees of freedom of the standard error.
    pub free: f64,
    /// Runs a side that it rests on: pairs, or the harmonic mean of both numbers.
    pub runs: f64,
    /// Whether runs were compared in pairs.
    pub is_paired: bool,
    /// What neighbouring runs have in common, 0 to 0.8, by which the standard error was widened; 0 in pairs.
    pub autocorrelation: f64,
}

/// Why there is no [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoChange {
    /// An arm has no run.
    #[error("there is no value")]
    Empty,
    /// A mean without a spread says nothing.
    #[error("one run says nothing about how much runs differ")]
    OneRun,
    /// A value is infinite or no number.
    #[error("a value is not a finite number")]
    NotFinite,
    /// A geometric mean of what is not above 0.
    #[error("a geometric mean needs values above 0")]
    NotPositive,
}

/// Neighbours are looked at from so many runs a side on: fewer say nothing about them.
const LEAST_FOR_NEIGHBOURS: usize = 5;
/// More is not believed of a dozen runs.
const MOST_AUTOCORRELATION: f64 = 0.8;

/// Fewest runs that are trimmed.
const LEAST_TO_TRIM: usize = 10;

impl Mean {
    /// What it is of so many runs.
    const fn of(self, runs: usize) -> Self {
        match self {
            Self::Trimmed if runs < LEAST_TO_TRIM => Self::Arithmetic,
            mean => mean,
        }
    }
}

/// The figure of one arm.
pub fn combined(values: &[f64], mean: Mean) -> f64 {
    match mean {
        Mean::Arithmetic => average(values),
        Mean::Geometric => {
            let logs: Vec<f64> = values.iter().map(|v| libm::log(*v)).collect();
            libm::exp(average(&logs))
        }
        Mean::Trimmed => Middle::of(values, mean).mean,
    }
}

/// Half the width of the interval of an arithmetic mean, by Student's t; none of fewer than two values.
pub fn reach(values: &[f64], level: f64) -> Option<f64> {
    let free = values.len().checked_sub(2)? as f64 + 1.0;
    let mean = average(values);
    let squares = values.iter().map(|v| (v - mean) * (v - mean));
    let se = (squares.sum::<f64>() / free / values.len() as f64).sqrt();
    match se > 0.0 {
        true => Some(t_of((1.0 - level).clamp(0.0, 1.0), free) * se),
        false => Some(0.0),
    }
}

/// What changed.
pub fn change(runs: &Runs) -> Result<Change, NoChange> {
    let all = || runs.before.iter().chain(runs.after);
    if runs.before.is_empty() || runs.after.is_empty() {
        return Err(NoChange::Empty);
    }
    if all().any(|v| !v.is_finite()) {
        return Err(NoChange::NotFinite);
    }
    let is_positive = all().all(|v| *v > 0.0);
    if runs.mean == Mean::Geometric && !is_positive {
        return Err(NoChange::NotPositive);
    }
    if runs.before.len() < 2 || runs.after.len() < 2 {
        return Err(NoChange::OneRun);
    }
    Ok(match runs.pairs.len() {
        0 | 1 => judged(runs, is_positive, welch),
        _ => {
            // The means of both arms come from the pairs; runs without a partner do not count.
            let in_pairs = runs.pairs.iter();
            let both =
                in_pairs.filter_map(|(b, a)| Some((runs.before.get(*b)?, runs.after.get(*a)?)));
            let (before, after): (Vec<f64>, Vec<f64>) = both.unzip();
            let runs = Runs {
                before: &before,
                after: &after,
                ..*runs
            };
            judged(&runs, is_positive, paired)
        }
    })
}

/// The change on the scale that suits the values, with the spread that `judge` finds.
fn judged(
    runs: &Runs,
    is_positive: bool,
    judge: impl Fn(&[f64], &[f64], Mean) -> Spread,
) -> Change {
    let scale = Scale::of(runs, is_positive);
    let (before, after) = (scale.all(runs.before, false), scale.all(runs.after, true));
    let mut spread = judge(&before, &after, runs.mean);
    if spread.se <= 0.0 && spread.difference != 0.0 {
        spread.se = scale.grain(runs);
    }
    scale.finish(runs, spread)
}

/// What values are before their spread is looked at: of mean 1, logarithms, or as they are.
#[derive(Clone, Copy)]
struct Scale {
    before: f64,
    after: f64,
    mean: Mean,
    is_relative: bool,
}

impl Scale {
    fn of(runs: &Runs, is_positive: bool) -> Self {
        Self {
            before: combined(runs.before, runs.mean),
            after: combined(runs.after, runs.mean),
            mean: runs.mean,
            is_relative: is_positive,
        }
    }

    fn all(&self, values: &[f64], is_after: bool) -> Vec<f64> {
        let own = if is_after { self.after } else { self.before };
        let one = |v: &f64| match (self.is_relative, self.mean) {
            (false, _) => *v,
            (true, Mean::Geometric) => libm::log(*v),
            // The logarithm of an arithmetic mean moves as its values do, each by its part of the mean.
            (true, Mean::Arithmetic | Mean::Trimmed) => libm::log(own) + (v / own - 1.0),
        };
        values.iter().map(one).collect()
    }

    /// The standard error of equal runs. Their noise is below the step of their values, and rounding to a step adds a
    /// variance of a twelfth of its square.
    fn grain(&self, runs: &Runs) -> f64 {
        let step = step(runs.before.iter().chain(runs.after));
        let part = |own: f64, values: &[f64]| {
            let step = if self.is_relative { step / own } else { step };
            step * step / 12.0 / values.len() as f64
        };
        (part(self.before, runs.before) + part(self.after, runs.after)).sqrt()
    }

    fn finish(&self, runs: &Runs, spread: Spread) -> Change {
        let miss = (1.0 - runs.level).clamp(0.0, 1.0);
        let reach = match spread.se > 0.0 {
            true => t_of(miss, spread.free) * spread.se,
            false => 0.0,
        };
        let (low, high) = (spread.difference - reach, spread.difference + reach);
        let percent = |log: f64| 100.0 * libm::expm1(log);
        let shown = |value: f64| match self.is_relative {
            true => percent(value),
            false => value,
        };
        Change {
            before: self.before,
            after: self.after,
            is_relative: self.is_relative,
            change: shown(spread.difference),
            low: shown(low),
            high: shown(high),
            se: match self.is_relative {
                true => 100.0 * libm::exp(spread.difference) * spread.se,
                false => spread.se,
            },
            p: spread.p(),
            free: spread.free,
            runs: spread.runs,
            is_paired: spread.is_paired,
            autocorrelation: spread.autocorrelation,
        }
    }
}

/// A difference on the inner scale.
struct Spread {
    difference: f64,
    se: f64,
    free: f64,
    runs: f64,
    is_paired: bool,
    autocorrelation: f64,
    relabelled: Relabelled,
}

/// Share of relabellings that lie as far out, and the smallest share there can be.
type Relabelled = (f64, f64);

/// A p above this needs no further work.
const CLEARLY_NOTHING: f64 = 0.1;

/// t's two-sided p, and the relabellings where they can matter.
fn relabelled(
    (difference, se, free): (f64, f64, f64),
    mean: Mean,
    count: impl Fn() -> Relabelled,
) -> Relabelled {
    // Means of the middle need no guard against outliers, and are not what is relabelled.
    let is_guarded = mean == Mean::Trimmed && se > 0.0;
    match is_guarded || se > 0.0 && t_two_sided(difference / se, free) > CLEARLY_NOTHING {
        true => (0.0, 1.0),
        false => count(),
    }
}

impl Spread {
    fn p(&self) -> f64 {
        let (share, least) = self.relabelled;
        if self.difference == 0.0 {
            return 1.0;
        }
        let t = t_two_sided(self.difference / self.se, self.free);
        // Nothing further out than the labels as they are: relabelling cannot say more.
        match share > 1.5 * least {
            true => t.max(share).min(1.0),
            false => t,
        }
    }
}

/// A mean, the square of its standard error and its degrees of freedom.
#[derive(Clone, Copy)]
struct Middle {
    mean: f64,
    spread: f64,
    free: f64,
}

impl Middle {
    /// Trimmed: the variance of the values with the outer fifths drawn in (Yuen, Biometrika 61, 1974).
    fn of(values: &[f64], mean: Mean) -> Self {
        let n = values.len();
        let cut = match mean.of(n) {
            Mean::Trimmed => n / 5,
            _ => 0,
        };
        if cut == 0 {
            return Self {
                mean: average(values),
                spread: variance(values) / n as f64,
                free: n as f64 - 1.0,
            };
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = &sorted[cut..n - cut];
        let drawn = drawn_in(values, mean);
        let kept = middle.len() as f64;
        Self {
            mean: average(middle),
            spread: variance(&drawn) * (n as f64 - 1.0) / (kept * (kept - 1.0)),
            free: kept - 1.0,
        }
    }
}

/// The values in their order, the outer fifths drawn in to what is left when means are trimmed.
fn drawn_in(values: &[f64], mean: Mean) -> Vec<f64> {
    let cut = values.len() / 5;
    if mean.of(values.len()) != Mean::Trimmed || cut == 0 {
        return values.to_vec();
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted[cut], sorted[sorted.len() - 1 - cut]);
    values.iter().map(|v| v.clamp(low, high)).collect()
}

/// Each run before with the one after it that has the same place.
fn paired(before: &[f64], after: &[f64], mean: Mean) -> Spread {
    let differences: Vec<f64> = before.iter().zip(after).map(|(b, a)| a - b).collect();
    let mean = mean.of(differences.len());
    let middle = Middle::of(&differences, mean);
    let (difference, se) = (middle.mean, middle.spread.sqrt());
    Spread {
        difference,
        se,
        free: middle.free,
        runs: differences.len() as f64,
        is_paired: true,
        autocorrelation: 0.0,
        relabelled: relabelled((difference, se, middle.free), mean, || signs(&differences)),
    }
}

fn welch(before: &[f64], after: &[f64], mean: Mean) -> Spread {
    let mean = mean.of(before.len().min(after.len()));
    let (n, m) = (before.len() as f64, after.len() as f64);
    let (was, is) = (Middle::of(before, mean), Middle::of(after, mean));
    let (b, a) = (was.spread, is.spread);
    let free = match b + a > 0.0 {
        true => (b + a) * (b + a) / (b * b / was.free + a * a / is.free),
        false => was.free + is.free,
    };
    let drawn = [drawn_in(before, mean), drawn_in(after, mean)];
    let r = neighbours(&drawn[0], &drawn[1]);
    let wider = (1.0 + r) / (1.0 - r);
    // What the halves of an arm differ by, its whole may well differ by from another day's.
    let apart = halves(&drawn[0]) + halves(&drawn[1]);
    let se = apart.max((b + a) * wider).sqrt();
    let difference = is.mean - was.mean;
    // What a variance of so correlated runs is worth (Bartlett).
    let free = (free * (1.0 - r * r) / (1.0 + r * r)).max(free.min(2.0));
    Spread {
        difference,
        se,
        free,
        runs: 2.0 * n * m / (n + m),
        is_paired: false,
        autocorrelation: r,
        relabelled: relabelled((difference, se, free), mean, || splits(before, after)),
    }
}

/// Autocorrelation at lag 1 within both arms together, corrected for the few runs (Kendall: its expectation is
/// r - (1 + 3 r) / n).
fn neighbours(before: &[f64], after: &[f64]) -> f64 {
    if before.len().min(after.len()) < LEAST_FOR_NEIGHBOURS {
        return 0.0;
    }
    let (mut both, mut square) = (0.0, 0.0);
    for arm in [before, after] {
        let mean = average(arm);
        square += arm.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
        both += arm
            .windows(2)
            .map(|w| (w[0] - mean) * (w[1] - mean))
            .sum::<f64>();
    }
    if square <= 0.0 {
        return 0.0;
    }
    let n = (before.len() + after.len()) as f64 / 2.0;
    let r = (n * both / square + 1.0) / (n - 3.0);
    r.clamp(0.0, MOST_AUTOCORRELATION)
}

/// The variance of an arm's mean as its two halves show it, which have all of a slow drift in them; 0 of fewer than 4.
fn halves(values: &[f64]) -> f64 {
    if values.len() < 4 {
        return 0.0;
    }
    let (first, second) = values.split_at(values.len() / 2);
    let moved = average(first) - average(second);
    moved * moved / 4.0
}

/// The largest step of which all values are multiples, in decimal digits; of values with very many digits, a billionth of
/// the largest.
fn step<'a>(values: impl Iterator<Item = &'a f64> + Clone) -> f64 {
    /// Whole numbers up to this are exact.
    const EXACT: f64 = 9e15;
    fn common(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { common(b, a % b) }
    }
    for digits in 0..=9 {
        let scale = libm::pow(10.0, f64::from(digits));
        let whole = |value: &f64| {
            let scaled = (value * scale).abs();
            let is_whole = scaled < EXACT && (scaled - scaled.round()).abs() <= 1e-9 * scaled;
            is_whole.then_some(scaled.round() as u64)
        };
        if let Some(whole) = values.clone().map(whole).collect::<Option<Vec<u64>>>() {
            return whole.into_iter().fold(0, common) as f64 / scale;
        }
    }
    1e-9 * values.map(|value| value.abs()).fold(0.0, f64::max)
}

pub(crate) fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(crate) fn variance(values: &[f64]) -> f64 {
    // Equal values do not vary, even if their mean was rounded.
    if values.windows(2).all(|w| w[0] == w[1]) {
        return 0.0;
    }
    let mean = average(values);
    let sum: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    sum / (values.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(before: &'a [f64], after: &'a [f64], pairs: &'a [(usize, usize)]) -> Runs<'a> {
        Runs {
            before,
            after,
            pairs,
            mean: Mean::Geometric,
            level: 0.95,
        }
    }

    #[test]
    fn a_change_with_its_interval() {
        let found = change(&of(&[100.0, 102.0, 98.0], &[110.0, 112.0, 108.0], &[])).unwrap();
        assert!((found.change - 10.01).abs() < 0.02, "{found:?}");
        // Standard deviations of 2.0 and 1.8 %: a standard error of 1.56 %; t of 3.96 degrees is 2.79.
        let width = 2.0 * 2.79 * 1.56 * 1.1;
        assert!((found.high - found.low - width).abs() < 0.1, "{found:?}");
        assert!(found.p < 0.01 && !found.is_paired);
    }

    #[test]
    fn the_reach_of_a_mean_is_that_of_tables() {
        // t of two degrees is 4.3027; the standard error of 1, 2, 3 is 1 / sqrt(3).
        let found = reach(&[1.0, 2.0, 3.0], 0.95).unwrap();
        assert!((found - 4.3027 / 3.0_f64.sqrt()).abs() < 1e-4, "{found}");
        assert_eq!(reach(&[2.0, 2.0], 0.95), Some(0.0));
        assert_eq!(reach(&[2.0], 0.95), None);
        assert_eq!(reach(&[], 0.95), None);
    }

    #[test]
    fn pairs_take_out_what_both_runs_share() {
        let before = [100.0, 150.0, 80.0, 120.0, 95.0];
        let after: Vec<f64> = before
            .iter()
            .zip([1.05, 1.06, 1.04, 1.05, 1.05])
            .map(|(v, f)| v * f)
            .collect();
        let pairs: Vec<(usize, usize)> = (0..5).map(|i| (i, i)).collect();
        let apart = change(&of(&before, &after, &[])).unwrap();
        let paired = change(&of(&before, &after, &pairs)).unwrap();
        assert!(apart.p > 0.5 && paired.p < 0.001, "{apart:?} {paired:?}");
        assert!((paired.change - 5.0).abs() < 0.1);
    }

    #[test]
    fn constant_arms_are_judged_by_the_step_of_their_values() {
        let found = change(&of(&[5.0; 3], &[6.0; 3], &[])).unwrap();
        // 0.289 x sqrt((1 / 25 + 1 / 36) / 3) is 0.0434; log(6 / 5) is 4.2 of them, with 4 degrees.
        assert!((found.p - 0.0137).abs() < 0.001, "{found:?}");
        assert!(found.low > 5.0 && found.high < 40.0, "{found:?}");
        assert_eq!(change(&of(&[5.0; 3], &[5.0; 3], &[])).unwrap().p, 1.0);
        // Less noise makes a change no less certain.
        let pairs: Vec<(usize, usize)> = (0..5).map(|i| (i, i)).collect();
        let halved = |first: f64| {
            let before = [first, 200.0, 200.0, 200.0, 200.0];
            change(&of(&before, &[100.0; 5], &pairs)).unwrap().p
        };
        assert!(halved(200.0) < 0.01 && halved(201.0) < 0.01);
        // One step of a coarse scale may be noise.
        assert!(change(&of(&[5.0; 2], &[10.0; 2], &[])).unwrap().p > 0.05);
        assert_eq!(step([0.25, 0.5, 1.0].iter()), 0.25);
        assert_eq!(step([0.0, 50.0].iter()), 50.0);
    }

    #[test]
    fn runs_without_a_partner_take_no_part() {
        let before = [1_000.0, 1_001.0, 1_002.0, 5_006.0, 5_007.0];
        let pairs = [(0, 0), (1, 1), (2, 2)];
        for mean in [Mean::Arithmetic, Mean::Geometric] {
            let runs = Runs {
                mean,
                ..of(&before, &before[..3], &pairs)
            };
            let found = change(&runs).unwrap();
            assert!(found.change.abs() < 1e-9 && found.p == 1.0, "{found:?}");
            assert!((found.before - 1_001.0).abs() < 0.01, "{found:?}");
        }
    }

    #[test]
    fn values_with_both_signs_change_in_their_unit() {
        let runs = Runs {
            mean: Mean::Arithmetic,
            ..of(&[0.0, 0.0, 0.0], &[2.0, 3.0, 4.0], &[])
        };
        let found = change(&runs).unwrap();
        assert!(!found.is_relative && found.change == 3.0, "{found:?}");
    }

    #[test]
    fn the_mean_of_the_middle_is_not_moved_by_one_run() {
        let before = [
            100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 100.2, 99.8, 100.1, 40.0,
        ];
        let after = before.map(|v| if v < 50.0 { 95.0 } else { 0.95 * v });
        let of = |mean| {
            let runs = Runs {
                mean,
                ..of(&before, &after, &[])
            };
            change(&runs).unwrap()
        };
        let (whole, middle) = (of(Mean::Arithmetic), of(Mean::Trimmed));
        assert!(whole.p > 0.2 && whole.change > 0.0, "{whole:?}");
        assert!(
            middle.p < 0.01 && (middle.change + 5.0).abs() < 0.3,
            "{middle:?}"
        );
        assert!((combined(&before, Mean::Trimmed) - 99.9).abs() < 0.1);
    }

    #[test]
    fn refused_inputs() {
        let error = |before: &[f64], after: &[f64]| change(&of(before, after, &[])).unwrap_err();
        assert_eq!(error(&[], &[1.0]), NoChange::Empty);
        assert_eq!(error(&[1.0], &[1.0, 2.0]), NoChange::OneRun);
        assert_eq!(error(&[1.0, f64::NAN], &[1.0, 2.0]), NoChange::NotFinite);
        assert_eq!(error(&[1.0, 0.0], &[1.0, 2.0]), NoChange::NotPositive);
    }
}

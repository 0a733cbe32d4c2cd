//! One quantity over time in few numbers.
//!
//! Time is cut into bins. Each bin has the mean, the least and the most of its samples, so a peak stays, however long
//! the run and however few the bins.
//!
//! Repetitions share the grid of bins, and a bin of the median is the median of their means (nearest rank, as everywhere).
//! A peak of any repetition stays beside them.
//! A bin of the median needs values of half of the repetitions; otherwise the last one to end would be the median.
//! A state (queue, RTT, ping) holds until the next sample, for [`HOLD_NS`] at most: a step. A rate is what came in its own
//! interval, so an interval without a sample stays empty.

use serde::Serialize;

/// A state without a new sample holds this long.
pub(super) const HOLD_NS: i64 = 1_000_000_000;

/// A quantity over time.
#[derive(Debug, Serialize)]
pub struct Band {
    /// The number of the first bin here; bin n is of the time from n bins after the run's start on.
    first: usize,
    /// What the numbers are to be multiplied with: a power of ten.
    scale: f64,
    /// Means, or medians of the repetitions' means; none: nothing is known of the bin.
    mid: Vec<Option<i64>>,
    /// The least of each; left out where it is the mean in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Vec<Option<i64>>>,
    /// The most of each; left out where it is the mean in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Vec<Option<i64>>>,
    /// The most of all samples of all repetitions; left out for one run, which has `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak: Option<Box<Band>>,
    /// The means of the first repetitions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runs: Vec<Band>,
}

/// An observation: when, and its mean, least and most.
pub(super) type Sample = (i64, [f64; 3]);

/// What is true between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// The sample before.
    State,
    /// Nothing that is known.
    Rate,
}

/// How lines are thinned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Time of a bin.
    pub bin_ns: i64,
    /// Repetitions that have a line of their own, at most.
    pub runs: usize,
}

#[derive(Clone, Copy, Default)]
struct Bin {
    n: u32,
    sum: f64,
    least: f64,
    most: f64,
}

impl Bin {
    fn of(value: f64) -> Self {
        let mut bin = Self::default();
        bin.add([value; 3]);
        bin
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.n)
    }

    fn add(&mut self, [mid, least, most]: [f64; 3]) {
        if self.n == 0 {
            (self.least, self.most) = (least, most);
        }
        self.n += 1;
        self.sum += mid;
        self.least = self.least.min(least);
        self.most = self.most.max(most);
    }
}

/// Digits that the largest number keeps. A line of a repetition is seen, not read.
const DIGITS: i32 = 5;
const DIGITS_OF_RUNS: i32 = 4;

/// The bins of one run, from the first to the last with a sample.
struct Bins {
    first: usize,
    bins: Vec<Bin>,
}

impl Bins {
    /// A sample stands for the time that ends with it. None: there is no sample.
    fn of(samples: &[Sample], bin_ns: i64) -> Option<Self> {
        let place =
            |at: i64| usize::try_from((at - 1).max(0) / bin_ns.max(1)).unwrap_or(usize::MAX);
        let first = samples.iter().map(|(at, _)| place(*at)).min()?;
        let last = samples.iter().map(|(at, _)| place(*at)).max()?;
        let mut bins = vec![Bin::default(); last - first + 1];
        for (at, values) in samples {
            bins[place(*at) - first].add(*values);
        }
        Some(Self { first, bins })
    }

    /// The same without extremes, and each mean held for `hold` bins without a sample.
    fn steps(mut self, hold: usize) -> Self {
        let mut before = (usize::MAX, Bin::default());
        for bin in &mut self.bins {
            if bin.n > 0 {
                before = (0, Bin::of(bin.mean()));
            } else {
                before.0 = before.0.saturating_add(1);
            }
            *bin = if before.0 <= hold {
                before.1
            } else {
                Bin::default()
            };
        }
        self
    }

    fn at(&self, number: usize) -> Option<f64> {
        let bin = self.bins.get(number.checked_sub(self.first)?)?;
        (bin.n > 0).then(|| bin.mean())
    }

    /// The most of each bin in all runs.
    fn peaks(runs: &[Self]) -> Option<Self> {
        let (first, end) = Self::ends(runs)?;
        let mut bins = vec![Bin::default(); end - first];
        for run in runs {
            for (to, from) in bins[run.first - first..].iter_mut().zip(&run.bins) {
                if from.n > 0 && (to.n == 0 || from.most > to.most) {
                    *to = Bin::of(from.most);
                }
            }
        }
        Some(Self { first, bins })
    }

    /// The first bin of all runs, and the one behind the last.
    fn ends(runs: &[Self]) -> Option<(usize, usize)> {
        let first = runs.iter().map(|run| run.first).min()?;
        let end = runs.iter().map(|run| run.first + run.bins.len()).max()?;
        Some((first, end))
    }

    /// The median of the means in each bin; without a value where fewer than half of `all` runs have one.
    fn median(runs: &[Self], all: usize) -> Option<Self> {
        let (first, end) = Self::ends(runs)?;
        let median = |number: usize| {
            let mut values: Vec<f64> = runs.iter().filter_map(|run| run.at(number)).collect();
            values.sort_by(f64::total_cmp);
            let known = 2 * values.len() >= all;
            let median = super::super::median(&values).filter(|_| known);
            median.map_or_else(Bin::default, Bin::of)
        };
        Some(Self {
            first,
            bins: (first..end).map(median).collect(),
        })
    }
}

impl Band {
    /// The runs of a point: the one, or the median of all and the first of them. None: nothing was sampled.
    pub(super) fn of(runs: &[Vec<Sample>], between: Between, grid: Grid) -> Option<Self> {
        let bins = |run: &Vec<Sample>| Bins::of(run, grid.bin_ns);
        if let [run] = runs {
            return Some(Self::from(&bins(run)?, DIGITS));
        }
        let hold = match between {
            Between::State => usize::try_from(HOLD_NS / grid.bin_ns.max(1)).unwrap_or(0),
            Between::Rate => 0,
        };
        // A run without a sample counts: it says that there was nothing.
        let all = runs.len();
        let runs: Vec<Bins> = runs.iter().filter_map(bins).collect();
        let peak = Self::from(&Bins::peaks(&runs)?, DIGITS);
        let runs: Vec<Bins> = runs.into_iter().map(|run| run.steps(hold)).collect();
        let of_runs = runs.iter().take(grid.runs);
        Some(Self {
            peak: Some(Box::new(peak)),
            runs: of_runs.map(|run| Self::from(run, DIGITS_OF_RUNS)).collect(),
            ..Self::from(&Bins::median(&runs, all)?, DIGITS)
        })
    }

    fn from(Bins { first, bins }: &Bins, digits: i32) -> Self {
        let most = bins.iter().map(|bin| bin.most.abs()).fold(0.0, f64::max);
        // Powers of ten by multiplication: alike on every machine.
        let mut exponent = 0;
        while ten(exponent + digits) <= most {
            exponent += 1;
        }
        while exponent > -6 && most > 0.0 && ten(exponent + digits - 1) > most {
            exponent -= 1;
        }
        let number = |value: fn(&Bin) -> f64| {
            let number = |bin: &Bin| {
                let whole = (value(bin) / ten(exponent)).round() as i64;
                (bin.n > 0).then_some(whole)
            };
            bins.iter().map(number).collect::<Vec<_>>()
        };
        let mid = number(Bin::mean);
        let (low, high) = (number(|bin| bin.least), number(|bin| bin.most));
        let is_line = low == mid && high == mid;
        Self {
            first: *first,
            scale: ten(exponent),
            mid,
            low: (!is_line).then_some(low),
            high: (!is_line).then_some(high),
            peak: None,
            runs: Vec::new(),
        }
    }
}

fn ten(exponent: i32) -> f64 {
    let power = (0..exponent.abs()).fold(1.0, |power, _| power * 10.0);
    match exponent < 0 {
        true => 1.0 / power,
        false => power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(samples: &[Sample], bin_ns: i64) -> String {
        let grid = Grid { bin_ns, runs: 2 };
        serde_json::to_string(&Band::of(&[samples.to_vec()], Between::State, grid)).unwrap()
    }

    /// The median of runs that each have these values, one in a bin of 100 ms, or none.
    fn median(runs: &[&[Option<f64>]], between: Between) -> Band {
        let samples = |run: &&[Option<f64>]| {
            let sample = |(n, value): (usize, &Option<f64>)| {
                Some(((n as i64 + 1) * 100_000_000, [(*value)?; 3]))
            };
            run.iter().enumerate().filter_map(sample).collect()
        };
        let runs: Vec<Vec<Sample>> = runs.iter().map(samples).collect();
        let grid = Grid {
            bin_ns: 100_000_000,
            runs: 2,
        };
        Band::of(&runs, between, grid).unwrap()
    }

    fn values(band: &Band) -> Vec<Option<f64>> {
        let value = |number: &Option<i64>| number.map(|n| n as f64 * band.scale);
        band.mid.iter().map(value).collect()
    }

    #[test]
    fn a_bin_keeps_what_was_least_and_most_in_it() {
        let samples = [
            (10, [3_000.0, 0.0, 9_000.0]),
            (20, [1_000.0, 500.0, 2_000.0]),
            // Nothing from 20 to 40.
            (45, [7.0, 7.0, 7.0]),
        ];
        assert_eq!(
            json(&samples, 20),
            r#"{"first":0,"scale":0.1,"mid":[20000,null,70],"low":[0,null,70],"high":[90000,null,70]}"#
        );
    }

    #[test]
    fn series_without_extremes_is_a_line_from_its_start() {
        let rates: Vec<Sample> = [(30, 4.6951e9), (40, 1e3)]
            .map(|(at, v)| (at, [v; 3]))
            .into();
        assert_eq!(
            json(&rates, 10),
            r#"{"first":2,"scale":100000.0,"mid":[46951,0]}"#
        );
        assert_eq!(
            json(&[(10, [0.95; 3]), (20, [0.0; 3])], 10),
            r#"{"first":0,"scale":0.00001,"mid":[95000,0]}"#
        );
        assert_eq!(json(&[], 10), "null");
        assert_eq!(
            json(&[(10, [0.0; 3])], 10),
            r#"{"first":0,"scale":1.0,"mid":[0]}"#
        );
    }

    #[test]
    fn the_median_of_runs_has_the_first_of_them_beside_it() {
        let (a, b, c) = (
            [Some(1.0), Some(5.0)],
            [Some(2.0), Some(9.0)],
            [Some(70.0), Some(4.0)],
        );
        let band = median(&[&a, &b, &c], Between::Rate);
        assert_eq!(values(&band), [Some(2.0), Some(5.0)]);
        assert_eq!(band.runs.len(), 2, "as many as the grid says");
        assert_eq!(values(&band.runs[1]), b);
        assert!(band.high.is_none(), "its spread is that of the runs");
    }

    #[test]
    fn a_state_holds_until_the_next_sample_and_a_rate_does_not() {
        let all = [Some(8.0), Some(8.0), Some(8.0)];
        let gap = [Some(2.0), None, Some(4.0)];
        let state = median(&[&all, &gap, &gap], Between::State);
        assert_eq!(values(&state), [Some(2.0), Some(2.0), Some(4.0)]);
        let rate = median(&[&all, &gap, &gap], Between::Rate);
        assert_eq!(
            values(&rate),
            [Some(2.0), None, Some(4.0)],
            "one of three has a value"
        );
        // 1 s is ten bins.
        let long: Vec<_> = [Some(3.0)]
            .into_iter()
            .chain([None; 12])
            .chain([Some(1.0)])
            .collect();
        let held = values(&median(&[&long, &long], Between::State));
        assert_eq!(held[10..], [Some(3.0), None, None, Some(1.0)]);
    }

    #[test]
    fn the_median_ends_when_more_than_half_of_the_runs_have_ended() {
        let (short, long) = ([Some(1.0), Some(1.0)], [Some(3.0); 4]);
        let band = median(&[&short, &short, &long], Between::State);
        assert_eq!(values(&band), [Some(1.0), Some(1.0), None, None]);
        let band = median(&[&short, &long], Between::State);
        assert_eq!(values(&band), [Some(2.0), Some(2.0), Some(3.0), Some(3.0)]);
        let band = median(&[&[], &[], &short], Between::State);
        assert_eq!(values(&band), [None, None], "two of three have no sample");
    }
}

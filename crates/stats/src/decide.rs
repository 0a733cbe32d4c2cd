//! What runs say of a table's rows: lower, higher, the same, undecided and how many runs that would need, or too noisy
//! for any sensible number of them.

use crate::runs::Change;
use crate::t::t_of;
use crate::{Discoveries, bh};

/// By what rows are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// False discovery rate of the table: of a table without any change, the chance that a row is decided.
    pub q: f64,
    /// Changes up to this do not matter, in per cent: an interval inside is the same.
    pub band_percent: f64,
    /// A change that somebody must be able to find, in per cent.
    pub find_percent: f64,
    /// The most runs a side that are sensible.
    pub most_runs: u32,
    /// The chance with which needed runs decide.
    pub power: f64,
    /// The spread of single runs where there is only one, in per cent: an assumption.
    pub assumed_noise_percent: f64,
}

impl Default for Rules {
    /// 5 % false discoveries, a band of 1 %, changes of 5 % to be found with 100 runs, nine times of ten; 3 % assumed.
    fn default() -> Self {
        Self {
            q: 0.05,
            band_percent: 1.0,
            find_percent: 5.0,
            most_runs: 100,
            power: 0.9,
            assumed_noise_percent: 3.0,
        }
    }
}

/// What runs say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Less than before, at the table's false discovery rate.
    Lower,
    /// More than before, at the table's false discovery rate.
    Higher,
    /// The whole interval lies inside the band.
    Same,
    /// None of these yet.
    Undecided {
        /// Runs a side, in all, that decide it if the change is what was measured; none when no number can be named.
        needs: Option<u32>,
    },
    /// The most runs that are sensible find no change below this, in per cent.
    TooNoisy {
        /// The smallest change that they find.
        finds_percent: f64,
    },
}

/// The noise of a few runs is a guess: this part of such guesses is too small, and the plan takes what they may be.
const GUESSES_TOO_SMALL: f64 = -0.841_62;

/// Judges the rows of a table together: the decisions, and the p-values adjusted for their number (1 where a row has
/// no change).
pub fn decide(rows: &[Option<Change>], rules: &Rules) -> (Vec<Decision>, Vec<f64>) {
    // A row that never varied could not have shown anything: it is no test among the others.
    let is_still = |row: &Change| row.change == 0.0 && row.se <= 0.0;
    let varied = rows.iter().flatten().filter(|row| !is_still(row));
    let p: Vec<f64> = varied.map(|row| row.p).collect();
    let Discoveries { adjusted, next } = bh(&p, rules.q);
    let mut given = adjusted.iter();
    let judged = rows.iter().map(|row| match row {
        None => (first_runs(next, rules), 1.0),
        Some(row) if is_still(row) => (Decision::Same, 1.0),
        Some(row) => {
            let adjusted = given.next().copied().unwrap_or(1.0);
            (one(row, adjusted, next, rules), adjusted)
        }
    });
    judged.unzip()
}

fn one(row: &Change, adjusted: f64, next: f64, rules: &Rules) -> Decision {
    let band = rules.band_percent;
    let is_same = match row.is_relative {
        true => -band <= row.low && row.high <= band,
        false => row.low == 0.0 && row.high == 0.0,
    };
    if is_same && (row.se > 0.0 || row.change == 0.0) {
        return Decision::Same;
    }
    let matters = !row.is_relative || row.change.abs() > band;
    match (adjusted <= rules.q && matters, row.change < 0.0) {
        (true, true) => Decision::Lower,
        (true, false) => Decision::Higher,
        (false, _) => open(row, next, rules),
    }
}

fn open(row: &Change, next: f64, rules: &Rules) -> Decision {
    if !row.is_relative || row.se <= 0.0 {
        return Decision::Undecided { needs: None };
    }
    let plan = Plan {
        // The standard error that one run a side would have.
        noise: row.se * row.runs.sqrt(),
        is_paired: row.is_paired,
        miss: next,
        power: rules.power,
    };
    let finds_percent = plan.finds(f64::from(rules.most_runs));
    // A change that looks larger than that can still be found.
    if finds_percent > rules.find_percent.max(row.change.abs()) {
        return Decision::TooNoisy { finds_percent };
    }
    // Runs are planned for the larger noise that it may well be.
    let plan = Plan {
        noise: plan.noise * wider(row.free),
        ..plan
    };
    let size = row.change.abs();
    let apart = plan.runs(size.max(rules.band_percent));
    // The measured change will move, too; the interval must fit in what is left of the band.
    let inside = Plan { miss: 0.05, ..plan }.runs(rules.band_percent - size);
    let needs = [apart, inside].into_iter().flatten().min();
    let now = row.runs as u32;
    Decision::Undecided {
        needs: needs.map(|needs| needs.max(now + 1)),
    }
}

/// Runs a side, up to `rules.most_runs`, with which a table of so many rows detects a change of `find_percent`.
/// Depends only on the noise: to stop by the noise favours no verdict, but to stop at a change that looks large does.
pub fn enough(row: &Change, rows: usize, rules: &Rules) -> u32 {
    if !row.is_relative || row.se <= 0.0 {
        return row.runs as u32;
    }
    // Per cent of what was before grow with the change; those of a table without one do not.
    let se = row.se / (1.0 + row.change / 100.0);
    let plan = Plan {
        noise: se * row.runs.sqrt() * wider(row.free),
        is_paired: row.is_paired,
        miss: rules.q / rows.max(1) as f64,
        power: rules.power,
    };
    let needs = plan.runs(rules.find_percent).unwrap_or(rules.most_runs);
    needs.min(rules.most_runs)
}

/// What single runs need, by the assumed noise.
fn first_runs(next: f64, rules: &Rules) -> Decision {
    let plan = Plan {
        noise: rules.assumed_noise_percent * std::f64::consts::SQRT_2,
        is_paired: false,
        miss: next,
        power: rules.power,
    };
    Decision::Undecided {
        needs: plan.runs(rules.find_percent),
    }
}

/// By how much a standard deviation of so many degrees may be too small: Wilson and Hilferty's chi-squared.
fn wider(free: f64) -> f64 {
    let ninth = 2.0 / (9.0 * free.max(1.0));
    let root = 1.0 - ninth + GUESSES_TOO_SMALL * ninth.sqrt();
    1.0 / libm::pow(root.max(0.1), 1.5)
}

/// How many runs find what.
#[derive(Clone, Copy)]
struct Plan {
    /// Standard error with one run a side, per cent.
    noise: f64,
    is_paired: bool,
    miss: f64,
    power: f64,
}

impl Plan {
    /// The smallest change that so many runs a side find, per cent.
    fn finds(&self, runs: f64) -> f64 {
        let free = match self.is_paired {
            true => runs - 1.0,
            false => 2.0 * runs - 2.0,
        };
        let reach = t_of(self.miss, free) + t_of(2.0 * (1.0 - self.power), free);
        reach * self.noise / runs.sqrt()
    }

    /// Runs a side that find this change; none when there are no million such.
    fn runs(&self, change: f64) -> Option<u32> {
        const MOST: u32 = 1_000_000;
        if change.is_nan() || change <= 0.0 || self.finds(f64::from(MOST)) > change {
            return None;
        }
        let (mut low, mut high) = (1, MOST);
        while high - low > 1 {
            let middle = (low + high) / 2;
            match self.finds(f64::from(middle)) > change {
                true => low = middle,
                false => high = middle,
            }
        }
        Some(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::{Mean, Runs, change};

    fn row(before: &[f64], after: &[f64]) -> Option<Change> {
        change(&Runs {
            before,
            after,
            pairs: &[],
            mean: Mean::Arithmetic,
            level: 0.95,
        })
        .ok()
    }

    #[test]
    fn enough_runs_are_asked_by_the_noise_and_not_by_the_change() {
        let steady = [100.0, 100.2, 99.8, 100.1, 99.9];
        let scaled = |by: f64| steady.map(|v| v * by);
        let rules = Rules::default();
        let of = |before: &[f64], after: &[f64], rows| {
            enough(&row(before, after).unwrap(), rows, &rules)
        };
        assert_eq!(of(&steady, &scaled(1.0), 4), of(&steady, &scaled(1.02), 4));
        assert!(of(&steady, &scaled(1.02), 4) <= 5);
        let noisy = [100.0, 106.0, 95.0, 103.0, 97.0];
        assert!(of(&noisy, &steady, 4) > 10);
        assert!(of(&noisy, &steady, 40) > of(&noisy, &steady, 4));
        assert_eq!(
            of(&[100.0, 300.0, 40.0, 160.0, 90.0], &steady, 4),
            rules.most_runs
        );
        assert_eq!(of(&[5.0, 5.0, 5.0], &[5.0, 5.0, 5.0], 4), 3);
    }

    #[test]
    fn each_decision() {
        let steady = [100.0, 100.2, 99.8, 100.1, 99.9];
        let ten: Vec<f64> = steady.iter().map(|v| v * 0.9).collect();
        let more: Vec<f64> = steady.iter().map(|v| v * 1.1).collect();
        let noisy = [100.0, 106.0, 95.0, 103.0, 97.0];
        let wild = [100.0, 300.0, 40.0, 160.0, 90.0];
        let table = [
            row(&steady, &ten),
            row(&steady, &more),
            row(&steady, &steady),
            row(&noisy, &[98.0, 104.0, 93.0, 101.0, 99.0]),
            row(&wild, &[200.0, 60.0, 150.0, 90.0, 110.0]),
            None,
        ];
        let (decisions, adjusted) = decide(&table, &Rules::default());
        assert_eq!(
            decisions[..3],
            [Decision::Lower, Decision::Higher, Decision::Same]
        );
        assert!(adjusted[0] < 0.001 && adjusted[5] == 1.0);
        match decisions[3] {
            Decision::Undecided { needs: Some(needs) } => assert!(needs > 20, "{needs}"),
            other => panic!("{other:?}"),
        }
        match decisions[4] {
            Decision::TooNoisy { finds_percent } => assert!(finds_percent > 20.0),
            other => panic!("{other:?}"),
        }
        // 3 % of noise, 5 % to be found: about 2 (2.3 + 1.3)^2 (3 / 5)^2, and some for t.
        match decisions[5] {
            Decision::Undecided { needs: Some(needs) } => assert!((8..20).contains(&needs)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn needed_runs_are_where_the_reach_ends() {
        let plan = Plan {
            noise: 4.0,
            is_paired: true,
            miss: 0.05,
            power: 0.9,
        };
        let runs = plan.runs(2.0).unwrap();
        assert!(plan.finds(f64::from(runs)) <= 2.0 && plan.finds(f64::from(runs - 1)) > 2.0);
        assert_eq!(plan.runs(0.0), None);
        assert_eq!(plan.runs(1e-9), None);
    }
}

//! When a mean of what finished says nothing, because what did not finish is missing in it.
//!
//! The slowest are missing first: an arm whose connections give up early keeps the fast ones. Two arms have different
//! recoveries, so there is no mean over the same ones; TCPRecovCnt2 counts those that were cut short. The mean of
//! responses is over those that finished in both arms, but a response that an arm makes slow and then gives up leaves
//! both sides. Each missing one is taken to last as long as the slowest 1 % of the finished ones; if that changes what
//! the row says, the row has no value.

use tcplab_plan::Population;
use tcplab_stats::Difference;
use tcplab_tcp::Counter;

use super::rows::{Answers, QUANTITIES, Quantity, RECOVERIES, What, both, counter};
use super::totals::{Numbers, Times, Totals};

/// The row that has finished recoveries only.
const RECOVERY_MEAN: &str = "recovlat";

/// Why a row is withheld though it has an answer, for each answer. `band`: of rows that can be the same, in per cent.
pub(super) fn withheld(
    population: &Population,
    totals: &Totals,
    (answers, is_paired): (&Answers, bool),
    band: f64,
) -> Vec<Vec<Option<String>>> {
    let names = |arm: usize| [0, arm].map(|arm| population.arms[arm].name.as_str());
    let of = |quantity: &Quantity, arm: usize, found: &Difference| match quantity.what {
        _ if quantity.id == RECOVERY_MEAN => of_recoveries(totals, arm, names(arm), found),
        What::Mean(times) if is_paired => {
            of_responses(totals, (arm, times), names(arm), (found, band))
        }
        _ => None,
    };
    let one = |(quantity, answers): (&Quantity, &Vec<_>)| {
        let why = |(place, answer): (usize, &Result<Difference, _>)| {
            of(quantity, place + 1, answer.as_ref().ok()?)
        };
        answers.iter().enumerate().map(why).collect()
    };
    QUANTITIES.iter().zip(answers).map(one).collect()
}

fn of_recoveries(
    totals: &Totals,
    arm: usize,
    names: [&str; 2],
    found: &Difference,
) -> Option<String> {
    let arms = [0, arm].map(|arm| Recoveries::of(totals, arm));
    let slow_us = arms[0].slow_us.max(arms[1].slow_us);
    let [without, with] = [0.0, slow_us].map(|slow_us| arms.map(|arm| arm.mean(slow_us)));
    let moved = match slow_us > 0.0 {
        true => percent(with) - percent(without),
        false => 0.0,
    };
    let [baseline, arm] = arms.map(|arm| arm.cut_short);
    (!holds(found, moved, None)).then(|| {
        format!(
            "not comparable: {baseline} recoveries were cut short in {} and {arm} in {}, and could change the result",
            names[0], names[1]
        )
    })
}

fn of_responses(
    totals: &Totals,
    (arm, times): (usize, &[Times]),
    names: [&str; 2],
    (found, band): (&Difference, f64),
) -> Option<String> {
    let sum = |numbers: &[u64]| numbers.iter().sum::<u64>() as f64;
    let matched = both(totals, arm, times);
    let shared = sum(&matched[0].denominator);
    let means = [0, 1].map(|place| sum(&matched[place].numerator) / shared);
    // Count and time of all that finished in each arm.
    let all = [0, arm].map(|arm| {
        let of = |of: fn(&Numbers, usize) -> u64| {
            totals.sum(arm, |n| times.iter().map(|t| of(n, *t as usize)).sum()) as f64
        };
        (of(|n, t| n.count[t]), of(|n, t| n.sum_us[t]))
    });
    let alone = all.map(|(count, _)| count - shared);
    let slow_us = [0, arm].map(|arm| totals.sketch(arm, times).quantile(0.99).unwrap_or(0));
    let slow_us = slow_us[0].max(slow_us[1]) as f64;
    // What finished in one arm alone is slow in the other one.
    let with = [0, 1].map(|place| all[place].1 + alone[1 - place] * slow_us);
    let moved = percent(with) - percent(means);
    (!holds(found, moved, Some(band))).then(|| {
        format!(
            "not comparable: {} responses finished in {} alone and {} in {} alone, and could change the result",
            alone[0], names[0], alone[1], names[1]
        )
    })
}

fn percent([baseline, arm]: [f64; 2]) -> f64 {
    100.0 * (arm / baseline - 1.0)
}

/// Whether an interval says the same when it moves by so many per cent: it stays within the band; else it keeps its
/// sign; one without a sign moves by less than its own uncertainty.
fn holds(found: &Difference, moved: f64, band: Option<f64>) -> bool {
    let (low, high) = (found.low_percent, found.high_percent);
    if let Some(band) = band.filter(|band| -band <= low && high <= *band) {
        return -band <= low + moved && high + moved <= band;
    }
    match (low > 0.0, high < 0.0) {
        (true, _) => low + moved > 0.0,
        (_, true) => high + moved < 0.0,
        _ => moved.abs() <= (high - low) / 2.0,
    }
}

/// The recoveries of an arm.
#[derive(Clone, Copy)]
struct Recoveries {
    finished: f64,
    sum_us: f64,
    cut_short: u64,
    /// 99 % of the finished ones took no longer.
    slow_us: f64,
}

impl Recoveries {
    fn of(totals: &Totals, arm: usize) -> Self {
        let of = |which| totals.sum(arm, |n| counter(n, which));
        let slow = totals.quantile(arm, RECOVERIES, 0.99);
        Self {
            finished: of(Counter::RecovCnt) as f64,
            sum_us: of(Counter::RecovLat) as f64,
            cut_short: of(Counter::RecovCnt2),
            slow_us: slow.unwrap_or(0) as f64,
        }
    }

    /// The mean if each that was cut short lasted so long; 0: without them.
    fn mean(self, slow_us: f64) -> f64 {
        let more = match slow_us > 0.0 {
            true => self.cut_short as f64,
            false => 0.0,
        };
        (self.sum_us + more * slow_us) / (self.finished + more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_until_what_is_missing_could_change_its_sign() {
        let found = |low_percent, high_percent| Difference {
            percent: (low_percent + high_percent) / 2.0,
            low_percent,
            high_percent,
            se_percent: 1.0,
            p: 0.01,
            bearing_groups: 100.0,
        };
        let lower = found(-6.0, -3.0);
        let holds = |found: &Difference, moved| super::holds(found, moved, None);
        assert!(holds(&lower, 2.9) && holds(&lower, -50.0) && !holds(&lower, 3.1));
        let higher = found(3.0, 6.0);
        assert!(holds(&higher, -2.9) && holds(&higher, 50.0) && !holds(&higher, -3.1));
        let open = found(-1.0, 3.0);
        assert!(holds(&open, 1.9) && holds(&open, -1.9) && !holds(&open, -2.1));
        let same = |moved| super::holds(&found(0.1, 0.3), moved, Some(1.0));
        assert!(same(0.6) && !same(0.8) && !same(-1.2));
    }
}

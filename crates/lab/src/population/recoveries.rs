//! When the mean of finished recoveries says nothing, because those that were cut short are missing in it.
//!
//! Two arms have different recoveries, so there is no mean over the same ones. The slowest are cut short first: an arm
//! whose connections give up early keeps the fast ones. TCPRecovCnt2 counts those that were cut short. Each is taken to
//! last as long as the slowest 1 % of the finished ones; if that changes what the row says, the row has no value.

use tcplab_plan::Population;
use tcplab_stats::Difference;
use tcplab_tcp::Counter;

use super::rows::{Answers, QUANTITIES, RECOVERIES, counter};
use super::totals::Totals;

/// The row that has finished recoveries only.
const ROW: &str = "recovlat";

/// Why a row is withheld though it has an answer, for each answer.
pub(super) fn withheld(
    population: &Population,
    totals: &Totals,
    answers: &Answers,
) -> Vec<Vec<Option<String>>> {
    let one = |(id, answers): (&str, &Vec<_>)| {
        let why = |(place, answer): (usize, &Result<Difference, _>)| match (id, answer) {
            (ROW, Ok(found)) => why(population, totals, place + 1, found),
            _ => None,
        };
        answers.iter().enumerate().map(why).collect()
    };
    let ids = QUANTITIES.iter().map(|q| q.id);
    ids.zip(answers).map(one).collect()
}

fn why(population: &Population, totals: &Totals, arm: usize, found: &Difference) -> Option<String> {
    let arms = [0, arm].map(|arm| Recoveries::of(totals, arm));
    let slow_us = arms[0].slow_us.max(arms[1].slow_us);
    let [without, with] = [0.0, slow_us].map(|slow_us| arms.map(|arm| arm.mean(slow_us)));
    let percent = |[baseline, arm]: [f64; 2]| 100.0 * (arm / baseline - 1.0);
    let moved = match slow_us > 0.0 {
        true => percent(with) - percent(without),
        false => 0.0,
    };
    (!holds(found, moved)).then(|| {
        format!(
            "not comparable: {} recoveries were cut short in {} and {} in {}, and could change the sign",
            arms[0].cut_short, population.arms[0].name, arms[1].cut_short, population.arms[arm].name
        )
    })
}

/// Whether an interval says the same when it moves by so many per cent: it keeps its sign; one without a sign moves by
/// less than its own uncertainty.
fn holds(found: &Difference, moved: f64) -> bool {
    let (low, high) = (found.low_percent, found.high_percent);
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
        assert!(holds(&lower, 2.9) && holds(&lower, -50.0) && !holds(&lower, 3.1));
        let higher = found(3.0, 6.0);
        assert!(holds(&higher, -2.9) && holds(&higher, 50.0) && !holds(&higher, -3.1));
        let open = found(-1.0, 3.0);
        assert!(holds(&open, 1.9) && holds(&open, -1.9) && !holds(&open, -2.1));
    }
}

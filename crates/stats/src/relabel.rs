//! Permutations: how often would the labels, given out anew, lie as far apart as they do?
//!
//! All of them where there are few, else a seeded sample. The statistic is t, so that arms of
//! different spread are treated fairly (Janssen, Statistics & Probability Letters 36, 1997).

use tcplab_base::Random;

use crate::runs::average;

/// Most relabellings that are all taken; more are sampled.
const MOST: u64 = 2_000;
/// With more runs, the normal distribution needs no help.
const MANY: usize = 2_000;
/// What counts as equally far: sums of doubles in another order differ in their last bits.
const SLACK: f64 = 1e-9;

/// For pairs: the share of the ways to swap their runs that lie as far out, and the smallest share there can be.
pub(crate) fn signs(differences: &[f64]) -> (f64, f64) {
    let n = differences.len();
    if n > MANY {
        return (0.0, 1.0);
    }
    // The squares do not change with the signs, so t grows with the sum.
    let own = differences.iter().sum::<f64>().abs() * (1.0 - SLACK);
    let far = |mask: &u64| {
        let one = |(i, d): (usize, &f64)| if mask >> i & 1 == 1 { -d } else { *d };
        let sum: f64 = differences.iter().enumerate().map(one).sum();
        sum.abs() >= own
    };
    if n < 13 {
        let count = 1_u64 << n;
        let far = (0..count).filter(far).count();
        return (far as f64 / count as f64, 2.0 / count as f64);
    }
    let mut random = Random::stream(0, "stats/relabel/signs");
    let mut flipped = || -> f64 {
        let one = |d: &f64| if random.below(2) == 1 { -d } else { *d };
        differences.iter().map(one).sum()
    };
    let far = (0..MOST).filter(|_| flipped().abs() >= own);
    sampled(far.count())
}

/// For two arms: the share of the ways to split their runs in two that lie as far out, and the smallest there can be.
pub(crate) fn splits(before: &[f64], after: &[f64]) -> (f64, f64) {
    if before.len() + after.len() > MANY {
        return (0.0, 1.0);
    }
    // Around their mean: sums of squares keep their digits.
    let middle = average(before) / 2.0 + average(after) / 2.0;
    let all: Vec<f64> = before.iter().chain(after).map(|v| v - middle).collect();
    let (n, total) = (before.len(), all.len());
    let own = Sums::of(&all[..n]).welch(&Sums::of(&all[n..]));
    let ways = choose(total as u64, n as u64);
    if total <= 62 && ways <= MOST {
        let far = masks(n, total).filter(|mask| {
            let mut arms = [Sums::default(); 2];
            for (i, value) in all.iter().enumerate() {
                arms[usize::from(mask >> i & 1 == 1)].add(*value);
            }
            arms[0].welch(&arms[1]) >= own * (1.0 - SLACK)
        });
        // With arms of one size each split and its mirror are alike.
        let least = if 2 * n == total { 2.0 } else { 1.0 };
        return (far.count() as f64 / ways as f64, least / ways as f64);
    }
    let mut random = Random::stream(0, "stats/relabel/splits");
    let mut mixed = all;
    let far = (0..MOST).filter(|_| {
        for i in 0..n {
            let other = i + random.below((total - i) as u64) as usize;
            mixed.swap(i, other);
        }
        Sums::of(&mixed[..n]).welch(&Sums::of(&mixed[n..])) >= own * (1.0 - SLACK)
    });
    sampled(far.count())
}

fn sampled(far: usize) -> (f64, f64) {
    let count = (MOST + 1) as f64;
    ((far + 1) as f64 / count, 2.0 / count)
}

/// Sums of an arm.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        let mut sums = Self::default();
        for value in values {
            sums.add(*value);
        }
        sums
    }

    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// The square of the mean's standard error.
    fn spread(&self) -> f64 {
        let around = self.squares - self.sum * self.sum / self.count;
        around.max(0.0) / (self.count - 1.0) / self.count
    }

    /// The distance of two arms by Welch's t.
    fn welch(&self, other: &Self) -> f64 {
        let moved = self.sum / self.count - other.sum / other.count;
        match moved == 0.0 {
            true => 0.0,
            false => moved.abs() / (self.spread() + other.spread()).sqrt(),
        }
    }
}

/// n over k, or a number above [`MOST`].
fn choose(n: u64, k: u64) -> u64 {
    let mut ways = 1_u64;
    for i in 0..k.min(n - k) {
        ways = ways * (n - i) / (i + 1);
        if ways > 1 << 32 {
            break;
        }
    }
    ways
}

/// All numbers below 2^total with `n` bits set, in order (Gosper).
fn masks(n: usize, total: usize) -> impl Iterator<Item = u64> {
    let first = (1_u64 << n) - 1;
    std::iter::successors(Some(first), |mask| {
        let low = mask & mask.wrapping_neg();
        let carried = mask + low;
        Some(carried | ((mask ^ carried) / low) >> 2)
    })
    .take_while(move |mask| mask >> total == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_are_counted() {
        assert_eq!(masks(3, 6).count(), 20);
        assert_eq!((choose(6, 3), choose(12, 6)), (20, 924));
        assert!(choose(60, 30) > MOST);
        assert_eq!(signs(&[1.0, 2.0, 3.0]), (0.25, 0.25));
        assert_eq!(splits(&[1.0, 2.0, 3.0], &[7.0, 8.0, 9.0]), (0.1, 0.1));
        // As far out as can be, and far from it.
        let (share, _) = splits(&[1.0, 4.0, 2.0], &[3.0, 1.5, 2.5]);
        assert!(share > 0.5);
    }

    #[test]
    fn samples_are_near_the_whole() {
        let apart: Vec<f64> = (0..15).map(|i| f64::from(i % 5) - 1.6).collect();
        let (share, least) = signs(&apart);
        assert!((0.2..0.5).contains(&share) && least < 0.001, "{share}");
    }
}

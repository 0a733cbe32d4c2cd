//! Times around a middle (`tabledist()`).

use tcplab_base::Random;

use super::random::Correlated;
use super::settings::Distribution;
use super::table::{SCALE, Table, of};

/// Draws of nanoseconds around `middle`.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    middle: i64,
    /// At most 2^31 - 1.
    sigma: u32,
    table: Option<Table>,
    draws: Correlated,
}

impl Spread {
    pub fn new(
        [middle, sigma]: [i64; 2],
        distribution: Distribution,
        correlation: u32,
        draws: Random,
    ) -> Self {
        Self {
            middle,
            sigma: sigma.clamp(0, i64::from(i32::MAX)) as u32,
            table: of(distribution),
            draws: Correlated::new(draws, correlation),
        }
    }

    pub fn next(&mut self) -> i64 {
        if self.sigma == 0 {
            return self.middle;
        }
        let drawn = self.draws.next();
        let sigma = i64::from(self.sigma);
        match &self.table {
            None => i64::from(drawn % (2 * self.sigma)) + self.middle - sigma,
            Some(table) => {
                let value = i64::from(table[drawn as usize % table.len()]);
                // The part below the scale is rounded to the nearest, away from 0 at a half.
                let small = (sigma % SCALE) * value;
                let half = if small >= 0 { SCALE / 2 } else { -SCALE / 2 };
                (small + half) / SCALE + (sigma / SCALE) * value + self.middle
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(distribution: Distribution) -> Vec<i64> {
        let draws = Random::stream(5, "t");
        let mut spread = Spread::new([10_000_000, 1_000_000], distribution, 0, draws);
        (0..100_000).map(|_| spread.next()).collect()
    }

    #[test]
    fn even_draws_lie_inside() {
        let all = drawn(Distribution::Uniform);
        let (least, most) = (all.iter().min(), all.iter().max());
        assert!(*least.unwrap() >= 9_000_000 && *most.unwrap() < 11_000_000);
        let mean = all.iter().sum::<i64>() / 100_000;
        // Five standard errors of the mean are 9,129 ns.
        assert!((mean - 10_000_000).abs() < 9_129, "{mean}");
    }

    #[test]
    fn normal_draws_have_their_deviation() {
        let all = drawn(Distribution::Normal);
        let within = all.iter().filter(|ns| (*ns - 10_000_000).abs() < 1_000_000);
        let share = within.count() as f64 / 1e5;
        // 68.27 %; five standard errors are 0.74 %.
        assert!((share - 0.6827).abs() < 0.0074, "{share}");
    }

    /// By hand: the value -5,461 of the table with a deviation of 10,000 ns is 1,808 x -5,461 / 8,192 = -1,205.3 and
    /// once -5,461.
    #[test]
    fn values_of_a_table_are_scaled_in_two_parts() {
        let draws = Random::stream(5, "t");
        let mut spread = Spread::new([0, 10_000], Distribution::Pareto, 0, draws);
        spread.table = Some(vec![-5_461].into());
        assert_eq!(spread.next(), -1_205 - 5_461);
    }
}

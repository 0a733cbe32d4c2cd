//! Bootstrap samples of groups: how often each group was drawn.

use tcplab_base::Random;

/// How arms are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// Whether group i of each arm holds the same connections. If so, a replicate draws the same groups
    /// for all arms; if not, each arm has its own draws.
    pub paired: bool,
    /// Seed of the draws.
    pub seed: u64,
    /// Bootstrap replicates.
    pub replicates: usize,
    /// Level of the intervals, between 0 and 1.
    pub level: f64,
}

impl Default for Design {
    /// Paired, 2,000 replicates, 95 %.
    fn default() -> Self {
        Self {
            paired: true,
            seed: 0,
            replicates: 2_000,
            level: 0.95,
        }
    }
}

/// Doubles that are worked on together: sums have this many accumulators, always in the same order.
pub(crate) const LANES: usize = 8;

/// Numbers of draws of each group in each replicate.
pub(crate) struct Weights {
    drawn: Vec<u8>,
    /// Groups, filled up to a multiple of [`LANES`].
    stride: usize,
}

impl Weights {
    /// The draws of one arm, by its number in the design; of all of them when they are paired.
    pub fn new(design: &Design, arm: usize, groups: usize) -> Self {
        let arm = if design.paired { 0 } else { arm };
        let mut random = Random::stream(design.seed, &format!("stats/bootstrap/{arm}"));
        let stride = groups.next_multiple_of(LANES);
        let mut drawn = vec![0_u8; stride * design.replicates];
        for replicate in drawn.chunks_exact_mut(stride.max(1)) {
            for _ in 0..groups {
                // More than 255 draws of one group do not happen: the chance is below 1e-300.
                let at = random.below(groups as u64) as usize;
                replicate[at] = replicate[at].saturating_add(1);
            }
        }
        Self { drawn, stride }
    }

    /// The draws of one replicate, as doubles.
    pub fn fill(&self, replicate: usize, out: &mut Vec<f64>) {
        let from = replicate * self.stride;
        out.clear();
        out.extend(
            self.drawn[from..from + self.stride]
                .iter()
                .map(|n| f64::from(*n)),
        );
    }
}

/// The sum of `f` over both, lane by lane.
pub(crate) fn sum2(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for i in 0..LANES {
            lanes[i] += f(a[i], b[i]);
        }
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_replicate_draws_as_many_groups_as_there_are() {
        let design = Design {
            replicates: 50,
            ..Design::default()
        };
        let weights = Weights::new(&design, 3, 13);
        let mut out = Vec::new();
        for replicate in 0..50 {
            weights.fill(replicate, &mut out);
            assert_eq!((out.len(), out.iter().sum::<f64>()), (16, 13.0));
            assert_eq!(out[13..], [0.0; 3]);
        }
        let paired = Weights::new(&design, 0, 13);
        assert_eq!(paired.drawn, weights.drawn);
        let design = Design {
            paired: false,
            ..design
        };
        assert_ne!(
            Weights::new(&design, 1, 13).drawn,
            Weights::new(&design, 2, 13).drawn
        );
    }
}

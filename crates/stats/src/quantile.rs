//! Relative differences of quantiles between arms, by a bootstrap over blocks of connections.
//!
//! A block is a sketch of some groups; 64 of them keep the memory flat. A replicate draws blocks and
//! takes the quantile of all that was drawn, interpolated inside its bucket, so differences below a
//! bucket's thousandth are seen. The standard error comes from the replicates' logarithms. With so few
//! blocks, Student's t gives the interval.
//!
//! A sample that never finished has no time, but it is later than every sample that has one. Leaving it out would make
//! faster whoever gives up slow ones. So it counts above all buckets, and a quantile that lies there has no value.

use tcplab_base::normal;

use crate::resample::{Design, LANES, Weights, sum2};
use crate::student::{normal_of, student};
use crate::{Difference, MIN_GROUPS, NoDifference, Sketch};

/// The samples of some groups.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Those with a time.
    pub times: Sketch,
    /// How many never finished: later than all that did.
    pub unfinished: u64,
}

impl From<Sketch> for Block {
    fn from(times: Sketch) -> Self {
        Self {
            times,
            unfinished: 0,
        }
    }
}

/// Compares quantiles of an arm with those of the baseline: an answer for each of `at` (0.99: p99).
/// Block i of both has the same connections when the design is paired.
pub fn compare_quantiles(
    baseline: &[Block],
    arm: &[Block],
    at: &[f64],
    design: &Design,
) -> Vec<Result<Difference, NoDifference>> {
    let unequal = design.paired && baseline.len() != arm.len();
    let blocks = baseline.len().min(arm.len());
    if unequal || blocks < MIN_GROUPS {
        return vec![Err(NoDifference::FewGroups); at.len()];
    }
    let (below, above) = (Sums::new(baseline), Sums::new(arm));
    let draws = [
        Weights::new(design, 0, baseline.len()),
        Weights::new(design, 1, arm.len()),
    ];
    let (mut theirs, mut own) = (Vec::new(), Vec::new());
    let mut replicates = vec![Vec::with_capacity(design.replicates); at.len()];
    for replicate in 0..design.replicates {
        draws[0].fill(replicate, &mut theirs);
        draws[1].fill(replicate, &mut own);
        for (p, logs) in at.iter().zip(&mut replicates) {
            let both = above
                .log_quantile(*p, &own)
                .zip(below.log_quantile(*p, &theirs));
            logs.extend(both.map(|(own, theirs)| own - theirs));
        }
    }
    let whole = |sums: &Sums, p| sums.log_quantile(p, &vec![1.0; sums.stride]);
    let answer = |(p, logs): (&f64, &Vec<f64>)| {
        if above.is_empty() || below.is_empty() {
            return Err(NoDifference::EmptyArm);
        }
        let both = whole(&above, *p).zip(whole(&below, *p));
        let (own, theirs) = both.ok_or(NoDifference::Unfinished)?;
        // Without the replicates that reach the unfinished ones, the interval would be too short.
        if logs.len() < design.replicates && [baseline, arm].iter().any(|arm| some_late(arm)) {
            return Err(NoDifference::Unfinished);
        }
        Ok(judge(own - theirs, logs, blocks, design.level))
    };
    at.iter().zip(&replicates).map(answer).collect()
}

fn some_late(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| block.unfinished > 0)
}

/// How many samples each block has up to each bucket that any of them uses.
struct Sums {
    buckets: Vec<u32>,
    /// A row for each bucket, with a column for each block; the last row has all, the unfinished ones too.
    below: Vec<f64>,
    /// Columns: blocks, filled up to a multiple of [`LANES`].
    stride: usize,
}

impl Sums {
    fn new(blocks: &[Block]) -> Self {
        let mut whole = Sketch::new();
        blocks.iter().for_each(|block| whole.merge(&block.times));
        let buckets: Vec<u32> = whole.pairs().map(|(bucket, _)| bucket).collect();
        let stride = blocks.len().next_multiple_of(LANES);
        let mut below = vec![0.0; stride * (buckets.len() + 1)];
        for (column, block) in blocks.iter().enumerate() {
            let mut pairs = block.times.pairs().peekable();
            let mut sum = 0.0;
            for (row, bucket) in buckets.iter().enumerate() {
                if let Some((_, n)) = pairs.next_if(|(own, _)| own == bucket) {
                    sum += n as f64;
                }
                below[row * stride + column] = sum;
            }
            below[buckets.len() * stride + column] = sum + block.unfinished as f64;
        }
        Self {
            buckets,
            below,
            stride,
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.below[row * self.stride..(row + 1) * self.stride]
    }

    /// Whether there is no sample, finished or not.
    fn is_empty(&self) -> bool {
        self.row(self.buckets.len()).iter().all(|n| *n <= 0.0)
    }

    /// The logarithm of the quantile when each block counts as often as its weight says. None: nothing was drawn, or
    /// the quantile is a sample that never finished.
    fn log_quantile(&self, p: f64, weights: &[f64]) -> Option<f64> {
        let upto = |row: usize| sum2(self.row(row), weights, |n, w| n * w);
        let last = self.buckets.len().checked_sub(1)?;
        let all = upto(last + 1);
        if all <= 0.0 {
            return None;
        }
        let rank = p.clamp(0.0, 1.0) * all;
        if rank > upto(last) {
            return None;
        }
        // The first row with at least this rank below its end.
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = low + (high - low) / 2;
            match upto(middle) < rank {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let before = low.checked_sub(1).map_or(0.0, upto);
        let inside = upto(low) - before;
        let part = if inside > 0.0 {
            (rank - before) / inside
        } else {
            0.5
        };
        let (from, width) = Sketch::range(self.buckets[low]);
        Some(libm::log(from as f64 + part.clamp(0.0, 1.0) * width as f64))
    }
}

fn judge(log: f64, replicates: &[f64], blocks: usize, level: f64) -> Difference {
    let count = replicates.len() as f64;
    let mean = replicates.iter().sum::<f64>() / count;
    let squares: f64 = replicates.iter().map(|x| (x - mean) * (x - mean)).sum();
    let free = blocks as f64 - 1.0;
    // A bootstrap sample of n varies as (n - 1) / n of what one sample of n does.
    let se = match replicates.len() {
        0 | 1 => f64::INFINITY,
        _ => (squares / (count - 1.0) * blocks as f64 / free).sqrt(),
    };
    let factor = student(normal::quantile((1.0 + level.clamp(0.0, 1.0)) / 2.0), free);
    let percent = |log: f64| 100.0 * (libm::exp(log) - 1.0);
    let end = |factor: f64| match se > 0.0 {
        true => percent(log + factor * se),
        false => percent(log),
    };
    let p = match (log == 0.0, se > 0.0) {
        (true, _) => 1.0,
        (false, true) => 2.0 * normal::cdf(-normal_of(log.abs() / se, free)),
        (false, false) => 0.0,
    };
    Difference {
        percent: percent(log),
        low_percent: end(-factor),
        high_percent: end(factor),
        se_percent: 100.0 * libm::exp(log) * se,
        p,
        bearing_groups: blocks as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_of_equal_weights_is_the_sketchs() {
        let mut blocks = vec![Block::default(); 9];
        let mut whole = Sketch::new();
        for us in 1..=9_000_u64 {
            blocks[us as usize % 9].times.add(us, 1);
            whole.add(us, 1);
        }
        let sums = Sums::new(&blocks);
        for p in [0.01, 0.5, 0.99] {
            let got = libm::exp(sums.log_quantile(p, &vec![1.0; sums.stride]).unwrap());
            let exact = whole.quantile(p).unwrap() as f64;
            assert!((got / exact - 1.0).abs() < 0.012, "{p} {got} {exact}");
        }
        let only_one: Vec<f64> = (0..sums.stride)
            .map(|at| f64::from(u8::from(at == 3)))
            .collect();
        assert!(sums.log_quantile(0.5, &only_one).is_some());
        assert_eq!(sums.log_quantile(0.5, &vec![0.0; sums.stride]), None);
    }

    #[test]
    fn unfinished_samples_are_later_than_all() {
        let mut all = vec![Block::default(); 16];
        for us in 1..=16_000_u64 {
            all[us as usize % 16].times.add(us, 1);
        }
        // The other arm gives up the slowest 3 %.
        let mut gives_up = vec![Block::default(); 16];
        for us in 1..=16_000_u64 {
            let block = &mut gives_up[us as usize % 16];
            match us <= 15_520 {
                true => block.times.add(us, 1),
                false => block.unfinished += 1,
            }
        }
        let at = [0.5, 0.95, 0.99];
        let found = compare_quantiles(&all, &gives_up, &at, &Design::default());
        for quantile in &found[..2] {
            assert_eq!(quantile.map(|found| found.percent), Ok(0.0));
        }
        assert_eq!(found[2], Err(NoDifference::Unfinished));
        let nothing = vec![Block::default(); 16];
        let found = compare_quantiles(&all, &nothing, &[0.5], &Design::default());
        assert_eq!(found, [Err(NoDifference::EmptyArm)]);
    }
}

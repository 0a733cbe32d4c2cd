//! What the tail of a sketch weighs: heavy-tailed means stand beside these.

use crate::Sketch;

impl Sketch {
    /// The mean in microseconds without the smallest `low` and the largest `high` share of the
    /// samples (0.01 is 1 %). None when nothing is left. Buckets count as their middles.
    pub fn trimmed_mean(&self, low: f64, high: f64) -> Option<f64> {
        let count = self.count() as f64;
        let (from, to) = (
            low.clamp(0.0, 1.0) * count,
            (1.0 - high.clamp(0.0, 1.0)) * count,
        );
        (to > from).then(|| self.sum_between(from, to) / (to - from))
    }

    /// The part of the sum, from 0 to 1, that the largest `share` of the samples has: 0.01 asks for
    /// that of the largest 1 %. None when there are no samples. Buckets count as their middles.
    pub fn tail_share(&self, share: f64) -> Option<f64> {
        let count = self.count() as f64;
        let all = self.sum_between(0.0, count);
        let from = (1.0 - share.clamp(0.0, 1.0)) * count;
        (all > 0.0).then(|| self.sum_between(from, count) / all)
    }

    /// The sum of the samples between two ranks; of a sample that a rank cuts, the part inside.
    fn sum_between(&self, from: f64, to: f64) -> f64 {
        let (mut sum, mut below) = (0.0, 0.0);
        for (bucket, n) in self.pairs() {
            let above = below + n as f64;
            let inside = above.min(to) - f64::max(below, from);
            sum += inside.max(0.0) * Sketch::middle(bucket) as f64;
            below = above;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use crate::Sketch;

    #[test]
    fn a_few_large_ones_hold_the_sum() {
        let mut sketch = Sketch::new();
        assert_eq!(
            (sketch.trimmed_mean(0.0, 0.0), sketch.tail_share(0.01)),
            (None, None)
        );
        sketch.add(100, 990);
        sketch.add(1_100, 10);
        assert_eq!(sketch.mean(), Some(110.0));
        assert_eq!(sketch.trimmed_mean(0.0, 0.0), Some(110.0));
        assert_eq!(sketch.trimmed_mean(0.0, 0.01), Some(100.0));
        assert_eq!(
            sketch.trimmed_mean(0.5, 0.005),
            Some((490.0 * 100.0 + 5.0 * 1_100.0) / 495.0)
        );
        assert_eq!(sketch.trimmed_mean(0.5, 0.5), None);
        assert_eq!(sketch.tail_share(0.01), Some(0.1));
        assert_eq!(sketch.tail_share(0.001), Some(0.01));
        assert_eq!(sketch.tail_share(1.0), Some(1.0));
    }
}

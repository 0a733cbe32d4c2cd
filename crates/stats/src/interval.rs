//! From replicates to an interval and a p-value.
//!
//! The bootstrap-t draws t = (log ratio - its true value) / standard error. Each replicate uses its own standard
//! error, so skewed and heavy-tailed sums widen the interval on the correct side. If few groups bear the sum, most
//! replicates leave those groups out and make the other side too short: paired arms without a difference and Pareto
//! latencies of alpha 1.2 "differed" in 25 % of experiments at 5 %.
//!
//! So each side is at least as long as Student's t makes it, with the degrees of freedom of the groups that bear the
//! variance. Self-normalised sums of heavy-tailed differences are far out less often than t. The p-value is the level
//! at which the interval just reaches 0. If fewer than [`EDGE`] replicates lie further out, a normal tail continues
//! the draws.

use tcplab_base::normal;

use crate::Difference;
use crate::student::{normal_of, student};

/// Replicates in a tail that still count it.
const EDGE: usize = 10;

/// The logarithm of a ratio of arms, as measured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    /// The ratio itself.
    pub ratio: f64,
    /// Its logarithm, corrected where there are few events.
    pub log: f64,
    /// Standard error of `log`.
    pub se: f64,
    /// [`Difference::bearing_groups`].
    pub bearing: f64,
}

/// A replicate's distance in its own standard errors.
pub(crate) fn distance(moved: f64, se: f64) -> f64 {
    match () {
        () if moved == 0.0 => 0.0,
        () if se > 0.0 && moved.is_finite() => moved / se,
        () if moved.is_nan() => f64::INFINITY,
        () => f64::INFINITY.copysign(moved),
    }
}

impl Estimate {
    /// The interval and the p-value; sorts the distances of the replicates.
    pub fn judge(&self, distances: &mut [f64], level: f64) -> Difference {
        distances.sort_by(f64::total_cmp);
        let tail = (1.0 - level.clamp(0.0, 1.0)) / 2.0;
        let least = student(-normal::quantile(tail), self.freedom());
        let up = rank(distances, 1.0 - tail).max(least);
        let down = rank(distances, tail).min(-least);
        let percent = |log: f64| 100.0 * (libm::exp(log) - 1.0);
        let end = |factor: f64| match self.se > 0.0 {
            true => percent(self.log - factor * self.se),
            false => percent(self.log),
        };
        let own = 100.0 * (self.ratio - 1.0);
        Difference {
            percent: own,
            low_percent: end(up).min(own),
            high_percent: end(down).max(own),
            se_percent: 100.0 * libm::exp(self.log) * self.se,
            p: self.p(distances),
            bearing_groups: self.bearing,
        }
    }

    /// Degrees of freedom of the standard error: 2 / (relative variance of the variance), as
    /// Satterthwaite's.
    fn freedom(&self) -> f64 {
        (2.0 * self.bearing).max(1.0)
    }

    fn p(&self, distances: &[f64]) -> f64 {
        if self.log == 0.0 {
            return 1.0;
        }
        if self.se <= 0.0 {
            // Every group differs by the same factor.
            return 0.0;
        }
        let t = self.log / self.se;
        // Of a difference above 0, the interval's lower end takes the upper distances.
        let further = match t > 0.0 {
            true => distances.len() - distances.partition_point(|d| *d < t),
            false => distances.partition_point(|d| *d <= t),
        };
        let count = (distances.len() + 1) as f64;
        let counted = 2.0 * (further + 1) as f64 / count;
        let p = match further >= EDGE || distances.len() < 10 * EDGE {
            true => counted,
            false => {
                let at = match t > 0.0 {
                    true => distances[distances.len() - EDGE],
                    false => distances[EDGE - 1],
                };
                let edge = EDGE as f64 / count;
                let normal = -normal::quantile(edge);
                // A lighter tail than normal is not believed beyond what was drawn.
                let wide = (at.abs() / normal).max(1.0);
                (2.0 * normal::cdf(-t.abs() / wide)).min(2.0 * (EDGE + 1) as f64 / count)
            }
        };
        let least = 2.0 * normal::cdf(-normal_of(t.abs(), self.freedom()));
        p.max(least).min(1.0)
    }
}

/// The value that a share of the sorted distances lies below.
fn rank(sorted: &[f64], share: f64) -> f64 {
    let at = (share * (sorted.len() + 1) as f64).round();
    let at = (at as usize).clamp(1, sorted.len().max(1)) - 1;
    sorted
        .get(at)
        .copied()
        .unwrap_or(f64::INFINITY.copysign(share - 0.5))
}

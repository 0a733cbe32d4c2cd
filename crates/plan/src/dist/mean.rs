//! Means in closed form.

use tcplab_base::normal;

use super::draw::{Scene, share};
use super::{Base, Dist, Node};

impl Dist {
    /// The mean in the kind's smallest unit, before rounding, where a closed form is known. None for
    /// a clip around a sum of two draws or around a uniform of whole numbers, and where the
    /// mean is infinite: a Pareto with alpha up to 1 and no upper end.
    pub fn mean(&self, base: &Base) -> Option<f64> {
        mean(&Scene::new(self.kind, base), &self.node)
    }
}

fn mean(scene: &Scene, node: &Node) -> Option<f64> {
    match node {
        Node::Uniform(low, high) => Some((scene.value(low) + scene.value(high)) / 2.0),
        // The mean of a sum is known for any number of pieces.
        Node::Sum(pieces) => pieces.iter().map(|piece| mean(scene, piece)).sum(),
        Node::Mixture(parts) => {
            let part = |(weight, node): &_| mean(scene, node).map(|mean| share(*weight) * mean);
            parts.iter().map(part).sum()
        }
        node => upto(scene, node, f64::INFINITY),
    }
}

/// The mean of min(x, t): the integral from 0 to t of the chance that x is above. With t infinite,
/// the mean.
fn upto(scene: &Scene, node: &Node, t: f64) -> Option<f64> {
    Some(match node {
        Node::Value(value) => scene.value(value).min(t),
        Node::Uniform(..) if scene.whole_numbers => return None,
        Node::Uniform(low, high) => uniform(scene.value(low), scene.value(high), t),
        Node::Exponential { mean } => {
            let mean = scene.value(mean);
            if mean > 0.0 {
                mean * -libm::expm1(-t / mean)
            } else {
                0.0
            }
        }
        Node::Lognormal { median, sigma } => lognormal(scene.value(median), share(*sigma), t),
        Node::Pareto { minimum, alpha } => return pareto(scene.value(minimum), share(*alpha), t),
        Node::Geometric { mean } => geometric(share(*mean), t),
        Node::Table(points) => {
            let pairs = points.iter().zip(points.iter().skip(1));
            let part = |((p0, v0), (p1, v1)): (&(u64, _), &(u64, _))| {
                share(p1 - p0) * uniform(scene.value(v0), scene.value(v1), t)
            };
            pairs.map(part).sum()
        }
        Node::Sum(pieces) => match pieces.as_slice() {
            [Node::Value(value), piece] => {
                let value = scene.value(value);
                if t <= value {
                    t
                } else {
                    value + upto(scene, piece, t - value)?
                }
            }
            _ => return None,
        },
        Node::Mixture(parts) => {
            let part = |(weight, node): &_| upto(scene, node, t).map(|mean| share(*weight) * mean);
            return parts.iter().map(part).sum();
        }
        Node::Clip { node, low, high } => {
            let high = high.as_ref().map_or(t, |high| scene.value(high).min(t));
            let low = low.as_ref().map_or(0.0, |low| scene.value(low));
            if high <= low {
                return Some(high);
            }
            low + upto(scene, node, high)? - upto(scene, node, low)?
        }
    })
}

fn uniform(a: f64, b: f64, t: f64) -> f64 {
    let (low, high) = (a.min(b), a.max(b));
    match () {
        () if t <= low => t,
        () if t >= high => (low + high) / 2.0,
        () => t - (t - low) * (t - low) / (2.0 * (high - low)),
    }
}

fn lognormal(median: f64, sigma: f64, t: f64) -> f64 {
    let mean = median * libm::exp(sigma * sigma / 2.0);
    match () {
        () if t == f64::INFINITY => mean,
        () if t <= 0.0 || median <= 0.0 => 0.0,
        () if sigma <= 0.0 => median.min(t),
        () => {
            let z = libm::log(t / median) / sigma;
            mean * normal::cdf(z - sigma) + t * normal::cdf(-z)
        }
    }
}

fn pareto(minimum: f64, alpha: f64, t: f64) -> Option<f64> {
    let infinite = t == f64::INFINITY;
    match () {
        () if t <= minimum => Some(t),
        () if minimum <= 0.0 => Some(0.0),
        () if infinite && alpha <= 1.0 => None,
        () if infinite => Some(minimum * alpha / (alpha - 1.0)),
        () => {
            // The integral of s^-alpha from 1 to t / minimum, for alpha = 1 too.
            let (log, power) = (libm::log(t / minimum), 1.0 - alpha);
            let more = match power == 0.0 {
                true => log,
                false => libm::expm1(power * log) / power,
            };
            Some(minimum * (1.0 + more))
        }
    }
}

fn geometric(mean: f64, t: f64) -> f64 {
    // Up to t only the whole part counts trials; above 0 the chance of one more is steady between.
    let trials = t.floor();
    let fails = match mean > 1.0 {
        true => libm::exp(trials * libm::log1p(-1.0 / mean)),
        false => f64::from(u8::from(trials < 1.0)),
    };
    let part = if t.is_finite() {
        (t - trials) * fails
    } else {
        0.0
    };
    mean * (1.0 - fails) + part
}

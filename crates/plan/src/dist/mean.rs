//! Means in closed form.

use tcplab_base::normal;

use super::draw::{Scene, share};
use super::value::Linear;
use super::{Base, Dist, Node};

impl Dist {
    /// The mean in the kind's smallest unit, before rounding, where a closed form is known (a clip
    /// around a sum, a mixture or a table has none here). None also where it is infinite: a Pareto
    /// with alpha up to 1 and no clip.
    pub fn mean(&self, base: &Base) -> Option<f64> {
        mean(&Scene::new(self.kind, base), &self.node)
    }
}

fn mean(scene: &Scene, node: &Node) -> Option<f64> {
    Some(match node {
        Node::Value(value) => scene.value(value),
        Node::Uniform(low, high) => (scene.value(low) + scene.value(high)) / 2.0,
        Node::Exponential { mean } => scene.value(mean),
        Node::Lognormal { median, sigma } => {
            let sigma = share(*sigma);
            scene.value(median) * libm::exp(sigma * sigma / 2.0)
        }
        Node::Pareto { minimum, alpha } => {
            let alpha = share(*alpha);
            if alpha <= 1.0 {
                return None;
            }
            scene.value(minimum) * alpha / (alpha - 1.0)
        }
        Node::Geometric { mean } => share(*mean),
        Node::Table(points) => points
            .windows(2)
            .map(|pair| match pair {
                [(p0, v0), (p1, v1)] => share(p1 - p0) * (scene.value(v0) + scene.value(v1)) / 2.0,
                _ => 0.0,
            })
            .sum(),
        Node::Sum(pieces) => {
            let means: Option<Vec<f64>> = pieces.iter().map(|piece| mean(scene, piece)).collect();
            means?.iter().sum()
        }
        Node::Mixture(parts) => {
            let part = |(weight, node): &_| mean(scene, node).map(|mean| share(*weight) * mean);
            let means: Option<Vec<f64>> = parts.iter().map(part).collect();
            means?.iter().sum()
        }
        Node::Clip { node, low, high } => {
            let low = low.as_ref().map_or(0.0, |low| scene.value(low));
            let high = high
                .as_ref()
                .map_or(f64::INFINITY, |high| scene.value(high));
            return clipped(scene, node, low, high);
        }
    })
}

/// The mean of max(low, min(high, x)): `low`, and from there to `high` the chance to be above.
fn clipped(scene: &Scene, node: &Node, low: f64, high: f64) -> Option<f64> {
    // The integral of P(X > t) from `low` to `high`, by each tail's own integral from t up.
    let between = |above: &dyn Fn(f64) -> f64| match high.is_finite() {
        true => low + above(low) - above(high),
        false => low + above(low),
    };
    match node {
        Node::Value(value) => Some(scene.value(value).max(low).min(high)),
        _ if high <= low => Some(high),
        Node::Exponential { mean } => {
            let mean = scene.value(mean);
            (mean > 0.0).then(|| between(&|t| mean * libm::exp(-t / mean)))
        }
        Node::Lognormal { median, sigma } => {
            lognormal(scene, median, share(*sigma)).map(|above| between(&above))
        }
        _ => None,
    }
}

/// The mean of max(0, x - t), by t.
fn lognormal(scene: &Scene, median: &Linear, sigma: f64) -> Option<impl Fn(f64) -> f64> {
    let median = scene.value(median);
    let mean = median * libm::exp(sigma * sigma / 2.0);
    (median > 0.0 && sigma > 0.0).then_some(move |t: f64| {
        if t <= 0.0 {
            return mean - t;
        }
        let z = libm::log(t / median) / sigma;
        mean * normal::cdf(sigma - z) - t * normal::cdf(-z)
    })
}

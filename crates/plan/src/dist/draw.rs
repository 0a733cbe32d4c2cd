//! Draws: one value of a distribution.

use tcplab_base::{Random, normal};

use super::value::Linear;
use super::{Base, Dist, Kind, Node, ONE};

impl Dist {
    /// One draw, in the kind's smallest unit: from 0 to the largest value of the kind. `base` gives the values behind
    /// relative words.
    ///
    /// The result depends only on the stream. It consumes one number for each drawn part of the text; a mixture
    /// consumes one to choose a part, and those of the chosen part.
    pub fn draw(&self, random: &mut Random, base: &Base) -> i64 {
        let scene = Scene::new(self.kind, base);
        scene.whole(scene.draw(&self.node, random))
    }
}

/// A kind and a base, as factors.
pub(super) struct Scene {
    /// Of [`Linear::fixed`].
    parts: f64,
    /// What [`Linear::relative`] is of, per billionth.
    relative: f64,
    /// Bytes in a nanosecond.
    per_ns: f64,
    max: i64,
    pub whole_numbers: bool,
}

/// A probability or a shape, from billionths.
pub(super) fn share(parts: u64) -> f64 {
    parts as f64 / ONE as f64
}

impl Scene {
    pub fn new(kind: Kind, base: &Base) -> Self {
        let rtt = base.rtt_ns.max(0) as f64;
        let per_ns = base.rate_bps as f64 / 8e9;
        let whole = match kind {
            Kind::Buffer => rtt * per_ns,
            _ => rtt,
        };
        Self {
            parts: kind.parts() as f64,
            relative: whole / ONE as f64,
            per_ns,
            max: kind.max(),
            whole_numbers: kind == Kind::Number,
        }
    }

    pub fn value(&self, value: &Linear) -> f64 {
        let fixed = value.fixed as f64 / self.parts;
        match value.is_fixed() {
            true => fixed,
            false => {
                fixed
                    + value.relative as f64 * self.relative
                    + value.at_rate_ns as f64 * self.per_ns
            }
        }
    }

    /// The one place where a draw becomes an integer: rounded, halves up.
    pub fn whole(&self, x: f64) -> i64 {
        // `as` makes 0 of what is not a number, and the largest of what is too large.
        ((x + 0.5) as i64).clamp(0, self.max)
    }

    fn draw(&self, node: &Node, random: &mut Random) -> f64 {
        match node {
            Node::Value(value) => self.value(value),
            Node::Uniform(low, high) => self.uniform(low, high, random.unit()),
            Node::Exponential { mean } => self.value(mean) * random.exponential(),
            Node::Lognormal { median, sigma } => {
                // By the quantile: one number of the stream, and twice as fast as Box and Muller.
                self.value(median) * libm::exp(share(*sigma) * normal::quantile(random.unit()))
            }
            Node::Pareto { minimum, alpha } => {
                let grown = libm::exp(random.exponential() / share(*alpha));
                // Not more than any value: infinite times 0 would be no number.
                self.value(minimum) * grown.min(1e300)
            }
            Node::Geometric { mean } => geometric(share(*mean), random),
            Node::Table(points) => self.table(points, random.unit()),
            Node::Sum(pieces) => pieces.iter().map(|piece| self.draw(piece, random)).sum(),
            Node::Mixture(parts) => self.draw(choose(parts, random), random),
            Node::Clip { node, low, high } => {
                let drawn = self.draw(node, random);
                self.clip(drawn, low.as_ref(), high.as_ref())
            }
        }
    }

    pub fn clip(&self, x: f64, low: Option<&Linear>, high: Option<&Linear>) -> f64 {
        let x = low.map_or(x, |low| x.max(self.value(low)));
        high.map_or(x, |high| x.min(self.value(high)))
    }

    fn uniform(&self, low: &Linear, high: &Linear, unit: f64) -> f64 {
        let (low, high) = (self.value(low), self.value(high));
        match self.whole_numbers {
            // Each whole number equally likely: rounding would halve the ends.
            true => low + (unit * (high - low + 1.0)).floor(),
            false => low + unit * (high - low),
        }
    }

    fn table(&self, points: &[(u64, Linear)], unit: f64) -> f64 {
        let at = unit * ONE as f64;
        let after = points.partition_point(|(chance, _)| (*chance as f64) < at);
        let after = after.clamp(1, points.len().saturating_sub(1).max(1));
        let (Some((p0, v0)), Some((p1, v1))) = (points.get(after - 1), points.get(after)) else {
            return 0.0;
        };
        let (p0, p1) = (*p0 as f64, *p1 as f64);
        let (v0, v1) = (self.value(v0), self.value(v1));
        v0 + (v1 - v0) * (at - p0) / (p1 - p0)
    }
}

/// Trials to the first success, each with a chance of 1 / mean.
fn geometric(mean: f64, random: &mut Random) -> f64 {
    if mean <= 1.0 {
        return 1.0;
    }
    let fails = libm::log(random.unit()) / libm::log1p(-1.0 / mean);
    1.0 + fails.floor()
}

fn choose<'a>(parts: &'a [(u64, Node)], random: &mut Random) -> &'a Node {
    let mut at = random.below(ONE);
    for (weight, node) in parts {
        if at < *weight {
            return node;
        }
        at -= weight;
    }
    unreachable!("weights add to the number that was drawn below")
}

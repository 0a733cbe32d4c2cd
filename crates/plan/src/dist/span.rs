//! The least and the largest value of a distribution, where its text sets one.

use super::value::Linear;
use super::{Dist, Node};

/// Ends in the kind's smallest unit, before rounding. None: the text sets no end (a lognormal), or it depends on the
/// connection (`2 bdp`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// The least value.
    pub low: Option<f64>,
    /// The largest value.
    pub high: Option<f64>,
}

impl Dist {
    /// Its ends. Of a mixture: the outermost of the ends that its parts set.
    pub fn span(&self) -> Span {
        let parts = self.kind.parts() as f64;
        let unit = |end: f64| end / parts;
        let Span { low, high } = of(&self.node, parts);
        Span {
            low: low.map(unit),
            high: high.map(unit),
        }
    }

    /// Whether some value of it depends on the connection's RTT or rate.
    pub fn is_relative(&self) -> bool {
        relative(&self.node)
    }
}

fn value(value: &Linear) -> Option<f64> {
    value.is_fixed().then_some(value.fixed as f64)
}

fn of(node: &Node, one: f64) -> Span {
    let both = |low, high| Span { low, high };
    match node {
        Node::Value(v) => both(value(v), value(v)),
        Node::Uniform(low, high) => both(value(low), value(high)),
        Node::Exponential { .. } | Node::Lognormal { .. } => Span::default(),
        Node::Pareto { minimum, .. } => both(value(minimum), None),
        Node::Geometric { .. } => both(Some(one), None),
        Node::Table(points) => {
            let end = |point: Option<&(u64, Linear)>| point.and_then(|(_, v)| value(v));
            both(end(points.first()), end(points.last()))
        }
        Node::Sum(pieces) => {
            let spans = pieces.iter().map(|piece| of(piece, one));
            let zero = both(Some(0.0), Some(0.0));
            let add = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
            spans.fold(zero, |a, b| both(add(a.low, b.low), add(a.high, b.high)))
        }
        Node::Mixture(parts) => {
            let spans = parts.iter().map(|(_, part)| of(part, one));
            let outer = |a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64| match (a, b) {
                (Some(a), Some(b)) => Some(pick(a, b)),
                (a, b) => a.or(b),
            };
            spans.fold(Span::default(), |a, b| {
                both(
                    outer(a.low, b.low, f64::min),
                    outer(a.high, b.high, f64::max),
                )
            })
        }
        Node::Clip { node, low, high } => {
            let inner = of(node, one);
            let (least, most) = (low.as_ref().and_then(value), high.as_ref().and_then(value));
            let inside = |end: f64| {
                let end = least.map_or(end, |least| end.max(least));
                most.map_or(end, |most| end.min(most))
            };
            let end = |bound: &Option<Linear>, set: Option<f64>, inner: Option<f64>| match bound {
                // An end that depends on the connection.
                Some(_) if set.is_none() => None,
                _ => inner.or(set).map(inside),
            };
            both(end(low, least, inner.low), end(high, most, inner.high))
        }
    }
}

fn relative(node: &Node) -> bool {
    let is = |value: &Linear| !value.is_fixed();
    match node {
        Node::Value(v) | Node::Exponential { mean: v } => is(v),
        Node::Lognormal { median: v, .. } | Node::Pareto { minimum: v, .. } => is(v),
        Node::Uniform(low, high) => is(low) || is(high),
        Node::Geometric { .. } => false,
        Node::Table(points) => points.iter().any(|(_, v)| is(v)),
        Node::Sum(pieces) => pieces.iter().any(relative),
        Node::Mixture(parts) => parts.iter().any(|(_, part)| relative(part)),
        Node::Clip { node, low, high } => {
            relative(node) || [low, high].into_iter().flatten().any(is)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::Kind;

    #[test]
    fn ends_are_what_the_text_sets() {
        for (text, kind, low, high) in [
            ("2.5", Kind::Number, Some(2.5), Some(2.5)),
            (
                "geometric(mean 3) clip 1..12",
                Kind::Number,
                Some(1.0),
                Some(12.0),
            ),
            ("geometric(mean 3)", Kind::Number, Some(1.0), None),
            ("uniform(5%..10%)", Kind::Chance, Some(5e7), Some(1e8)),
            (
                "exponential(mean 1s) clip ..3s",
                Kind::Time,
                None,
                Some(3e9),
            ),
            ("2ms + uniform(1ms..3ms)", Kind::Time, Some(3e6), Some(5e6)),
            ("2ms + 3% rtt", Kind::Time, None, None),
            ("0.5 bdp clip 15kB..", Kind::Buffer, Some(15e3), None),
            (
                "50% 1 | 50% pareto(minimum 3, alpha 2)",
                Kind::Number,
                Some(1.0),
                Some(1.0),
            ),
            ("table(0% 1ms, 100% 9ms)", Kind::Time, Some(1e6), Some(9e6)),
        ] {
            let dist = Dist::parse(text, kind).unwrap();
            assert_eq!(dist.span(), Span { low, high }, "{text}");
            let is_relative = text.contains("rtt") || text.contains("bdp");
            assert_eq!(dist.is_relative(), is_relative, "{text}");
        }
    }
}

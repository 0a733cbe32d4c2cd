//! A distribution as text: one canonical form, which parses back to an equal one.

use std::fmt::{self, Display, Formatter};

use tcplab_base::quantity::{BYTES, NANOSECONDS, Scale, decimal, exact};

use super::value::Linear;
use super::{Dist, Kind, Node};

impl Display for Dist {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        node(f, &self.node, self.kind)
    }
}

fn node(f: &mut Formatter<'_>, node: &Node, kind: Kind) -> fmt::Result {
    let text = |value| Text { value, kind };
    match node {
        Node::Value(value) => write!(f, "{}", text(value)),
        Node::Uniform(low, high) => write!(f, "uniform({}..{})", text(low), text(high)),
        Node::Exponential { mean } => write!(f, "exponential(mean {})", text(mean)),
        Node::Lognormal { median, sigma } => {
            let sigma = decimal(*sigma, 9);
            write!(f, "lognormal(median {}, sigma {sigma})", text(median))
        }
        Node::Pareto { minimum, alpha } => {
            let alpha = decimal(*alpha, 9);
            write!(f, "pareto(minimum {}, alpha {alpha})", text(minimum))
        }
        Node::Geometric { mean } => write!(f, "geometric(mean {})", decimal(*mean, 9)),
        Node::Table(points) => {
            f.write_str("table(")?;
            for (i, (chance, value)) in points.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                write!(f, "{comma}{}% {}", decimal(*chance, 7), text(value))?;
            }
            f.write_str(")")
        }
        Node::Sum(pieces) => {
            for (i, piece) in pieces.iter().enumerate() {
                f.write_str(if i == 0 { "" } else { " + " })?;
                let nested = matches!(piece, Node::Sum(_) | Node::Mixture(_));
                inner(f, piece, kind, nested)?;
            }
            Ok(())
        }
        Node::Mixture(parts) => {
            for (i, (weight, part)) in parts.iter().enumerate() {
                let bar = if i == 0 { "" } else { " | " };
                write!(f, "{bar}{}% ", decimal(*weight, 7))?;
                inner(f, part, kind, matches!(part, Node::Mixture(_)))?;
            }
            Ok(())
        }
        Node::Clip { node, low, high } => {
            let nested = match &**node {
                Node::Value(value) => value.pieces() > 1,
                node => matches!(node, Node::Sum(_) | Node::Mixture(_) | Node::Clip { .. }),
            };
            inner(f, node, kind, nested)?;
            f.write_str(" clip ")?;
            if let Some(low) = low {
                write!(f, "{}", text(low))?;
            }
            f.write_str("..")?;
            match high {
                Some(high) => write!(f, "{}", text(high)),
                None => Ok(()),
            }
        }
    }
}

fn inner(f: &mut Formatter<'_>, inner: &Node, kind: Kind, nested: bool) -> fmt::Result {
    if !nested {
        return node(f, inner, kind);
    }
    f.write_str("(")?;
    node(f, inner, kind)?;
    f.write_str(")")
}

struct Text<'a> {
    value: &'a Linear,
    kind: Kind,
}

impl Linear {
    /// How many values its text joins with `+`.
    fn pieces(&self) -> usize {
        let parts = [self.fixed, self.relative, self.at_rate_ns];
        parts.iter().filter(|part| **part > 0).count()
    }
}

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Linear {
            fixed,
            relative,
            at_rate_ns,
        } = *self.value;
        if self.value.is_zero() {
            return f.write_str("0");
        }
        let mut join = "";
        if fixed > 0 {
            f.write_str(&quantity(fixed, self.kind))?;
            join = " + ";
        }
        if relative > 0 {
            match self.kind {
                Kind::Buffer => write!(f, "{join}{} bdp", decimal(relative, 9))?,
                _ => write!(f, "{join}{}% rtt", decimal(relative, 7))?,
            }
            join = " + ";
        }
        if at_rate_ns > 0 {
            write!(f, "{join}{}", quantity(at_rate_ns, Kind::Time))?;
        }
        Ok(())
    }
}

/// The text of a file: in the largest decimal unit that does not exceed the value.
fn quantity(n: u64, kind: Kind) -> String {
    let units: &Scale = match kind {
        Kind::Time => NANOSECONDS,
        Kind::Rate => &[
            ("bit", 0),
            ("kbit", 3),
            ("mbit", 6),
            ("gbit", 9),
            ("tbit", 12),
        ],
        Kind::Size | Kind::Buffer => &BYTES[..4],
        Kind::Number => &[("", 9)],
        Kind::Chance => &[("%", 7)],
    };
    exact(n, "", units)
}

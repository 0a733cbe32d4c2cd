//! Expressions over measures: what `--bad 'client.TcpExtDelayedACKs > 0'` says.
//!
//! A measure without a value makes an answer impossible only where it matters: `false and X` is
//! false and `true or X` is true for any X (Kleene's logic).

use std::collections::BTreeSet;
use std::fmt;

use super::lex::Span;
use super::{Unit, parse, values_of};
use crate::experiment::nearest;

/// A condition on measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Condition,
}

/// Something that is true or false.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    Or(Box<Condition>, Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    Compare(Number, Comparison, Number),
    Present(String),
}

/// Something with a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    Literal(f64),
    Measure(String),
    Negative(Box<Number>),
    Binary(Box<Number>, Operator, Box<Number>),
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// How two numbers make a third one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// An expression that cannot be read. The text form shows it with a mark under the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    text: String,
    span: Span,
    message: String,
}

impl ExpressionError {
    pub(crate) fn new(text: &str, span: Span, message: impl Into<String>) -> Self {
        Self {
            text: text.to_owned(),
            span,
            message: message.into(),
        }
    }

    /// Column in characters, from 1.
    pub fn column(&self) -> usize {
        let before = self.text.get(..self.span.start).unwrap_or(&self.text);
        before.chars().count() + 1
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.column();
        let width = self
            .text
            .get(self.span.clone())
            .map_or(0, |t| t.chars().count());
        // Of a long expression, the part around the place.
        let skip = column.saturating_sub(60);
        let clean = |c: char| if c.is_control() { ' ' } else { c };
        let shown: String = self.text.chars().skip(skip).take(100).map(clean).collect();
        let space = " ".repeat(column - 1 - skip);
        let mark = "^".repeat(width.clamp(1, 40));
        write!(
            f,
            "column {column}: {}\n  {shown}\n  {space}{mark}",
            self.message
        )
    }
}

impl std::error::Error for ExpressionError {}

/// Why an expression is neither true nor false.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotSay {
    /// A measure has no value.
    #[error("`{0}` has no value")]
    Missing(String),
    /// A quotient with nothing below, or a number beyond all bounds.
    #[error("{0}")]
    Undefined(String),
}

impl CannotSay {
    /// The name without a value.
    pub fn missing(&self) -> Option<&str> {
        match self {
            Self::Missing(name) => Some(name),
            Self::Undefined(_) => None,
        }
    }

    /// The name in `known` that was probably meant.
    pub fn nearest<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        nearest(self.missing()?, known)
    }
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// The first place that is wrong.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self {
            text: text.to_owned(),
            root: parse::condition(text)?,
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The measures that it names, each once.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut out = BTreeSet::new();
        condition_names(&self.root, &mut out);
        out
    }

    /// Whether the condition holds. `value` looks up a measure; it returns `None` or a non-finite
    /// number for a missing value.
    ///
    /// # Errors
    /// Why the condition cannot be decided.
    pub fn evaluate(&self, value: &impl Fn(&str) -> Option<f64>) -> Result<bool, CannotSay> {
        holds(&self.root, value)
    }
}

/// A number made of measures: what a claim compares with the published one.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    text: String,
    root: Number,
}

impl Formula {
    /// Reads a formula: a measure, or several with `+ - * /` between them.
    ///
    /// # Errors
    /// The first place that is wrong.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self {
            text: text.to_owned(),
            root: parse::formula(text)?,
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The measures that it names, each once.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut out = BTreeSet::new();
        number_names(&self.root, &mut out);
        out
    }

    /// The unit of its value, as far as its measures say it; none: they differ, or are not known.
    pub fn unit(&self) -> Option<Unit> {
        unit(&self.root)
    }

    /// The formula's value. `value` looks up a measure; it returns `None` or a non-finite number
    /// for a missing value.
    ///
    /// # Errors
    /// Why the formula has no value.
    pub fn evaluate(&self, value: &impl Fn(&str) -> Option<f64>) -> Result<f64, CannotSay> {
        number(&self.root, value)
    }
}

fn condition_names<'a>(condition: &'a Condition, out: &mut BTreeSet<&'a str>) {
    match condition {
        Condition::Or(a, b) | Condition::And(a, b) => {
            condition_names(a, out);
            condition_names(b, out);
        }
        Condition::Not(a) => condition_names(a, out),
        Condition::Compare(a, _, b) => {
            number_names(a, out);
            number_names(b, out);
        }
        Condition::Present(name) => {
            out.insert(name);
        }
    }
}

fn number_names<'a>(number: &'a Number, out: &mut BTreeSet<&'a str>) {
    match number {
        Number::Literal(_) => {}
        Number::Measure(name) => {
            out.insert(name);
        }
        Number::Negative(a) => number_names(a, out),
        Number::Binary(a, _, b) => {
            number_names(a, out);
            number_names(b, out);
        }
    }
}

/// A sum has the unit of its parts, a quotient of two alike is a share, and a power of 1,000 below is a prefix.
fn unit(of: &Number) -> Option<Unit> {
    match of {
        Number::Literal(_) => None,
        Number::Measure(name) => values_of(name).map(|values| values.unit),
        Number::Negative(a) => unit(a),
        Number::Binary(a, Operator::Divide, b) => match **b {
            Number::Literal(n) => unit(a)?.over(n),
            _ => (unit(a)? == unit(b)?).then_some(Unit::Number),
        },
        Number::Binary(a, Operator::Add | Operator::Subtract, b) => {
            let (a, b) = (unit(a)?, unit(b)?);
            (a == b).then_some(a)
        }
        Number::Binary(_, Operator::Multiply, _) => None,
    }
}

fn holds(condition: &Condition, value: &impl Fn(&str) -> Option<f64>) -> Result<bool, CannotSay> {
    match condition {
        Condition::Or(a, b) => decide(true, holds(a, value), || holds(b, value)),
        Condition::And(a, b) => decide(false, holds(a, value), || holds(b, value)),
        Condition::Not(a) => holds(a, value).map(|a| !a),
        Condition::Present(name) => Ok(value(name).is_some_and(f64::is_finite)),
        Condition::Compare(a, how, b) => {
            let (a, b) = (number(a, value)?, number(b, value)?);
            Ok(match how {
                Comparison::Equal => a == b,
                Comparison::NotEqual => a != b,
                Comparison::Less => a < b,
                Comparison::AtMost => a <= b,
                Comparison::Greater => a > b,
                Comparison::AtLeast => a >= b,
            })
        }
    }
}

/// `or` when one side that is true decides, `and` when one that is false does.
fn decide(
    by: bool,
    a: Result<bool, CannotSay>,
    b: impl FnOnce() -> Result<bool, CannotSay>,
) -> Result<bool, CannotSay> {
    match a {
        Ok(a) if a == by => Ok(by),
        Ok(_) => b(),
        Err(why) => match b() {
            Ok(b) if b == by => Ok(by),
            _ => Err(why),
        },
    }
}

fn number(of: &Number, value: &impl Fn(&str) -> Option<f64>) -> Result<f64, CannotSay> {
    let result = match of {
        Number::Literal(n) => *n,
        Number::Measure(name) => match value(name) {
            Some(n) if n.is_finite() => n,
            _ => return Err(CannotSay::Missing(name.clone())),
        },
        Number::Negative(a) => -number(a, value)?,
        Number::Binary(a, how, b) => {
            let (a, b) = (number(a, value)?, number(b, value)?);
            match how {
                Operator::Add => a + b,
                Operator::Subtract => a - b,
                Operator::Multiply => a * b,
                Operator::Divide if b == 0.0 => {
                    return Err(CannotSay::Undefined("division by zero".to_owned()));
                }
                Operator::Divide => a / b,
            }
        }
    };
    match result.is_finite() {
        true => Ok(result),
        false => Err(CannotSay::Undefined(
            "the number is too large to compare".to_owned(),
        )),
    }
}

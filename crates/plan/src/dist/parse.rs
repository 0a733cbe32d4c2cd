//! From text to a distribution.

use std::ops::Range;

use super::lex::{Token, Word, tokens};
use super::value::Linear;
use super::{DistError, Kind, MAX_DEPTH, Node, ONE};
use crate::experiment::nearest;
use tcplab_base::quantity::{NUMBER, PERCENT, decimal};

const FORMS: [&str; 6] = [
    "uniform",
    "exponential",
    "lognormal",
    "pareto",
    "geometric",
    "table",
];

const WRITE: &str = "write a value, uniform(A..B), exponential(mean M), \
    lognormal(median M, sigma S), pareto(minimum M, alpha A), geometric(mean M) \
    or table(0% A, 50% B, 100% C)";

/// The largest sigma, in billionths: the exponent stays far from the ends of a double.
const MAX_SIGMA: u64 = 10 * ONE;
/// Bounds of alpha: below, nearly all draws would be clipped.
const ALPHA: (u64, u64) = (ONE / 100, 1_000 * ONE);

pub(super) fn parse(text: &str, kind: Kind) -> Result<Node, DistError> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        text,
        kind,
        tokens: &tokens,
        at: 0,
        depth: 0,
    };
    if tokens.is_empty() {
        return Err(DistError::new(
            0..text.len(),
            format!("it is empty: {WRITE}"),
        ));
    }
    let node = parser.mixture()?;
    match parser.peek() {
        None => Ok(node),
        Some(Word::Close) => Err(parser.error("this `)` has no matching `(`")),
        Some(_) => Err(parser.error(
            "unexpected here: join parts with `+`, or with `|` and weights, or end with `clip A..B`",
        )),
    }
}

struct Parser<'a> {
    text: &'a str,
    kind: Kind,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

/// What stands before a part of a mixture.
enum Weight {
    Parts(u64),
    Rest,
    None,
}

impl<'a> Parser<'a> {
    fn token(&self, ahead: usize) -> Option<&'a Token> {
        self.tokens.get(self.at + ahead)
    }

    fn peek(&self) -> Option<Word> {
        self.token(0).map(|token| token.word)
    }

    fn slice(&self, place: &Range<usize>) -> &'a str {
        self.text.get(place.clone()).unwrap_or_default()
    }

    /// The name that stands `ahead` words from here.
    fn name(&self, ahead: usize) -> Option<&'a str> {
        let token = self.token(ahead)?;
        (token.word == Word::Name).then(|| self.slice(&token.place))
    }

    /// The place of the next word; at the end, the end.
    fn place(&self) -> Range<usize> {
        let end = self.text.len();
        self.token(0).map_or(end..end, |token| token.place.clone())
    }

    /// From a place to the end of the last word taken since; without such a word, that place.
    fn since(&self, start: &Range<usize>) -> Range<usize> {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let end = last.map(|token| token.place.end);
        start.start..end.filter(|end| *end > start.start).unwrap_or(start.end)
    }

    fn error(&self, message: impl Into<String>) -> DistError {
        DistError::new(self.place(), message)
    }

    fn take(&mut self, word: Word) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn take_name(&mut self, name: &str) -> bool {
        let found = self.name(0) == Some(name);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: Word, message: &str) -> Result<(), DistError> {
        match self.take(word) {
            true => Ok(()),
            false => Err(self.error(message)),
        }
    }

    fn mixture(&mut self) -> Result<Node, DistError> {
        let start = self.place();
        let mut parts = Vec::new();
        let (mut sum, mut weights) = (0_u64, 0_usize);
        loop {
            let place = self.place();
            let weight = self.weight()?;
            let node = self.sum()?;
            weights += usize::from(!matches!(weight, Weight::None));
            let parts_of = match weight {
                Weight::Parts(parts) => parts,
                Weight::Rest if self.peek() == Some(Word::Bar) => {
                    let message =
                        "`else` must be the last part: give this part a weight in percent";
                    return Err(DistError::new(place, message));
                }
                Weight::Rest => ONE.saturating_sub(sum),
                Weight::None => 0,
            };
            sum += parts_of;
            parts.push((parts_of, node));
            if weights != 0 && weights != parts.len() || parts.len() > 1 && weights == 0 {
                let message =
                    "each part of a mixture needs a weight: 60% A | 40% B, or 60% A | else B";
                return Err(DistError::new(self.since(&place), message));
            }
            if !self.take(Word::Bar) {
                break;
            }
        }
        if weights > 0 && sum != ONE {
            let percent = decimal(sum, 7);
            let message = format!(
                "the weights add to {percent}%, not to 100%: change one, or write `else` for the last"
            );
            return Err(DistError::new(self.since(&start), message));
        }
        if parts.len() > 1 {
            return Ok(Node::Mixture(parts));
        }
        let only = parts.pop().map(|(_, node)| node);
        Ok(only.expect("the loop pushes one part at least"))
    }

    /// `60%` is a weight when something that can be drawn follows.
    fn weight(&mut self) -> Result<Weight, DistError> {
        if self.take_name("else") {
            return Ok(Weight::Rest);
        }
        let percent = self.peek() == Some(Word::Number)
            && self
                .token(1)
                .is_some_and(|token| token.word == Word::Percent);
        let drawn = self.token(2).is_some_and(|token| match token.word {
            Word::Number | Word::Open => true,
            Word::Name => !matches!(self.slice(&token.place), "rtt" | "bdp" | "clip"),
            _ => false,
        });
        if !percent || !drawn {
            return Ok(Weight::None);
        }
        let start = self.place();
        self.at += 2;
        let place = self.since(&start);
        let parts = PERCENT.parse(self.slice(&place));
        parts
            .map(Weight::Parts)
            .map_err(|why| DistError::new(place, why))
    }

    fn sum(&mut self) -> Result<Node, DistError> {
        let start = self.place();
        let mut value: Option<Linear> = None;
        let mut pieces = Vec::new();
        loop {
            match (self.piece()?, &mut value) {
                (Node::Value(more), Some(value)) => *value = self.add(value, &more, &start)?,
                (Node::Value(first), None) => value = Some(first),
                (piece, _) => pieces.push(piece),
            }
            if !self.take(Word::Plus) {
                break;
            }
        }
        if let Some(value) = value {
            pieces.insert(0, Node::Value(value));
        }
        match pieces.len() {
            1 => Ok(pieces.remove(0)),
            _ => Ok(Node::Sum(pieces)),
        }
    }

    fn add(&self, a: &Linear, b: &Linear, start: &Range<usize>) -> Result<Linear, DistError> {
        let too_large =
            || DistError::new(self.since(start), "the sum is too large: make it smaller");
        a.plus(b, self.kind).ok_or_else(too_large)
    }

    fn piece(&mut self) -> Result<Node, DistError> {
        let node = self.atom()?;
        let start = self.place();
        if !self.take_name("clip") {
            return Ok(node);
        }
        let low = self.bound()?;
        self.expect(
            Word::Range,
            "write `..` between the two ends of the clip: clip 5ms..1500ms",
        )?;
        let high = self.bound()?;
        let place = self.since(&start);
        match (&low, &high) {
            (None, None) => {
                let message = "a clip needs at least one end: clip 5ms.., clip ..1500ms";
                return Err(DistError::new(place, message));
            }
            (Some(low), Some(high)) => ascending(low, high, &place)?,
            _ => {}
        }
        Ok(Node::Clip {
            node: Box::new(node),
            low,
            high,
        })
    }

    /// One end of a clip, if there is one.
    fn bound(&mut self) -> Result<Option<Linear>, DistError> {
        match self.peek() {
            Some(Word::Number) => self.value().map(Some),
            _ => Ok(None),
        }
    }

    fn atom(&mut self) -> Result<Node, DistError> {
        match self.peek() {
            Some(Word::Number) => self.value().map(Node::Value),
            Some(Word::Open) => {
                if self.depth == MAX_DEPTH {
                    let message = format!("parentheses can be nested at most {MAX_DEPTH} deep");
                    return Err(self.error(message));
                }
                self.at += 1;
                self.depth += 1;
                let node = self.mixture()?;
                self.depth -= 1;
                self.expect(Word::Close, "`)` is missing here")?;
                Ok(node)
            }
            Some(Word::Name) => self.form(),
            Some(_) => Err(self.error(format!("a distribution is missing here: {WRITE}"))),
            None => Err(self.error(format!("a distribution is missing at the end: {WRITE}"))),
        }
    }

    fn form(&mut self) -> Result<Node, DistError> {
        let place = self.place();
        let name = self.name(0).unwrap_or_default();
        if !FORMS.contains(&name) {
            let message = match nearest(name, FORMS) {
                Some(near) => format!("`{name}` is not a distribution; did you mean `{near}`?"),
                None => format!("`{name}` is not a distribution: {WRITE}"),
            };
            return Err(DistError::new(place, message));
        }
        self.at += 1;
        self.expect(Word::Open, &format!("`(` follows `{name}`: {WRITE}"))?;
        let node = match name {
            "uniform" => self.uniform()?,
            "exponential" => Node::Exponential {
                mean: self.named("mean")?,
            },
            "lognormal" => {
                let median = self.named("median")?;
                let sigma = self.shape("sigma", (0, MAX_SIGMA))?;
                Node::Lognormal { median, sigma }
            }
            "pareto" => {
                let minimum = self.named("minimum")?;
                let alpha = self.shape("alpha", ALPHA)?;
                Node::Pareto { minimum, alpha }
            }
            "geometric" => self.geometric(&place)?,
            _ => Node::Table(self.table()?),
        };
        self.expect(
            Word::Close,
            &format!("expected `)` at the end of `{name}`: {WRITE}"),
        )?;
        Ok(node)
    }

    fn uniform(&mut self) -> Result<Node, DistError> {
        let start = self.place();
        let low = self.values()?;
        self.expect(
            Word::Range,
            "write `..` between the two ends: uniform(10ms..20ms)",
        )?;
        let high = self.values()?;
        let place = self.since(&start);
        ascending(&low, &high, &place)?;
        let whole = |value: &Linear| value.fixed.is_multiple_of(ONE);
        if self.kind == Kind::Number && !(whole(&low) && whole(&high)) {
            let message = "values here are whole numbers: write two whole numbers";
            return Err(DistError::new(place, message));
        }
        Ok(Node::Uniform(low, high))
    }

    fn geometric(&mut self, place: &Range<usize>) -> Result<Node, DistError> {
        if self.kind != Kind::Number {
            let message = format!(
                "a geometric distribution gives plain numbers; here, {}",
                self.kind.quantity().write
            );
            return Err(DistError::new(place.clone(), message));
        }
        self.word("mean")?;
        let mean = self.number((ONE, 1_000_000 * ONE))?;
        Ok(Node::Geometric { mean })
    }

    fn table(&mut self) -> Result<Vec<(u64, Linear)>, DistError> {
        let mut points: Vec<(u64, Linear)> = Vec::new();
        loop {
            let start = self.place();
            if !(self.take(Word::Number) && self.take(Word::Percent)) {
                let message = "write a percentage and the value there: table(0% 5ms, 100% 80ms)";
                return Err(DistError::new(self.since(&start), message));
            }
            let place = self.since(&start);
            let chance = PERCENT.parse(self.slice(&place));
            let chance = chance.map_err(|why| DistError::new(place.clone(), why))?;
            let right = match points.last() {
                None => chance == 0,
                Some((last, _)) => chance > *last,
            };
            if !right {
                let message = "the percentages of a table must ascend from 0% to 100%";
                return Err(DistError::new(place, message));
            }
            let value = self.values()?;
            if let Some((_, last)) = points.last() {
                ascending(last, &value, &self.since(&start))?;
            }
            points.push((chance, value));
            if !self.take(Word::Comma) {
                break;
            }
        }
        match points.last() {
            Some((ONE, _)) => Ok(points),
            _ => Err(self.error("a table must end with the value at 100%")),
        }
    }

    /// `mean 2ms + 3% rtt`.
    fn named(&mut self, name: &str) -> Result<Linear, DistError> {
        self.word(name)?;
        self.values()
    }

    /// `, sigma 0.668`, in billionths.
    fn shape(&mut self, name: &str, bounds: (u64, u64)) -> Result<u64, DistError> {
        self.expect(
            Word::Comma,
            &format!("`, {name}` and a number are missing here"),
        )?;
        self.word(name)?;
        self.number(bounds)
    }

    fn word(&mut self, name: &str) -> Result<(), DistError> {
        match self.take_name(name) {
            true => Ok(()),
            false => Err(self.error(format!("`{name}` is missing here: {WRITE}"))),
        }
    }

    /// A plain number, in billionths.
    fn number(&mut self, (least, most): (u64, u64)) -> Result<u64, DistError> {
        let place = self.place();
        let number = match self.take(Word::Number) {
            true => NUMBER.parse(self.slice(&place)),
            false => Err("a number without a unit stands here, such as 0.7".to_owned()),
        };
        let number = number.map_err(|why| DistError::new(place.clone(), why))?;
        if number < least || number > most {
            let message = format!(
                "this number is from {} to {}",
                decimal(least, 9),
                decimal(most, 9)
            );
            return Err(DistError::new(place, message));
        }
        Ok(number)
    }

    /// Values joined by `+`.
    fn values(&mut self) -> Result<Linear, DistError> {
        let start = self.place();
        let mut sum = self.value()?;
        while self.take(Word::Plus) {
            let more = self.value()?;
            sum = self.add(&sum, &more, &start)?;
        }
        Ok(sum)
    }

    fn value(&mut self) -> Result<Linear, DistError> {
        let start = self.place();
        if !self.take(Word::Number) {
            let mut message = format!("a value is missing here: {}", self.kind.quantity().write);
            if let Some(word) = self.kind.relative() {
                message += &format!(", or a part: \"50% {word}\"");
            }
            return Err(DistError::new(start, message));
        }
        let unit = match self.name(0) {
            Some("rtt" | "bdp" | "clip") => false,
            unit => unit.is_some() || self.peek() == Some(Word::Percent),
        };
        self.at += usize::from(unit);
        let number = self.slice(&self.since(&start));
        if let Some(word) = self.name(0).filter(|word| matches!(*word, "rtt" | "bdp")) {
            self.at += 1;
            return self.kind.part_of(number, word, self.since(&start));
        }
        let value = self.kind.absolute(number);
        value.map_err(|why| DistError::new(self.since(&start), why))
    }
}

/// Refuses what can be seen to be the wrong way round.
fn ascending(low: &Linear, high: &Linear, place: &Range<usize>) -> Result<(), DistError> {
    if low.is_fixed() && high.is_fixed() && low.fixed > high.fixed {
        let message = "the first value is larger than the second: swap them";
        return Err(DistError::new(place.clone(), message));
    }
    Ok(())
}

//! From words to an expression.
//!
//! ```text
//! condition  = both { "or" both }
//! both       = one { "and" one }
//! one        = "not" one | "present" "(" NAME ")" | sum COMPARISON sum | "(" condition ")"
//! sum        = product { ("+" | "-") product }
//! product    = factor { ("*" | "/") factor }
//! factor     = "-" factor | NUMBER | NAME | "(" sum ")"
//! ```
//!
//! A parenthesis may open a condition or a sum; only what follows tells. Both are read as a
//! [`Tree`], and its kind is checked where it is used.

use super::expression::{Comparison, Condition, ExpressionError, Number, Operator};
use super::lex::{Span, Token, Word, tokens};

/// Bytes of an expression at most.
const MAX_TEXT: usize = 4096;
/// Parentheses, signs and `not` within each other at most: the parser recurses.
const MAX_DEPTH: usize = 64;

/// What was read: a condition or a number.
enum Tree {
    Condition(Condition),
    Number(Number),
}

type Read = Result<(Span, Tree), ExpressionError>;

/// Reads a whole text as a condition.
pub(crate) fn condition(text: &str) -> Result<Condition, ExpressionError> {
    whole(text, |parser, tree| parser.as_condition(tree))
}

/// Reads a whole text as a number.
pub(crate) fn formula(text: &str) -> Result<Number, ExpressionError> {
    whole(text, |parser, tree| parser.as_number(tree))
}

/// Reads a whole text; `kind` takes what was read for what it must be.
fn whole<T>(
    text: &str,
    kind: impl FnOnce(&Parser<'_>, (Span, Tree)) -> Result<T, ExpressionError>,
) -> Result<T, ExpressionError> {
    if text.len() > MAX_TEXT {
        let message = format!("the expression has more than {MAX_TEXT} bytes");
        return Err(ExpressionError::new(text, 0..0, message));
    }
    let tokens = tokens(text)?;
    let mut parser = Parser {
        text,
        tokens: &tokens,
        at: 0,
        depth: 0,
    };
    let tree = parser.either()?;
    if let Some(token) = parser.peek() {
        return Err(parser.error(
            &token.span,
            "unexpected text after the end of the expression",
        ));
    }
    kind(&parser, tree)
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn next_is(&mut self, word: &Word) -> bool {
        let is = self.peek().is_some_and(|token| token.word == *word);
        self.at += usize::from(is);
        is
    }

    fn error(&self, span: &Span, message: impl Into<String>) -> ExpressionError {
        ExpressionError::new(self.text, span.clone(), message)
    }

    fn as_condition(&self, (span, tree): (Span, Tree)) -> Result<Condition, ExpressionError> {
        match tree {
            Tree::Condition(condition) => Ok(condition),
            Tree::Number(_) => Err(self.error(
                &span,
                "a number alone is not a condition: compare it, such as `> 0`",
            )),
        }
    }

    fn as_number(&self, (span, tree): (Span, Tree)) -> Result<Number, ExpressionError> {
        match tree {
            Tree::Number(number) => Ok(number),
            Tree::Condition(_) => Err(self.error(&span, "a condition is not a number")),
        }
    }

    fn either(&mut self) -> Read {
        let mut left = self.both()?;
        while self.next_is(&Word::Or) {
            let right = self.both()?;
            let span = left.0.start..right.0.end;
            let (a, b) = (self.as_condition(left)?, self.as_condition(right)?);
            left = (span, Tree::Condition(Condition::Or(a.into(), b.into())));
        }
        Ok(left)
    }

    fn both(&mut self) -> Read {
        let mut left = self.one()?;
        while self.next_is(&Word::And) {
            let right = self.one()?;
            let span = left.0.start..right.0.end;
            let (a, b) = (self.as_condition(left)?, self.as_condition(right)?);
            left = (span, Tree::Condition(Condition::And(a.into(), b.into())));
        }
        Ok(left)
    }

    fn one(&mut self) -> Read {
        let Some(first) = self.peek() else {
            return self.sum();
        };
        if self.next_is(&Word::Not) {
            let inner = self.deeper(&first.span, Self::one)?;
            let span = first.span.start..inner.0.end;
            let inner = self.as_condition(inner)?;
            return Ok((span, Tree::Condition(Condition::Not(inner.into()))));
        }
        let left = self.sum()?;
        let Some(how) = self.comparison() else {
            return Ok(left);
        };
        let right = self.sum()?;
        if let Some(token) = self.peek()
            && matches!(token.word, Word::Compare(_))
        {
            return Err(self.error(
                &token.span,
                "comparisons cannot be chained: join two comparisons with `and`",
            ));
        }
        let span = left.0.start..right.0.end;
        let (a, b) = (self.as_number(left)?, self.as_number(right)?);
        Ok((span, Tree::Condition(Condition::Compare(a, how, b))))
    }

    fn comparison(&mut self) -> Option<Comparison> {
        match self.peek()?.word {
            Word::Compare(how) => {
                self.at += 1;
                Some(how)
            }
            _ => None,
        }
    }

    fn sum(&mut self) -> Read {
        self.chain(
            Self::product,
            &[
                (Word::Plus, Operator::Add),
                (Word::Minus, Operator::Subtract),
            ],
        )
    }

    fn product(&mut self) -> Read {
        self.chain(
            Self::factor,
            &[
                (Word::Times, Operator::Multiply),
                (Word::Over, Operator::Divide),
            ],
        )
    }

    fn chain(&mut self, part: fn(&mut Self) -> Read, operators: &[(Word, Operator)]) -> Read {
        let mut left = part(self)?;
        while let Some(token) = self.peek() {
            let Some((_, how)) = operators.iter().find(|(word, _)| *word == token.word) else {
                break;
            };
            self.at += 1;
            let right = part(self)?;
            let span = left.0.start..right.0.end;
            let (a, b) = (self.as_number(left)?, self.as_number(right)?);
            left = (span, Tree::Number(Number::Binary(a.into(), *how, b.into())));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Read {
        let Some(token) = self.peek() else {
            let end = self.text.len();
            return Err(self.error(&(end..end), "expected a measure or a number"));
        };
        self.at += 1;
        let span = token.span.clone();
        match &token.word {
            Word::Literal(n) => Ok((span, Tree::Number(Number::Literal(*n)))),
            Word::Name(name) => Ok((span, Tree::Number(Number::Measure(name.clone())))),
            Word::Minus => {
                let inner = self.deeper(&span, Self::factor)?;
                let span = span.start..inner.0.end;
                let inner = self.as_number(inner)?;
                Ok((span, Tree::Number(Number::Negative(inner.into()))))
            }
            Word::Open => {
                let (_, tree) = self.deeper(&span, Self::either)?;
                let end = self.close(&span)?;
                Ok((span.start..end, tree))
            }
            Word::Present => self.present(&span),
            _ => Err(self.error(&span, "expected a measure or a number here")),
        }
    }

    fn present(&mut self, span: &Span) -> Read {
        let open = self.next_is(&Word::Open);
        let name = match self.peek().map(|token| &token.word) {
            Some(Word::Name(name)) if open => name.clone(),
            _ => return Err(self.error(span, "write present(NAME)")),
        };
        self.at += 1;
        let end = self.close(span)?;
        Ok((span.start..end, Tree::Condition(Condition::Present(name))))
    }

    /// The end of the parenthesis that `open` began.
    fn close(&mut self, open: &Span) -> Result<usize, ExpressionError> {
        match self.peek() {
            Some(Token {
                span,
                word: Word::Close,
            }) => {
                self.at += 1;
                Ok(span.end)
            }
            Some(token) => Err(self.error(&token.span, "expected `)` here")),
            None => Err(self.error(open, "this parenthesis is not closed")),
        }
    }

    fn deeper(&mut self, span: &Span, part: fn(&mut Self) -> Read) -> Read {
        if self.depth == MAX_DEPTH {
            return Err(self.error(span, format!("more than {MAX_DEPTH} levels")));
        }
        self.depth += 1;
        let read = part(self);
        self.depth -= 1;
        read
    }
}

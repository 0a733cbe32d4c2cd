//! The words of an expression.

use std::ops::Range;

use super::expression::{Comparison, ExpressionError};

/// Bytes of the expression.
pub(crate) type Span = Range<usize>;

/// One word and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub span: Span,
    pub word: Word,
}

/// What a word is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    Name(String),
    Literal(f64),
    Compare(Comparison),
    And,
    Or,
    Not,
    Present,
    Plus,
    Minus,
    Times,
    Over,
    Open,
    Close,
}

/// Cuts a text into words.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (word, length) = match first {
            c if c.is_ascii_alphabetic() => name(rest),
            c if c.is_ascii_digit() => literal(text, at)?,
            '"' => quoted(text, at)?,
            _ => symbol(rest).ok_or_else(|| {
                let span = at..at + first.len_utf8();
                let message = match first {
                    '=' => "write == to compare".to_owned(),
                    c => format!("`{}` is not part of an expression", c.escape_default()),
                };
                ExpressionError::new(text, span, message)
            })?,
        };
        out.push(Token {
            span: at..at + length,
            word,
        });
        at += length;
    }
    Ok(out)
}

/// A measure or a keyword. A `-` between two letters or digits belongs to the name: names of hosts
/// and applications may have one.
fn name(rest: &str) -> (Word, usize) {
    let bytes = rest.as_bytes();
    let plain = |i: usize| {
        bytes
            .get(i)
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
    };
    let mut end = 0;
    while plain(end) || (matches!(bytes.get(end), Some(b'.' | b'-')) && plain(end + 1)) {
        end += 1;
    }
    let word = match rest.get(..end).unwrap_or_default() {
        "and" => Word::And,
        "or" => Word::Or,
        "not" => Word::Not,
        "present" => Word::Present,
        name => Word::Name(name.to_owned()),
    };
    (word, end)
}

/// A measure with spaces, such as `"rrul.TCP download sum.mean"`.
fn quoted(text: &str, at: usize) -> Result<(Word, usize), ExpressionError> {
    let rest = text.get(at + 1..).unwrap_or_default();
    let Some(end) = rest.find('"') else {
        let message = "the quotation mark is not closed".to_owned();
        return Err(ExpressionError::new(text, at..text.len(), message));
    };
    let name = rest.get(..end).unwrap_or_default().to_owned();
    Ok((Word::Name(name), end + 2))
}

fn literal(text: &str, at: usize) -> Result<(Word, usize), ExpressionError> {
    let rest = text.get(at..).unwrap_or_default();
    let bytes = rest.as_bytes();
    let digits = |from: usize| {
        let more = bytes.iter().skip(from).take_while(|b| b.is_ascii_digit());
        from + more.count()
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    let unit = bytes
        .iter()
        .skip(end)
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'%');
    let unit = unit.count();
    let error = |message: &str| ExpressionError::new(text, at..at + end + unit, message);
    if unit > 0 {
        return Err(error(
            "write the number without a unit: the measure's name shows the unit (`_us`, `_bps`)",
        ));
    }
    match rest.get(..end).unwrap_or_default().parse::<f64>() {
        Ok(n) if n.is_finite() => Ok((Word::Literal(n), end)),
        _ => Err(error("this is not a number")),
    }
}

fn symbol(rest: &str) -> Option<(Word, usize)> {
    const SYMBOLS: [(&str, Word); 15] = [
        ("==", Word::Compare(Comparison::Equal)),
        ("!=", Word::Compare(Comparison::NotEqual)),
        ("<=", Word::Compare(Comparison::AtMost)),
        (">=", Word::Compare(Comparison::AtLeast)),
        ("&&", Word::And),
        ("||", Word::Or),
        ("<", Word::Compare(Comparison::Less)),
        (">", Word::Compare(Comparison::Greater)),
        ("!", Word::Not),
        ("+", Word::Plus),
        ("-", Word::Minus),
        ("*", Word::Times),
        ("/", Word::Over),
        ("(", Word::Open),
        (")", Word::Close),
    ];
    let found = SYMBOLS.iter().find(|(symbol, _)| rest.starts_with(symbol));
    found.map(|(symbol, word)| (word.clone(), symbol.len()))
}

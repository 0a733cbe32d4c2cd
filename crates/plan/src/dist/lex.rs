//! The words of a distribution.

use std::ops::Range;

use super::{DistError, MAX_TEXT};

/// A word and its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub word: Word,
    pub place: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Digits with at most one point.
    Number,
    /// Letters: a keyword or a unit.
    Name,
    Percent,
    Open,
    Close,
    Comma,
    Bar,
    Plus,
    Range,
}

/// Cuts a text into words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, DistError> {
    if text.len() > MAX_TEXT {
        let message = format!("a distribution has at most {MAX_TEXT} bytes: shorten it");
        return Err(DistError::new(0..text.len(), message));
    }
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let (word, length) = match first {
            '0'..='9' => (Word::Number, number(rest)),
            '%' => (Word::Percent, 1),
            '(' => (Word::Open, 1),
            ')' => (Word::Close, 1),
            ',' => (Word::Comma, 1),
            '|' => (Word::Bar, 1),
            '+' => (Word::Plus, 1),
            '.' if rest.starts_with("..") => (Word::Range, 2),
            c if is_letter(c) => (Word::Name, leading(rest, is_letter)),
            c => {
                let message = match c {
                    '-' => "negative values are not allowed here".to_owned(),
                    '.' => "a number begins with a digit: write 0.5".to_owned(),
                    c => format!("`{}` is not part of a distribution", c.escape_default()),
                };
                return Err(DistError::new(at..at + c.len_utf8(), message));
            }
        };
        out.push(Token {
            word,
            place: at..at + length,
        });
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    Ok(out)
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == 'µ' || c == '_'
}

fn leading(text: &str, belongs: fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// Bytes of the number that the text begins with; two points end it.
fn number(text: &str) -> usize {
    let digits = |text: &str| leading(text, |c| c.is_ascii_digit());
    let whole = digits(text);
    let part = text.get(whole..).unwrap_or_default();
    match part.strip_prefix('.').map(digits) {
        Some(decimals) if decimals > 0 => whole + 1 + decimals,
        _ => whole,
    }
}

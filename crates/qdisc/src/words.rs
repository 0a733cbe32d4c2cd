//! Reading words of tc(8), one after another.

use std::iter::Peekable;
use std::str::SplitWhitespace;

use tcplab_base::quantity::{Quantity, TC_PERCENT, TC_RATE, TC_SIZE, TC_TIME};

/// What is wrong with some words: the word, why, and the words that may stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong<'a> {
    /// The word, a part of the text that was read.
    pub word: &'a str,
    /// What is wrong with it.
    pub why: String,
    /// What may stand in its place.
    pub known: &'static [&'static str],
}

impl<'a> Wrong<'a> {
    /// `word` is wrong.
    pub fn new(word: &'a str, why: impl Into<String>) -> Self {
        Self {
            word,
            why: why.into(),
            known: &[],
        }
    }

    /// `word` is not what may stand there: one of `known`.
    pub fn unknown(word: &'a str, what: &str, known: &'static [&'static str]) -> Self {
        Self {
            word,
            why: format!("`{word}` is not {what}; use one of {}", known.join(", ")),
            known,
        }
    }
}

/// A word of a qdisc, and what it does to what was said, with the value that follows it.
pub(crate) type Word<S> = (
    &'static str,
    for<'a> fn(&mut S, &mut Lexer<'a>) -> Result<(), Wrong<'a>>,
);

/// The words of a table.
pub(crate) const fn names<S, const N: usize>(table: &[Word<S>; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = table[at].0;
        at += 1;
    }
    names
}

/// Puts a value into its place, for rows of tables.
pub(crate) fn set<'a, T>(place: &mut T, value: Result<T, Wrong<'a>>) -> Result<(), Wrong<'a>> {
    *place = value?;
    Ok(())
}

/// The same of a value that stands fast.
pub(crate) fn put<'a, T>(place: &mut T, value: T) -> Result<(), Wrong<'a>> {
    set(place, Ok(value))
}

/// The words of a qdisc, one after another.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    rest: Peekable<SplitWhitespace<'a>>,
    whole: &'a str,
    /// The word before: what an error of a missing value shows.
    last: &'a str,
}

impl<'a> Lexer<'a> {
    /// The words of this text.
    pub fn new(text: &'a str) -> Self {
        Self {
            rest: text.split_whitespace().peekable(),
            whole: text,
            last: text,
        }
    }

    /// The text: what an error shows when something is missing in it.
    pub fn whole(&self) -> &'a str {
        self.whole
    }

    /// The next word.
    pub fn next_word(&mut self) -> Option<&'a str> {
        self.last = self.rest.next()?;
        Some(self.last)
    }

    /// The next word, left where it is.
    pub fn peek(&mut self) -> Option<&'a str> {
        self.rest.peek().copied()
    }

    /// The next word when it is this one.
    pub fn take(&mut self, word: &str) -> bool {
        let is = self.peek() == Some(word);
        if is {
            self.next_word();
        }
        is
    }

    /// The next word when it begins with a digit.
    pub fn take_value(&mut self) -> Option<&'a str> {
        self.peek().filter(|word| begins_with_digit(word))?;
        self.next_word()
    }

    /// The value of the word before.
    pub fn value(&mut self) -> Result<&'a str, Wrong<'a>> {
        self.value_of(self.last)
    }

    /// The next word, which is the value of this one.
    pub fn value_of(&mut self, key: &'a str) -> Result<&'a str, Wrong<'a>> {
        self.next_word()
            .ok_or_else(|| Wrong::new(key, format!("`{key}` needs a value")))
    }

    /// A rate in bits a second.
    pub fn rate(&mut self) -> Result<u64, Wrong<'a>> {
        quantity(self.value()?, &TC_RATE)
    }

    /// A time in nanoseconds; a number alone is microseconds.
    pub fn time(&mut self) -> Result<i64, Wrong<'a>> {
        time(self.value()?)
    }

    /// The next word as a time when it begins with a digit.
    pub fn take_time(&mut self) -> Result<Option<i64>, Wrong<'a>> {
        self.take_value().map(time).transpose()
    }

    /// A size in bytes.
    pub fn size(&mut self) -> Result<u32, Wrong<'a>> {
        let bytes = quantity(self.value()?, &TC_SIZE)?;
        Ok(u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    /// A percentage in parts of 10^9.
    pub fn percent(&mut self) -> Result<u32, Wrong<'a>> {
        percent(self.value()?)
    }

    /// A whole number from `least` to `most`.
    pub fn number(&mut self, least: i64, most: i64) -> Result<i64, Wrong<'a>> {
        let (key, word) = (self.last, self.value()?);
        word.parse()
            .ok()
            .filter(|n| (least..=most).contains(n))
            .ok_or_else(|| {
                let why =
                    format!("`{key}` takes a whole number from {least} to {most}, not `{word}`");
                Wrong::new(word, why)
            })
    }

    /// A whole number of 32 bits, hexadecimal behind `0x`.
    pub fn unsigned(&mut self) -> Result<u32, Wrong<'a>> {
        let (key, word) = (self.last, self.value()?);
        let n = match word.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => word.parse(),
        };
        n.map_err(|_| {
            let why = format!(
                "`{key}` takes a whole number up to {}, not `{word}`",
                u32::MAX
            );
            Wrong::new(word, why)
        })
    }

    /// A time in whole microseconds of 32 bits, as tc sends most; what is finer is cut off.
    pub fn micros(&mut self) -> Result<u32, Wrong<'a>> {
        let word = self.value()?;
        let us = quantity(word, &TC_TIME)? / 1_000;
        u32::try_from(us).map_err(|_| {
            let why = format!(
                "`{word}` is longer than the {} us that the kernel takes",
                u32::MAX
            );
            Wrong::new(word, why)
        })
    }

    /// A count of at least 1 that fits into 32 bits.
    pub fn count(&mut self, most: u32) -> Result<u32, Wrong<'a>> {
        let n = self.number(1, i64::from(most))?;
        Ok(u32::try_from(n).unwrap_or(most))
    }
}

/// Reads a quantity, or says what is wrong with its word.
pub fn quantity<'a>(word: &'a str, of: &Quantity) -> Result<u64, Wrong<'a>> {
    of.parse(word).map_err(|why| Wrong::new(word, why))
}

/// A percentage in parts of 10^9.
pub fn percent(word: &str) -> Result<u32, Wrong<'_>> {
    let ppb = quantity(word, &TC_PERCENT)?;
    Ok(u32::try_from(ppb).unwrap_or(u32::MAX))
}

/// A time in nanoseconds: bounded far below 2^63 by its quantity.
pub fn time(word: &str) -> Result<i64, Wrong<'_>> {
    Ok(quantity(word, &TC_TIME)?.cast_signed())
}

/// Whether a word is a value, and no word of its own.
pub fn begins_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

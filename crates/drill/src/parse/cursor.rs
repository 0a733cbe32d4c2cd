//! The place in the tokens, what was looked for there, and errors made of it.

use std::collections::BTreeMap;

use crate::error::ScriptError;
use crate::lex::{Kind, Token};
use crate::script::{At, Place};

/// The name that `#ifdef` finds defined without `-D`: the hosts under test behave as Linux.
const SYSTEM: &str = "Linux";

/// Deepest nesting of expressions.
const MAX_DEPTH: u32 = 32;

pub struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    /// What was looked for at this token, in order.
    tried: Vec<&'static str>,
    depth: u32,
    /// What was read and is not there ([`crate::script::Script::lacks`]).
    pub lacks: Vec<At<String>>,
    has_given_up: bool,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, tokens: Vec<Token<'a>>) -> Self {
        Self {
            text,
            tokens,
            at: 0,
            tried: Vec::new(),
            depth: 0,
            lacks: Vec::new(),
            has_given_up: false,
        }
    }

    /// Notes what a script asks for that is not there; reading goes on.
    pub fn lack(&mut self, place: Place, what: impl Into<String>) {
        self.lacks.push(At::new(place, what.into()));
    }

    /// Notes it; what follows cannot be read.
    pub fn give_up(&mut self, place: Place, what: impl Into<String>) -> ScriptError {
        let what = what.into();
        self.lack(place, what.clone());
        self.has_given_up = true;
        ScriptError::new(place, what)
    }

    pub fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub fn peek(&self) -> Option<Kind<'a>> {
        self.peek_at(0)
    }

    /// The token `ahead` tokens further on.
    pub fn peek_at(&self, ahead: usize) -> Option<Kind<'a>> {
        self.tokens.get(self.at + ahead).map(|t| t.kind)
    }

    /// Whether no blank stands between the token before and this one.
    pub fn is_joined(&self) -> bool {
        match (
            self.at.checked_sub(1).and_then(|at| self.tokens.get(at)),
            self.tokens.get(self.at),
        ) {
            (Some(before), Some(now)) => before.end == now.start,
            _ => false,
        }
    }

    /// The text of this token as it stands in the script.
    pub fn source(&self) -> &'a str {
        let token = self.tokens.get(self.at);
        token
            .and_then(|t| self.text.get(t.start..t.end))
            .unwrap_or_default()
    }

    /// Where this token begins, or the script ends.
    pub fn place(&self) -> Place {
        match (self.tokens.get(self.at), self.tokens.last()) {
            (Some(token), _) => token.place,
            (None, Some(last)) => Place {
                line: last.place.line,
                column: last
                    .place
                    .column
                    .saturating_add(u32::try_from(last.end - last.start).unwrap_or(0)),
            },
            (None, None) => Place { line: 1, column: 1 },
        }
    }

    pub fn bump(&mut self) {
        self.at += 1;
        self.tried.clear();
    }

    /// The same from here on, with values in the place of symbols, without what an `#ifdef` leaves out.
    ///
    /// # Errors
    /// An `#ifdef` inside another one, without its end, or an end without one.
    pub fn substituted<'b>(
        self,
        values: &BTreeMap<&'b str, Kind<'b>>,
    ) -> Result<Cursor<'b>, ScriptError>
    where
        'a: 'b,
    {
        let mut tokens: Vec<Token<'b>> = Vec::with_capacity(self.tokens.len());
        // Where an `#ifdef` that is open stands, and whether its lines count.
        let mut open: Option<(Place, bool)> = None;
        for (number, mut token) in self.tokens.into_iter().enumerate() {
            if number < self.at {
                tokens.push(token);
                continue;
            }
            match (token.kind, open) {
                (Kind::Ifdef(name), None) => {
                    let counts = name == SYSTEM || values.contains_key(name);
                    open = Some((token.place, counts));
                    continue;
                }
                (Kind::Ifdef(_), Some((at, _))) => {
                    let what = format!("the `#ifdef` of line {} is not closed yet", at.line);
                    return Err(ScriptError::new(token.place, what));
                }
                (Kind::Endif, Some(_)) => {
                    open = None;
                    continue;
                }
                (Kind::Endif, None) => {
                    return Err(ScriptError::new(token.place, "`#endif` without `#ifdef`"));
                }
                (_, Some((_, false))) => continue,
                (Kind::Word(word), _) => token.kind = *values.get(word).unwrap_or(&token.kind),
                _ => {}
            }
            tokens.push(token);
        }
        if let Some((place, _)) = open {
            return Err(ScriptError::new(
                place,
                "`#endif` of this `#ifdef` is missing",
            ));
        }
        let (at, lacks) = (self.at, self.lacks);
        Ok(Cursor {
            at,
            lacks,
            ..Cursor::new(self.text, tokens)
        })
    }

    /// Whether this keyword, sign or `...` is next.
    pub fn is(&self, what: &str) -> bool {
        self.peek().is_some_and(|kind| kind.is(what))
    }

    /// Takes this keyword, sign or `...` if it is next.
    pub fn eat(&mut self, what: &'static str) -> bool {
        let is_it = self.is(what);
        match is_it {
            true => self.bump(),
            false if self.tried.contains(&what) => {}
            false => self.tried.push(what),
        }
        is_it
    }

    /// Takes what another packetdrill writes here: messages do not offer it.
    pub fn eat_foreign(&mut self, what: &str) -> bool {
        let is_it = self.is(what);
        if is_it {
            self.bump();
        }
        is_it
    }

    /// Takes these keywords and signs (blanks between them), all of which must stand here.
    pub fn expect(&mut self, all: &'static str) -> Result<(), ScriptError> {
        match all.split(' ').all(|what| self.eat(what)) {
            true => Ok(()),
            false => Err(self.fail("")),
        }
    }

    /// The number behind this keyword, if the keyword is next.
    pub fn number_of<T: TryFrom<i64>>(
        &mut self,
        word: &'static str,
        what: &'static str,
    ) -> Result<Option<T>, ScriptError> {
        self.eat(word).then(|| self.unsigned(what)).transpose()
    }

    /// A word that the language does not know.
    pub fn word(&mut self, expected: &'static str) -> Result<At<String>, ScriptError> {
        let place = self.place();
        match self.peek() {
            Some(Kind::Word(word)) => {
                self.bump();
                Ok(At::new(place, word.to_string()))
            }
            _ => Err(self.fail(expected)),
        }
    }

    /// The number of this token; `None` if it is not a number.
    pub fn number(&self) -> Result<Option<i64>, ScriptError> {
        let value = match self.peek() {
            Some(Kind::Int(text)) => text.parse().ok(),
            Some(Kind::Hex(text)) => i64::from_str_radix(text.trim_start_matches("0x"), 16)
                .ok()
                .or_else(|| {
                    // Nothing but zeros is a number as well.
                    text.trim_start_matches(['0', 'x']).is_empty().then_some(0)
                }),
            Some(Kind::Number(_, value)) => Some(value),
            _ => return Ok(None),
        };
        match value {
            Some(value) => Ok(Some(value)),
            None => Err(self.error(format!(
                "the number {} does not fit in 64 bits",
                self.source()
            ))),
        }
    }

    /// Any number.
    pub fn int(&mut self, expected: &'static str) -> Result<i64, ScriptError> {
        match self.number()? {
            Some(value) => {
                self.bump();
                Ok(value)
            }
            None => Err(self.no_number(expected)),
        }
    }

    /// A number from 0 to what `T` holds. `what` names it in messages.
    pub fn unsigned<T: TryFrom<i64>>(&mut self, what: &'static str) -> Result<T, ScriptError> {
        self.fitting(8 * size_of::<T>(), what, |value| T::try_from(value).ok())
    }

    /// A number from 0 to `2^bits - 1`.
    pub fn bits(&mut self, bits: u32, what: &'static str) -> Result<u32, ScriptError> {
        self.fitting(bits as usize, what, |value| {
            let value = u32::try_from(value).ok()?;
            (u64::from(value) < 1 << bits.min(32)).then_some(value)
        })
    }

    fn fitting<T>(
        &mut self,
        bits: usize,
        what: &'static str,
        fits: impl FnOnce(i64) -> Option<T>,
    ) -> Result<T, ScriptError> {
        let Some(value) = self.number()? else {
            return Err(self.no_number(what));
        };
        let fitting = fits(value).ok_or_else(|| {
            self.error(format!(
                "{what} is {value}: it must fit in {bits} bits without a sign"
            ))
        })?;
        self.bump();
        Ok(fitting)
    }

    /// There should be a number here.
    fn no_number(&self, expected: &'static str) -> ScriptError {
        let mut error = self.fail(expected);
        if let Some(Kind::Word(word)) = self.peek() {
            error
                .what
                .push_str(&format!("; a symbol gets its value with `-D {word}=...`"));
        }
        error
    }

    /// Runs `inner` one level deeper.
    pub fn nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, ScriptError>,
    ) -> Result<T, ScriptError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(format!("nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// An error at this token.
    pub fn error(&self, what: impl Into<String>) -> ScriptError {
        ScriptError::new(self.place(), what)
    }

    /// An error at this token: what was found, what had been looked for and `expected` (may be empty).
    pub fn fail(&self, expected: &'static str) -> ScriptError {
        let found = match self.peek() {
            Some(kind) => kind.shown(),
            None => "the end of the script".into(),
        };
        let mut wanted: Vec<String> = self.tried.iter().map(|w| format!("`{w}`")).collect();
        if !expected.is_empty() {
            wanted.push(expected.to_string());
        }
        let last = wanted.pop().unwrap_or_default();
        let wanted = match wanted.is_empty() {
            true => last,
            false => format!("{} or {last}", wanted.join(", ")),
        };
        let near = match self.peek() {
            Some(Kind::Word(word) | Kind::Keyword(word)) => {
                crate::nearest::hint(word, self.tried.iter().copied())
            }
            _ => String::new(),
        };
        self.error(format!("found {found}, expected {wanted}{near}"))
    }
}

//! Options at the head of a script, and symbols that `--define` and `-D` give a value.

use std::collections::BTreeMap;

use super::cursor::Cursor;
use crate::error::ScriptError;
use crate::lex::Kind;
use crate::options::refused;
use crate::script::{At, ScriptOption};

/// Symbols with their values, as `-D NAME=VALUE` gives them. A later value of a name takes the place of the earlier.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Defines(Vec<(String, String)>);

impl Defines {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes `NAME=VALUE`: VALUE may be `"a string"`, `` `a shell line` ``, a number or a word.
    ///
    /// # Errors
    /// There is no name or no `=`.
    pub fn define(&mut self, text: &str) -> Result<(), String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                self.set(name, value);
                Ok(())
            }
            _ => Err(format!("`{text}` is not a definition: expected NAME=VALUE")),
        }
    }

    /// Gives `name` this value.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value.to_string(),
            None => self.0.push((name.to_string(), value.to_string())),
        }
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// All of them, in the order in which their names came.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// The options at the head, in order.
pub fn options(
    cursor: &mut Cursor<'_>,
    defines: &Defines,
) -> Result<Vec<ScriptOption>, ScriptError> {
    let mut out = Vec::new();
    while let Some(Kind::Option(name)) = cursor.peek() {
        let place = cursor.place();
        cursor.bump();
        let value = match cursor.eat("=") {
            true => Some(value(cursor, name, defines)?),
            false => None,
        };
        if let Some(reason) = refused(name) {
            cursor.lack(place, format!("--{name} {reason}"));
        }
        out.push(At::new(place, (name.to_string(), value)));
    }
    Ok(out)
}

/// The value of an option: a string, or everything up to the next blank; in it, strings and shell lines keep their
/// quotes (`CC="reno"`).
fn value(cursor: &mut Cursor<'_>, name: &str, defines: &Defines) -> Result<String, ScriptError> {
    let value = match cursor.peek() {
        None => return Err(cursor.fail("the option's value")),
        Some(Kind::Str(text)) => text.to_string(),
        Some(Kind::Word(word)) if name != "define" => match defines.get(word) {
            Some(value) => unquoted(value).to_string(),
            None => word.to_string(),
        },
        Some(Kind::Char('`' | '"' | '=') | Kind::Option(_) | Kind::Code(_)) => {
            return Err(cursor.fail("the option's value"));
        }
        Some(_) => cursor.source().to_string(),
    };
    let mut out = value;
    cursor.bump();
    while cursor.is_joined() {
        out.push_str(cursor.source());
        cursor.bump();
    }
    Ok(out)
}

fn unquoted(value: &str) -> &str {
    let inner = value.strip_prefix('"').or_else(|| value.strip_prefix('`'));
    match inner {
        // Removes the last character unchecked, as Google's does.
        Some(inner) => {
            let last = inner.char_indices().next_back().map_or(0, |(at, _)| at);
            &inner[..last]
        }
        None => value,
    }
}

/// The value of each symbol: the script's own definitions, overridden by those of the command line.
///
/// # Errors
/// An invalid definition.
pub fn values<'a>(
    options: &'a [ScriptOption],
    defines: &'a Defines,
) -> Result<BTreeMap<&'a str, Kind<'a>>, ScriptError> {
    let mut out = BTreeMap::new();
    for option in options {
        let (name, value) = &option.value;
        if name != "define" {
            continue;
        }
        match value.as_deref().and_then(|v| v.split_once('=')) {
            Some((symbol, value)) if !symbol.is_empty() => {
                out.insert(symbol, kind(value));
            }
            _ => {
                return Err(ScriptError::new(
                    option.place,
                    "expected `--define=NAME=VALUE`",
                ));
            }
        }
    }
    for (symbol, value) in defines.iter() {
        out.insert(symbol, kind(value));
    }
    Ok(out)
}

/// What a value is: `"a string"`, `` `a shell line` ``, a number as C writes it (`0x10`, `010`), or a word.
fn kind(value: &str) -> Kind<'_> {
    match value.bytes().next() {
        Some(b'"') => Kind::Str(unquoted(value)),
        Some(b'`') => Kind::Shell(unquoted(value)),
        _ => match c_number(value) {
            Some(number) => Kind::Number(value, number),
            None => Kind::Word(value),
        },
    }
}

/// A whole number as strtol(3) reads it with base 0.
fn c_number(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let (digits, base) = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(digits) => (digits, 16),
        None if digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(&format!("{sign}{digits}"), base).ok()
}

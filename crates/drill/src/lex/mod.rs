//! Text to tokens, as Google's lexer cuts them: the longest match wins, so `1:1001` is three tokens and `fd::1` an
//! address, `S.5` a word and a number, and `0...0.1` a number, an ellipsis and a number.
//!
//! Deliberately milder than Google's: comments end at the first `*/` (there `/* **/` runs on), a last `//` needs no end
//! of line, `\r` is a blank. Values of `--define` are put in by the parser, for it reads the options.

mod address;
mod token;

pub use token::{Kind, Token};

use crate::error::ScriptError;
use crate::script::Place;

/// Longest script in bytes.
pub const MAX_SCRIPT_BYTES: usize = 1 << 20;

/// The tokens of a script.
///
/// # Errors
/// A comment, string or block that has no end, or a script that is too long.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, ScriptError> {
    if text.len() > MAX_SCRIPT_BYTES {
        return Err(ScriptError::new(
            Place { line: 1, column: 1 },
            format!(
                "the script has {} bytes, more than {MAX_SCRIPT_BYTES}: is this a packetdrill script?",
                text.len()
            ),
        ));
    }
    let mut lexer = Lexer {
        text,
        at: 0,
        place: Place { line: 1, column: 1 },
    };
    let mut out = Vec::new();
    while let Some(token) = lexer.next()? {
        out.push(token);
    }
    Ok(out)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    place: Place,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Goes on by `len` bytes, which end at a character's end.
    fn advance(&mut self, len: usize) -> &'a str {
        let taken = self.rest().get(..len).unwrap_or_default();
        self.at += taken.len();
        match taken.rfind('\n') {
            None => self.place.column += count(taken),
            Some(last) => {
                self.place.line += u32::try_from(taken.matches('\n').count()).unwrap_or(u32::MAX);
                self.place.column = 1 + count(&taken[last + 1..]);
            }
        }
        taken
    }

    fn next(&mut self) -> Result<Option<Token<'a>>, ScriptError> {
        self.skip_blank()?;
        let place = self.place;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(None);
        };
        let start = self.at;
        let kind = match first {
            '"' | '`' => self.quoted(first)?,
            '%' if rest.starts_with("%{") => self.code()?,
            '#' if rest.starts_with("#ifdef") => self.ifdef()?,
            '#' if rest.starts_with("#endif") => {
                self.advance("#endif".len());
                Kind::Endif
            }
            _ => {
                let (kind, len) = longest(rest, first);
                self.advance(len);
                kind
            }
        };
        Ok(Some(Token {
            kind,
            place,
            start,
            end: self.at,
        }))
    }

    fn skip_blank(&mut self) -> Result<(), ScriptError> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            if blanks > 0 {
                self.advance(blanks);
            } else if rest.starts_with("//") {
                self.advance(rest.find('\n').unwrap_or(rest.len()));
            } else if let Some(inside) = rest.strip_prefix("/*") {
                let end = inside.find("*/");
                let end = end.ok_or_else(|| self.no_end("comment", "*/"))?;
                self.advance(end + 4);
            } else {
                return Ok(());
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<Kind<'a>, ScriptError> {
        let inner = &self.rest()[1..];
        let mut escaped = false;
        for (at, c) in inner.char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                let text = self.advance(at + 2);
                let text = &text[1..=at];
                return Ok(match quote {
                    '"' => Kind::Str(text),
                    _ => Kind::Shell(text),
                });
            }
        }
        Err(match quote {
            '"' => self.no_end("string", "\""),
            _ => self.no_end("shell line", "`"),
        })
    }

    fn code(&mut self) -> Result<Kind<'a>, ScriptError> {
        let end = self.rest().find("}%");
        let end = end.ok_or_else(|| self.no_end("block of code", "}%"))?;
        let text = self.advance(end + 2);
        Ok(Kind::Code(
            text.get(2..end)
                .unwrap_or_default()
                .trim_matches([' ', '\t']),
        ))
    }

    /// `#ifdef NAME`
    fn ifdef(&mut self) -> Result<Kind<'a>, ScriptError> {
        let after = &self.rest()["#ifdef".len()..];
        let name = after.trim_start_matches([' ', '\t']);
        let (blanks, len) = (after.len() - name.len(), run(name.as_bytes(), is_word));
        if blanks == 0 || len == 0 {
            let what = "`#ifdef` needs a name: `#ifdef Linux`";
            return Err(ScriptError::new(self.place, what));
        }
        self.advance("#ifdef".len() + blanks);
        Ok(Kind::Ifdef(self.advance(len)))
    }

    fn no_end(&self, what: &str, mark: &str) -> ScriptError {
        ScriptError::new(
            self.place,
            format!("the {what} that begins here is not closed: `{mark}` is missing"),
        )
    }
}

fn count(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

/// The longest token at the begin of `rest`, and its length in bytes.
fn longest<'a>(rest: &'a str, first: char) -> (Kind<'a>, usize) {
    let bytes = rest.as_bytes();
    let mut best = (Kind::Char(first), first.len_utf8());
    let mut offer = |kind: fn(&'a str) -> Kind<'a>, len: usize| {
        if len > best.1 || (len == best.1 && matches!(best.0, Kind::Char(_))) {
            best = (kind(rest.get(..len).unwrap_or_default()), len);
        }
    };
    if rest.starts_with("...") {
        offer(|_| Kind::Ellipsis, 3);
    }
    if rest.starts_with("sequence#") {
        offer(Kind::Keyword, 9);
    }
    offer(|text| Kind::Option(&text[2..]), option(bytes));
    offer(Kind::Float, float(bytes));
    offer(Kind::Int, integer(bytes));
    offer(Kind::Hex, hex(bytes));
    offer(Kind::word, run(bytes, is_word));
    offer(Kind::Ipv4, address::ipv4(bytes));
    offer(Kind::Ipv6, address::ipv6(bytes));
    best
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// How many bytes at the begin are such.
fn run(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|&&b| is(b)).count()
}

fn digits(bytes: &[u8]) -> usize {
    run(bytes, |b| b.is_ascii_digit())
}

fn option(bytes: &[u8]) -> usize {
    match bytes.strip_prefix(b"--") {
        Some(rest) if run(rest, is_word) > 0 => 2 + run(rest, is_word),
        _ => 0,
    }
}

fn float(bytes: &[u8]) -> usize {
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(&bytes[sign..]);
    let Some(rest) = bytes[sign + whole..].strip_prefix(b".") else {
        return 0;
    };
    match digits(rest) {
        0 => 0,
        fraction => sign + whole + 1 + fraction,
    }
}

fn integer(bytes: &[u8]) -> usize {
    let sign = usize::from(bytes.first() == Some(&b'-'));
    match digits(&bytes[sign..]) {
        0 => 0,
        digits => sign + digits,
    }
}

fn hex(bytes: &[u8]) -> usize {
    match bytes.strip_prefix(b"0x") {
        Some(rest) => match run(rest, |b| b.is_ascii_hexdigit()) {
            0 => 0,
            digits => 2 + digits,
        },
        None => 0,
    }
}

//! Python's tokens.

use super::{CodeError, Trouble};

#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    Name(String),
    Int(i128),
    Float(f64),
    Str(String),
    /// `f'...'`
    Format(String),
    Operator(&'static str),
    /// The end of a line outside of brackets.
    Newline,
    /// A line that begins with blanks.
    Indent,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Token {
    pub kind: Kind,
    pub line: u32,
    pub start: usize,
    pub end: usize,
}

/// Longest first.
const OPERATORS: &[&str] = &[
    "**=", "//=", "<<=", ">>=", "**", "//", "<<", ">>", "==", "!=", "<=", ">=", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "->", ":=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "<",
    ">", "=", "(", ")", "[", "]", "{", "}", ",", ":", ";", ".", "@",
];

struct Lexer<'a> {
    code: &'a str,
    at: usize,
    line: u32,
    brackets: u32,
    out: Vec<Token>,
}

/// The tokens of a block.
pub fn tokens(code: &str) -> Result<Vec<Token>, CodeError> {
    let mut lexer = Lexer {
        code,
        at: 0,
        line: 1,
        brackets: 0,
        out: Vec::new(),
    };
    while lexer.at < code.len() {
        lexer.step().map_err(|trouble| trouble.at(lexer.line))?;
    }
    lexer.push(Kind::Newline, 0);
    Ok(lexer.out)
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.code.get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, kind: Kind, len: usize) {
        self.out.push(Token {
            kind,
            line: self.line,
            start: self.at,
            end: self.at + len,
        });
        self.at += len;
    }

    fn is_line_start(&self) -> bool {
        self.brackets == 0 && self.out.last().is_none_or(|t| t.kind == Kind::Newline)
    }

    fn step(&mut self) -> Result<(), Trouble> {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else {
            return Ok(());
        };
        match c {
            '\n' => self.newline(),
            ' ' | '\t' | '\r' | '\x0c' => self.blanks(),
            '#' => self.at += rest.find('\n').unwrap_or(rest.len()),
            '\\' => return self.continued(),
            '0'..='9' => return self.number(),
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => return self.number(),
            '"' | '\'' => return self.string(0),
            _ if c == '_' || c.is_alphabetic() => return self.name(),
            _ => return self.operator(c),
        }
        Ok(())
    }

    fn newline(&mut self) {
        match self.brackets > 0 || self.is_line_start() {
            true => self.at += 1,
            false => self.push(Kind::Newline, 1),
        }
        self.line += 1;
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        let len = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\x0c']).len();
        // The first line's blanks have been taken away; empty lines and comments may begin with some.
        let is_indent = self.is_line_start()
            && self.at > 0
            && !rest[len..].starts_with(['\n', '#'])
            && len < rest.len();
        match is_indent && self.code.as_bytes().get(self.at - 1) == Some(&b'\n') {
            true => self.push(Kind::Indent, len),
            false => self.at += len,
        }
    }

    fn continued(&mut self) -> Result<(), Trouble> {
        let after = self.rest()[1..].trim_start_matches('\r');
        if after.starts_with('\n') || after.is_empty() {
            self.at = self.code.len() - after.len() + usize::from(!after.is_empty());
            self.line += 1;
            // The next text belongs to the same line, so its blanks are no indentation.
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
            return Ok(());
        }
        Err(Trouble::Wrong(
            "a character follows the `\\` that continues a line".into(),
        ))
    }

    fn name(&mut self) -> Result<(), Trouble> {
        let rest = self.rest();
        let len = rest
            .find(|c: char| c != '_' && !c.is_alphanumeric())
            .unwrap_or(rest.len());
        let name = &rest[..len];
        let is_prefix = len <= 2 && rest[len..].starts_with(['"', '\'']);
        if is_prefix {
            return self.string(len);
        }
        self.push(Kind::Name(name.to_string()), len);
        Ok(())
    }

    fn operator(&mut self, c: char) -> Result<(), Trouble> {
        let Some(found) = OPERATORS.iter().find(|o| self.rest().starts_with(**o)) else {
            return Err(Trouble::Wrong(format!(
                "`{}` is not Python",
                c.escape_debug()
            )));
        };
        match *found {
            "(" | "[" | "{" => self.brackets += 1,
            ")" | "]" | "}" => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        self.push(Kind::Operator(found), found.len());
        Ok(())
    }

    fn number(&mut self) -> Result<(), Trouble> {
        let rest = self.rest();
        let lower = rest.get(..2).unwrap_or_default().to_ascii_lowercase();
        let base = match lower.as_str() {
            "0x" => 16,
            "0o" => 8,
            "0b" => 2,
            _ => 10,
        };
        if base != 10 {
            let len = 2 + rest[2..]
                .bytes()
                .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
                .count();
            let digits = rest[2..len].replace('_', "");
            let value = i128::from_str_radix(&digits, base);
            let value =
                value.map_err(|_| Trouble::NeedsPython(format!("the number {}", &rest[..len])))?;
            self.push(Kind::Int(value), len);
            return Ok(());
        }
        let mut len = 0;
        let bytes = rest.as_bytes();
        while let Some(b) = bytes.get(len) {
            let is_exponent = matches!(bytes.get(len.wrapping_sub(1)), Some(b'e' | b'E'));
            let goes_on = b.is_ascii_alphanumeric()
                || matches!(b, b'.' | b'_')
                || (is_exponent && matches!(b, b'+' | b'-'));
            if !goes_on {
                break;
            }
            len += 1;
        }
        let digits = rest[..len].replace('_', "");
        let kind = if digits.bytes().all(|b| b.is_ascii_digit()) {
            let value = digits.parse();
            Kind::Int(value.map_err(|_| Trouble::NeedsPython(format!("the number {digits}")))?)
        } else {
            let value = digits.parse();
            Kind::Float(value.map_err(|_| Trouble::Wrong(format!("`{digits}` is not a number")))?)
        };
        self.push(kind, len);
        Ok(())
    }

    /// A string whose prefix has `prefix` bytes.
    fn string(&mut self, prefix: usize) -> Result<(), Trouble> {
        let rest = self.rest();
        let kind = rest[..prefix].to_ascii_lowercase();
        if !matches!(kind.as_str(), "" | "f" | "r" | "u" | "fr" | "rf") {
            return Err(Trouble::NeedsPython(format!("the string prefix `{kind}`")));
        }
        let body = &rest[prefix..];
        let quote = match body.get(..3) {
            Some(three @ ("\"\"\"" | "'''")) => three,
            _ => &body[..1],
        };
        let inner = &body[quote.len()..];
        let end = end_of_string(inner, quote)
            .ok_or_else(|| Trouble::Wrong("a string has no end".into()))?;
        let text = &inner[..end];
        let lines = u32::try_from(text.matches('\n').count()).unwrap_or(0);
        let token = if kind.contains('f') {
            Kind::Format(text.to_string())
        } else if kind.contains('r') {
            Kind::Str(text.to_string())
        } else {
            Kind::Str(unescape(text)?)
        };
        self.push(token, prefix + 2 * quote.len() + end);
        self.line += lines;
        Ok(())
    }
}

fn end_of_string(text: &str, quote: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if text[at..].starts_with(quote) {
            return Some(at);
        } else if c == '\n' && quote.len() == 1 {
            return None;
        }
    }
    None
}

pub(super) fn unescape(text: &str) -> Result<String, Trouble> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(same @ ('\\' | '\'' | '"')) => out.push(same),
            Some('\n') => {}
            other => {
                let shown = other.map(String::from).unwrap_or_default();
                return Err(Trouble::NeedsPython(format!("the escape `\\{shown}`")));
            }
        }
    }
    Ok(out)
}

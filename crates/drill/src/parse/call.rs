//! System calls: `...0.2 accept(3, ..., ...) = 4`, `read(4, ..., 1) = -1 EAGAIN (Resource temporarily unavailable)`.

use super::cursor::Cursor;
use super::structs;
use crate::error::ScriptError;
use crate::lex::Kind;
use crate::script::{At, CallSpec, Expr, Place, Time};
use crate::symbols::{self, Foreign};

/// Most operands of one `|` chain.
const MAX_OPERANDS: usize = 64;

pub fn call(cursor: &mut Cursor<'_>, time: Time) -> Result<CallSpec, ScriptError> {
    let ends = end_time(cursor, time)?;
    let place = cursor.place();
    let name = cursor.word("the name of a system call")?;
    foreign(cursor, place, &name.value)?;
    cursor.expect("(")?;
    let args = match cursor.peek() {
        Some(Kind::Char(')')) => Vec::new(),
        _ => list(cursor)?,
    };
    let close = cursor.place();
    cursor.expect(") =")?;
    let result = expression(cursor)?;
    let mut errno = None;
    let mut text = None;
    if let Some(Kind::Word(_)) = cursor.peek() {
        errno = Some(cursor.word("an errno")?);
        text = Some(note(cursor)?);
    }
    if cursor.is("(") {
        text = Some(note(cursor)?);
    }
    Ok(CallSpec {
        name,
        ends,
        args,
        close,
        result,
        errno,
        note: text,
    })
}

fn end_time(cursor: &mut Cursor<'_>, begins: Time) -> Result<Option<i64>, ScriptError> {
    if !cursor.eat("...") {
        return Ok(None);
    }
    let place = cursor.place();
    let ends = super::time(cursor)?;
    match begins {
        Time::Absolute(us) | Time::Relative(us) if ends < us => {
            Err(ScriptError::new(place, "the call ends before it begins"))
        }
        _ => Ok(Some(ends)),
    }
}

/// `(words)`
fn note(cursor: &mut Cursor<'_>) -> Result<String, ScriptError> {
    cursor.expect("(")?;
    let mut words: Vec<&str> = Vec::new();
    while let Some(Kind::Word(word) | Kind::Keyword(word)) = cursor.peek() {
        words.push(word);
        cursor.bump();
    }
    if words.is_empty() {
        return Err(cursor.fail("the words of a note"));
    }
    cursor.expect(")")?;
    Ok(words.join(" "))
}

/// Expressions with commas between.
pub fn list(cursor: &mut Cursor<'_>) -> Result<Vec<At<Expr>>, ScriptError> {
    let mut out = vec![expression(cursor)?];
    while cursor.eat(",") {
        out.push(expression(cursor)?);
    }
    Ok(out)
}

/// `A|B|C` binds to the right, and everything after `name =` belongs to it.
pub fn expression(cursor: &mut Cursor<'_>) -> Result<At<Expr>, ScriptError> {
    cursor.nested(|cursor| {
        let mut operands = vec![operand(cursor)?];
        while cursor.eat("|") {
            if operands.len() >= MAX_OPERANDS {
                return Err(cursor.error(format!("more than {MAX_OPERANDS} operands of `|`")));
            }
            operands.push(operand(cursor)?);
        }
        let mut value = operands.pop();
        while let Some(left) = operands.pop() {
            value =
                value.map(|right| At::new(left.place, Expr::Or(Box::new(left), Box::new(right))));
        }
        value.ok_or_else(|| cursor.fail("an expression"))
    })
}

fn operand(cursor: &mut Cursor<'_>) -> Result<At<Expr>, ScriptError> {
    let place = cursor.place();
    let value = match cursor.peek() {
        Some(Kind::Ellipsis) => {
            cursor.bump();
            Expr::Ellipsis
        }
        Some(Kind::Word(word)) => {
            cursor.bump();
            foreign(cursor, place, word)?;
            match cursor.eat("=") {
                true => Expr::Assign(word.to_string(), Box::new(expression(cursor)?)),
                false => Expr::Word(word.to_string()),
            }
        }
        Some(Kind::Str(_)) => strings(cursor)?,
        Some(Kind::Char('[')) => array(cursor)?.value,
        Some(Kind::Char('{')) => structs::braces(cursor)?,
        Some(Kind::Keyword("inet_addr")) => {
            cursor.bump();
            Expr::InetAddr(structs::address(cursor, "an IPv4 address")?)
        }
        Some(Kind::Keyword("inet6_addr")) => {
            cursor.bump();
            Expr::Inet6Addr(structs::address(cursor, "an IPv6 address")?)
        }
        _ => Expr::Int(
            cursor.int("an argument or a result: a number, a symbol, a string, `...`, `[`, `{`")?,
        ),
    };
    Ok(At { place, value })
}

/// Notes a word that only other systems have.
fn foreign(cursor: &mut Cursor<'_>, place: Place, word: &str) -> Result<(), ScriptError> {
    match symbols::foreign(word) {
        Some((Foreign::Protocol(_), what)) => return Err(cursor.give_up(place, what)),
        Some((Foreign::FreeBsd(_), what)) => cursor.lack(place, what),
        None => {}
    }
    Ok(())
}

/// `[a, b]`
pub fn array(cursor: &mut Cursor<'_>) -> Result<At<Expr>, ScriptError> {
    let place = cursor.place();
    cursor.expect("[")?;
    let items = match cursor.peek() {
        Some(Kind::Char(']')) => Vec::new(),
        _ => list(cursor)?,
    };
    cursor.expect("]")?;
    Ok(At::new(place, Expr::List(items)))
}

/// `"..."`, several in a row, or `"..."...`
fn strings(cursor: &mut Cursor<'_>) -> Result<Expr, ScriptError> {
    let mut bytes = Vec::new();
    let mut number = 0;
    while let Some(Kind::Str(text)) = cursor.peek() {
        unescape(text, &mut bytes).map_err(|what| cursor.error(what))?;
        cursor.bump();
        number += 1;
    }
    match number == 1 && cursor.eat("...") {
        true => Ok(Expr::StrPrefix(bytes)),
        false => Ok(Expr::Str(bytes)),
    }
}

/// Resolves `\\`, `\"`, `\f`, `\n`, `\r`, `\t`, `\v` and `\xhh`.
fn unescape(text: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'\\' {
            out.push(first);
            continue;
        }
        let escape = rest.first().copied();
        rest = rest.get(1..).unwrap_or_default();
        out.push(match escape {
            Some(b'\\') => b'\\',
            Some(b'"') => b'"',
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 0x0b,
            Some(b'x') => {
                let digit = |at: usize| rest.get(at).and_then(|&b| char::from(b).to_digit(16));
                let (Some(high), Some(low)) = (digit(0), digit(1)) else {
                    return Err(
                        "`\\x` in this string is not followed by two hexadecimal digits".into(),
                    );
                };
                rest = &rest[2..];
                u8::try_from(high * 16 + low).unwrap_or(0)
            }
            _ => {
                return Err(
                    "this string has an escape that is none of \\\\ \\\" \\f \\n \\r \\t \\v \\xhh"
                        .into(),
                );
            }
        });
    }
    Ok(())
}

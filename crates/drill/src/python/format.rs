//! Text out of values: `'%d of %s' % (a, b)` and `f'{a} of {b}'`.

use super::eval::{MAX_TEXT_BYTES, eval};
use super::value::{Value, Vars};
use super::{Trouble, lex, parse};

/// Widest field.
const MAX_WIDTH: usize = 200;

/// `text % values`
pub fn percent(text: &str, values: &Value) -> Result<String, Trouble> {
    let mut values = match values {
        Value::List(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    }
    .iter();
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let (spec, after) = spec(&rest[at + 1..])?;
        rest = after;
        if spec.kind == '%' {
            out.push('%');
        } else {
            let value = values.next().ok_or_else(|| {
                Trouble::Wrong("not enough arguments for the format string".into())
            })?;
            out.push_str(&spec.format(value)?);
        }
        if out.len() > MAX_TEXT_BYTES {
            return Err(Trouble::NeedsPython("very long strings".into()));
        }
    }
    out.push_str(rest);
    match values.next() {
        None => Ok(out),
        Some(_) => Err(Trouble::Wrong(
            "not all arguments were used by the format string".into(),
        )),
    }
}

/// `%[-0][WIDTH][.DIGITS]KIND`
struct Spec {
    is_left: bool,
    zeros: bool,
    width: usize,
    digits: Option<usize>,
    kind: char,
}

fn spec(text: &str) -> Result<(Spec, &str), Trouble> {
    let flags = text.len() - text.trim_start_matches(['-', '0']).len();
    let (flags, rest) = text.split_at(flags);
    let (width, rest) = number(rest);
    let (digits, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let (digits, rest) = number(rest);
            (Some(digits.unwrap_or(0)), rest)
        }
        None => (None, rest),
    };
    let rest = rest.trim_start_matches('l');
    let kind = rest
        .chars()
        .next()
        .ok_or_else(|| Trouble::Wrong("incomplete format".into()))?;
    let spec = Spec {
        is_left: flags.contains('-'),
        zeros: flags.contains('0'),
        width: width.unwrap_or(0),
        digits,
        kind,
    };
    if spec.width > MAX_WIDTH || spec.digits.is_some_and(|d| d > MAX_WIDTH) {
        return Err(Trouble::NeedsPython("a very wide field".into()));
    }
    Ok((spec, &rest[kind.len_utf8()..]))
}

fn number(text: &str) -> (Option<usize>, &str) {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(len);
    match digits.is_empty() {
        true => (None, rest),
        // Too many digits are too wide.
        false => (Some(digits.parse().unwrap_or(usize::MAX)), rest),
    }
}

impl Spec {
    fn format(&self, value: &Value) -> Result<String, Trouble> {
        let wrong = || Trouble::Wrong(format!("%{} is not for {}", self.kind, value.kind()));
        let int = || match value {
            Value::Float(f) if f.is_finite() && f.abs() < 1e38 => Some(f.trunc() as i128),
            other => other.int(),
        };
        let text = match self.kind {
            'd' | 'i' | 'u' => int().ok_or_else(wrong)?.to_string(),
            'x' => format!("{:x}", value.int().ok_or_else(wrong)?),
            'X' => format!("{:X}", value.int().ok_or_else(wrong)?),
            'o' => format!("{:o}", value.int().ok_or_else(wrong)?),
            'f' | 'F' => format!(
                "{:.*}",
                self.digits.unwrap_or(6),
                value.float().ok_or_else(wrong)?
            ),
            's' => value.text(),
            'r' => value.shown(),
            other => return Err(Trouble::NeedsPython(format!("the format %{other}"))),
        };
        let missing = self.width.saturating_sub(text.chars().count());
        Ok(match (self.is_left, self.zeros, text.strip_prefix('-')) {
            (true, ..) => text + &" ".repeat(missing),
            (false, true, Some(digits)) => format!("-{}{digits}", "0".repeat(missing)),
            (false, true, None) => "0".repeat(missing) + &text,
            (false, false, _) => " ".repeat(missing) + &text,
        })
    }
}

/// The text of `f'...'`; `text` is the part between the quotes. Supported formats after `:` are `d` and `.Nf`.
pub fn f_string(text: &str, vars: &Vars) -> Result<String, Trouble> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&lex::unescape(&rest[..at])?);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            out.push_str(brace);
            rest = after;
            continue;
        }
        let end = rest.find('}').filter(|_| brace == "{");
        let end =
            end.ok_or_else(|| Trouble::Wrong("a brace of an f-string stands alone".into()))?;
        out.push_str(&field(&rest[..end], vars)?);
        rest = &rest[end + 1..];
        if out.len() > MAX_TEXT_BYTES {
            return Err(Trouble::NeedsPython("very long strings".into()));
        }
    }
    out.push_str(&lex::unescape(rest)?);
    Ok(out)
}

fn field(text: &str, vars: &Vars) -> Result<String, Trouble> {
    let (code, how) = text.split_once(':').unwrap_or((text, ""));
    let value = eval(&parse::expression(code.trim())?, vars)?;
    if how.is_empty() {
        return Ok(value.text());
    }
    let (spec, rest) = spec(how)?;
    match (rest, spec.kind) {
        ("", 'd' | 'f' | 'x') => spec.format(&value),
        _ => Err(Trouble::NeedsPython(format!(
            "the format `{how}` of an f-string"
        ))),
    }
}

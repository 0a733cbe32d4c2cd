//! Tokens to a [`Script`]: a recursive descent over the grammar that Google's version has.
//!
//! What one line alone can have wrong is found here (ranges, lengths, times for packets only); what depends on the
//! mode or on earlier lines is the run's business.

mod call;
mod cursor;
mod define;
mod packet;
mod structs;
mod tcp_option;

pub use define::Defines;

use crate::error::ScriptError;
use crate::lex::{self, Kind};
use crate::script::{Action, At, Direction, Event, Script, Time};
use cursor::Cursor;

/// Longest time that a script may name, in microseconds: their sum must fit in 64 bits.
const MAX_TIME_US: i64 = 1_000_000_000_000;

/// Reads a script. `defines` are those of the command line: they win over `--define` in the script.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn parse(text: &str, defines: &Defines) -> Result<Script, ScriptError> {
    let mut head = Cursor::new(text, lex::tokens(text)?);
    let options = define::options(&mut head, defines)?;
    let values = define::values(&options, defines)?;
    let mut cursor = head.substituted(&values)?;
    let mut script = Script {
        options: options.clone(),
        ..Script::default()
    };
    script.init = shell(&mut cursor);
    while !cursor.is_at_end() && !matches!(cursor.peek(), Some(Kind::Shell(_))) {
        match event(&mut cursor) {
            Ok(event) => script.events.push(event),
            Err(_) if cursor.has_given_up() => {
                script.lacks = cursor.lacks;
                return Ok(script);
            }
            Err(wrong) => return Err(wrong),
        }
    }
    if script.events.is_empty() {
        return Err(cursor.fail("the time of the first event (`0`, `+.1`)"));
    }
    script.cleanup = shell(&mut cursor);
    script.lacks = std::mem::take(&mut cursor.lacks);
    match cursor.is_at_end() {
        true => Ok(script),
        false => {
            Err(cursor.fail("the end of the script: a shell line without a time is the last one"))
        }
    }
}

fn shell(cursor: &mut Cursor<'_>) -> Option<At<String>> {
    let place = cursor.place();
    match cursor.peek() {
        Some(Kind::Shell(line)) => {
            cursor.bump();
            Some(At::new(place, line.to_string()))
        }
        _ => None,
    }
}

fn event(cursor: &mut Cursor<'_>) -> Result<Event, ScriptError> {
    let place = cursor.place();
    let time = event_time(cursor)?;
    let action = match cursor.peek() {
        Some(Kind::Char('<' | '>')) => Action::Packet(Box::new(packet::packet(cursor)?)),
        Some(Kind::Ellipsis | Kind::Word(_)) => Action::Call(Box::new(call::call(cursor, time)?)),
        Some(Kind::Shell(_)) => match shell(cursor) {
            Some(line) => Action::Shell(line),
            None => return Err(cursor.fail("a shell line")),
        },
        Some(Kind::Code(text)) => {
            let value = At::new(cursor.place(), text.to_string());
            cursor.bump();
            Action::Code(value)
        }
        _ => {
            return Err(
                cursor.fail("`<` or `>` and a packet, a system call, a shell line or `%{ code }%`")
            );
        }
    };
    let is_outbound = matches!(&action, Action::Packet(p) if p.direction == Direction::Out);
    if !is_outbound && !matches!(time, Time::Absolute(_) | Time::Relative(_)) {
        return Err(ScriptError::new(
            place,
            "`*` and ranges of time are for packets that leave (`>`) only",
        ));
    }
    Ok(Event {
        place,
        time,
        action,
    })
}

fn event_time(cursor: &mut Cursor<'_>) -> Result<Time, ScriptError> {
    let place = cursor.place();
    if cursor.eat("*") {
        return Ok(Time::Any);
    }
    let is_relative = cursor.eat("+");
    let from = time(cursor)?;
    let to = match cursor.eat("~") {
        true => {
            if is_relative {
                cursor.expect("+")?;
            }
            Some(time(cursor)?)
        }
        false => None,
    };
    if to.is_some_and(|to| to < from) {
        return Err(ScriptError::new(
            place,
            "the range of time ends before it begins",
        ));
    }
    Ok(match (is_relative, to) {
        (false, None) => Time::Absolute(from),
        (true, None) => Time::Relative(from),
        (false, Some(to)) => Time::AbsoluteRange(from, to),
        (true, Some(to)) => Time::RelativeRange(from, to),
    })
}

/// Seconds, in microseconds; what is beyond microseconds is cut off.
fn time(cursor: &mut Cursor<'_>) -> Result<i64, ScriptError> {
    let text = match cursor.peek() {
        Some(Kind::Float(text) | Kind::Int(text)) => text,
        // The number that a symbol stands for.
        Some(Kind::Number(_, seconds)) => {
            let us = micros(cursor, &seconds.to_string())?;
            cursor.bump();
            return Ok(us);
        }
        _ => return Err(cursor.fail("a time in seconds (`0.1`, `+.1`, `*`)")),
    };
    let us = micros(cursor, text)?;
    cursor.bump();
    Ok(us)
}

fn micros(cursor: &Cursor<'_>, text: &str) -> Result<i64, ScriptError> {
    if text.starts_with('-') {
        return Err(cursor.error(format!("the time {text} is negative")));
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = match whole {
        "" => Some(0),
        digits => digits
            .parse::<i64>()
            .ok()
            .and_then(|s| s.checked_mul(1_000_000)),
    };
    let mut micros: i64 = 0;
    for at in 0..6 {
        let digit = fraction
            .as_bytes()
            .get(at)
            .map_or(0, |b| i64::from(b.wrapping_sub(b'0')));
        micros = micros * 10 + digit;
    }
    match whole.and_then(|whole| whole.checked_add(micros)) {
        Some(us) if us <= MAX_TIME_US => Ok(us),
        _ => Err(cursor.error(format!("the time {text} is longer than a million seconds"))),
    }
}

#[cfg(test)]
mod tests;

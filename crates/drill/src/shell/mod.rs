//! Shell lines of scripts are understood, never run: the known forms become [`Setting`]s of the host, anything else is
//! refused with the words that were not understood.
//!
//! What a real shell would not do either is not done: a comment, the right side of `a || b` when `a` goes well. Nothing
//! here opens a file: the suite's `defaults.sh` and `set_sysctls.py` are known by name, with our own table of what
//! the first one sets.

mod arithmetic;
mod commands;
mod defaults;
mod split;

use crate::target::Setting;
use split::{Command, Joint};

/// Longest shell line in bytes, and most commands in it.
const MAX_LINE_BYTES: usize = 64 << 10;

/// What a shell line asks for, in order.
///
/// # Errors
/// What was not understood: the words for "skipped: ...".
pub fn interpret(line: &str) -> Result<Vec<Setting>, String> {
    if line.len() > MAX_LINE_BYTES {
        return Err("needs shell: the line is very long".into());
    }
    let commands = split::split(line).map_err(|what| format!("needs shell {what}"))?;
    let mut out = Vec::new();
    let mut went_well = true;
    let mut joint = Joint::Then;
    for Command {
        words,
        output,
        next,
    } in &commands
    {
        let is_made = match joint {
            Joint::Then => true,
            Joint::And => went_well,
            Joint::Or => !went_well,
        };
        joint = *next;
        if is_made {
            let before = out.len();
            went_well = commands::command(words, output.as_deref(), &mut out).map_err(|what| {
                let text: Vec<&str> = words.iter().map(String::as_str).collect();
                format!("needs shell `{}`: {what}", cut(&text.join(" ")))
            })?;
            // What the left side of `||` could not do has not happened.
            if !went_well && joint == Joint::Or {
                out.truncate(before);
            }
        }
    }
    Ok(out)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests;

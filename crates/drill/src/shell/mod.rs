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
    let mut commands = commands.iter();
    while let Some(command) = commands.next() {
        let is_made = match joint {
            Joint::Then => true,
            Joint::And => went_well,
            Joint::Or => !went_well,
            Joint::Into => return Err(refused(&command.words, NO_PIPE)),
        };
        joint = command.next;
        if joint == Joint::Into {
            joint = pipe(command, commands.next(), is_made, &mut out)?;
            went_well = true;
            continue;
        }
        if is_made {
            let before = out.len();
            went_well = commands::command(&command.words, command.output.as_deref(), &mut out)
                .map_err(|what| refused(&command.words, &what))?;
            // What the left side of `||` could not do has not happened.
            if !went_well && joint == Joint::Or {
                out.truncate(before);
            }
        }
    }
    Ok(out)
}

const NO_PIPE: &str = "of pipes, `nstat | grep NAME` is understood";

/// A command with its output going into the next one; how that one is joined to what comes after it.
fn pipe(
    from: &Command,
    to: Option<&Command>,
    is_made: bool,
    out: &mut Vec<Setting>,
) -> Result<Joint, String> {
    let no_pipe = || refused(&from.words, NO_PIPE);
    let to = to.ok_or_else(no_pipe)?;
    let before = out.len();
    if from.output.is_some()
        || to.output.is_some()
        || !commands::counter(&from.words, &to.words, out)
    {
        return Err(no_pipe());
    }
    if !is_made {
        out.truncate(before);
    }
    Ok(to.next)
}

fn refused(words: &[String], what: &str) -> String {
    format!("needs shell `{}`: {what}", cut(&words.join(" ")))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests;

//! Shell lines of scripts are understood, never run: the known forms become [`Setting`]s of the host, anything else is
//! refused with the words that were not understood.
//!
//! What a real shell would not do either is not done: a comment, the right side of `a || b` when `a` goes well. Nothing
//! here opens a file: `set_sysctls.py` is known by name, and the text of a `defaults.sh` is the caller's business.
//! Google's own is known by name as well, with our table of its settings.

mod arithmetic;
mod commands;
mod defaults;
mod split;

use crate::target::Setting;
use split::{Command, Joint};

/// Longest shell line in bytes, and most commands in it.
const MAX_LINE_BYTES: usize = 64 << 10;

/// What a command asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A setting of the host.
    Set(Setting),
    /// `nstat`: what counters have grown by since it was called last. With `grep`, one of them must have.
    Counters {
        /// The one that must have grown.
        wanted: Option<Growth>,
        /// They count from the same point as before (`-s`).
        keeps: bool,
    },
    /// `grep " 0A " /proc/net/tcp /proc/net/tcp6 | grep ":1F90"`: a socket must listen on this port.
    Listens(u16),
    /// `sysctl NAME`: it is read, and nobody sees its value; the host must have it.
    HasSysctl(String),
    /// This command, which decides how the line ends, fails in a shell, and the script with it.
    Fails(String),
}

/// A counter that must have grown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Growth {
    /// A part of its name.
    pub name: String,
    /// By how much (`grep " 3 "`); none: by anything.
    pub by: Option<i64>,
}

/// Steps in order.
#[derive(Default)]
struct Steps(Vec<Step>);

impl Steps {
    fn set(&mut self, setting: Setting) {
        self.0.push(Step::Set(setting));
    }

    /// A shell goes on if one of these steps fails: sysctls may be missing.
    fn may_fail(&mut self, from: usize, to: usize) {
        for step in &mut self.0[from..to] {
            match step {
                Step::Set(Setting::Sysctl(name, value)) => {
                    let (name, value) = (std::mem::take(name), std::mem::take(value));
                    *step = Step::Set(Setting::SysctlIfThere(name, value));
                }
                Step::HasSysctl(_) => *step = Step::Set(Setting::Nothing),
                _ => {}
            }
        }
    }
}

/// The file that a script names whose text [`interpret`] wants: `./defaults.sh`, as it is written there.
pub fn defaults_of(script: &str) -> Option<&str> {
    let mut words = script.split(|c: char| c.is_whitespace() || "`\"';,=".contains(c));
    words.find(|word| word.ends_with("/defaults.sh"))
}

/// What a shell line asks for, in order; `defaults` is the text of the `defaults.sh` that it may name.
///
/// # Errors
/// What was not understood: the words for "skipped: ...".
pub fn interpret(line: &str, defaults: Option<&str>) -> Result<Vec<Step>, String> {
    let mut out = Steps::default();
    let End { last, failed } = steps(line, defaults, &mut out)?;
    out.may_fail(0, last);
    out.0.extend(failed.map(Step::Fails));
    Ok(out.0)
}

/// How a line ends.
struct End {
    /// The place of the first step whose failure fails the line: a step of its last command, or of commands before it
    /// that are joined by `&&`.
    last: usize,
    /// The last command that is made, if it fails.
    failed: Option<String>,
}

/// Adds the steps of a line.
fn steps(line: &str, defaults: Option<&str>, out: &mut Steps) -> Result<End, String> {
    if line.len() > MAX_LINE_BYTES {
        return Err("needs shell: the line is very long".into());
    }
    let commands = split::split(line).map_err(|what| format!("needs shell {what}"))?;
    let mut failed: Option<&Command> = None;
    let mut last = out.0.len();
    let mut joint = Joint::Then;
    let mut commands = commands.iter();
    while let Some(command) = commands.next() {
        let is_made = match joint {
            Joint::Then => true,
            Joint::And => failed.is_none(),
            Joint::Or => failed.is_some(),
            // Pipes are taken whole.
            Joint::Into => false,
        };
        let came_by = joint;
        joint = command.next;
        if joint == Joint::Into {
            let mut all = vec![command];
            while joint == Joint::Into {
                let to = commands
                    .next()
                    .ok_or_else(|| refused(&command.words, NO_PIPE))?;
                joint = to.next;
                all.push(to);
            }
            let step = pipe(&all)?;
            if is_made {
                last = out.0.len();
                out.0.push(step);
                failed = None;
            }
            continue;
        }
        if is_made {
            let before = out.0.len();
            if came_by != Joint::And {
                last = before;
            }
            failed = (!made(command, defaults, out)?).then_some(command);
            if joint == Joint::Or {
                match failed {
                    // The left side of `||` failed, so its steps are dropped.
                    Some(_) => out.0.truncate(before),
                    None => is_decided(command, &out.0[before..])?,
                }
            }
        }
    }
    let failed = failed.map(|command| cut(&command.words.join(" ")));
    Ok(End { last, failed })
}

/// Which side of `||` is made must be known before the run.
fn is_decided(command: &Command, steps: &[Step]) -> Result<(), String> {
    let is_asked = |step: &Step| matches!(step, Step::HasSysctl(_));
    match steps.iter().any(is_asked) {
        true => Err(refused(
            &command.words,
            "whether `||` follows depends on the host",
        )),
        false => Ok(()),
    }
}

/// One command. False: a shell would find that it failed.
fn made(command: &Command, defaults: Option<&str>, out: &mut Steps) -> Result<bool, String> {
    let name = |word: &String| word.split('=').next().and_then(crate::symbols::foreign);
    if let Some((_, what)) = command.words.iter().find_map(name) {
        return Err(what);
    }
    match (command.words.as_slice(), defaults) {
        ([file], Some(text)) if file.ends_with("/defaults.sh") => {
            // It names no other one.
            let begin = out.0.len();
            let has_failed = steps(text, None, out)?.failed.is_some();
            out.may_fail(begin, out.0.len());
            Ok(!has_failed)
        }
        (words, _) => commands::command(words, command.output.as_deref(), out)
            .map_err(|what| refused(words, &what)),
    }
}

const NO_PIPE: &str = "of pipes, `nstat | grep NAME` is understood";

/// Commands whose output goes into the next one.
fn pipe(all: &[&Command]) -> Result<Step, String> {
    let words: Vec<&[String]> = all.iter().map(|command| command.words.as_slice()).collect();
    let writes = all.iter().any(|command| command.output.is_some());
    let step = commands::pipe(&words).filter(|_| !writes);
    step.ok_or_else(|| refused(words.first().copied().unwrap_or_default(), NO_PIPE))
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

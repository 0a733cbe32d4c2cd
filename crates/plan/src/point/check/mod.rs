//! Whether a point is one that an experiment file could have made.
//!
//! A point comes from the decoder of experiment files, from a manifest that somebody sent, from another process. All of
//! them are held to the same rules here: the decoder's last step is this check, so neither form can allow what the other
//! refuses. The bounds themselves stand in `rules.rs`.

mod apps;
mod hosts;
mod links;
mod run;
mod sets;

use std::fmt;

use serde_json::Value as Json;

use super::Point;
use crate::experiment::keys::{Form, Key};
use crate::rules::{MAX_OWN_NAME, MAX_TIME_NS, Range, is_name};

/// A value of a point that no experiment can have: where it stands (`links[0].a`), and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if .path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct Wrong {
    /// The keys and indices from the point to the value; empty: the point itself.
    pub path: String,
    /// The fault, and the allowed values.
    pub message: String,
}

impl Wrong {
    pub(crate) fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }

    /// The same, seen from what it stands in.
    #[must_use]
    pub fn under(self, parent: impl fmt::Display) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self {
            path: format!("{parent}{dot}{}", self.path),
            ..self
        }
    }
}

type Checked = Result<(), Wrong>;

impl Point {
    /// Whether every rule of experiment files holds for it: ranges, names, indices, ways between hosts.
    ///
    /// # Errors
    /// The first value that breaks one, with its place.
    pub fn check(&self) -> Result<(), Wrong> {
        run::check(self)?;
        hosts::check(&self.hosts)?;
        links::check(self)?;
        apps::check(self)?;
        sets::check(self)
    }

    /// Reads a point of JSON and checks it.
    ///
    /// # Errors
    /// What is no point, with line and column, or the value that breaks a rule, with its path.
    pub fn from_json(json: &[u8]) -> Result<Self, Wrong> {
        let point: Self = serde_json::from_slice(json).map_err(|e| Wrong::at("", e.to_string()))?;
        point.check()?;
        Ok(point)
    }
}

/// Each of a list, with its index in the path of what is wrong.
fn each<T>(list: &str, items: &[T], check: impl Fn(&T) -> Checked) -> Checked {
    for (index, item) in items.iter().enumerate() {
        check(item).map_err(|wrong| wrong.under(format_args!("{list}[{index}]")))?;
    }
    Ok(())
}

fn at_most(path: &str, len: usize, most: usize, what: &str) -> Checked {
    match len <= most {
        true => Ok(()),
        false => Err(Wrong::at(
            path,
            format!("{len} {what}; at most {most} are allowed"),
        )),
    }
}

fn in_order(path: &str, is_so: bool) -> Checked {
    match is_so {
        true => Ok(()),
        false => Err(Wrong::at(path, "must stand in the order of their times")),
    }
}

fn number(path: &str, n: impl Into<u64>, (least, most): Range) -> Checked {
    let n = n.into();
    match (least..=most).contains(&n) {
        true => Ok(()),
        false => Err(Wrong::at(
            path,
            format!("must be {least} to {most}, not {n}"),
        )),
    }
}

fn number_if(path: &str, n: Option<impl Into<u64>>, range: Range) -> Checked {
    n.map_or(Ok(()), |n| number(path, n, range))
}

/// A time from `least` to the longest one.
fn time(path: &str, ns: i64, least: i64) -> Checked {
    match u64::try_from(ns) {
        Ok(n) if ns >= least && n <= MAX_TIME_NS => Ok(()),
        _ => Err(Wrong::at(
            path,
            format!("must be {least} to {MAX_TIME_NS} nanoseconds, not {ns}"),
        )),
    }
}

fn time_if(path: &str, ns: Option<i64>, least: i64) -> Checked {
    ns.map_or(Ok(()), |ns| time(path, ns, least))
}

/// A number of a key, or a time in nanoseconds.
pub(crate) fn number_of(path: &str, n: i128, key: &Key) -> Checked {
    match key.form {
        Form::Time(_) => timed(path, i64::try_from(n).ok(), key),
        Form::Tos => Ok(()),
        _ => number(path, u64::try_from(n).unwrap_or(u64::MAX), key.range()),
    }
}

/// A number of a key, when there is one.
fn of(path: &str, n: Option<impl Into<u64>>, key: &Key) -> Checked {
    number_if(path, n, key.range())
}

/// A time of a key, when there is one.
fn timed(path: &str, ns: Option<i64>, key: &Key) -> Checked {
    let (least, _) = key.range();
    time_if(path, ns, least.cast_signed())?;
    let why = match (&key.form, ns) {
        (Form::Time(bounds), Some(ns)) => bounds.wrong(ns),
        _ => None,
    };
    match (why, ns) {
        (Some(why), Some(ns)) => Err(Wrong::at(path, format!("{why}, not {ns} nanoseconds"))),
        _ => Ok(()),
    }
}

/// Parts of a billion.
fn chance(path: &str, ppb: u32) -> Checked {
    number(path, ppb, (0, u64::from(crate::rules::ALL_PPB)))
}

fn text(path: &str, text: &str, most: usize) -> Checked {
    match crate::rules::bad_text(text, most) {
        Some(why) => Err(Wrong::at(path, why)),
        None => Ok(()),
    }
}

/// A name becomes part of measures, paths and names of files.
fn name(path: &str, name: &str) -> Checked {
    match is_name(name, MAX_OWN_NAME) {
        true => Ok(()),
        false => Err(Wrong::at(
            path,
            format!(
                "{} is not a name: at most {MAX_OWN_NAME} letters, digits, `_` or `-`, beginning with a letter",
                quoted(name)
            ),
        )),
    }
}

/// A text of a file for an error: short, and without characters that move a cursor.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    Json::from(short).to_string()
}

//! The keys of an experiment file, each defined once: type, range, default, meaning, whether it may be an axis, and
//! which kinds of stack do not honour it.
//!
//! The decoder reads a key by its definition (`fields.get(&host::RX_RING)`), and [`crate::point`]'s check takes the
//! range from it. The JSON Schema, the tables of the documents and the contract of each kind of stack
//! ([`crate::contract`]) come from the same definitions.

mod form;
mod record;
// A row for each key.
#[rustfmt::skip]
pub(crate) mod apps;
#[rustfmt::skip]
pub(crate) mod file;
#[rustfmt::skip]
pub(crate) mod host;
#[rustfmt::skip]
pub(crate) mod links;
#[rustfmt::skip]
pub(crate) mod report;
#[rustfmt::skip]
pub(crate) mod route;
#[rustfmt::skip]
pub(crate) mod run;
#[rustfmt::skip]
pub(crate) mod socket;

use crate::contract::Rule;
use crate::rules::Range;

pub(crate) use self::apps::{APP, KIND_NAMES, KINDS, LATER, RRUL, SHARED};
pub(crate) use self::file::{FILE, VARIANT};
pub(crate) use self::form::{Bounds, Form, are_same};
pub(crate) use self::host::{CARD, HOST, PROFILE_NAMES};
pub(crate) use self::links::{LINK, WAY};
pub(crate) use self::report::REPORT;
pub(crate) use self::route::METRICS;
pub(crate) use self::run::RUN;
pub(crate) use self::socket::SOCKET;

/// What holds when a key is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Absent {
    /// It must be there.
    Refused,
    /// What the words say.
    Says(&'static str),
    Flag(bool),
    /// A number, a size, a time in nanoseconds, parts of a billion.
    Number(u64),
    Word(&'static str),
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub form: Form,
    pub absent: Absent,
    pub meaning: &'static str,
    /// Whether it may be an axis.
    pub axis: bool,
    /// Why some kinds of stack do not honour it.
    pub rules: &'static [Rule],
}

impl Key {
    /// Whether it must be there.
    pub fn is_required(&self) -> bool {
        matches!(self.absent, Absent::Refused)
    }

    /// What holds when it is left out, as a reader would write it.
    pub fn default(&self) -> String {
        match self.absent {
            Absent::Refused => String::new(),
            Absent::Says(text) | Absent::Word(text) => text.to_owned(),
            Absent::Flag(flag) => flag.to_string(),
            Absent::Number(n) => self.form.written(n),
        }
    }

    /// Its default as a number; 0 without one.
    pub const fn number(&self) -> u64 {
        match self.absent {
            Absent::Number(n) => n,
            _ => 0,
        }
    }

    /// The numbers that it takes; of times the nanoseconds.
    pub const fn range(&self) -> Range {
        self.form.range()
    }

    /// The same key, which kinds of stack do not honour for these reasons.
    const fn refused(self, rules: &'static [Rule]) -> Self {
        Self { rules, ..self }
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        self.name
    }
}

/// It must be there.
pub(crate) const MUST: Absent = Absent::Refused;

pub(crate) const fn says(words: &'static str) -> Absent {
    Absent::Says(words)
}

pub(crate) const fn flag(flag: bool) -> Absent {
    Absent::Flag(flag)
}

pub(crate) const fn number(n: u64) -> Absent {
    Absent::Number(n)
}

pub(crate) const fn word(word: &'static str) -> Absent {
    Absent::Word(word)
}

const fn key(name: &'static str, form: Form, absent: Absent, meaning: &'static str) -> Key {
    Key {
        name,
        form,
        absent,
        meaning,
        axis: true,
        rules: &[],
    }
}

/// A key that is the same at every point.
pub(crate) const fn fixed(
    name: &'static str,
    form: Form,
    absent: Absent,
    meaning: &'static str,
) -> Key {
    Key {
        axis: false,
        ..key(name, form, absent, meaning)
    }
}

/// Both lists as one.
const fn joined<const N: usize>(a: &[Key], b: &[Key]) -> [Key; N] {
    let mut all = [const { key("", Form::Flag, MUST, "") }; N];
    let mut i = 0;
    while i < N {
        let Key {
            name,
            form,
            absent,
            meaning,
            axis,
            rules,
        } = if i < a.len() { &a[i] } else { &b[i - a.len()] };
        all[i] = Key {
            name,
            form: *form,
            absent: *absent,
            meaning,
            axis: *axis,
            rules,
        };
        i += 1;
    }
    all
}

//! Edits of a kernel's source in a form of our own: TOML that says in plain words what changes,
//! and for each change a file, a few words to find in it and what to put there. `docs/kernels.md`
//! documents the form. The shipped ones lie in `shipped/`.

mod anchor;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use tcplab_os::text::{TextError, read_text};

use self::anchor::Lost;
use crate::words::did_you_mean;

/// The longest edit.
const MOST_BYTES: u64 = 1 << 20;

/// Name and text of the shipped edits that a user may ask for.
const SHIPPED: &[(&str, &str)] = &[
    ("el8-receiver", include_str!("shipped/el8-receiver.toml")),
    ("mss-boundary", include_str!("shipped/mss-boundary.toml")),
    (
        "quickack-6.1.56",
        include_str!("shipped/quickack-6.1.56.toml"),
    ),
    (
        "quickack-count",
        include_str!("shipped/quickack-count.toml"),
    ),
    ("recovlat", include_str!("shipped/recovlat.toml")),
    ("rto-D", include_str!("shipped/rto-D.toml")),
    ("rto-R", include_str!("shipped/rto-R.toml")),
    ("rto-Y", include_str!("shipped/rto-Y.toml")),
    ("rto-Y4", include_str!("shipped/rto-Y4.toml")),
    ("rto-choice", include_str!("shipped/rto-choice.toml")),
    ("tlp-2016", include_str!("shipped/tlp-2016.toml")),
];

/// Those that every build gets.
const ALWAYS: &[(&str, &str)] = &[
    ("hz-choice", include_str!("shipped/hz-choice.toml")),
    ("large-xstate", include_str!("shipped/large-xstate.toml")),
    ("seeded-random", include_str!("shipped/seeded-random.toml")),
    ("still-clock", include_str!("shipped/still-clock.toml")),
];

/// Why an edit cannot be read or applied.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// Neither a shipped edit nor a file.
    #[error("no edit `{name}`{}; use one of {}, or name a file", did_you_mean(nearest), Edit::shipped_names().join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The shipped edit with the most similar name.
        nearest: Option<String>,
    },
    /// The file cannot be read.
    #[error("cannot read an edit: {0}")]
    Unreadable(TextError),
    /// It is not in the form of an edit.
    #[error("edit {file}: {message}")]
    Form {
        /// The file, or the name of a shipped edit.
        file: String,
        /// What is wrong, with line and column.
        message: String,
    },
    /// The source has no such file.
    #[error("edit {edit}: the source has no file {file}")]
    NoFile {
        /// The edit.
        edit: String,
        /// The file it wants to change.
        file: String,
    },
    /// The file has no such function.
    #[error("edit {edit}: {file} has no function {function}()")]
    NoFunction {
        /// The edit.
        edit: String,
        /// The file.
        file: String,
        /// The function.
        function: String,
    },
    /// The words are not there.
    #[error(
        "edit {edit}: {file}{} does not contain `{find}`; is this another kernel version?",
        inside(function)
    )]
    NoAnchor {
        /// The edit.
        edit: String,
        /// The file.
        file: String,
        /// The function, when the edit names one.
        function: Option<String>,
        /// The words.
        find: String,
    },
    /// The words are there more than once.
    #[error("edit {edit}: `{find}` is in {file}{} {} times, lines {}; add words or `function` to select one place", inside(function), lines.len(), join(lines))]
    Several {
        /// The edit.
        edit: String,
        /// The file.
        file: String,
        /// The function, when the edit names one.
        function: Option<String>,
        /// The words.
        find: String,
        /// Where they are, from 1, in the file as the edits before this one leave it.
        lines: Vec<usize>,
    },
}

fn inside(function: &Option<String>) -> String {
    function
        .as_ref()
        .map_or(String::new(), |f| format!(", function {f}(),"))
}

fn join(lines: &[usize]) -> String {
    let texts: Vec<String> = lines.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

/// One edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Its name in stack names.
    pub name: String,
    /// What it changes, in plain words.
    pub says: String,
    /// Names of shipped edits that are applied before it.
    includes: Vec<String>,
    changes: Vec<Change>,
}

/// An edit as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    says: String,
    name: Option<String>,
    #[serde(default)]
    includes: Vec<String>,
    #[serde(default)]
    change: Vec<Change>,
}

/// One place to change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// Below the source's root.
    file: String,
    function: Option<String>,
    find: String,
    before: Option<String>,
    replace: Option<String>,
    after: Option<String>,
    /// Whether a source without the words stays as it is, for what newer kernels need no more.
    #[serde(default)]
    optional: bool,
}

impl Edit {
    /// The shipped edits.
    pub fn shipped() -> Vec<Edit> {
        SHIPPED
            .iter()
            .filter_map(|(name, text)| Edit::parse(name, name, text).ok())
            .collect()
    }

    /// Their names.
    pub fn shipped_names() -> Vec<&'static str> {
        SHIPPED.iter().map(|(name, _)| *name).collect()
    }

    /// Names of those that every build gets.
    pub(crate) fn names_of_every_build() -> Vec<&'static str> {
        ALWAYS.iter().map(|(name, _)| *name).collect()
    }

    /// Those that every build gets.
    pub(crate) fn always() -> Result<Vec<Edit>, EditError> {
        ALWAYS
            .iter()
            .map(|(name, text)| Edit::parse(name, name, text))
            .collect()
    }

    /// A shipped edit by its name, or one from a file.
    ///
    /// # Errors
    /// When there is neither, or the file is not in the form of an edit.
    pub fn load(name_or_file: &str) -> Result<Edit, EditError> {
        if let Some((name, text)) = SHIPPED.iter().find(|(name, _)| *name == name_or_file) {
            return Edit::parse(name, name, text);
        }
        let path = Path::new(name_or_file);
        if !path.is_file() {
            return Err(EditError::Unknown {
                name: name_or_file.to_owned(),
                nearest: crate::words::nearest(name_or_file, Edit::shipped_names()),
            });
        }
        let text = read_text(path, MOST_BYTES).map_err(EditError::Unreadable)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let edit = Edit::parse(&stem, name_or_file, &text)?;
        if SHIPPED.iter().chain(ALWAYS).any(|(n, _)| *n == edit.name) {
            return Err(EditError::Form {
                file: name_or_file.to_owned(),
                message: format!(
                    "the name `{}` belongs to an edit that ships with tcplab: choose another",
                    edit.name
                ),
            });
        }
        Ok(edit)
    }

    fn parse(name: &str, file: &str, text: &str) -> Result<Edit, EditError> {
        let fail = |message: String| EditError::Form {
            file: file.to_owned(),
            message,
        };
        let written: Written = toml::from_str(text).map_err(|e| fail(e.to_string()))?;
        let name = written.name.unwrap_or_else(|| name.to_owned());
        if !crate::words::is_word(&name) {
            return Err(fail(format!(
                "`{name}` cannot be a name: letters, digits, `.`, `_` and `-` only, a letter first"
            )));
        }
        if written.change.is_empty() && written.includes.is_empty() {
            return Err(fail(
                "the file needs a [[change]] table or `include`".into(),
            ));
        }
        for (number, change) in (1..).zip(&written.change) {
            change
                .check()
                .map_err(|message| fail(format!("change {number}: {message}")))?;
        }
        for other in &written.includes {
            if !Edit::shipped_names().contains(&other.as_str()) {
                return Err(fail(format!(
                    "includes `{other}`, which does not ship with tcplab"
                )));
            }
        }
        Ok(Edit {
            name,
            says: written.says,
            includes: written.includes,
            changes: written.change,
        })
    }
}

impl Change {
    fn check(&self) -> Result<(), String> {
        let path = Path::new(&self.file);
        let is_plain = |c: Component| matches!(c, Component::Normal(_));
        if self.file.is_empty() || !path.components().all(is_plain) {
            return Err(format!(
                "file `{}` must be a path below the source's root, without `..`",
                self.file
            ));
        }
        if self.find.trim().is_empty() {
            return Err("`find` has no words".into());
        }
        let ways = [&self.before, &self.replace, &self.after];
        if ways.iter().filter(|way| way.is_some()).count() != 1 {
            return Err("give exactly one of `before`, `replace` and `after`".into());
        }
        Ok(())
    }

    /// The text with this change.
    fn apply(&self, edit: &str, text: &str) -> Result<String, EditError> {
        let (edit, file) = (edit.to_owned(), self.file.clone());
        let (function, find) = (self.function.clone(), self.find.clone());
        let range = match anchor::find(text, self.function.as_deref(), &self.find) {
            Ok(range) => range,
            Err(Lost::NoFunction | Lost::Nowhere) if self.optional => return Ok(text.to_owned()),
            Err(Lost::NoFunction) => {
                let function = function.unwrap_or_default();
                return Err(EditError::NoFunction {
                    edit,
                    file,
                    function,
                });
            }
            Err(Lost::Nowhere) => {
                return Err(EditError::NoAnchor {
                    edit,
                    file,
                    function,
                    find,
                });
            }
            Err(Lost::Lines(lines)) => {
                return Err(EditError::Several {
                    edit,
                    file,
                    function,
                    find,
                    lines,
                });
            }
        };
        let (head, tail) = (
            text.get(..range.start).unwrap_or_default(),
            text.get(range.end..).unwrap_or_default(),
        );
        let anchor = text.get(range).unwrap_or_default();
        let empty = String::new();
        let (before, after) = (
            self.before.as_ref().unwrap_or(&empty),
            self.after.as_ref().unwrap_or(&empty),
        );
        let middle = self.replace.as_deref().unwrap_or(anchor);
        Ok(format!("{head}{before}{middle}{after}{tail}"))
    }
}

/// Edits in the order in which they are applied, each once, with all that they include.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    asked: Vec<String>,
    list: Vec<Edit>,
}

impl Edits {
    /// Puts edits in order: by name, what an edit includes before it.
    ///
    /// # Errors
    /// When an included edit cannot be read.
    pub fn new(mut asked: Vec<Edit>) -> Result<Self, EditError> {
        asked.sort_by(|a, b| a.name.cmp(&b.name));
        asked.dedup_by(|a, b| a.name == b.name);
        let names = asked.iter().map(|e| e.name.clone()).collect();
        let mut edits = Self {
            asked: names,
            list: Vec::new(),
        };
        for edit in asked {
            edits.add(edit)?;
        }
        Ok(edits)
    }

    /// The ones that every build gets.
    pub(crate) fn always() -> Result<Self, EditError> {
        Self::new(Edit::always()?)
    }

    fn add(&mut self, edit: Edit) -> Result<(), EditError> {
        if self.list.iter().any(|e| e.name == edit.name) {
            return Ok(());
        }
        // Shipped edits include shipped edits only and the tests hold them free of circles; a
        // file cannot be included.
        for other in &edit.includes {
            self.add(Edit::load(other)?)?;
        }
        self.list.push(edit);
        Ok(())
    }

    /// Names of those that were asked for, sorted.
    pub fn names(&self) -> &[String] {
        &self.asked
    }

    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The files that change, sorted.
    pub(crate) fn files(&self) -> BTreeSet<PathBuf> {
        let changes = self.list.iter().flat_map(|e| &e.changes);
        changes.map(|c| PathBuf::from(&c.file)).collect()
    }

    /// The new text of a file.
    pub(crate) fn apply(&self, file: &Path, text: &str) -> Result<String, EditError> {
        let mut text = text.to_owned();
        for edit in &self.list {
            for change in edit.changes.iter().filter(|c| Path::new(&c.file) == file) {
                text = change.apply(&edit.name, &text)?;
            }
        }
        Ok(text)
    }

    /// The error for a file that the source does not have.
    pub(crate) fn no_file(&self, file: &Path) -> EditError {
        let owner = self
            .list
            .iter()
            .find(|e| e.changes.iter().any(|c| Path::new(&c.file) == file));
        EditError::NoFile {
            edit: owner.map_or(String::new(), |e| e.name.clone()),
            file: file.display().to_string(),
        }
    }

    /// All that decides what the edits do, for a hash: not their names and words.
    pub(crate) fn content(&self) -> String {
        let mut text = String::new();
        for change in self.list.iter().flat_map(|e| &e.changes) {
            text.push_str(&format!("{change:?}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests;

//! Edits of a kernel's source in a form of our own: TOML that says in plain words what changes,
//! and for each change a file, a few words to find in it and what to put there. `docs/kernels.md`
//! documents the form. The shipped ones lie in `shipped/`.

mod anchor;
mod change;
mod error;
mod variant;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tcplab_os::text::read_text;

use self::change::Change;
use self::variant::Variant;

pub(crate) use self::change::Texts;
pub use self::error::EditError;

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
    variants: Vec<Variant>,
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
    #[serde(default)]
    variant: Vec<Variant>,
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
        let is_empty = written.change.is_empty() && written.variant.is_empty();
        if is_empty && written.includes.is_empty() {
            return Err(fail(
                "the file needs a [[change]] table, a [[variant]] table or `includes`".into(),
            ));
        }
        for (number, change) in (1..).zip(&written.change) {
            change
                .check()
                .map_err(|message| fail(format!("change {number}: {message}")))?;
        }
        for variant in &written.variant {
            for (number, change) in (1..).zip(&variant.change) {
                change.check().map_err(|message| {
                    fail(format!(
                        "variant `{}`, change {number}: {message}",
                        variant.of
                    ))
                })?;
            }
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
            variants: written.variant,
        })
    }

    /// Every change that it may make.
    fn all_changes(&self) -> impl Iterator<Item = &Change> {
        let variants = self.variants.iter().flat_map(|v| &v.change);
        self.changes.iter().chain(variants)
    }

    fn apply(&self, mut texts: Texts) -> Result<Texts, EditError> {
        for change in &self.changes {
            change.apply(&self.name, &mut texts)?;
        }
        variant::apply(&self.name, &self.variants, texts)
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

    /// The files that may change, sorted.
    pub(crate) fn files(&self) -> BTreeSet<PathBuf> {
        let changes = self.list.iter().flat_map(Edit::all_changes);
        changes.map(|c| PathBuf::from(&c.file)).collect()
    }

    /// The files that change, as the edits leave them; `texts` are those of [`Self::files`] that the source has.
    pub(crate) fn apply(&self, texts: Texts) -> Result<Texts, EditError> {
        let mut edited = texts.clone();
        for edit in &self.list {
            edited = edit.apply(edited)?;
        }
        edited.retain(|file, text| texts.get(file) != Some(text));
        Ok(edited)
    }

    /// All that decides what the edits do, for a hash: not their names and words.
    pub(crate) fn content(&self) -> String {
        let mut text = String::new();
        for edit in &self.list {
            for change in &edit.changes {
                text.push_str(&format!("{change:?}\n"));
            }
            for variant in &edit.variants {
                text.push_str(&format!("{:?}\n", variant.change));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests;

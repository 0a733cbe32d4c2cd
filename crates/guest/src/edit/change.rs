//! One place of a source to change, and the texts that changes are made in.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::EditError;
use super::anchor::{self, Lost};

/// Files of a source by their path below its root.
pub(crate) type Texts = BTreeMap<PathBuf, String>;

/// One place to change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    /// Below the source's root.
    pub(super) file: String,
    function: Option<String>,
    find: String,
    before: Option<String>,
    replace: Option<String>,
    after: Option<String>,
    /// Whether a source without the words stays as it is, for what newer kernels need no more.
    #[serde(default)]
    optional: bool,
}

impl Change {
    pub(super) fn check(&self) -> Result<(), String> {
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

    /// Makes this change.
    pub(super) fn apply(&self, edit: &str, texts: &mut Texts) -> Result<(), EditError> {
        let Some(text) = texts.get_mut(Path::new(&self.file)) else {
            if self.optional {
                return Ok(());
            }
            return Err(EditError::NoFile {
                edit: edit.to_owned(),
                file: self.file.clone(),
            });
        };
        let range = match anchor::find(text, self.function.as_deref(), &self.find) {
            Ok(range) => range,
            Err(Lost::NoFunction | Lost::Nowhere) if self.optional => return Ok(()),
            Err(lost) => return Err(self.error(edit, lost)),
        };
        let mut new = self.before.clone().unwrap_or_default();
        let anchor = text.get(range.clone()).unwrap_or_default();
        new.push_str(self.replace.as_deref().unwrap_or(anchor));
        new.push_str(self.after.as_deref().unwrap_or_default());
        text.replace_range(range, &new);
        Ok(())
    }

    /// Why it has no single place.
    fn error(&self, edit: &str, lost: Lost) -> EditError {
        let (edit, file) = (edit.to_owned(), self.file.clone());
        let (function, find) = (self.function.clone(), self.find.clone());
        match lost {
            Lost::NoFunction => EditError::NoFunction {
                edit,
                file,
                function: function.unwrap_or_default(),
            },
            Lost::Nowhere => EditError::NoAnchor {
                edit,
                file,
                function,
                find,
            },
            Lost::Lines(lines) => EditError::Several {
                edit,
                file,
                function,
                find,
                lines,
            },
        }
    }
}

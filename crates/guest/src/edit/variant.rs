//! The variants of an edit for releases that differ. Exactly one must fit, so an edit is never
//! silently missing.

use serde::Deserialize;

use super::EditError;
use super::change::{Change, Texts};

/// Changes that belong together, for some releases.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    /// Which releases have this source, for people: `before 5.18`.
    pub(super) of: String,
    pub(super) change: Vec<Change>,
}

impl Variant {
    fn apply(&self, edit: &str, texts: &Texts) -> Result<Texts, EditError> {
        let mut texts = texts.clone();
        for change in &self.change {
            change.apply(edit, &mut texts)?;
        }
        Ok(texts)
    }
}

/// The texts with the one variant that fits; without variants the texts as they are.
pub(super) fn apply(edit: &str, variants: &[Variant], texts: Texts) -> Result<Texts, EditError> {
    if variants.is_empty() {
        return Ok(texts);
    }
    let mut fitting = Vec::new();
    let mut failures = Vec::new();
    for variant in variants {
        match variant.apply(edit, &texts) {
            Ok(texts) => fitting.push((variant, texts)),
            Err(e) => failures.push(format!("{}: {}", variant.of, e.without_name(edit))),
        }
    }
    let others = fitting.split_off(fitting.len().min(1));
    match (fitting.pop(), others.as_slice()) {
        (Some((_, texts)), []) => Ok(texts),
        (Some((first, _)), [(second, _), ..]) => Err(EditError::TwoVariants {
            edit: edit.to_owned(),
            first: first.of.clone(),
            second: second.of.clone(),
        }),
        (None, _) => Err(EditError::NoVariant {
            edit: edit.to_owned(),
            failures,
        }),
    }
}

//! Why a file could not be read.

use super::Input;

/// File, place, what was wrong, the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {what}; {way_out}", at(.place))]
pub struct ImportError {
    /// The file.
    pub file: String,
    /// The place in it, such as `line 3`; empty: the whole.
    pub place: String,
    /// What was wrong.
    pub what: String,
    /// What to do about it.
    pub way_out: String,
}

fn at(place: &str) -> String {
    match place {
        "" => String::new(),
        place => format!(": {place}"),
    }
}

impl ImportError {
    /// An error in this input.
    pub(crate) fn new(
        input: &Input,
        place: impl Into<String>,
        what: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self {
            file: input.name.into(),
            place: place.into(),
            what: what.into(),
            way_out: way_out.into(),
        }
    }
}

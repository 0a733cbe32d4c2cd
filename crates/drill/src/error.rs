//! What can be wrong with a script.

use crate::script::Place;

/// A script that cannot be read, or that asks for what makes no sense. Whoever knows the file's name puts it before.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}:{}: {what}", place.line, place.column)]
pub struct ScriptError {
    /// Where.
    pub place: Place,
    /// What was found, what was expected, and the way out.
    pub what: String,
}

impl ScriptError {
    pub(crate) fn new(place: Place, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { place, what }
    }
}

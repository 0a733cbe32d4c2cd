//! Takes the place of `here.rs` on systems other than Linux, where no stack of a real kernel can be used.

use serde::Serialize;

use crate::store::{Store, StoreError};

/// One stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Here {
    /// Its name, for `--on`.
    pub stack: String,
    /// Other names of the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// What runs, for a person.
    pub what: String,
    /// Whether time is virtual there.
    pub virtual_time: bool,
    /// Why it cannot be used here, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
}

/// The kinds of stack that Linux has; none can be used here.
///
/// # Errors
/// Never.
pub fn here(_: Option<&Store>) -> Result<Vec<Here>, StoreError> {
    let kinds = [
        ("host", "this machine's kernel", false),
        ("uml:6.1", "Linux 6.1, a build of our own", true),
    ];
    Ok(kinds
        .map(|(stack, what, virtual_time)| Here {
            stack: stack.to_owned(),
            also: Vec::new(),
            what: what.to_owned(),
            virtual_time,
            lacks: Some("needs Linux".to_owned()),
        })
        .into())
}

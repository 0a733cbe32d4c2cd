//! Why scenarios differ: `tests/fidelity/reasons.toml`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::matches;

/// A known difference.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Pattern of the scenarios' names.
    pub scenario: String,
    /// Pattern of the class (`window of ack`) or of the counter; all, when it is left out.
    #[serde(default)]
    pub class: Option<String>,
    /// Why, and which of the two is right.
    pub text: String,
}

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasons {
    #[serde(default)]
    reason: Vec<Reason>,
}

impl Reasons {
    /// Reads the file.
    ///
    /// # Errors
    /// When it is there and cannot be understood.
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join("tests/fidelity/reasons.toml");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// The reason of a scenario's difference of this class, when one is stated.
    pub fn of(&self, scenario: &str, class: &str) -> Option<&Reason> {
        self.reason.iter().find(|r| {
            matches(&r.scenario, scenario) && r.class.as_ref().is_none_or(|c| matches(c, class))
        })
    }
}

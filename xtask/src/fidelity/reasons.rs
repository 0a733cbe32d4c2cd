//! Why scenarios differ: `reasons.toml`.

use anyhow::{Context, Result};
use serde::Deserialize;
use tcplab_diff::matches;

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
    /// Reads them.
    ///
    /// # Errors
    /// When they cannot be understood.
    pub fn read() -> Result<Self> {
        toml::from_str(include_str!("reasons.toml")).context("reasons.toml")
    }

    /// The reason of a scenario's difference of this class, when one is stated.
    pub fn of(&self, scenario: &str, class: &str) -> Option<&Reason> {
        self.reason.iter().find(|r| {
            matches(&r.scenario, scenario) && r.class.as_ref().is_none_or(|c| matches(c, class))
        })
    }
}

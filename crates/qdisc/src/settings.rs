//! The settings of a qdisc: tc's words, and what they say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::Kind;
use crate::words::{Lexer, Wrong};

/// A qdisc with its options; its text form is tc's words, as they were written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Settings {
    words: String,
    kind: Kind,
}

impl Settings {
    /// Reads `KIND WORDS`, such as `cake bandwidth 30mbit ack-filter`.
    ///
    /// # Errors
    /// The word that is wrong, and what may stand there.
    pub fn parse(text: &str) -> Result<Self, Wrong<'_>> {
        let mut words = Lexer::new(text);
        let kind = words
            .next_word()
            .ok_or_else(|| Wrong::new(text, "the text is empty"))?;
        let kind = Kind::parse(kind, &mut words)?;
        Ok(Self {
            words: text.split_whitespace().collect::<Vec<_>>().join(" "),
            kind,
        })
    }

    /// The words that it was read from.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// What it is.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }
}

impl TryFrom<String> for Settings {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).map_err(|wrong| wrong.why)
    }
}

impl From<Settings> for String {
    fn from(settings: Settings) -> Self {
        settings.words
    }
}

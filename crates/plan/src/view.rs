//! How a result of points is shown: the file's title and its table `[report]`, as plain data.

use serde::{Deserialize, Serialize};

use crate::point::Wrong;
use crate::rules::{ALL_PPB, MAX_TEXT, bad_text};

/// Band when the file says none; that of `tcplab compare`.
pub const USUAL_BAND_PPB: u64 = 10_000_000;

/// What a page or a table of a result shows first, by the experiment's names. The page or table chooses values for
/// missing fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// The question that the experiment answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Axis to the right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Axis downwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// The measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// The variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The variant that it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Changes up to this do not matter, in billionths.
    pub band_ppb: u64,
}

impl View {
    /// Whether a file could say it.
    ///
    /// # Errors
    /// The first value that none could, with its place.
    pub fn check(&self) -> Result<(), Wrong> {
        let texts = [
            ("title", &self.title),
            ("x", &self.x),
            ("y", &self.y),
            ("measure", &self.measure),
            ("variant", &self.variant),
            ("base", &self.base),
        ];
        for (key, value) in texts {
            let why = value.as_ref().and_then(|value| bad_text(value, MAX_TEXT));
            why.map_or(Ok(()), |why| Err(Wrong::at(key, why)))?;
        }
        match self.band_ppb > u64::from(ALL_PPB) {
            true => Err(Wrong::at("band_ppb", format!("must be at most {ALL_PPB}"))),
            false => Ok(()),
        }
    }
}

impl Default for View {
    fn default() -> Self {
        Self {
            title: None,
            x: None,
            y: None,
            measure: None,
            variant: None,
            base: None,
            band_ppb: USUAL_BAND_PPB,
        }
    }
}

//! How a result of points is shown: the file's title and its table `[report]`, as plain data.

use serde::{Deserialize, Serialize};

/// Band when the file says none: another seed changes a goodput by as much (docs/ack-filter.md).
pub const USUAL_BAND_PPB: u64 = 30_000_000;

/// What a page or a table of a result shows first. Names are those of the experiment; what is left out is chosen by
/// whoever shows it.
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
    /// Changes up to this do not matter, in milliardths.
    pub band_ppb: u64,
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

//! Keys of `[report]`.

use super::{Form, Key, fixed, number, says};
use crate::view::USUAL_BAND_PPB;

pub(crate) const X: Key = fixed("x", Form::Text, says("the last axis"), "name of the horizontal axis");
pub(crate) const Y: Key = fixed("y", Form::Text, says("the axis before it"), "name of the vertical axis");
pub(crate) const MEASURE: Key = fixed("measure", Form::Text, says("the first"), "the measure, one of `measures`");
pub(crate) const VARIANT: Key = fixed("variant", Form::Name, says("the first other than `base`"), "the variant");
pub(crate) const BASE: Key = fixed("base", Form::Name, says("the first"), "variant to compare with");
pub(crate) const BAND: Key = fixed("band", Form::Percent, number(USUAL_BAND_PPB), "changes up to this count as equal");

/// `[report]`.
pub(crate) const REPORT: &[Key] = &[X, Y, MEASURE, VARIANT, BASE, BAND];

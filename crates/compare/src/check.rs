//! What a careful reader would object to: one function for each objection.

mod counts;
mod left_out;
mod noise;
mod rows;
mod same_time;
mod settings;
mod sources;

use crate::comparison::Flag;
use crate::metrics::Arm;
use crate::pairs::Sequence;
use crate::row::{CountRow, Row};
use crate::table::Options;

/// What is looked at.
pub struct Checked<'a> {
    /// The arm before.
    pub before: &'a Arm,
    /// The arm after.
    pub after: &'a Arm,
    /// The rows, judged.
    pub rows: &'a [Row],
    /// The suites of tests.
    pub counts: &'a [CountRow],
    /// How the runs of rows lie in time, by the label of the row.
    pub sequences: &'a [(String, Sequence)],
    /// By what rows were judged.
    pub options: &'a Options,
}

/// All objections.
pub fn flags(checked: &Checked) -> Vec<Flag> {
    let mut flags = Vec::new();
    flags.extend(rows::opposite_signs(checked));
    flags.extend(rows::noise_above_change(checked));
    flags.extend(rows::units(checked));
    flags.extend(rows::not_compared(checked));
    flags.extend(rows::converted(checked));
    flags.extend(rows::one_side(checked));
    flags.extend(rows::stated_change(checked));
    flags.extend(rows::not_interleaved(checked));
    flags.extend(same_time::same_time(checked));
    flags.extend(left_out::without_partner(checked));
    flags.extend(left_out::no_value(checked));
    flags.extend(noise::other_noise(checked));
    flags.extend(noise::stolen(checked));
    flags.extend(counts::more_skipped(checked));
    flags.extend(counts::do_not_add_up(checked));
    flags.extend(counts::told_twice(checked));
    flags.extend(counts::other_tests(checked));
    flags.extend(settings::other_settings(checked));
    flags.extend(sources::failed_runs(checked));
    flags.extend(sources::remarks(checked));
    flags
}

//! The page of a result of points (`tcplab.page-matrix/1`): a heat map over two axes, what was sampled over time,
//! and all cells as a table.

use std::io::{self, Write};

use serde::Serialize;
use tcplab_plan::view::View;

use super::write_document;
use crate::matrix::{Matrix, OverTime};
use crate::terminal::style::safe;

#[derive(Serialize)]
struct MatrixPage<'a> {
    schema: &'static str,
    version: &'static str,
    experiment: &'a str,
    title: Option<&'a str>,
    /// Changes up to this do not matter.
    band_percent: f64,
    matrix: &'a Matrix,
    /// What the terminal says below the table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// What was sampled over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    over_time: Option<&'a OverTime>,
}

/// Writes the page of a result; `notes` are what a reader has to know besides its values.
///
/// # Errors
/// Those of `out`.
pub fn write_matrix(
    experiment: &str,
    view: &View,
    (matrix, over_time): (&Matrix, Option<&OverTime>),
    notes: &[String],
    out: &mut impl Write,
) -> io::Result<()> {
    let page = MatrixPage {
        schema: "tcplab.page-matrix/1",
        version: env!("CARGO_PKG_VERSION"),
        experiment,
        title: view.title.as_deref(),
        band_percent: view.band_ppb as f64 / 1e7,
        matrix,
        notes: notes.iter().map(|note| safe(note)).collect(),
        over_time,
    };
    write_document(&page, out)
}

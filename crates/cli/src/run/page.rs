//! The HTML page of a result of points.

use std::path::Path;

use tcplab_lab::Manifest;
use tcplab_plan::Point;
use tcplab_plan::measure::Described;
use tcplab_plan::result::RunDocument;
use tcplab_plan::view::View;
use tcplab_report::matrix::{Matrix, OverTime};
use tcplab_report::page::matrix::write_matrix;

use crate::failure::Failure;
use crate::files;
use crate::population::page::put;

use super::notes;

/// Writes the page of a result.
pub fn write(
    file: &Path,
    document: &RunDocument,
    points: &[Point],
    (measures, view): (&[Described], &View),
) -> Result<(), Failure> {
    let matrix = Matrix::of(document, measures, view);
    let over_time = OverTime::of(document, points);
    let notes = notes::of_page(document, points);
    put(file, |out| {
        let parts = (&matrix, over_time.as_ref());
        write_matrix(&document.experiment, view, parts, &notes, out)
    })
}

/// Writes the page of a result that lies in a folder.
pub fn of_folder(folder: &Path, file: &Path, document: &RunDocument) -> Result<(), Failure> {
    let path = folder.join("manifest.json");
    let text = files::of_result(&path)?;
    let manifest = Manifest::read(&path.display().to_string(), &text);
    let manifest = manifest.map_err(|e| Failure::input(e.to_string()))?;
    let view = manifest.view.unwrap_or_default();
    let shown = (manifest.measures.as_slice(), &view);
    write(file, document, &manifest.points, shown)
}

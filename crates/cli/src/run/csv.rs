//! `tcplab run --csv`: the points as a table for other programs; with a folder also what happened over time.
//!
//! Every file has a heading. `point` is the number of the run, as in a result folder; values are plain numbers in the unit
//! that the heading says.

use std::path::Path;

use csv::Writer;
use tcplab_plan::result::RunDocument;
use tcplab_tables::{Table, run};

use crate::failure::Failure;
use crate::files::ResultFile;

/// Whether a place is one file: by its name.
pub fn is_file(place: &Path) -> bool {
    let end = place.extension();
    end.is_some_and(|end| end.eq_ignore_ascii_case("csv"))
}

/// Makes the folder, so that a place that cannot be is told before the run.
pub fn prepare(place: &Path) -> Result<(), Failure> {
    match is_file(place) {
        true => Ok(()),
        false => std::fs::create_dir_all(place).map_err(|e| Failure::output(place, &e)),
    }
}

/// Writes a file of the points, or a folder of all tables that have rows.
pub fn write(place: &Path, document: &RunDocument) -> Result<(), Failure> {
    if is_file(place) {
        return put(place, &run::points(document), document);
    }
    for table in run::all(document) {
        put(&place.join(format!("{}.csv", table.name)), &table, document)?;
    }
    Ok(())
}

fn put(path: &Path, table: &Table, document: &RunDocument) -> Result<(), Failure> {
    // The table of an earlier run would be read as this one's: it becomes a heading alone.
    if table.rows() == 0 && !path.exists() {
        return Ok(());
    }
    let failed = |e: csv::Error| Failure::output(path, &e.into());
    let mut out = Writer::from_writer(ResultFile::create(path)?);
    out.write_record(heading(table, document)).map_err(failed)?;
    for row in table.plain() {
        out.write_record(&row).map_err(failed)?;
    }
    let file = out.into_inner();
    file.map_err(|e| Failure::output(path, e.error()))?.commit()
}

/// The names of the columns. Those of measures say no unit, so it stands behind them.
fn heading(table: &Table, document: &RunDocument) -> Vec<String> {
    let measures = match table.name {
        "points" => document.measures.len(),
        _ => 0,
    };
    let own = table.fields.len() - measures;
    let fields = table.fields.iter().enumerate();
    let name = |(at, field): (usize, &tcplab_tables::Field)| match field.unit.as_str() {
        unit if at >= own && !unit.is_empty() => format!("{} [{unit}]", field.name),
        _ => field.name.clone(),
    };
    fields.map(name).collect()
}

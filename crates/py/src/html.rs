//! The first rows of a table for a notebook.

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};

/// Rows that are shown.
const ROWS: usize = 20;

/// The table as HTML; what a column says stands in its heading as a title.
pub(crate) fn table(schema: &Schema, batches: &[RecordBatch]) -> String {
    let mut out = "<table><thead><tr>".to_owned();
    for field in schema.fields() {
        let about = field.metadata().get("about").map_or("", String::as_str);
        let (name, about) = (escaped(field.name()), escaped(about));
        let _ = write!(out, "<th title=\"{about}\">{name}</th>");
    }
    out += "</tr></thead><tbody>";
    let all: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let rows = batches
        .iter()
        .flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)));
    for (batch, row) in rows.take(ROWS) {
        out += "<tr>";
        for column in batch.columns() {
            let _ = write!(out, "<td>{}</td>", escaped(&cell(column, row)));
        }
        out += "</tr>";
    }
    out += "</tbody></table>";
    if all > ROWS {
        let _ = write!(out, "<p>{ROWS} of {all} rows</p>");
    }
    out
}

fn cell(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Utf8View => column.as_string_view().value(row).to_owned(),
        _ => column.as_string::<i32>().value(row).to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

//! Tables as Arrow's C stream (https://arrow.apache.org/docs/format/CStreamInterface.html): polars, pandas, pyarrow and duckdb
//! read it without a copy.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray, StringViewArray, UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field as Column, Schema, SchemaRef};
use tcplab_tables::{Cells, Field, Kind, Table, Words};

/// A table's columns; the metadata of each has `unit` and `about`.
pub(crate) fn schema(fields: &[Field]) -> SchemaRef {
    let column = |field: &Field| {
        let kind = match field.kind {
            Kind::Int => DataType::Int64,
            Kind::Unsigned => DataType::UInt64,
            Kind::Float => DataType::Float64,
            Kind::Text => DataType::Utf8,
            Kind::Word => DataType::Utf8View,
            Kind::Flag => DataType::Boolean,
        };
        let mut known = HashMap::from([("about".to_owned(), field.about.clone())]);
        if !field.unit.is_empty() {
            known.insert("unit".to_owned(), field.unit.clone());
        }
        Column::new(&field.name, kind, true).with_metadata(known)
    };
    Arc::new(Schema::new(fields.iter().map(column).collect::<Vec<_>>()))
}

/// Its rows, with the memory that they are in.
pub(crate) fn batches(table: Table) -> Result<Vec<RecordBatch>, ArrowError> {
    let schema = schema(&table.fields);
    let batch = |batch: tcplab_tables::Batch| {
        let columns: Result<Vec<_>, _> = batch.columns.into_iter().map(array).collect();
        RecordBatch::try_new(Arc::clone(&schema), columns?)
    };
    table.batches.into_iter().map(batch).collect()
}

/// A stream over rows that stay where they are.
pub(crate) fn stream(schema: &SchemaRef, batches: &[RecordBatch]) -> FFI_ArrowArrayStream {
    let rows: Vec<_> = batches.iter().cloned().map(Ok).collect();
    let reader = RecordBatchIterator::new(rows, Arc::clone(schema));
    FFI_ArrowArrayStream::new(Box::new(reader))
}

fn array(cells: Cells) -> Result<ArrayRef, ArrowError> {
    Ok(match cells {
        Cells::Int(n) => Arc::new(Int64Array::try_new(n.values.into(), there(&n.missing))?),
        Cells::Unsigned(n) => Arc::new(UInt64Array::try_new(n.values.into(), there(&n.missing))?),
        Cells::Float(n) => Arc::new(Float64Array::try_new(n.values.into(), there(&n.missing))?),
        Cells::Flag(n) => Arc::new(BooleanArray::new(n.values.into(), there(&n.missing))),
        Cells::Word(cells) => Arc::new(views(&cells)),
        Cells::Text(texts) => {
            let ends = OffsetBuffer::new(ScalarBuffer::from(texts.offsets));
            let bytes = texts.bytes.into();
            Arc::new(StringArray::try_new(ends, bytes, there(&texts.missing))?)
        }
    })
}

/// Texts that repeat as views: readers see texts like others, and each word is in memory once. (As a dictionary polars takes them
/// for categories, and joins them with no text.)
fn views(cells: &Words) -> StringViewArray {
    let words = StringViewArray::from_iter_values(&cells.words);
    let (own, bytes, _) = words.into_parts();
    let codes = cells.codes.values.iter();
    let view = |code: &i32| own.get(*code as usize).copied().unwrap_or_default();
    let views: Vec<u128> = codes.map(view).collect();
    let there = there(&cells.codes.missing);
    StringViewArray::new(views.into(), bytes, there)
}

fn there(missing: &[bool]) -> Option<NullBuffer> {
    (!missing.is_empty()).then(|| missing.iter().map(|is| !is).collect())
}

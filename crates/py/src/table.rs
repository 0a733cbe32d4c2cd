//! A table as an object of Python.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef, ffi::FFI_ArrowSchema};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use tcplab_plan::result::RunDocument;
use tcplab_tables::{Field, Kind, Row};

use crate::{arrow, html};

/// Columns that are named where a table is shown in a line.
const SHOWN: usize = 8;

/// Rows and columns; see `python/tcplab/_native.pyi`.
#[pyclass(frozen, module = "tcplab")]
pub(crate) struct Table {
    name: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// Takes over a table's memory.
    pub(crate) fn new(table: tcplab_tables::Table) -> PyResult<Self> {
        Self::named(table.name.to_owned(), table)
    }

    fn named(name: String, table: tcplab_tables::Table) -> PyResult<Self> {
        let schema = arrow::schema(&table.fields);
        let batches = arrow::batches(table).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Self {
            name,
            schema,
            batches,
        })
    }

    fn column<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyList>> {
        let out = PyList::empty(py);
        for batch in &self.batches {
            append(&out, batch.column(at))?;
        }
        Ok(out)
    }

    fn of_field(&self, what: &str, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let out = PyDict::new(py);
        for field in self.schema.fields() {
            let value = field.metadata().get(what).map_or("", String::as_str);
            out.set_item(field.name(), value)?;
        }
        Ok(out.unbind())
    }
}

fn append(out: &Bound<'_, PyList>, cells: &dyn Array) -> PyResult<()> {
    match cells.data_type() {
        DataType::Int64 => {
            let mut all = cells.as_primitive::<Int64Type>().iter();
            all.try_for_each(|n| out.append(n))
        }
        DataType::UInt64 => {
            let mut all = cells.as_primitive::<UInt64Type>().iter();
            all.try_for_each(|n| out.append(n))
        }
        DataType::Float64 => {
            let mut all = cells.as_primitive::<Float64Type>().iter();
            all.try_for_each(|n| out.append(n))
        }
        DataType::Boolean => cells.as_boolean().iter().try_for_each(|is| out.append(is)),
        DataType::Utf8View => {
            let mut all = cells.as_string_view().iter();
            all.try_for_each(|text| out.append(text))
        }
        _ => {
            let mut all = cells.as_string::<i32>().iter();
            all.try_for_each(|text| out.append(text))
        }
    }
}

/// Puts a value of Python into a cell of a kind.
fn put(row: &mut Row<'_>, kind: Kind, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match kind {
        Kind::Int => row.maybe(value.extract()?),
        Kind::Unsigned => row.unsigned(value.extract()?),
        Kind::Float => row.float(value.extract()?),
        Kind::Text | Kind::Word => row.maybe_text(value.extract::<Option<String>>()?.as_deref()),
        Kind::Flag => row.maybe_flag(value.extract()?),
    }
    Ok(())
}

fn kind(word: &str) -> PyResult<Kind> {
    match word {
        "int" => Ok(Kind::Int),
        "unsigned" => Ok(Kind::Unsigned),
        "float" => Ok(Kind::Float),
        "text" => Ok(Kind::Text),
        "word" => Ok(Kind::Word),
        "flag" => Ok(Kind::Flag),
        _ => Err(PyValueError::new_err(format!("no kind `{word}`"))),
    }
}

/// The word of a column's kind.
fn word(kind: &DataType) -> &'static str {
    match kind {
        DataType::Int64 => "int",
        DataType::UInt64 => "unsigned",
        DataType::Float64 => "float",
        DataType::Boolean => "flag",
        DataType::Utf8View => "word",
        _ => "text",
    }
}

/// The arguments of `Table.of`.
type Reduced<'py> = (
    String,
    Vec<(String, &'static str, String, String)>,
    Vec<Vec<Bound<'py, PyAny>>>,
);

#[pymethods]
impl Table {
    /// Makes a table from rows (lists). Each column is a tuple of four texts: name, kind (``int``, ``unsigned``, ``float``,
    /// ``text`` or ``flag``), unit and description: ``Table.of("t", [("at_ns", "int", "ns", "When.")], [[1], [None]])``.
    #[staticmethod]
    fn of(
        name: String,
        columns: Vec<(String, String, String, String)>,
        rows: Vec<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<Self> {
        let mut fields = Vec::new();
        for (name, word, unit, about) in columns {
            let kind = kind(&word)?;
            fields.push(Field {
                name,
                kind,
                unit,
                about,
            });
        }
        let kinds: Vec<Kind> = fields.iter().map(|field| field.kind).collect();
        let mut table = tcplab_tables::Table::new("", fields);
        for cells in rows {
            if cells.len() != kinds.len() {
                let (have, want) = (cells.len(), kinds.len());
                let text = format!("a row of {have} cells in a table of {want} columns");
                return Err(PyValueError::new_err(text));
            }
            let mut row = table.row();
            for (kind, cell) in kinds.iter().zip(&cells) {
                if let Err(e) = put(&mut row, *kind, cell) {
                    row.give_up();
                    return Err(e);
                }
            }
        }
        Self::named(name, table)
    }

    /// Returns a table with the rows of several tables that have the same columns.
    #[staticmethod]
    fn joined(tables: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let Some(first) = tables.first() else {
            return Err(PyValueError::new_err("there is no table to join"));
        };
        if tables.iter().any(|table| table.schema != first.schema) {
            return Err(PyValueError::new_err("tables with different columns"));
        }
        let batches = tables
            .iter()
            .flat_map(|table| table.batches.iter().cloned());
        Ok(Self {
            name: first.name.clone(),
            schema: Arc::clone(&first.schema),
            batches: batches.collect(),
        })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Names of its columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// Unit of each column.
    #[getter]
    fn units(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        self.of_field("unit", py)
    }

    /// Meaning of each column.
    #[getter]
    fn descriptions(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        self.of_field("about", py)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        let Ok(at) = self.schema.index_of(column) else {
            let names = self.columns().join(", ");
            return Err(PyKeyError::new_err(format!(
                "no column `{column}` in the table `{}`; its columns are {names}",
                self.name
            )));
        };
        self.column(py, at)
    }

    /// Returns all columns as lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (at, field) in self.schema.fields().iter().enumerate() {
            out.set_item(field.name(), self.column(py, at)?)?;
        }
        Ok(out)
    }

    /// For pickle and copy: the call of `Table.of` that makes the same table.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Reduced<'py>)> {
        let (py, table) = (slf.py(), slf.get());
        let fields = table.schema.fields().iter();
        let columns = fields.map(|field| {
            let said = |what| field.metadata().get(what).cloned().unwrap_or_default();
            let word = word(field.data_type());
            (field.name().clone(), word, said("unit"), said("about"))
        });
        let cells = (0..table.schema.fields().len()).map(|at| table.column(py, at));
        let cells: Vec<Bound<'py, PyList>> = cells.collect::<PyResult<_>>()?;
        let row = |at| cells.iter().map(|column| column.get_item(at)).collect();
        let rows: PyResult<Vec<Vec<_>>> = (0..table.__len__()).map(row).collect();
        let of = slf.get_type().getattr("of")?;
        Ok((of, (table.name.clone(), columns.collect(), rows?)))
    }

    /// Draws column ``y`` over column ``x``; ``points`` and ``library`` work as in :func:`tcplab.plot.lines`.
    #[pyo3(signature = (x, y, color=None, **options))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        x: &str,
        y: &str,
        color: Option<&str>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plot = slf.py().import("tcplab.plot")?;
        plot.call_method("lines", (slf, x, y, color), options)
    }

    fn __repr__(&self) -> String {
        let names = self.columns();
        let (first, more) = names.split_at(names.len().min(SHOWN));
        let more = match more.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let (rows, first) = (self.__len__(), first.join(", "));
        format!("<Table {}: {rows} rows; columns {first}{more}>", self.name)
    }

    fn _repr_html_(&self) -> String {
        html::table(&self.schema, &self.batches)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        let schema = schema.map_err(|e| PyValueError::new_err(e.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    // A consumer may wish for another schema; the protocol allows to give one's own.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = arrow::stream(&self.schema, &self.batches);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// Tables by name.
pub(crate) fn by_name(
    py: Python<'_>,
    tables: impl IntoIterator<Item = tcplab_tables::Table>,
) -> PyResult<Py<PyDict>> {
    let out = PyDict::new(py);
    for table in tables {
        out.set_item(table.name, Table::new(table)?)?;
    }
    Ok(out.unbind())
}

/// The tables of `tcplab run --json`.
#[pyfunction]
pub(crate) fn run_tables(py: Python<'_>, document: &[u8]) -> PyResult<Py<PyDict>> {
    let tables = py.detach(|| read(document).map(|document| tcplab_tables::run::all(&document)));
    by_name(py, tables?)
}

/// What its repetitions say; `base` is the variant that others are compared with.
#[pyfunction]
#[pyo3(signature = (document, base))]
pub(crate) fn run_verdicts(py: Python<'_>, document: &[u8], base: Option<&str>) -> PyResult<Table> {
    let table =
        py.detach(|| read(document).map(|document| tcplab_tables::run::verdicts(&document, base)));
    Table::new(table?)
}

fn read(document: &[u8]) -> PyResult<RunDocument> {
    let read = serde_json::from_slice(document);
    read.map_err(|e| PyValueError::new_err(format!("document: {e}")))
}

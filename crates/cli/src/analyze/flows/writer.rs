//! Writes the rows in groups of bounded size.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use tcplab_analyze::Output;
use tcplab_analyze::report::Totals;

use super::columns::{self, FINDINGS, Kind, Value};
use crate::analyze::fail_on::name;
use crate::analyze::side::Side;
use crate::failure::Failure;
use crate::files::ResultFile;

/// Rows held before a group is written.
const GROUP: usize = 16 * 1024;

/// Column of the stream's number: after `file` and `findings`.
const STREAM: usize = 2;

/// The file in the making.
pub struct Flows {
    path: PathBuf,
    writer: SerializedFileWriter<ResultFile>,
    schema: Vec<(String, Kind)>,
    rows: Vec<Vec<Value>>,
    file: String,
}

impl Flows {
    /// Begins the file.
    pub fn new(path: &Path) -> Result<Self, Failure> {
        let schema = columns::schema();
        let out = ResultFile::create(path)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let writer = message(&schema)
            .and_then(|m| SerializedFileWriter::new(out, m, Arc::new(properties.build())))
            .map_err(|e| failed(path, e))?;
        Ok(Self {
            path: path.to_path_buf(),
            writer,
            schema,
            rows: Vec::new(),
            file: String::new(),
        })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (i, (_, kind)) in self.schema.iter().enumerate() {
            let Some(mut column) = group.next_column()? else {
                break;
            };
            let cells = self.rows.iter().filter_map(|row| row.get(i));
            match kind {
                Kind::Int => {
                    let cells: Vec<Option<i64>> = cells.map(as_int).collect();
                    let levels: Vec<i16> = cells.iter().map(|c| c.is_some().into()).collect();
                    let values: Vec<i64> = cells.into_iter().flatten().collect();
                    let typed = column.typed::<Int64Type>();
                    typed.write_batch(&values, Some(&levels), None)?;
                }
                Kind::Text => {
                    let values: Vec<ByteArray> = cells.map(as_text).collect();
                    let typed = column.typed::<ByteArrayType>();
                    typed.write_batch(&values, None, None)?;
                }
            }
            column.close()?;
        }
        group.close()?;
        self.rows.clear();
        Ok(())
    }
}

fn as_int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(n) => *n,
        Value::Text(_) => None,
    }
}

fn as_text(value: &Value) -> ByteArray {
    match value {
        Value::Text(text) => text.as_str().into(),
        Value::Int(_) => ByteArray::from(""),
    }
}

fn message(schema: &[(String, Kind)]) -> Result<Arc<Type>, ParquetError> {
    let column = |(name, kind): &(String, Kind)| {
        let builder = match kind {
            Kind::Int => Type::primitive_type_builder(name, Physical::INT64)
                .with_repetition(Repetition::OPTIONAL),
            Kind::Text => Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String))
                .with_repetition(Repetition::REQUIRED),
        };
        builder.build().map(Arc::new)
    };
    let fields: Result<Vec<_>, _> = schema.iter().map(column).collect();
    let message = Type::group_type_builder("flows").with_fields(fields?);
    Ok(Arc::new(message.build()?))
}

fn failed(path: &Path, e: ParquetError) -> Failure {
    Failure::output(path, &std::io::Error::other(e))
}

impl Side for Flows {
    fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    fn see(&mut self, output: &Output) -> Result<(), Failure> {
        match output {
            Output::Stream(s) => {
                // Before the new row: the findings of the last one have come by now.
                if self.rows.len() >= GROUP {
                    self.write_group().map_err(|e| failed(&self.path, e))?;
                }
                self.rows.push(columns::row(&self.file, s));
            }
            Output::Finding(f) => {
                let number = Value::Int(Some(f.stream.into()));
                let mine = |row: &&mut Vec<Value>| row.get(STREAM) == Some(&number);
                let row = self.rows.iter_mut().next_back().filter(mine);
                if let Some(Value::Text(all)) = row.and_then(|r| r.get_mut(FINDINGS)) {
                    if !all.is_empty() {
                        all.push(',');
                    }
                    all.push_str(&name(&f.id));
                }
            }
            Output::Trace(_) => {}
        }
        Ok(())
    }

    fn end(&mut self, _totals: &Totals) {}

    fn close(mut self: Box<Self>) -> Result<String, Failure> {
        let path = self.path.clone();
        if !self.rows.is_empty() {
            self.write_group().map_err(|e| failed(&path, e))?;
        }
        let out = self.writer.into_inner().map_err(|e| failed(&path, e))?;
        out.commit()?;
        Ok(format!("Flows: {}", path.display()))
    }
}

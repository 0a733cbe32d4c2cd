//! `--flows`: one row for each stream as Parquet, behind the cargo feature `parquet`; in groups of bounded size.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use tcplab_analyze::Output;
use tcplab_tables::capture::Streams;
use tcplab_tables::{Batch, Cells, Field, Kind};

use crate::analyze::side::Side;
use crate::failure::Failure;
use crate::files::ResultFile;

/// Rows held before a group is written.
const GROUP: usize = 16 * 1024;

/// The file in the making.
pub struct Flows {
    path: PathBuf,
    writer: SerializedFileWriter<ResultFile>,
    streams: Streams,
}

impl Flows {
    /// Begins the file.
    pub fn new(path: &Path) -> Result<Self, Failure> {
        let streams = Streams::default();
        let out = ResultFile::create(path)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let writer = message(streams.fields())
            .and_then(|m| SerializedFileWriter::new(out, m, Arc::new(properties.build())))
            .map_err(|e| failed(path, e))?;
        Ok(Self {
            path: path.to_path_buf(),
            writer,
            streams,
        })
    }

    /// Writes the rows that are held.
    fn write_groups(&mut self) -> Result<(), ParquetError> {
        for batch in self.streams.take().batches {
            self.write_group(&batch)?;
        }
        Ok(())
    }

    fn write_group(&mut self, batch: &Batch) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for cells in &batch.columns {
            let Some(mut column) = group.next_column()? else {
                break;
            };
            let rows = 0..batch.rows;
            match cells {
                Cells::Int(cells) => {
                    let cells: Vec<Option<i64>> = rows.map(|row| cells.get(row)).collect();
                    let levels: Vec<i16> = cells.iter().map(|c| c.is_some().into()).collect();
                    let values: Vec<i64> = cells.into_iter().flatten().collect();
                    let typed = column.typed::<Int64Type>();
                    typed.write_batch(&values, Some(&levels), None)?;
                }
                // Streams have whole numbers and texts only.
                _ => {
                    let text = |row| ByteArray::from(cells.plain(row).as_str());
                    let values: Vec<ByteArray> = rows.map(text).collect();
                    let typed = column.typed::<ByteArrayType>();
                    typed.write_batch(&values, None, None)?;
                }
            }
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

fn message(fields: &[Field]) -> Result<Arc<Type>, ParquetError> {
    let column = |field: &Field| {
        let builder = match field.kind {
            Kind::Int => Type::primitive_type_builder(&field.name, Physical::INT64)
                .with_repetition(Repetition::OPTIONAL),
            _ => Type::primitive_type_builder(&field.name, Physical::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String))
                .with_repetition(Repetition::REQUIRED),
        };
        builder.build().map(Arc::new)
    };
    let fields: Result<Vec<_>, _> = fields.iter().map(column).collect();
    let message = Type::group_type_builder("flows").with_fields(fields?);
    Ok(Arc::new(message.build()?))
}

fn failed(path: &Path, e: ParquetError) -> Failure {
    Failure::output(path, &std::io::Error::other(e))
}

impl Side for Flows {
    fn begin(&mut self, file: &str) {
        self.streams.begin(file);
    }

    fn see(&mut self, output: &Output) -> Result<(), Failure> {
        // Before a new row: the findings of the last one have come by now.
        if matches!(output, Output::Stream(_)) && self.streams.rows() >= GROUP {
            self.write_groups().map_err(|e| failed(&self.path, e))?;
        }
        self.streams.see(output);
        Ok(())
    }

    fn close(mut self: Box<Self>) -> Result<String, Failure> {
        let path = self.path.clone();
        self.write_groups().map_err(|e| failed(&path, e))?;
        let out = self.writer.into_inner().map_err(|e| failed(&path, e))?;
        out.commit()?;
        Ok(format!("Flows: {}", path.display()))
    }
}

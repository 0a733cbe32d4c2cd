//! Rows as a Parquet file, in row groups of a fixed number of rows.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use tcplab_os::output::Output;

use super::cells::{take_int, take_ints, take_maybe, take_text};
use super::columns::{Kind, columns};
use crate::error::LabError;

/// Rows of a row group: what is held in memory.
const ROWS: usize = 1 << 16;

/// The file in the making.
struct Parquet {
    path: PathBuf,
    writer: SerializedFileWriter<Output>,
    chunks: Vec<Chunk>,
    rows: usize,
}

/// A column of the next row group.
struct Chunk {
    kind: Kind,
    ints: Vec<i64>,
    texts: Vec<ByteArray>,
    /// For each entry: whether it has a value.
    there: Vec<i16>,
    /// For each entry of a list: whether it continues the list of the entry before.
    goes_on: Vec<i16>,
}

/// Whether this build has it.
pub(super) fn need() -> Result<(), LabError> {
    Ok(())
}

/// Writes the rows of these groups.
pub(super) fn write(
    path: &Path,
    out: io::Result<Output>,
    mut groups: impl Iterator<Item = Result<Vec<u8>, LabError>>,
) -> Result<(), LabError> {
    let mut file = Parquet::create(path, out)?;
    groups.try_for_each(|rows| file.add(&rows?))?;
    file.finish()
}

impl Parquet {
    /// Begins the file.
    fn create(path: &Path, out: io::Result<Output>) -> Result<Self, LabError> {
        let out = out.map_err(LabError::at(path))?;
        let zstd = ZstdLevel::try_new(1).map(Compression::ZSTD);
        let create = || {
            let properties = WriterProperties::builder().set_compression(zstd?);
            SerializedFileWriter::new(out, message()?, Arc::new(properties.build()))
        };
        let writer = create().map_err(|e| LabError::at(path)(io_error(e)))?;
        let chunk = |kind| Chunk {
            kind,
            ints: Vec::new(),
            texts: Vec::new(),
            there: Vec::new(),
            goes_on: Vec::new(),
        };
        Ok(Self {
            path: path.to_owned(),
            writer,
            chunks: columns().iter().map(|c| chunk(c.kind())).collect(),
            rows: 0,
        })
    }

    /// Adds the rows of a group.
    fn add(&mut self, rows: &[u8]) -> Result<(), LabError> {
        let mut input = rows;
        while !input.is_empty() {
            let whole = self.chunks.iter_mut().try_for_each(|c| c.take(&mut input));
            if whole.is_none() {
                return Err(self.failed(ParquetError::General("damaged rows".to_owned())));
            }
            self.rows += 1;
            if self.rows == ROWS {
                self.write_group().map_err(|e| self.failed(e))?;
            }
        }
        Ok(())
    }

    /// Gives the file its name.
    fn finish(mut self) -> Result<(), LabError> {
        if self.rows > 0 {
            self.write_group().map_err(|e| self.failed(e))?;
        }
        let out = self.writer.into_inner().map_err(io_error);
        out.and_then(Output::commit_synced)
            .map_err(LabError::at(&self.path))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for chunk in &mut self.chunks {
            let Some(mut column) = group.next_column()? else {
                break;
            };
            match chunk.kind {
                Kind::Int => {
                    let typed = column.typed::<Int64Type>();
                    typed.write_batch(&chunk.ints, None, None)?
                }
                Kind::Maybe => {
                    let typed = column.typed::<Int64Type>();
                    typed.write_batch(&chunk.ints, Some(&chunk.there), None)?
                }
                Kind::Ints => {
                    let typed = column.typed::<Int64Type>();
                    typed.write_batch(&chunk.ints, Some(&chunk.there), Some(&chunk.goes_on))?
                }
                Kind::Text => {
                    let typed = column.typed::<ByteArrayType>();
                    typed.write_batch(&chunk.texts, Some(&chunk.there), None)?
                }
            };
            column.close()?;
            chunk.clear();
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    fn failed(&self, e: ParquetError) -> LabError {
        LabError::at(&self.path)(io_error(e))
    }
}

impl Chunk {
    /// Takes the next cell; `None` if the bytes are no row.
    fn take(&mut self, input: &mut &[u8]) -> Option<()> {
        match self.kind {
            Kind::Int => self.ints.push(take_int(input)?),
            Kind::Maybe => {
                let value = take_maybe(input)?;
                self.there.push(value.is_some().into());
                self.ints.extend(value);
            }
            Kind::Ints => {
                let before = self.there.len();
                take_ints(input, |n| {
                    self.goes_on.push((self.there.len() > before).into());
                    self.there.push(1);
                    self.ints.push(n);
                })?;
                if self.there.len() == before {
                    // A list without entries.
                    self.there.push(0);
                    self.goes_on.push(0);
                }
            }
            Kind::Text => {
                let text = take_text(input)?;
                self.there.push(text.is_some().into());
                self.texts
                    .extend(text.map(|text| ByteArray::from(text.to_vec())));
            }
        }
        Some(())
    }

    fn clear(&mut self) {
        self.ints.clear();
        self.texts.clear();
        self.there.clear();
        self.goes_on.clear();
    }
}

/// The schema.
fn message() -> Result<TypePtr, ParquetError> {
    let int = |name: &str, repetition| {
        let int = Type::primitive_type_builder(name, Physical::INT64);
        int.with_repetition(repetition).build().map(Arc::new)
    };
    let field = |name: &str, kind: Kind| match kind {
        Kind::Int => int(name, Repetition::REQUIRED),
        Kind::Maybe => int(name, Repetition::OPTIONAL),
        Kind::Text => Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_logical_type(Some(LogicalType::String))
            .with_repetition(Repetition::OPTIONAL)
            .build()
            .map(Arc::new),
        Kind::Ints => {
            let entries = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![int("element", Repetition::REQUIRED)?])
                .build()?;
            Type::group_type_builder(name)
                .with_logical_type(Some(LogicalType::List))
                .with_repetition(Repetition::REQUIRED)
                .with_fields(vec![Arc::new(entries)])
                .build()
                .map(Arc::new)
        }
    };
    let fields: Result<Vec<_>, _> = columns().iter().map(|c| field(c.name, c.kind())).collect();
    let message = Type::group_type_builder("connections").with_fields(fields?);
    Ok(Arc::new(message.build()?))
}

fn io_error(e: ParquetError) -> io::Error {
    io::Error::other(e)
}

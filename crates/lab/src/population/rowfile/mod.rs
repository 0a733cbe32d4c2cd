//! A row for each connection and arm, kept while a run goes on and written as Parquet at its end.
//!
//! Rows of a finished group are appended to `rows.part` before the group is appended to `groups.part`: a group that is
//! kept has its rows. At the end they are read again in the order of the groups, so the file does not depend on who
//! finished first. They are written in row groups: memory holds one of these. A shard keeps them as they are, in
//! `rows.bin`; `tcplab merge` makes the file of all.

#[cfg(not(feature = "parquet"))]
mod absent;
mod cells;
mod columns;
#[cfg(test)]
mod tests;
#[cfg(feature = "parquet")]
mod writer;

use std::path::{Path, PathBuf};

use tcplab_os::output::Output;

#[cfg(not(feature = "parquet"))]
use absent::{need, write};
pub use columns::reference;
pub(crate) use columns::{Column, Seen, columns, put};
#[cfg(feature = "parquet")]
use writer::{need, write};

use super::log::Log;
use super::record::{self, take};
use crate::error::LabError;
use crate::shard::Shard;

/// Where rows go.
#[derive(Clone, Copy, Debug)]
pub enum RowsTo<'a> {
    /// `rows.parquet` of the result folder; `rows.bin` of a shard's.
    Folder,
    /// A file of this name; there is no result folder.
    File(&'a Path),
}

/// What rows become.
#[derive(Debug)]
enum Last {
    /// Of a result folder.
    Parquet(PathBuf),
    /// Where the user said.
    Named(PathBuf),
    /// A shard's groups in their order.
    Groups(PathBuf),
}

/// The files of a run's rows.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Where rows are kept before the end; `None`: in a file without a name.
    part: Option<PathBuf>,
    last: Last,
}

impl Plan {
    /// Where rows go, before anything is written.
    ///
    /// # Errors
    /// When there is no place for them, or this build has no Parquet.
    pub(crate) fn new(
        to: RowsTo<'_>,
        folder: Option<&Path>,
        shard: Shard,
    ) -> Result<Self, LabError> {
        match (to, folder) {
            (RowsTo::Folder, Some(folder)) if !shard.is_whole() => Ok(Self {
                part: Some(folder.join("rows.part")),
                last: Last::Groups(folder.join("rows.bin")),
            }),
            (RowsTo::Folder, Some(folder)) => {
                need()?;
                Ok(Self {
                    part: Some(folder.join("rows.part")),
                    last: Last::Parquet(folder.join("rows.parquet")),
                })
            }
            (RowsTo::File(file), None) => {
                need()?;
                Ok(Self {
                    part: None,
                    last: Last::Named(file.to_owned()),
                })
            }
            (RowsTo::Folder, None) => Err(LabError::Wrong(
                "--rows needs a place: add --out FOLDER, or write --rows=FILE.parquet".to_owned(),
            )),
            (RowsTo::File(_), Some(folder)) => Err(LabError::Wrong(format!(
                "--out keeps the rows in {}: write --rows without a file name",
                folder.display()
            ))),
        }
    }

    /// Opens the rows, which an earlier run may have begun.
    pub(crate) fn open(self) -> Result<Rows, LabError> {
        Ok(Rows {
            log: match (self.part, &self.last) {
                (Some(part), _) => Log::open((part, LACKS), number)?,
                (None, Last::Named(file) | Last::Parquet(file) | Last::Groups(file)) => {
                    Log::temporary(file, LACKS)?
                }
            },
            last: self.last,
        })
    }
}

/// What is said of a group whose rows are not there.
const LACKS: &str = "has no rows";

fn number(mut entry: &[u8]) -> Option<u32> {
    u32::try_from(take(&mut entry)?).ok()
}

/// Opens the rows of a finished shard.
fn of_shard(path: PathBuf) -> Result<Log, LabError> {
    let (log, is_whole) = Log::of_shard((path.clone(), LACKS), number)?;
    match is_whole {
        true => Ok(log),
        false => Err(LabError::Wrong(format!(
            "{}: damaged at byte {}: run the shard again into another folder",
            path.display(),
            log.end
        ))),
    }
}

/// The rows of a run that goes on.
#[derive(Debug)]
pub(crate) struct Rows {
    log: Log,
    last: Last,
}

impl Rows {
    /// Whether a group's rows are kept.
    pub(crate) fn has(&self, group: u32) -> bool {
        self.log.has(group)
    }

    /// Keeps the rows of a finished group.
    pub(crate) fn add(&mut self, group: u32, rows: &[u8]) -> Result<(), LabError> {
        let mut bytes = Vec::with_capacity(rows.len() + 4);
        record::put(&mut bytes, u64::from(group));
        bytes.extend_from_slice(rows);
        self.log.add(group, &bytes)
    }

    /// Keeps the rows of these groups of a shard's folder.
    pub(crate) fn add_shard(&mut self, folder: &Path, groups: &[u32]) -> Result<(), LabError> {
        let shard = of_shard(folder.join("rows.bin"))?;
        for group in groups {
            self.add(*group, &shard.rows(*group)?)?;
        }
        Ok(())
    }

    /// Writes those of these groups, in order. What was kept stays until [`Rows::remove`].
    pub(crate) fn finish(&self, wanted: &[u32]) -> Result<(), LabError> {
        match &self.last {
            Last::Groups(path) => self.log.sorted(path, wanted),
            Last::Parquet(path) | Last::Named(path) => {
                let out = match &self.last {
                    Last::Named(_) => Output::create(path),
                    _ => Output::create_own(path),
                };
                write(path, out, wanted.iter().map(|group| self.log.rows(*group)))
            }
        }
    }

    /// Removes what was kept of a run that has ended.
    pub(crate) fn remove(self) -> Result<(), LabError> {
        self.log.remove()
    }
}

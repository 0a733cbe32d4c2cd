//! The rows of finished groups on disk: entries of a group's number and its rows, in the order in which groups ended.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tcplab_os::output::{Output, append_own};

use crate::error::LabError;
use crate::population::framed::{content, entry, scan};
use crate::population::record::{put, take};

/// The file, and where each group is in it.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Place and bytes of each group's entry.
    entries: BTreeMap<u32, (u64, u32)>,
    end: u64,
    is_temporary: bool,
}

impl Log {
    /// Opens the file of a run; what was written half is cut off.
    pub(super) fn open(path: PathBuf) -> Result<Self, LabError> {
        let file = append_own(&path).map_err(LabError::at(&path))?;
        let log = Self::read(path, file)?;
        log.file.set_len(log.end).map_err(LabError::at(&log.path))?;
        Ok(log)
    }

    /// Opens a file without a name, on the disk where `result` will be when that has room for files.
    pub(super) fn temporary(result: &Path) -> Result<Self, LabError> {
        let folder = result.parent().filter(|f| !f.as_os_str().is_empty());
        let file = tempfile::tempfile_in(folder.unwrap_or(Path::new(".")));
        let file = file.or_else(|_| tempfile::tempfile());
        Ok(Self {
            file: file.map_err(LabError::at(result))?,
            path: result.to_owned(),
            entries: BTreeMap::new(),
            end: 0,
            is_temporary: true,
        })
    }

    /// Opens that of a finished shard.
    pub(super) fn of_shard(path: PathBuf) -> Result<Self, LabError> {
        let file = File::open(&path).map_err(LabError::at(&path))?;
        let len = file.metadata().map_err(LabError::at(&path))?.len();
        let log = Self::read(path, file)?;
        match log.end == len {
            true => Ok(log),
            false => Err(LabError::Wrong(format!(
                "{}: damaged at byte {}: run the shard again into another folder",
                log.path.display(),
                log.end
            ))),
        }
    }

    fn read(path: PathBuf, file: File) -> Result<Self, LabError> {
        let mut entries = BTreeMap::new();
        let end = scan(&file, |at, len, mut bytes| {
            let number = take(&mut bytes).and_then(|n| u32::try_from(n).ok());
            // A group that was begun again has its rows twice: the later ones hold.
            number
                .map(|number| entries.insert(number, (at, len)))
                .is_some()
        })
        .map_err(LabError::at(&path))?;
        Ok(Self {
            path,
            file,
            entries,
            end,
            is_temporary: false,
        })
    }

    pub(super) fn has(&self, group: u32) -> bool {
        self.entries.contains_key(&group)
    }

    /// Adds a group's rows by one write.
    pub(super) fn add(&mut self, group: u32, rows: &[u8]) -> Result<(), LabError> {
        let mut bytes = Vec::with_capacity(rows.len() + 4);
        put(&mut bytes, u64::from(group));
        bytes.extend_from_slice(rows);
        let entry = entry(&bytes).map_err(LabError::at(&self.path))?;
        // Rows that were read have moved the place.
        (self.file.seek(SeekFrom::Start(self.end)))
            .and_then(|_| self.file.write_all(&entry))
            .map_err(LabError::at(&self.path))?;
        self.entries.insert(group, (self.end, entry.len() as u32));
        self.end += entry.len() as u64;
        Ok(())
    }

    /// The rows of a group.
    pub(super) fn rows(&self, group: u32) -> Result<Vec<u8>, LabError> {
        let at = LabError::at(&self.path);
        let wrong =
            || io::Error::other(format!("the rows of group {group} are missing or damaged"));
        let read = || {
            let bytes = self.entry(group)?;
            let mut rows = content(&bytes).ok_or_else(wrong)?;
            take(&mut rows).ok_or_else(wrong)?;
            Ok(rows.to_vec())
        };
        read().map_err(at)
    }

    fn entry(&self, group: u32) -> io::Result<Vec<u8>> {
        let Some(&(at, len)) = self.entries.get(&group) else {
            return Err(io::Error::other(format!("group {group} has no rows")));
        };
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = vec![0; len as usize];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes a file with the entries of these groups, in order.
    pub(super) fn sorted(&self, path: &Path, wanted: &[u32]) -> Result<(), LabError> {
        let write = || {
            let mut out = Output::create_own(path)?;
            for group in wanted {
                out.write_all(&self.entry(*group)?)?;
            }
            out.commit_synced()
        };
        write().map_err(LabError::at(path))
    }

    pub(super) fn remove(self) -> Result<(), LabError> {
        match self.is_temporary {
            // It has no name.
            true => Ok(()),
            false => fs::remove_file(&self.path).map_err(LabError::at(&self.path)),
        }
    }
}

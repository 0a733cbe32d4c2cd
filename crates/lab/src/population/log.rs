//! Files of finished groups: an entry for each, which begins with the group's number, in the order in which groups
//! ended ([`super::framed`]). A run that was killed leaves a last entry that is not whole; the next one cuts it off.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tcplab_os::output::{Output, append_own};

use super::framed::{content, entry, scan};
use super::record::take;
use crate::error::LabError;

/// The file, and where each group is in it.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Place and bytes of each group's entry.
    entries: BTreeMap<u32, (u64, u32)>,
    /// Bytes of all entries that are whole.
    pub(super) end: u64,
    /// What is said of a group that is not there.
    lacks: &'static str,
    is_temporary: bool,
}

impl Log {
    /// Opens the file of a run. `number` gives the group of an entry; an entry without one and what follows it are cut
    /// off.
    pub(super) fn open(
        (path, lacks): (PathBuf, &'static str),
        number: impl FnMut(&[u8]) -> Option<u32>,
    ) -> Result<Self, LabError> {
        let file = append_own(&path).map_err(LabError::at(&path))?;
        let log = Self::read((path, lacks), file, number)?;
        log.file.set_len(log.end).map_err(LabError::at(&log.path))?;
        Ok(log)
    }

    /// Opens a file without a name, on the disk where `result` will be when that has room for files.
    pub(super) fn temporary(result: &Path, lacks: &'static str) -> Result<Self, LabError> {
        let folder = result.parent().filter(|f| !f.as_os_str().is_empty());
        let file = tempfile::tempfile_in(folder.unwrap_or(Path::new(".")));
        let file = file.or_else(|_| tempfile::tempfile());
        Ok(Self {
            file: file.map_err(LabError::at(result))?,
            path: result.to_owned(),
            entries: BTreeMap::new(),
            end: 0,
            lacks,
            is_temporary: true,
        })
    }

    /// Opens that of a finished shard, and says whether all of it is entries.
    pub(super) fn of_shard(
        (path, lacks): (PathBuf, &'static str),
        number: impl FnMut(&[u8]) -> Option<u32>,
    ) -> Result<(Self, bool), LabError> {
        let file = File::open(&path).map_err(LabError::at(&path))?;
        let len = file.metadata().map_err(LabError::at(&path))?.len();
        let log = Self::read((path, lacks), file, number)?;
        let is_whole = log.end == len;
        Ok((log, is_whole))
    }

    fn read(
        (path, lacks): (PathBuf, &'static str),
        file: File,
        mut number: impl FnMut(&[u8]) -> Option<u32>,
    ) -> Result<Self, LabError> {
        let mut entries = BTreeMap::new();
        let end = scan(&file, |at, len, bytes| {
            // A group that was begun again is there twice: the later one holds.
            number(bytes)
                .map(|number| entries.insert(number, (at, len)))
                .is_some()
        })
        .map_err(LabError::at(&path))?;
        Ok(Self {
            path,
            file,
            entries,
            end,
            lacks,
            is_temporary: false,
        })
    }

    pub(super) fn has(&self, group: u32) -> bool {
        self.entries.contains_key(&group)
    }

    /// Adds what a finished group has by one write.
    pub(super) fn add(&mut self, group: u32, content: &[u8]) -> Result<(), LabError> {
        let entry = entry(content).map_err(LabError::at(&self.path))?;
        // Entries that were read have moved the place.
        (self.file.seek(SeekFrom::Start(self.end)))
            .and_then(|_| self.file.write_all(&entry))
            .map_err(LabError::at(&self.path))?;
        self.entries.insert(group, (self.end, entry.len() as u32));
        self.end += entry.len() as u64;
        Ok(())
    }

    /// What stands behind the number of a group.
    pub(super) fn rows(&self, group: u32) -> Result<Vec<u8>, LabError> {
        let wrong =
            || io::Error::other(format!("the rows of group {group} are missing or damaged"));
        let read = || {
            let bytes = self.entry(group)?;
            let mut rows = content(&bytes).ok_or_else(wrong)?;
            take(&mut rows).ok_or_else(wrong)?;
            Ok(rows.to_vec())
        };
        read().map_err(LabError::at(&self.path))
    }

    fn entry(&self, group: u32) -> io::Result<Vec<u8>> {
        let lacks = || io::Error::other(format!("group {group} {}", self.lacks));
        let &(at, len) = self.entries.get(&group).ok_or_else(lacks)?;
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
                let entry = self.entry(*group)?;
                if content(&entry).is_none() {
                    return Err(io::Error::other(format!("group {group} {}", self.lacks)));
                }
                out.write_all(&entry)?;
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

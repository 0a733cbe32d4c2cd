//! The groups of a result folder on disk.
//!
//! While a run goes on, each finished group is appended to `groups.part` ([`super::framed`]). A run that was killed
//! leaves a last entry that is not whole; the next one cuts it off and goes on. At the end `groups.bin` has the same entries in the order of their numbers, so that the file does not depend on who finished when.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tcplab_kernel::output::{Output, append_own};

use super::framed::{entry, scan};
use super::record::Group;
use crate::error::LabError;

/// The file of a run that goes on.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    file: File,
    arms: usize,
}

impl Store {
    /// Opens the file of a folder and gives what is in it to `found`.
    pub(crate) fn open(
        folder: &Path,
        arms: usize,
        mut found: impl FnMut(Group),
    ) -> Result<Self, LabError> {
        let path = folder.join("groups.part");
        let at = LabError::at(&path);
        let mut open = || {
            let file = append_own(&path)?;
            let good = read_all(&file, arms, &mut found)?;
            file.set_len(good)?;
            Ok(file)
        };
        Ok(Self {
            file: open().map_err(at)?,
            path: path.clone(),
            arms,
        })
    }

    /// Adds a finished group by one write.
    pub(crate) fn add(&mut self, group: &Group) -> Result<(), LabError> {
        entry(&group.to_bytes())
            .and_then(|entry| self.file.write_all(&entry))
            .map_err(LabError::at(&self.path))
    }

    /// Writes `groups.bin` with these groups in order, and removes the file of the run.
    pub(crate) fn finish(self, folder: &Path, wanted: &[u32]) -> Result<(), LabError> {
        let place = folder.join("groups.bin");
        let sorted = || {
            let mut entries = Vec::new();
            scan(&self.file, |at, len, bytes| {
                if let Some(group) = Group::of_bytes(bytes, self.arms) {
                    entries.push((group.number, at, len));
                }
            })?;
            entries.sort_unstable();
            let mut out = Output::create_own(&place)?;
            let mut file = &self.file;
            let mut bytes = Vec::new();
            for number in wanted {
                let Ok(n) = entries.binary_search_by_key(number, |entry| entry.0) else {
                    return Err(io::Error::other(format!("group {number} is missing")));
                };
                let (_, at, len) = entries[n];
                file.seek(SeekFrom::Start(at))?;
                bytes.resize(len as usize, 0);
                file.read_exact(&mut bytes)?;
                out.write_all(&bytes)?;
            }
            out.commit_synced()
        };
        sorted().map_err(LabError::at(&place))?;
        fs::remove_file(&self.path).map_err(LabError::at(&self.path))
    }
}

/// Removes what a run leaves that is killed after `groups.bin` is there.
pub(crate) fn clean(folder: &Path) -> Result<(), LabError> {
    for name in ["groups.part", "rows.part"] {
        let part = folder.join(name);
        match fs::remove_file(&part) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(LabError::at(&part)(e)),
            _ => {}
        }
    }
    Ok(())
}

/// Reads a finished folder's groups.
pub(crate) fn read(folder: &Path, arms: usize, found: impl FnMut(Group)) -> Result<(), LabError> {
    let path = folder.join("groups.bin");
    let file = File::open(&path).map_err(LabError::at(&path))?;
    let len = file.metadata().map_err(LabError::at(&path))?.len();
    let good = read_all(&file, arms, found).map_err(LabError::at(&path))?;
    match good == len {
        true => Ok(()),
        false => Err(LabError::Wrong(format!(
            "{}: damaged at byte {good}; run the shard again into another folder",
            path.display()
        ))),
    }
}

/// Gives each good group; the bytes of all of them.
fn read_all(file: &File, arms: usize, mut found: impl FnMut(Group)) -> io::Result<u64> {
    let mut good = 0;
    scan(file, |at, len, bytes| {
        if let Some(group) = Group::of_bytes(bytes, arms) {
            good = at + u64::from(len);
            found(group);
        }
    })?;
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::sums::Sums;

    fn group(number: u32) -> Group {
        Group {
            number,
            arms: vec![Sums {
                connections: u64::from(number),
                ..Sums::default()
            }],
            outliers: Vec::new(),
        }
    }

    fn numbers(folder: &Path) -> Vec<u32> {
        let mut found = Vec::new();
        Store::open(folder, 1, |g| found.push(g.number)).unwrap();
        found
    }

    #[test]
    fn an_entry_that_is_not_whole_is_cut_off_at_every_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("groups.part");
        let mut store = Store::open(folder.path(), 1, |_| panic!("it is new")).unwrap();
        store.add(&group(7)).unwrap();
        let first = fs::metadata(&path).unwrap().len() as usize;
        store.add(&group(3)).unwrap();
        let whole = fs::read(&path).unwrap();
        for n in first..whole.len() {
            fs::write(&path, &whole[..n]).unwrap();
            assert_eq!(numbers(folder.path()), [7], "{n}");
            assert_eq!(fs::metadata(&path).unwrap().len() as usize, first);
        }
        // A flipped bit is found too.
        let mut damaged = whole.clone();
        damaged[first + 13] ^= 1;
        fs::write(&path, &damaged).unwrap();
        assert_eq!(numbers(folder.path()), [7]);
    }

    #[test]
    fn the_finished_file_is_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), 1, |_| {}).unwrap();
        for n in [5, 1, 3] {
            store.add(&group(n)).unwrap();
        }
        store.finish(folder.path(), &[1, 3]).unwrap();
        let mut found = Vec::new();
        read(folder.path(), 1, |g| found.push(g.number)).unwrap();
        assert_eq!(found, [1, 3]);
        assert!(!folder.path().join("groups.part").exists());
    }
}

//! The groups of a result folder on disk.
//!
//! While a run goes on, each finished group is appended to `groups.part` ([`super::framed`]). A run that was killed
//! leaves a last entry that is not whole; the next one cuts it off and goes on. At the end `groups.bin` has the same entries in the order of their numbers, so that the file does not depend on who finished when.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tcplab_os::output::{Output, append_own};

use super::expected::Expected;
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
    /// Opens the file of a folder and gives what is in it to `found`, until a group that is not `expected`: it and what
    /// follows are cut off, and run again.
    pub(crate) fn open(
        folder: &Path,
        expected: &mut Expected<'_>,
        mut found: impl FnMut(Group),
    ) -> Result<Self, LabError> {
        let path = folder.join("groups.part");
        let at = LabError::at(&path);
        let mut open = || {
            let file = append_own(&path)?;
            let good = read_all(&file, expected, &mut found)?;
            file.set_len(good)?;
            Ok(file)
        };
        Ok(Self {
            file: open().map_err(at)?,
            path: path.clone(),
            arms: expected.arms(),
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
                let group = Group::of_bytes(bytes, self.arms);
                if let Some(group) = &group {
                    entries.push((group.number, at, len));
                }
                group.is_some()
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

/// Reads a finished folder's groups; all that are expected must be there.
pub(crate) fn read(
    folder: &Path,
    expected: &mut Expected<'_>,
    found: impl FnMut(Group),
) -> Result<(), LabError> {
    let path = folder.join("groups.bin");
    let file = File::open(&path).map_err(LabError::at(&path))?;
    let len = file.metadata().map_err(LabError::at(&path))?.len();
    let good = read_all(&file, expected, found).map_err(LabError::at(&path))?;
    let wrong = match (good == len, expected.missing()) {
        (false, _) => format!("damaged at byte {good}, or not of this run"),
        (true, Some(group)) => format!("group {group} of the run is missing"),
        (true, None) => return Ok(()),
    };
    Err(LabError::Wrong(format!(
        "{}: {wrong}; run the shard again into another folder",
        path.display()
    )))
}

/// Gives each good group; the bytes of all of them.
fn read_all(
    file: &File,
    expected: &mut Expected<'_>,
    mut found: impl FnMut(Group),
) -> io::Result<u64> {
    scan(file, |_, _, bytes| {
        let group = Group::of_bytes(bytes, expected.arms());
        match group.filter(|group| expected.takes(group)) {
            Some(group) => {
                found(group);
                true
            }
            None => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use tcplab_plan::Population;

    use super::*;
    use crate::population::sums::Sums;
    use crate::shard::Shard;

    fn group(number: u32) -> Group {
        Group {
            number,
            arms: vec![Sums {
                connections: 1,
                ..Sums::default()
            }],
            outliers: Vec::new(),
        }
    }

    /// One arm, one connection in each group.
    fn population() -> Population {
        let text = "[population]\nconnections = 2048\n[[arm]]\nname = \"A\"\n";
        Population::parse("x.toml", text).unwrap()
    }

    fn open(folder: &Path, found: impl FnMut(Group)) -> Store {
        let population = population();
        let mut expected = Expected::new(&population, Shard::WHOLE);
        Store::open(folder, &mut expected, found).unwrap()
    }

    fn numbers(folder: &Path) -> Vec<u32> {
        let mut found = Vec::new();
        open(folder, |g| found.push(g.number));
        found
    }

    /// Writes entries and gives what is read of them.
    fn kept(groups: &[Group]) -> Vec<u32> {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path(), |_| {});
        for group in groups {
            store.add(group).unwrap();
        }
        numbers(folder.path())
    }

    #[test]
    fn foreign_group_ends_the_kept_groups() {
        let outlier = |arm, connection| crate::population::record::Outlier {
            arm,
            connection,
            difference_us: 1,
        };
        assert_eq!(kept(&[group(1), group(2)]), [1, 2]);
        assert_eq!(kept(&[group(1), group(1), group(2)]), [1], "twice");
        assert_eq!(
            kept(&[group(1), group(2_048)]),
            [1],
            "there is no such group"
        );
        let mut other = group(2);
        other.arms[0].connections = 7;
        assert_eq!(
            kept(&[group(1), other]),
            [1],
            "another number of connections"
        );
        let mut other = group(2);
        other.arms.push(Sums::default());
        assert_eq!(kept(&[group(1), other]), [1], "another number of arms");
        for wrong in [outlier(1, 2), outlier(0, 3), outlier(0, 2 + 2_048)] {
            let mut other = group(2);
            other.outliers.push(wrong);
            assert_eq!(kept(&[group(1), other]), [1], "{wrong:?}");
        }
    }

    #[test]
    fn a_link_to_another_file_is_not_written_into() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        fs::write(&other, "precious").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join("groups.part")).unwrap();
        let population = population();
        let mut expected = Expected::new(&population, Shard::WHOLE);
        let refused = Store::open(folder.path(), &mut expected, |_| {}).unwrap_err();
        assert!(
            refused.to_string().contains("not a regular file"),
            "{refused}"
        );
        assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
    }

    #[test]
    fn entry_truncated_at_any_byte_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("groups.part");
        let mut store = open(folder.path(), |_| panic!("it is new"));
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
        let mut store = open(folder.path(), |_| {});
        for n in [5, 1, 3] {
            store.add(&group(n)).unwrap();
        }
        store.finish(folder.path(), &[1, 3]).unwrap();
        let mut found = Vec::new();
        let population = population();
        let mut expected = Expected::new(&population, Shard::WHOLE);
        let missing = read(folder.path(), &mut expected, |g| found.push(g.number)).unwrap_err();
        assert_eq!(found, [1, 3]);
        let words = missing.to_string();
        assert!(words.contains("group 0 of the run is missing"), "{words}");
        assert!(!folder.path().join("groups.part").exists());
    }
}

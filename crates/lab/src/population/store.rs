//! The groups of a result folder on disk.
//!
//! While a run goes on, each finished group is appended to `groups.part` ([`super::log`]). At the end `groups.bin` has the same entries in the order of their numbers, so that the file does not depend on who finished when.

use std::fs;
use std::io;
use std::path::Path;

use super::expected::Expected;
use super::log::Log;
use super::record::Group;
use crate::error::LabError;

/// What is said of a group that is not there.
const LACKS: &str = "is missing";

/// The file of a run that goes on.
#[derive(Debug)]
pub(crate) struct Store {
    log: Log,
}

impl Store {
    /// Opens the file of a folder and gives what is in it to `found`, until a group that is not `expected`: it and what
    /// follows are cut off, and run again.
    pub(crate) fn open(
        folder: &Path,
        expected: &mut Expected<'_>,
        found: impl FnMut(Group),
    ) -> Result<Self, LabError> {
        let part = (folder.join("groups.part"), LACKS);
        Log::open(part, given(expected, found)).map(|log| Self { log })
    }

    /// Adds a finished group.
    pub(crate) fn add(&mut self, group: &Group) -> Result<(), LabError> {
        self.log.add(group.number, &group.to_bytes())
    }

    /// Writes `groups.bin` with these groups in order, and removes the file of the run.
    pub(crate) fn finish(self, folder: &Path, wanted: &[u32]) -> Result<(), LabError> {
        self.log.sorted(&folder.join("groups.bin"), wanted)?;
        self.log.remove()
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
    let (log, is_whole) = Log::of_shard((path.clone(), LACKS), given(expected, found))?;
    let wrong = match (is_whole, expected.missing()) {
        (false, _) => format!("damaged at byte {}, or not of this run", log.end),
        (true, Some(group)) => format!("group {group} of the run is missing"),
        (true, None) => return Ok(()),
    };
    Err(LabError::Wrong(format!(
        "{}: {wrong}; run the shard again into another folder",
        path.display()
    )))
}

/// Gives each expected group to `found`, and its number to the file.
fn given(
    expected: &mut Expected<'_>,
    mut found: impl FnMut(Group),
) -> impl FnMut(&[u8]) -> Option<u32> {
    move |bytes| {
        let group = Group::of_bytes(bytes, expected.arms())?;
        let number = expected.takes(&group).then_some(group.number)?;
        found(group);
        Some(number)
    }
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

//! Temporary folders, and those that a killed process has left.
//!
//! A folder's name holds the number of its process, which holds a lock on it. A process that was killed cannot remove
//! its own; the next one does. Only their user may enter them.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use nix::fcntl::{Flock, FlockArg};
use tempfile::TempDir;

const PREFIX: &str = "tcplab-run-";

/// The places that this process has swept.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A folder that goes with this value.
#[derive(Debug)]
pub struct Scratch {
    // Before the lock: nobody else removes it meanwhile.
    folder: TempDir,
    _lock: Option<Flock<File>>,
}

impl Scratch {
    /// A new one where temporary files are (`TMPDIR`).
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<Self> {
        Self::new_in(&std::env::temp_dir())
    }

    /// A new one in `place`, after those of dead processes were removed, once for each process.
    ///
    /// # Errors
    /// What the system says.
    pub fn new_in(place: &Path) -> io::Result<Self> {
        let mut swept = SWEPT.lock().unwrap_or_else(|e| e.into_inner());
        if swept.insert(place.to_owned()) {
            sweep(place);
        }
        drop(swept);
        let own = format!("{PREFIX}{}-", std::process::id());
        let folder = tempfile::Builder::new()
            .prefix(&own)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(place)?;
        let lock = lock(folder.path());
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns `None` on a file system without locks.
fn lock(folder: &Path) -> Option<Flock<File>> {
    Flock::lock(File::open(folder).ok()?, FlockArg::LockExclusiveNonblock).ok()
}

fn sweep(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(owner_of);
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_gone = |pid| !Path::new(&format!("/proc/{pid}")).exists();
        if is_folder && owner.is_some_and(is_gone) {
            // A container that shares the place has numbers of its own, and the same locks.
            let Some(_lock) = lock(&entry.path()) else {
                continue;
            };
            // Another user's folder stays: it cannot be removed, and its owner will.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn owner_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_dead_processes_go() {
        let place = tempfile::tempdir().unwrap();
        let make = |name: &str| fs::create_dir_all(place.path().join(name).join("share")).unwrap();
        make("tcplab-run-999999999-abc");
        make("tcplab-run-999999999-locked");
        make("tcplab-run-1-abc");
        make("tcplab-other");
        make("tcplab-run-x");
        // A process of another PID namespace has it.
        let held = lock(&place.path().join("tcplab-run-999999999-locked")).unwrap();
        sweep(place.path());
        let there = |name: &str| place.path().join(name).exists();
        assert!(!there("tcplab-run-999999999-abc"));
        assert!(there("tcplab-run-1-abc") && there("tcplab-other") && there("tcplab-run-x"));
        assert!(there("tcplab-run-999999999-locked"));
        drop(held);
        sweep(place.path());
        assert!(!there("tcplab-run-999999999-locked"));
    }

    #[test]
    fn a_link_of_such_a_name_leads_nowhere() {
        let place = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("kept"), "x").unwrap();
        let link = place.path().join("tcplab-run-999999999-abc");
        std::os::unix::fs::symlink(other.path(), link).unwrap();
        sweep(place.path());
        assert!(other.path().join("kept").exists());
    }

    #[test]
    fn a_folder_goes_with_its_value_and_only_its_user_enters() {
        let place = tempfile::tempdir().unwrap();
        let folder = Scratch::new_in(place.path()).unwrap();
        let path = folder.path().to_owned();
        assert_eq!(
            owner_of(path.file_name().unwrap().to_str().unwrap()),
            Some(std::process::id())
        );
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn each_place_is_swept() {
        let places = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for place in &places {
            let left = place.path().join("tcplab-run-999999999-abc");
            fs::create_dir(&left).unwrap();
            Scratch::new_in(place.path()).unwrap();
            assert!(!left.exists());
        }
    }
}

//! Temporary folders, and those that a killed process has left.
//!
//! A folder's name holds the number of its process. A process that was killed cannot remove its own;
//! the next one does.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Once;

use tempfile::TempDir;

const PREFIX: &str = "tcplab-run-";

static SWEPT: Once = Once::new();

/// A new folder in `place`, after those of dead processes were removed, once for each process.
pub(super) fn folder_in(place: &Path) -> io::Result<TempDir> {
    SWEPT.call_once(|| sweep(place));
    let own = format!("{PREFIX}{}-", std::process::id());
    tempfile::Builder::new().prefix(&own).tempdir_in(place)
}

fn sweep(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(owner_of);
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
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
        make("tcplab-run-1-abc");
        make("tcplab-other");
        make("tcplab-run-x");
        sweep(place.path());
        let there = |name: &str| place.path().join(name).exists();
        assert!(!there("tcplab-run-999999999-abc"));
        assert!(there("tcplab-run-1-abc") && there("tcplab-other") && there("tcplab-run-x"));
    }

    #[test]
    fn a_folder_goes_with_its_value() {
        let place = tempfile::tempdir().unwrap();
        let folder = folder_in(place.path()).unwrap();
        let path = folder.path().to_owned();
        assert_eq!(
            owner_of(path.file_name().unwrap().to_str().unwrap()),
            Some(std::process::id())
        );
        drop(folder);
        assert!(!path.exists());
    }
}

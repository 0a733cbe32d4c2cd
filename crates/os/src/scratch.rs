//! Temporary folders, and those that a killed process has left.
//!
//! A folder's name holds the number of its process, which holds a lock on it. A process that was killed cannot remove
//! its own; the next one does. Only their user may enter them. A program whose work no [`crate::Stop`] ends calls
//! [`Scratch::remove_on_signals`].

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::TempDir;

const PREFIX: &str = "tcplab-run-";

/// The places that this process has swept.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The folders of this process.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn live() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LIVE.lock().unwrap_or_else(|e| e.into_inner())
}

/// A folder that goes with this value.
#[derive(Debug)]
pub struct Scratch {
    // Before the lock: nobody else removes it meanwhile.
    folder: TempDir,
    _lock: Option<File>,
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
        let folder = private(&own, place)?;
        let lock = lock(folder.path());
        live().insert(folder.path().to_owned());
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Ctrl-C and SIGTERM end this process as always, and remove its folders before.
    ///
    /// # Errors
    /// When the system does not allow it.
    #[cfg(unix)]
    pub fn remove_on_signals() -> io::Result<()> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::low_level::emulate_default_handler;
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
        std::thread::Builder::new()
            .name("scratch".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    Self::end_with(|| {
                        let _ = emulate_default_handler(signal);
                    });
                }
            })?;
        Ok(())
    }

    /// Ctrl-C ends this process as always; its folders stay.
    ///
    /// # Errors
    /// Never.
    #[cfg(not(unix))]
    pub fn remove_on_signals() -> io::Result<()> {
        Ok(())
    }

    /// Removes all folders of this process and ends it with this exit code.
    pub fn exit(code: i32) -> ! {
        Self::end_with(|| std::process::exit(code));
        std::process::exit(code)
    }

    /// Nobody makes a folder meanwhile.
    fn end_with(end: impl FnOnce()) {
        let live = live();
        for folder in live.iter() {
            let _ = fs::remove_dir_all(folder);
        }
        end();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        live().remove(self.folder.path());
    }
}

/// A new folder with a name that nobody can guess, which only this user may enter. It goes with its value.
pub fn private(prefix: &str, place: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix(prefix).tempdir_in(place)
}

/// Returns `None` where folders have no locks.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    folder.try_lock().ok()?;
    Some(folder)
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
    use std::os::unix::fs::PermissionsExt;

    use signal_hook::consts::{SIGINT, SIGTERM};

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
        // A child of another test may hold the lock until it executes its program.
        let mut tries = 0..500;
        while there("tcplab-run-999999999-locked") && tries.next().is_some() {
            std::thread::sleep(std::time::Duration::from_millis(10));
            sweep(place.path());
        }
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

    /// The child of the next test: a folder, and a process that waits to be ended.
    #[test]
    fn waits_with_a_folder() {
        let Some(place) = std::env::var_os("TCPLAB_TEST_SCRATCH") else {
            return;
        };
        let folder = Scratch::new_in(Path::new(&place)).unwrap();
        Scratch::remove_on_signals().unwrap();
        fs::write(folder.path().join("ready"), "").unwrap();
        std::thread::sleep(std::time::Duration::from_secs(600));
    }

    #[test]
    fn signals_remove_it_and_end_the_process_as_always() {
        use std::os::unix::process::ExitStatusExt;
        for signal in [SIGINT, SIGTERM] {
            let place = tempfile::tempdir().unwrap();
            let mut child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "scratch::tests::waits_with_a_folder"])
                .env("TCPLAB_TEST_SCRATCH", place.path())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            let folders = || fs::read_dir(place.path()).unwrap().flatten();
            while !folders().any(|entry| entry.path().join("ready").exists()) {
                assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::try_from(signal).unwrap())
                .unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(signal));
            assert_eq!(folders().count(), 0);
        }
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

//! Locks of the store.
//!
//! The file `lock` covers the whole store: builders share it, a removal holds it alone. A build also holds its source
//! (`locks/SOURCE`). So two releases build at the same time, and two kernels of one release one after the other. A
//! lock is released when the process and all others with a copy of it have ended: a compiler that outlives a killed
//! `tcplab` still holds its source.
#![expect(
    clippy::disallowed_methods,
    reason = "how long others work is a matter of the clock on the wall"
)]

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::{Store, StoreError};

/// Between two tries.
const TRY_EVERY: Duration = Duration::from_millis(200);

/// Between two words to who waits.
const SAY_EVERY: Duration = Duration::from_secs(60);

/// Held by whoever changes the store.
#[derive(Debug)]
pub struct Lock {
    /// Of the whole store.
    whole: File,
    /// Of one source.
    source: Option<File>,
}

/// What a process waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What the holder does, in its own words; empty when it did not say.
    what: String,
    /// The holder's process.
    process: Option<u32>,
    /// How long it has held the lock.
    held: Duration,
    /// How long this process has waited.
    waited: Duration,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let what = if self.what.is_empty() {
            "another tcplab"
        } else {
            &self.what
        };
        write!(f, "waiting for {what}")?;
        if let Some(process) = self.process {
            write!(f, " (process {process}, running for {})", span(self.held))?;
        }
        if self.waited >= SAY_EVERY {
            write!(f, "; waited {} so far", span(self.waited))?;
        }
        Ok(())
    }
}

/// A length of time for a person.
fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

impl Lock {
    /// The open file, to be inherited by children.
    pub(crate) fn share(&self) -> io::Result<File> {
        self.source.as_ref().unwrap_or(&self.whole).try_clone()
    }
}

impl Store {
    /// Locks the whole store; `waiting` is told now and each minute for whom.
    ///
    /// # Errors
    /// When the folder cannot be made or locked.
    pub fn lock(&self, what: &str, mut waiting: impl FnMut(&Wait)) -> Result<Lock, StoreError> {
        let whole = take(&self.root().join("lock"), File::try_lock, &mut waiting)?;
        sign(&whole, what).map_err(self.fail())?;
        // A compiler whose tcplab was killed may still write.
        let sources = fs::read_dir(self.root().join("locks"));
        for entry in sources.into_iter().flatten().flatten() {
            take(&entry.path(), File::try_lock, &mut waiting)?;
        }
        Ok(Lock {
            whole,
            source: None,
        })
    }

    /// Locks one source of the store; `what` is done with it, which others that wait are told.
    ///
    /// # Errors
    /// When the folder cannot be made or locked.
    pub fn lock_source(
        &self,
        source: &str,
        what: &str,
        mut waiting: impl FnMut(&Wait),
    ) -> Result<Lock, StoreError> {
        let path = self.root().join("lock");
        let whole = take(&path, File::try_lock_shared, &mut waiting)?;
        let path = self.root().join("locks").join(source);
        let source = take(&path, File::try_lock, &mut waiting)?;
        sign(&source, what).map_err(self.fail())?;
        Ok(Lock {
            whole,
            source: Some(source),
        })
    }

    /// Held for the moment in which kernels and their names change.
    pub(super) fn lock_names(&self) -> Result<File, StoreError> {
        let path = self.root().join("names.lock");
        let file = open(&path)?;
        file.lock()
            .map_err(|source| StoreError::Io { path, source })?;
        Ok(file)
    }

    fn fail(&self) -> impl FnOnce(io::Error) -> StoreError {
        let path = self.root().join("lock");
        move |source| StoreError::Io { path, source }
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    let fail = |source: io::Error| StoreError::Io {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fail)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(fail)
}

/// Takes a lock, however long that takes.
fn take(
    path: &Path,
    try_lock: fn(&File) -> Result<(), TryLockError>,
    waiting: &mut impl FnMut(&Wait),
) -> Result<File, StoreError> {
    let file = open(path)?;
    let began = Instant::now();
    let mut say_at = Duration::ZERO;
    loop {
        match try_lock(&file) {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => (),
            Err(TryLockError::Error(source)) => {
                return Err(StoreError::Io {
                    path: path.to_owned(),
                    source,
                });
            }
        }
        let waited = began.elapsed();
        if waited >= say_at {
            say_at = waited + SAY_EVERY;
            waiting(&holder(&file, waited));
            continue;
        }
        std::thread::sleep(TRY_EVERY);
    }
}

/// Writes who holds a lock into its file.
fn sign(mut file: &File, what: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}\n{what}", std::process::id())
}

/// Reads who holds a lock.
fn holder(mut file: &File, waited: Duration) -> Wait {
    let mut text = String::new();
    // What cannot be read was not said.
    let _ = file
        .rewind()
        .and_then(|()| file.take(4096).read_to_string(&mut text));
    let mut lines = text.lines();
    let process = lines.next().and_then(|l| l.parse().ok());
    let since = file.metadata().and_then(|m| m.modified());
    let now = SystemTime::now();
    let held = since.ok().and_then(|t| now.duration_since(t).ok());
    Wait {
        what: lines.next().unwrap_or_default().to_owned(),
        process,
        held: held.unwrap_or_default(),
        waited,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("store"));
        (folder, store)
    }

    #[test]
    fn two_sources_at_once_and_one_source_one_after_the_other() {
        let (_folder, store) = store();
        let never = |w: &Wait| panic!("{w}");
        let first = store
            .lock_source("a", "Linux 6.1 at 250 Hz", never)
            .unwrap();
        let second = store
            .lock_source("b", "Linux 6.12 at 250 Hz", never)
            .unwrap();
        let mut first = Some(first);
        let mut said = Vec::new();
        let again = store.lock_source("a", "x", |w| {
            said.push(w.to_string());
            first = None;
        });
        assert!(again.is_ok());
        let words = format!(
            "waiting for Linux 6.1 at 250 Hz (process {}, running for 0 s)",
            std::process::id()
        );
        assert_eq!(said, [words]);
        drop((again, second));
    }

    #[test]
    fn remover_waits_for_users_and_users_for_the_remover() {
        let (_folder, store) = store();
        let mut build = Some(store.lock_source("a", "x", |_| ()).unwrap());
        let mut calls = 0;
        let alone = store.lock("tcplab kernel rm", |_| {
            calls += 1;
            build = None;
        });
        assert_eq!(calls, 1);
        let mut alone = Some(alone.unwrap());
        let mut said = String::new();
        let next = store.lock_source("b", "y", |w| {
            said = w.to_string();
            alone = None;
        });
        assert!(next.is_ok() && said.starts_with("waiting for tcplab kernel rm (process "));
    }

    #[test]
    fn what_a_wait_says() {
        let wait = Wait {
            what: String::new(),
            process: None,
            held: Duration::ZERO,
            waited: Duration::ZERO,
        };
        assert_eq!(wait.to_string(), "waiting for another tcplab");
        let wait = Wait {
            what: "Linux 7.2".into(),
            process: Some(12),
            held: Duration::from_secs(300),
            waited: Duration::from_secs(61),
        };
        assert_eq!(
            wait.to_string(),
            "waiting for Linux 7.2 (process 12, running for 5 min); waited 61 s so far"
        );
    }
}

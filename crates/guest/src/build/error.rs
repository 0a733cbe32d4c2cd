//! Why a kernel could not be built, with the way out.

use std::io;
use std::path::PathBuf;

use crate::edit::EditError;
use crate::store::StoreError;

/// What stands against a build.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Programs that the build needs are not installed.
    #[error("building a kernel needs {}; install: sudo apt-get install {}", missing.join(", "), packages.join(" "))]
    Tools {
        /// Names of the programs.
        missing: Vec<String>,
        /// Debian packages that have them.
        packages: Vec<String>,
    },
    /// Not enough room.
    #[error("building a kernel needs {need_mb} MB in {}, but only {free_mb} MB are free; `tcplab kernel rm --sources` may free some", path.display())]
    Disk {
        /// Where.
        path: PathBuf,
        /// Needed, in MB (1,000,000 bytes).
        need_mb: u64,
        /// Free, in MB.
        free_mb: u64,
    },
    /// User-Mode Linux is for x86 only.
    #[error("User-Mode Linux can be built on x86-64 Linux only, not on {0}")]
    Machine(&'static str),
    /// Debian lacks this source package, or apt cannot get it.
    #[error("no source of Linux {version}: {why}. Name one of these, or a tree with --source DIR")]
    NoPackage {
        /// The version asked for.
        version: String,
        /// What was tried.
        why: String,
    },
    /// Debian's keys are not installed.
    #[error(
        "Debian's keyring is missing, which verifies the source packages; install: sudo apt-get install debian-archive-keyring"
    )]
    NoKeyring,
    /// Suites of Debian that this machine's apt does not know cannot be read.
    #[error("cannot read the lists of Debian {}: {cause}. Without them, copy {file} into /usr/src, or name a tree with --source DIR. The end of {}:\n{tail}", suites.join(" and "), log.display())]
    Suites {
        /// Suites, each with its mirror.
        suites: Vec<String>,
        /// The fault and its remedy.
        cause: &'static str,
        /// The file that would do.
        file: String,
        /// All that was printed.
        log: PathBuf,
        /// Its last lines.
        tail: String,
    },
    /// The folder is no source tree of Linux.
    #[error("{}: not a Linux source tree: {lacks} is missing", path.display())]
    NotATree {
        /// The folder.
        path: PathBuf,
        /// What it lacks.
        lacks: &'static str,
    },
    /// Symbols of our configuration that this kernel does not take.
    #[error("this kernel does not support {}: is the kernel too old, or was the option renamed?", symbols.join(", "))]
    Config {
        /// Lines of the fragment.
        symbols: Vec<String>,
    },
    /// A given name that cannot be one.
    #[error(
        "--name {0}: letters, digits, `.`, `_` and `-` only, a letter first, and not the name of a shipped edit"
    )]
    Name(String),
    /// A source tree whose folder has a name that a kernel cannot have, or is not there.
    #[error("{}: is there no such folder, or is its name no name for a kernel? --name gives one", .0.display())]
    NeedsName(PathBuf),
    /// A program failed.
    #[error("{what} failed; the end of {}:\n{tail}", log.display())]
    Step {
        /// What was being done.
        what: String,
        /// All that was printed.
        log: PathBuf,
        /// Its last lines.
        tail: String,
    },
    /// apt could not fetch or install something.
    #[error("{what} failed (is the network there? `sudo apt-get update`); the end of {}:\n{tail}", log.display())]
    Apt {
        /// What was being done.
        what: String,
        /// All that was printed.
        log: PathBuf,
        /// Its last lines.
        tail: String,
    },
    /// An edit.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The store of kernels.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file system, or a program that cannot be started.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file or program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl BuildError {
    /// Whether this machine lacks something, rather than the request being wrong.
    pub fn is_machine(&self) -> bool {
        matches!(
            self,
            Self::Tools { .. }
                | Self::Disk { .. }
                | Self::Machine(_)
                | Self::NoPackage { .. }
                | Self::NoKeyring
                | Self::Suites { .. }
                | Self::Apt { .. }
        )
    }

    /// A failed program was apt's: what it lacks is this machine's, not the request's.
    pub(crate) fn of_apt(self) -> Self {
        match self {
            Self::Step { what, log, tail } => Self::Apt { what, log, tail },
            other => other,
        }
    }

    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

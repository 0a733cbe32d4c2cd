//! Why an experiment could not be run.

use std::io;
use std::path::{Path, PathBuf};

use tcplab_kernel::guest::GuestError;
use tcplab_kernel::ssh::SshError;
use tcplab_kernel::stack::{NameError, StoreError};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// No such stack.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A kernel that is not there.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stack that this version or this machine cannot run.
    #[error("{0}")]
    CannotRun(String),
    /// A wrong name, or a folder that holds something else.
    #[error("{0}")]
    Wrong(String),
    /// A point that asks for what its stack cannot do; the others go on.
    #[error("{0}")]
    Point(String),
    /// A limit ended a run before it had an answer; the other points go on.
    #[error("{0}")]
    Limit(String),
    /// Settings that a stack does not honour; nothing was run.
    #[error("{}", .0.join("\n"))]
    Refused(Vec<String>),
    /// The run itself.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// The file system.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Ctrl-C.
    #[error(
        "interrupted; with --out, finished points are kept and the same command resumes the run"
    )]
    Interrupted,
}

impl From<SshError> for LabError {
    fn from(e: SshError) -> Self {
        match e {
            SshError::Interrupted => Self::Guest(GuestError::Interrupted),
            // A far side says what its half could not do; other points may be other ones.
            SshError::Far { host, words } if host == "ssh:" => Self::Point(words),
            e => Self::Point(e.to_string()),
        }
    }
}

impl LabError {
    /// Whether a run was ended before it had an answer, and another limit may let it have one.
    pub fn is_inconclusive(&self) -> bool {
        matches!(
            self,
            Self::Limit(_) | Self::Guest(GuestError::TooLong { .. })
        )
    }

    /// Adds the path to an error of the file system.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_from_what_cannot_be_run() {
        let too_long = GuestError::TooLong {
            after: std::time::Duration::from_secs(600),
            console: String::new(),
        };
        assert!(LabError::Guest(too_long).is_inconclusive());
        assert!(LabError::Limit(String::new()).is_inconclusive());
        let died = GuestError::Died {
            status: String::new(),
            console: String::new(),
        };
        assert!(!LabError::Guest(died).is_inconclusive());
        assert!(!LabError::Point(String::new()).is_inconclusive());
    }
}

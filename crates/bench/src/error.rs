//! Why a bench could not be run.

use std::io;
use std::path::{Path, PathBuf};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// What an arm or a workload cannot do here.
    #[error("{0}")]
    CannotRun(String),
    /// Words that are wrong.
    #[error("{0}")]
    Wrong(String),
    /// The file system.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Ctrl-C.
    #[error("interrupted before the result was complete")]
    Interrupted,
}

impl BenchError {
    /// Adds the path to an error of the file system.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

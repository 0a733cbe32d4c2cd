//! What the operating system refuses, with the words of what was tried.

use std::io;

/// What went wrong, with the place.
#[derive(Debug, thiserror::Error)]
pub enum OsError {
    /// The operating system refused something.
    #[error("{what}: {source}")]
    Os {
        /// What was tried, in words.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// What was asked for cannot be done here.
    #[error("{0}")]
    Cannot(String),
}

/// Adds the words to an error of the operating system.
pub trait Context<T> {
    /// `what` was tried.
    fn context(self, what: impl FnOnce() -> String) -> Result<T, OsError>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, OsError> {
        self.map_err(|e| OsError::Os {
            what: what(),
            source: e.into(),
        })
    }
}

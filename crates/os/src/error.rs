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
    fn tried(self, what: &str) -> Result<T, OsError>;

    /// The same, with words that are made for an error only.
    fn context(self, what: impl FnOnce() -> String) -> Result<T, OsError>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn tried(self, what: &str) -> Result<T, OsError> {
        self.context(|| what.to_owned())
    }

    fn context(self, what: impl FnOnce() -> String) -> Result<T, OsError> {
        self.map_err(|e| OsError::Os {
            what: what(),
            source: e.into(),
        })
    }
}

//! Why a point could not be run.

use std::io;

use tcplab_plan::{Point, Refusal};

/// What went wrong, with the place.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The operating system refused something.
    #[error("{what}: {source}")]
    Os {
        /// What was tried, in words.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// The point asks for something that this stack cannot do.
    #[error("{0}")]
    Cannot(String),
}

/// A setting cannot be applied: an error, or left out where the point tolerates it.
pub(crate) fn leave_out(
    point: &Point,
    refusal: &Refusal,
    left_out: &mut Vec<String>,
) -> Result<(), RunError> {
    if !refusal.is_tolerated(point) {
        return Err(RunError::Cannot(refusal.to_string()));
    }
    left_out.push(refusal.left_out());
    Ok(())
}

/// Adds the words to an error of the operating system.
pub(crate) trait Context<T> {
    /// `what` was tried.
    fn context(self, what: impl FnOnce() -> String) -> Result<T, RunError>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, RunError> {
        self.map_err(|e| RunError::Os {
            what: what(),
            source: e.into(),
        })
    }
}

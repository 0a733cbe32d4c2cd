//! Why frames could not be sent.

#[cfg(target_os = "linux")]
use tcplab_guest::boot::GuestError;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum InjectError {
    /// No such group, frame or interface.
    #[error("{0}")]
    Wrong(String),
    /// A target that cannot be had here.
    #[error("{0}")]
    CannotRun(String),
    /// A guest that was ended by its limit.
    #[error("{0}")]
    Limit(String),
    /// A guest that gave no answer.
    #[error("{0}")]
    Run(String),
    /// The wish to stop came first.
    #[error("interrupted")]
    Interrupted,
}

#[cfg(target_os = "linux")]
impl From<GuestError> for InjectError {
    fn from(e: GuestError) -> Self {
        match e {
            GuestError::Interrupted => Self::Interrupted,
            e @ GuestError::TooLong { .. } => Self::Limit(e.to_string()),
            e => Self::Run(e.to_string()),
        }
    }
}

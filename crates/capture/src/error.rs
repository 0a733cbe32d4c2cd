//! What can be wrong with a capture.

/// A capture that cannot be read further. Everything before `offset` was delivered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("offset {offset}: {message}")]
pub struct Error {
    /// Byte offset in the (uncompressed) stream of the record that could not be read; for text the offset of the line.
    pub offset: u64,
    /// What was wrong and what to do about it.
    pub message: String,
}

impl Error {
    pub(crate) fn at(offset: u64, message: impl Into<String>) -> Self {
        Self {
            offset,
            message: message.into(),
        }
    }
}

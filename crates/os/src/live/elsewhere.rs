//! Stands in for live capture where there is no AF_PACKET.

mod error;
mod frame;

use std::io;
use std::time::Duration;

pub use self::error::Error;
pub use self::frame::Frame;

/// Nothing stamps frames.
#[derive(Debug)]
pub struct Stamps(());

impl Stamps {
    /// Does not wait.
    pub fn on() -> Self {
        Self(())
    }
}

/// A capture that cannot be opened.
#[derive(Debug)]
pub struct Live(());

impl Live {
    /// Always fails.
    ///
    /// # Errors
    /// [`Error::NotLinux`].
    pub fn open(_interface: &str, _patience: Duration) -> Result<Self, Error> {
        Err(Error::NotLinux)
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn next_frame(&mut self) -> io::Result<Option<Frame<'_>>> {
        Ok(None)
    }

    /// Never called.
    pub fn is_drained(&self) -> bool {
        true
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn stop(&self) -> io::Result<()> {
        Ok(())
    }

    /// Never called.
    pub fn dropped(&self) -> u32 {
        0
    }
}

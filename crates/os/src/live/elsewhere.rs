//! Stands in for live capture where there is no AF_PACKET.

mod error;

use std::io;
use std::time::Duration;

use tcplab_base::Instant;
use tcplab_wire::LinkType;

pub use self::error::Error;

/// One frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// When the kernel saw it.
    pub time: Instant,
    /// How the bytes begin.
    pub link: LinkType,
    /// The first bytes of it.
    pub data: &'a [u8],
    /// Its length on the wire.
    pub orig_len: u32,
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
    pub fn dropped(&self) -> u32 {
        0
    }
}

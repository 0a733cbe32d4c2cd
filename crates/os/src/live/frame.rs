//! What a capture gives.

use tcplab_base::Instant;
use tcplab_wire::LinkType;

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

//! One record of a capture.

use tcplab_base::Instant;
use tcplab_wire::{LinkType, TcpPacket};

/// One frame of a capture file, or one line of tcpdump's text.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Number of the frame in the file, from 1, as Wireshark counts.
    pub number: u64,
    /// Time stamp; `None` where the file has none (simple packet blocks, text without a time column).
    pub time: Option<Instant>,
    /// Index of the interface in the file, over all sections, from 0.
    pub interface: u32,
    /// The content.
    pub body: Body<'a>,
}

/// Content of a record.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "made once for each packet, read at once, never stored"
)]
pub enum Body<'a> {
    /// Bytes of a frame.
    Frame {
        /// How the bytes begin.
        link: LinkType,
        /// What was captured.
        data: &'a [u8],
        /// Length on the wire, at least `data.len()`.
        orig_len: u32,
    },
    /// A TCP packet that a text line described.
    Tcp(TcpPacket),
    /// A text line about something else.
    Other,
}

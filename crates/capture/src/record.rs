//! One record of a capture, and the interface that it was taken on.

use tcplab_base::{Duration, Instant};
use tcplab_wire::{LinkType, TcpPacket};

/// One frame of a capture file, or one line of tcpdump's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// Number of the frame in the file, from 1, as Wireshark counts.
    pub number: u64,
    /// Time since the previous packet, if the text has a column for it. The previous packet may have been filtered out
    /// of the text (`grep`), so this can be its only trace.
    pub time: Option<Instant>,
    /// Time since the packet before, when a text says it in a column of its own. That packet may be one that was taken out
    /// of the text (`grep`), so this can be the only trace of it.
    pub since_previous: Option<Duration>,
    /// Index of the interface in the file, over all sections, from 0 (see [`Reader::interfaces`](crate::Reader::interfaces)).
    pub interface: u32,
    /// The content.
    pub body: Body<'a>,
}

/// Content of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    Tcp(&'a TcpPacket),
    /// A text line about something else, or a record that holds no packet but that Wireshark numbers
    /// (pcapng custom blocks, system calls, journal entries).
    Other,
}

/// An interface that frames were taken on: one for a pcap file, each interface description block of a pcapng file,
/// none for text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// How its frames begin.
    pub link: LinkType,
    /// Most bytes that were kept of a frame; 0 when there was no limit.
    pub snaplen: u32,
    /// Resolution of the file's time stamps as in pcapng's `if_tsresol`: 6 is microseconds, 9 nanoseconds; with bit
    /// 0x80 a negative power of 2.
    pub tsresol: u8,
    /// Name, when the file gives one; cut at 256 bytes.
    pub name: Option<Box<str>>,
}

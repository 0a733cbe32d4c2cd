//! Any capture, recognised by its first bytes.
//!
//! Not a library, because no reader on crates.io offers all four: the exact byte offset of damage, the old variants of
//! pcap, no allocation sized by a length field, and records borrowed from one buffer for speed.

use std::io::Read;
use std::ops::Range;

use tcplab_base::{Duration, Instant};
use tcplab_wire::{LinkType, TcpPacket};

use crate::buffer::Buffer;
use crate::pcap::{self, Pcap};
use crate::pcapng::{self, Pcapng};
use crate::text::{self, Text};
use crate::unpack::{self, Unpacked};
use crate::{Body, Error, Interface, Record};

/// Largest packet that is read, in bytes: what libpcap and Wireshark allow too. A larger length is damage.
pub(crate) const MAX_PACKET: u32 = 262_144;

/// Reads a capture of any known format from `R`, with one buffer of bounded size.
pub struct Reader<R: Read> {
    buffer: Buffer<Unpacked<Unpacked<R>>>,
    format: Format,
    interfaces: Vec<Interface>,
    /// What the last line of a text described.
    line: Option<Box<TcpPacket>>,
    number: u64,
    done: bool,
}

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
    Text(Box<Text>),
}

/// A record in the buffer, by position: what a format's reader gives back.
pub(crate) enum Found {
    Frame(Frame),
    Tcp {
        time: Option<Instant>,
        since_previous: Option<Duration>,
        packet: Box<TcpPacket>,
    },
    Other {
        time: Option<Instant>,
    },
}

/// A frame in the buffer.
pub(crate) struct Frame {
    pub time: Option<Instant>,
    pub interface: u32,
    pub link: LinkType,
    pub data: Range<usize>,
    pub orig_len: u32,
}

impl<R: Read> Reader<R> {
    /// Looks at the first bytes and chooses the format, unpacking gzip and zstd on the way, at most twice.
    ///
    /// # Errors
    /// When the format is not known, or the file header is damaged.
    pub fn new(input: R) -> Result<Self, Error> {
        let unpacked = Unpacked::new(input)
            .and_then(Unpacked::new)
            .map_err(|e| Error::at(0, format!("cannot read: {e}")))?;
        let mut buffer = Buffer::new(unpacked);
        let head = buffer.peek(4)?;
        if head.is_empty() {
            return Err(Error::at(0, "the file is empty"));
        }
        if unpack::is_packed(head) {
            return Err(Error::at(0, "packed more than twice; unpack it first"));
        }
        let mut interfaces = Vec::new();
        let format = if pcap::is_pcap(head) {
            let (pcap, interface) = Pcap::open(&mut buffer)?;
            interfaces.push(interface);
            Format::Pcap(pcap)
        } else if pcapng::is_pcapng(head) {
            Format::Pcapng(Pcapng::new())
        } else if text::is_text(buffer.peek(text::HEAD)?) {
            Format::Text(Box::new(Text::open(buffer.ready())))
        } else {
            return Err(Error::at(
                0,
                "neither pcap, pcapng (gzip or zstd around them is fine) nor the text of `tcpdump -n`; convert other formats with \
                 `editcap -F pcapng`",
            ));
        };
        Ok(Self {
            buffer,
            format,
            interfaces,
            line: None,
            number: 0,
            done: false,
        })
    }

    /// The interfaces described so far; pcapng files may add more between packets, never after a packet that uses them.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.format {
            Format::Pcap(_) | Format::Text(_) => &self.interfaces,
            Format::Pcapng(p) => p.interfaces(),
        }
    }

    /// Bytes of the (unpacked) stream that were read, for progress.
    pub fn offset(&self) -> u64 {
        self.buffer.offset()
    }

    /// The next record, `None` at the end.
    ///
    /// # Errors
    /// When the rest cannot be read; a later call gives `None`.
    #[expect(
        clippy::should_implement_trait,
        reason = "a lending iterator: records borrow the buffer"
    )]
    #[inline(always)]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        // The usual case stands alone, so that it stays in registers.
        if let Format::Pcap(p) = &self.format
            && let Some(frame) = p.ready(&mut self.buffer)
        {
            self.number += 1;
            return Ok(Some(record(self.number, frame, &self.buffer)));
        }
        self.any()
    }

    /// The next record of any format.
    #[inline(never)]
    fn any(&mut self) -> Result<Option<Record<'_>>, Error> {
        if self.done {
            return Ok(None);
        }
        let found = match &mut self.format {
            Format::Pcap(p) => p.next(&mut self.buffer),
            Format::Pcapng(p) => p.next(&mut self.buffer),
            Format::Text(t) => t.next(&mut self.buffer),
        };
        let Ok(Some(found)) = found else {
            self.done = true;
            return found.map(|_| None);
        };
        self.number += 1;
        Ok(Some(match found {
            Found::Frame(frame) => record(self.number, frame, &self.buffer),
            Found::Tcp {
                time,
                since_previous,
                packet,
            } => Record {
                number: self.number,
                time,
                since_previous,
                interface: 0,
                body: Body::Tcp(self.line.insert(packet)),
            },
            Found::Other { time } => Record {
                number: self.number,
                time,
                since_previous: None,
                interface: 0,
                body: Body::Other,
            },
        }))
    }
}

/// The record that a frame is.
#[inline(always)]
fn record<R: Read>(number: u64, frame: Frame, buffer: &Buffer<R>) -> Record<'_> {
    let data = buffer.slice(frame.data);
    let captured = u32::try_from(data.len()).unwrap_or(u32::MAX);
    Record {
        number,
        time: frame.time,
        since_previous: None,
        interface: frame.interface,
        body: Body::Frame {
            link: frame.link,
            data,
            orig_len: frame.orig_len.max(captured),
        },
    }
}

//! Writers: pcapng with packet comments, and classic pcap with nanoseconds.

use std::io::{self, Write};

use tcplab_base::Instant;
use tcplab_wire::LinkType;

use crate::Interface;

const OPTION_COMMENT: u16 = 1;
const OPTION_USERAPPL: u16 = 4;
const OPTION_IF_NAME: u16 = 2;
const OPTION_IF_TSRESOL: u16 = 9;
/// Longest value of an option.
const MAX_OPTION: usize = 65_535;

/// Writes one pcapng section, little-endian, time stamps in nanoseconds.
pub struct PcapngWriter<W> {
    out: W,
    interfaces: u32,
    last: Instant,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Writes the section header. Interfaces follow by [`add_interface`](Self::add_interface).
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = Self {
            out,
            interfaces: 0,
            last: Instant::default(),
            block: Vec::new(),
        };
        writer.begin(0x0a0d_0d0a);
        writer.block.extend(0x1a2b_3c4d_u32.to_le_bytes());
        writer.block.extend([1, 0, 0, 0]);
        // Length of the section: not known in advance.
        writer.block.extend([0xff; 8]);
        writer.option(OPTION_USERAPPL, b"tcplab");
        writer.end(true)?;
        Ok(writer)
    }

    /// Interfaces written so far.
    pub fn interfaces(&self) -> u32 {
        self.interfaces
    }

    /// Describes an interface and returns its index. May stand between packets.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn add_interface(&mut self, interface: &Interface) -> io::Result<u32> {
        self.begin(1);
        let link = u16::try_from(interface.link.number()).unwrap_or(u16::MAX);
        self.block.extend(link.to_le_bytes());
        self.block.extend([0, 0]);
        self.block.extend(interface.snaplen.to_le_bytes());
        if let Some(name) = &interface.name {
            self.option(OPTION_IF_NAME, name.as_bytes());
        }
        self.option(OPTION_IF_TSRESOL, &[9]);
        self.end(true)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a packet with its comments, in their order. A packet without time gets the time of the one before it;
    /// times before 1970 become 1970.
    ///
    /// # Errors
    /// When `out` cannot be written, or the interface was not added.
    pub fn packet(
        &mut self,
        interface: u32,
        time: Option<Instant>,
        data: &[u8],
        orig_len: u32,
        comments: &[&str],
    ) -> io::Result<()> {
        if interface >= self.interfaces {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("packet on interface {interface}, which was not added"),
            ));
        }
        let time = time.unwrap_or(self.last);
        self.last = time;
        let ns = time.as_nanos().max(0) as u64;
        let captured = u32::try_from(data.len()).map_err(io::Error::other)?;
        self.begin(6);
        self.block.extend(interface.to_le_bytes());
        self.block.extend(((ns >> 32) as u32).to_le_bytes());
        self.block.extend((ns as u32).to_le_bytes());
        self.block.extend(captured.to_le_bytes());
        self.block.extend(orig_len.max(captured).to_le_bytes());
        self.block.extend_from_slice(data);
        self.pad();
        for comment in comments {
            self.option(OPTION_COMMENT, comment.as_bytes());
        }
        self.end(!comments.is_empty())
    }

    /// Flushes and gives the output back.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        // The length, when it is known.
        self.block.extend([0; 4]);
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Adds an option; text that is too long is cut at a character.
    fn option(&mut self, code: u16, value: &[u8]) {
        let mut len = value.len().min(MAX_OPTION);
        while len < value.len() && value.get(len).is_some_and(|b| b & 0xc0 == 0x80) {
            len -= 1;
        }
        self.block.extend(code.to_le_bytes());
        self.block.extend((len as u16).to_le_bytes());
        self.block.extend(value.iter().take(len));
        self.pad();
    }

    fn end(&mut self, options: bool) -> io::Result<()> {
        if options {
            self.block.extend([0; 4]);
        }
        let len = (self.block.len() as u32 + 4).to_le_bytes();
        self.block.extend(len);
        if let Some(field) = self.block.get_mut(4..8) {
            field.copy_from_slice(&len);
        }
        self.out.write_all(&self.block)
    }
}

/// Writes a classic pcap file with nanoseconds, little-endian.
pub struct PcapWriter<W> {
    out: W,
    last: Instant,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the file header.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn new(mut out: W, link: LinkType, snaplen: u32) -> io::Result<Self> {
        let mut head = Vec::with_capacity(24);
        head.extend(0xa1b2_3c4d_u32.to_le_bytes());
        head.extend([2, 0, 4, 0]);
        head.extend([0; 8]);
        head.extend(snaplen.to_le_bytes());
        head.extend(link.number().to_le_bytes());
        out.write_all(&head)?;
        Ok(Self {
            out,
            last: Instant::default(),
        })
    }

    /// Writes a packet. Without time it gets the time of the one before it; times outside 1970 to 2106 become the
    /// nearest that the format can hold.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn packet(&mut self, time: Option<Instant>, data: &[u8], orig_len: u32) -> io::Result<()> {
        let time = time.unwrap_or(self.last);
        self.last = time;
        let ns = time.as_nanos().max(0);
        let seconds = u32::try_from(ns / 1_000_000_000).unwrap_or(u32::MAX);
        let fraction = (ns % 1_000_000_000) as u32;
        let captured = u32::try_from(data.len()).map_err(io::Error::other)?;
        let mut head = [0; 16];
        let fields = [seconds, fraction, captured, orig_len.max(captured)];
        for (to, field) in head.chunks_exact_mut(4).zip(fields) {
            to.copy_from_slice(&field.to_le_bytes());
        }
        self.out.write_all(&head)?;
        self.out.write_all(data)
    }

    /// Flushes and gives the output back.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

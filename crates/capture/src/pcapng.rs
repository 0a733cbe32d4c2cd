//! pcapng (draft-ietf-opsawg-pcapng): sections of either byte order, interfaces, enhanced, simple and obsolete packet blocks.
//!
//! Left out: name resolution, statistics, decryption secrets (passed over without being kept), packet options.

use std::io::Read;

use tcplab_base::Instant;
use tcplab_wire::LinkType;

use crate::buffer::Buffer;
use crate::pcap::Order;
use crate::reader::{Found, Frame, MAX_PACKET};
use crate::{Error, Interface};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE: u32 = 3;
const ENHANCED: u32 = 6;
/// Blocks without packets that Wireshark gives a frame number: journal entries, custom blocks, system calls.
const NUMBERED: [u32; 6] = [9, 0xbad, 0x4000_0bad, 0x204, 0x216, 0x221];

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Most bytes of a block that is kept: a packet of the largest size, and options.
const MAX_BLOCK: u32 = 16 << 20;
const MAX_INTERFACES: usize = 1 << 18;
const MAX_NAME: usize = 256;

/// Whether the file is a pcapng.
pub(crate) fn is_pcapng(head: &[u8]) -> bool {
    head.starts_with(&SECTION.to_be_bytes())
}

/// How a time stamp becomes nanoseconds.
#[derive(Clone, Copy, Debug)]
enum Scale {
    Multiply(u64),
    Divide(u64),
    /// Ticks of 2^-n seconds.
    Shift(u32),
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    scale: Scale,
    offset_ns: i64,
}

pub(crate) struct Pcapng {
    order: Order,
    interfaces: Vec<Interface>,
    clocks: Vec<Clock>,
    /// Index of the section's first interface.
    base: usize,
}

/// A block that is wholly in the buffer.
struct Block {
    offset: u64,
    kind: u32,
    len: usize,
}

impl Pcapng {
    pub(crate) const fn new() -> Self {
        Self {
            order: Order::Little,
            interfaces: Vec::new(),
            clocks: Vec::new(),
            base: 0,
        }
    }

    pub(crate) fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The next record.
    pub(crate) fn next<R: Read>(&mut self, buffer: &mut Buffer<R>) -> Result<Option<Found>, Error> {
        loop {
            let Some(block) = self.block(buffer)? else {
                return Ok(None);
            };
            match block.kind {
                ENHANCED | PACKET | SIMPLE => return self.packet(buffer, &block).map(Some),
                INTERFACE => {
                    let range = buffer.take(block.len);
                    self.interface(buffer.slice(range), block.offset)?;
                }
                SECTION => {
                    buffer.take(block.len);
                    self.base = self.interfaces.len();
                }
                kind if NUMBERED.contains(&kind) => return Ok(Some(Found::Other { time: None })),
                _ => {}
            }
        }
    }

    /// Finds the next block. Blocks that are not kept are passed over already.
    #[inline]
    fn block<R: Read>(&mut self, buffer: &mut Buffer<R>) -> Result<Option<Block>, Error> {
        let offset = buffer.offset();
        let head = buffer.peek(8)?;
        let &[a, b, c, d, e, f, g, h] = head else {
            return if head.is_empty() {
                Ok(None)
            } else {
                Err(cut(offset))
            };
        };
        let kind_is_section = [a, b, c, d] == SECTION.to_be_bytes();
        if kind_is_section {
            self.order = section_order(buffer, offset)?;
        }
        let kind = self.order.u32([a, b, c, d]);
        let len = self.order.u32([e, f, g, h]);
        let least = least_len(kind);
        if len < least {
            return Err(claimed(offset, len, format!("{least} is the least")));
        }
        // Some writers give a length without the padding; as Wireshark does, take it as if it were there.
        let padded = u64::from(len).next_multiple_of(4);
        let kept = matches!(kind, SECTION | INTERFACE | PACKET | SIMPLE | ENHANCED);
        if !kept {
            if !buffer.skip(padded - 4)? {
                return Err(cut(offset));
            }
            let trailer = buffer.peek(4)?.first_chunk().copied();
            self.check_trailer(trailer, len, offset)?;
            buffer.take(4);
            let len = 0;
            return Ok(Some(Block { offset, kind, len }));
        }
        if len > MAX_BLOCK {
            let limit = MAX_BLOCK;
            return Err(claimed(offset, len, format!("{limit} is the most")));
        }
        let len_padded = padded as usize;
        let bytes = buffer.peek(len_padded)?;
        if bytes.len() < len_padded {
            return Err(cut(offset));
        }
        self.check_trailer(bytes.last_chunk().copied(), len, offset)?;
        let len = len_padded;
        Ok(Some(Block { offset, kind, len }))
    }

    #[inline]
    fn check_trailer(&self, trailer: Option<[u8; 4]>, len: u32, offset: u64) -> Result<(), Error> {
        match trailer.map(|t| self.order.u32(t)) {
            Some(t) if t == len || u64::from(t) == u64::from(len).next_multiple_of(4) => Ok(()),
            Some(t) => Err(Error::at(
                offset,
                format!(
                    "a block says {len} bytes at its start and {t} at its end: the file is damaged here"
                ),
            )),
            None => Err(cut(offset)),
        }
    }

    /// Interface description block: link type 2, reserved 2, snap length 4, options.
    fn interface(&mut self, block: &[u8], offset: u64) -> Result<(), Error> {
        if self.interfaces.len() >= MAX_INTERFACES {
            return Err(Error::at(offset, "more than 262,144 interfaces"));
        }
        let mut interface = Interface {
            link: LinkType::from_number(u32::from(self.u16(block, 8))),
            snaplen: self.u32(block, 12),
            tsresol: 6,
            name: None,
        };
        let mut clock = Clock {
            scale: Scale::Multiply(1_000),
            offset_ns: 0,
        };
        let mut options = block
            .get(16..block.len().saturating_sub(4))
            .unwrap_or_default();
        while !options.is_empty() {
            let (code, len) = (self.u16(options, 0), usize::from(self.u16(options, 2)));
            let value = options.get(4..).and_then(|o| o.get(..len));
            let Some(value) = value else {
                return Err(Error::at(
                    offset,
                    "an option runs past its interface block: the file is damaged here",
                ));
            };
            match (code, value) {
                (0, _) => break,
                (2, name) => {
                    let name = String::from_utf8_lossy(name.get(..MAX_NAME).unwrap_or(name));
                    interface.name = Some(name.trim_end_matches('\0').into());
                }
                (9, &[resolution]) => {
                    interface.tsresol = resolution;
                    clock.scale = scale(resolution).ok_or_else(|| too_fine(offset, resolution))?;
                }
                (14, _) if value.len() == 8 => {
                    let (first, second) = (self.u32(value, 0), self.u32(value, 4));
                    let (high, low) = match self.order {
                        Order::Little => (second, first),
                        Order::Big => (first, second),
                    };
                    let seconds = (u64::from(high) << 32 | u64::from(low)) as i64;
                    let ns = seconds.checked_mul(1_000_000_000);
                    clock.offset_ns = ns.ok_or_else(|| too_far(offset, seconds))?;
                }
                _ => {}
            }
            options = options
                .get(4 + len.next_multiple_of(4)..)
                .unwrap_or_default();
        }
        self.interfaces.push(interface);
        self.clocks.push(clock);
        Ok(())
    }

    #[inline]
    fn packet<R: Read>(&self, buffer: &mut Buffer<R>, block: &Block) -> Result<Found, Error> {
        let range = buffer.take(block.len);
        let bytes = buffer.slice(range.clone());
        // Where the data stands, which interface, which time.
        let (at, interface, time) = match block.kind {
            SIMPLE => (12, 0, None),
            kind => {
                let interface = if kind == PACKET {
                    u32::from(self.u16(bytes, 8))
                } else {
                    self.u32(bytes, 8)
                };
                let time = u64::from(self.u32(bytes, 12)) << 32 | u64::from(self.u32(bytes, 16));
                (28, interface, Some(time))
            }
        };
        let index = self.base.saturating_add(interface as usize);
        let (Some(on), Some(clock)) = (self.interfaces.get(index), self.clocks.get(index)) else {
            return Err(Error::at(
                block.offset,
                format!(
                    "a packet on interface {interface}, which the section does not describe: the file is damaged here"
                ),
            ));
        };
        let orig_len = self.u32(bytes, at - 4);
        let captured = match (block.kind, on.snaplen) {
            (SIMPLE, 0) => orig_len,
            (SIMPLE, snaplen) => orig_len.min(snaplen),
            _ => self.u32(bytes, at - 8),
        };
        let room = (block.len - at).saturating_sub(4);
        if captured as usize > room || captured > MAX_PACKET {
            return Err(Error::at(
                block.offset,
                format!(
                    "a packet of {captured} bytes is claimed in a block with room for {room} (at most {MAX_PACKET}): the \
                     file is damaged here"
                ),
            ));
        }
        let start = range.start + at;
        let time = match time {
            Some(ticks) => Some(
                clock
                    .instant(ticks)
                    .ok_or_else(|| no_time(block.offset, ticks))?,
            ),
            None => None,
        };
        Ok(Found::Frame(Frame {
            time,
            interface: index as u32,
            link: on.link,
            data: start..start + captured as usize,
            orig_len,
        }))
    }

    #[inline]
    fn u16(&self, bytes: &[u8], at: usize) -> u16 {
        let b = bytes.get(at..).and_then(<[u8]>::first_chunk);
        self.order.u16(b.copied().unwrap_or_default())
    }

    #[inline]
    fn u32(&self, bytes: &[u8], at: usize) -> u32 {
        let b = bytes.get(at..).and_then(<[u8]>::first_chunk);
        self.order.u32(b.copied().unwrap_or_default())
    }
}

/// Fixed parts, with the 12 bytes that every block has.
const fn least_len(kind: u32) -> u32 {
    match kind {
        SECTION => 28,
        INTERFACE => 20,
        PACKET | ENHANCED => 32,
        SIMPLE => 16,
        _ => 12,
    }
}

/// The byte order of a section stands behind the length, then its version.
fn section_order<R: Read>(buffer: &mut Buffer<R>, offset: u64) -> Result<Order, Error> {
    let head = buffer.peek(16)?.first_chunk();
    let Some(
        &[
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            a,
            b,
            c,
            d,
            major0,
            major1,
            minor0,
            minor1,
        ],
    ) = head
    else {
        return Err(cut(offset));
    };
    let order = match u32::from_le_bytes([a, b, c, d]) {
        BYTE_ORDER_MAGIC => Order::Little,
        n if n.swap_bytes() == BYTE_ORDER_MAGIC => Order::Big,
        _ => {
            return Err(Error::at(
                offset,
                "a pcapng section without a valid byte-order mark: the file is damaged here",
            ));
        }
    };
    // 1.2 is 1.0 with more kinds of blocks.
    match (order.u16([major0, major1]), order.u16([minor0, minor1])) {
        (1, 0 | 2) => Ok(order),
        (major, minor) => Err(Error::at(
            offset,
            format!("pcapng version {major}.{minor} is not known, only 1.0 and 1.2 are"),
        )),
    }
}

/// `None` when the ticks are so short that 64 bits of them are less than a second: that is no clock.
fn scale(tsresol: u8) -> Option<Scale> {
    let exponent = u32::from(tsresol & 0x7f);
    match (tsresol & 0x80 != 0, exponent) {
        (true, 0..=64) => Some(Scale::Shift(exponent)),
        (false, 0..=9) => Some(Scale::Multiply(10_u64.pow(9 - exponent))),
        (false, 10..=19) => Some(Scale::Divide(10_u64.pow(exponent - 9))),
        _ => None,
    }
}

fn too_fine(at: u64, tsresol: u8) -> Error {
    let base = if tsresol & 0x80 == 0 { 10 } else { 2 };
    let exponent = tsresol & 0x7f;
    let message = format!(
        "an interface counts time in steps of {base}^-{exponent} s (if_tsresol), which 64 bits cannot count to a second: \
         the file is damaged here"
    );
    Error::at(at, message)
}

fn too_far(at: u64, seconds: i64) -> Error {
    let message = format!(
        "an interface moves its times by {seconds} s (if_tsoffset), more than the 292 years that times may be from 1970: \
         the file is damaged here"
    );
    Error::at(at, message)
}

fn no_time(at: u64, ticks: u64) -> Error {
    let message = format!(
        "the time stamp of this packet, {ticks} steps of its interface's clock, is more than 292 years from 1970: the file \
         is damaged here; all packets before it were read"
    );
    Error::at(at, message)
}

impl Clock {
    #[inline]
    fn instant(&self, ticks: u64) -> Option<Instant> {
        let ticks = u128::from(ticks);
        let ns = match self.scale {
            Scale::Multiply(n) => ticks * u128::from(n),
            Scale::Divide(n) => ticks / u128::from(n),
            Scale::Shift(n) => (ticks * 1_000_000_000) >> n,
        };
        // An offset may bring back what alone is too far.
        let ns = i128::try_from(ns).ok()? + i128::from(self.offset_ns);
        i64::try_from(ns).ok().map(Instant::from_nanos)
    }
}

fn claimed(at: u64, len: u32, limit: String) -> Error {
    let message = format!("a block of {len} bytes is claimed, {limit}: the file is damaged here");
    Error::at(at, message)
}

fn cut(at: u64) -> Error {
    Error::at(
        at,
        "the file ends in the middle of this block (the capture was cut short or is still being written); all packets \
         before it were read",
    )
}

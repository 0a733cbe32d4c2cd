//! The classic pcap format in all its variants (draft-ietf-opsawg-pcap, and what libpcap and Wireshark's `libpcap.c` read).
//!
//! Standard, nanosecond, Kuznetzov's two "modified" forms, Ixia's and AIX's, Nokia's and the old Red Hat one that share the
//! standard magic number and are told apart by their first records.

use std::io::Read;

use tcplab_base::Instant;
use tcplab_wire::LinkType;

use crate::buffer::Buffer;
use crate::reader::{Found, Frame, MAX_PACKET};
use crate::{Error, Interface};

/// Byte order of numbers in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    #[inline]
    pub(crate) const fn u32(self, b: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(b),
            Self::Big => u32::from_be_bytes(b),
        }
    }

    #[inline]
    pub(crate) const fn u16(self, b: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(b),
            Self::Big => u16::from_be_bytes(b),
        }
    }
}

/// Where captured and original length stand in a record header.
#[derive(Clone, Copy, Debug)]
enum Lengths {
    /// Captured length first.
    Usual,
    /// Files before version 2.3.
    Swapped,
    /// Version 2.3: some programs wrote the one, some the other; the larger is the original one.
    Unsure,
}

impl Lengths {
    const fn of_version(major: u16, minor: u16) -> Self {
        match (major, minor) {
            // DG/UX calls its version 543.0.
            (2, 0..=2) | (543, _) => Self::Swapped,
            (2, 3) => Self::Unsure,
            _ => Self::Usual,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pcap {
    order: Order,
    nanoseconds: bool,
    lengths: Lengths,
    /// Bytes of a record header.
    header: usize,
    link: LinkType,
}

const FILE_HEADER: usize = 24;
const STANDARD: usize = 16;
/// Index of the interface, protocol, packet type.
const MODIFIED: usize = 24;
/// The same with processor numbers.
const MODIFIED_CPU: usize = 28;
const NOKIA: usize = 20;

/// Longest time between records, in seconds, that is evidence for a variant.
const YEAR: u32 = 366 * 86_400;

/// Family of formats that a magic number stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Magic {
    Standard,
    Nanoseconds,
    Modified,
    Ixia,
}

fn magic(head: &[u8]) -> Option<(Magic, Order)> {
    let bytes: [u8; 4] = *head.first_chunk()?;
    let known = |n| match n {
        0xa1b2_c3d4_u32 => Some(Magic::Standard),
        0xa1b2_3c4d => Some(Magic::Nanoseconds),
        0xa1b2_cd34 => Some(Magic::Modified),
        0x1c00_01ac | 0x1c00_01ab => Some(Magic::Ixia),
        _ => None,
    };
    [Order::Little, Order::Big]
        .into_iter()
        .find_map(|order| Some((known(order.u32(bytes))?, order)))
}

/// Whether the file is a classic pcap.
pub(crate) fn is_pcap(head: &[u8]) -> bool {
    magic(head).is_some()
}

/// AIX writes interface types of RFC 1573: Ethernet, token ring, FDDI, loopback.
const fn from_aix(network: u32) -> u32 {
    match network {
        6 => 1,
        9 => 6,
        15 => 10,
        _ => 0,
    }
}

impl Pcap {
    /// Reads the file header.
    pub(crate) fn open<R: Read>(buffer: &mut Buffer<R>) -> Result<(Self, Interface), Error> {
        let head: [u8; FILE_HEADER] = match buffer.peek(FILE_HEADER)?.first_chunk() {
            Some(head) => *head,
            None => return Err(Error::at(0, "the file ends inside the pcap file header")),
        };
        let Some((magic, order)) = magic(&head) else {
            return Err(Error::at(0, "not a pcap file"));
        };
        let number = |at: usize| {
            let bytes = head.get(at..).and_then(<[u8]>::first_chunk);
            order.u32(bytes.copied().unwrap_or_default())
        };
        let major = order.u16([head[4], head[5]]);
        let minor = order.u16([head[6], head[7]]);
        if major < 2 {
            let message = format!(
                "pcap version {major}.{minor} is not known (2.4 is usual); the file header may be damaged"
            );
            return Err(Error::at(0, message));
        }
        let (snaplen, mut network) = (number(16), number(20) & 0xffff);
        let aix = magic == Magic::Standard && (major, minor) == (2, 2);
        let aix = aix && matches!(network, 6 | 9 | 15 | 24);
        if aix {
            network = from_aix(network);
        }
        buffer.take(FILE_HEADER + if magic == Magic::Ixia { 4 } else { 0 });
        let mut pcap = Self {
            order,
            nanoseconds: magic == Magic::Nanoseconds || aix,
            lengths: Lengths::of_version(major, minor),
            header: STANDARD,
            link: LinkType::from_number(network),
        };
        match magic {
            Magic::Standard if !aix => pcap.choose(buffer, snaplen, &[STANDARD, MODIFIED, NOKIA]),
            Magic::Modified => {
                // Enough for the headers of a few small records, and no more than a pipe can give at once.
                buffer.peek(1024)?;
                pcap.choose(buffer, snaplen, &[MODIFIED, MODIFIED_CPU]);
            }
            _ => {}
        }
        let interface = Interface {
            link: pcap.link,
            snaplen,
            tsresol: if pcap.nanoseconds { 9 } else { 6 },
            name: None,
        };
        Ok((pcap, interface))
    }

    /// Takes the record header with which most of the first records, as far as they are there, make sense. The first
    /// candidate stands unless another one is clearly better: damage must not look like another variant.
    fn choose<R: Read>(&mut self, buffer: &Buffer<R>, snaplen: u32, headers: &[usize]) {
        let mut best = 0;
        self.header = headers.first().copied().unwrap_or(STANDARD);
        for header in headers {
            let sane = self.sane_records(buffer.ready(), snaplen, *header);
            if sane > best {
                (best, self.header) = (sane, *header);
            }
        }
    }

    /// How many of the first three records make sense with that header, up to the first that does not.
    fn sane_records(&self, bytes: &[u8], snaplen: u32, header: usize) -> u32 {
        let mut rest = bytes;
        let mut first = None;
        let most = if snaplen == 0 {
            MAX_PACKET
        } else {
            snaplen.min(MAX_PACKET)
        };
        for count in 0..3 {
            // The end of the file, inside a record too, says nothing.
            let Some(h) = rest.first_chunk::<STANDARD>() else {
                return count;
            };
            let (seconds, fraction, captured, original) = self.fields(h);
            let begin: u32 = *first.get_or_insert(seconds);
            let sane = fraction < 1_000_000
                && (1..=most).contains(&captured)
                && (captured..=128 << 20).contains(&original)
                && seconds.abs_diff(begin) < YEAR;
            if !sane {
                return count;
            }
            rest = rest.get(header + captured as usize..).unwrap_or_default();
        }
        3
    }

    /// Seconds, fraction, captured length, original length.
    #[inline(always)]
    fn fields(&self, h: &[u8; STANDARD]) -> (u32, u32, u32, u32) {
        let [a, b, c, d, e, f, g, i, j, k, l, m, n, o, p, q] = *h;
        let words = [[a, b, c, d], [e, f, g, i], [j, k, l, m], [n, o, p, q]];
        // One question for all four: it is asked for each packet.
        let [seconds, fraction, first, second] = match self.order {
            Order::Little => words.map(u32::from_le_bytes),
            Order::Big => words.map(u32::from_be_bytes),
        };
        let swap = match self.lengths {
            Lengths::Usual => false,
            Lengths::Swapped => true,
            Lengths::Unsure => first > second,
        };
        let (captured, original) = if swap {
            (second, first)
        } else {
            (first, second)
        };
        (seconds, fraction, captured, original)
    }

    /// The next record, when the buffer holds all of it, as mostly.
    #[inline(always)]
    pub(crate) fn ready<R: Read>(&self, buffer: &mut Buffer<R>) -> Option<Frame> {
        let ready = buffer.ready();
        let (seconds, fraction, captured, original) = self.fields(ready.first_chunk()?);
        let whole = self.header + captured as usize;
        (captured <= MAX_PACKET && whole <= ready.len() && fraction < self.second())
            .then(|| self.take(buffer, whole, seconds, fraction, original))
    }

    /// The next record.
    pub(crate) fn next<R: Read>(&self, buffer: &mut Buffer<R>) -> Result<Option<Found>, Error> {
        let at = buffer.offset();
        let bytes = buffer.peek(self.header)?;
        let head = match bytes.first_chunk::<STANDARD>() {
            Some(head) if bytes.len() == self.header => head,
            _ if bytes.is_empty() => return Ok(None),
            _ => return Err(cut(at)),
        };
        let (seconds, fraction, captured, original) = self.fields(head);
        if captured > MAX_PACKET {
            return Err(Error::at(
                at,
                format!(
                    "a packet of {captured} bytes is claimed, more than the {MAX_PACKET} that pcap allows: the file is \
                     damaged here; what stands before it was read"
                ),
            ));
        }
        if fraction >= self.second() {
            return Err(self.no_time(at, fraction));
        }
        let whole = self.header + captured as usize;
        if buffer.peek(whole)?.len() < whole {
            return Err(cut(at));
        }
        let frame = self.take(buffer, whole, seconds, fraction, original);
        Ok(Some(Found::Frame(frame)))
    }

    /// Steps of the fraction in a second.
    #[inline(always)]
    const fn second(&self) -> u32 {
        if self.nanoseconds {
            1_000_000_000
        } else {
            1_000_000
        }
    }

    #[cold]
    fn no_time(&self, at: u64, fraction: u32) -> Error {
        let unit = if self.nanoseconds {
            "nanoseconds"
        } else {
            "microseconds"
        };
        let hint = if self.nanoseconds {
            ""
        } else {
            ", or its writer counts nanoseconds: then its magic number must be a1b23c4d"
        };
        let message = format!(
            "the time stamp of this packet has {fraction} {unit} beside its seconds, more than a second: the file is damaged \
             here{hint}; all packets before it were read"
        );
        Error::at(at, message)
    }

    /// Takes a record of `whole` bytes that are there.
    #[inline(always)]
    fn take<R: Read>(
        &self,
        buffer: &mut Buffer<R>,
        whole: usize,
        seconds: u32,
        fraction: u32,
        original: u32,
    ) -> Frame {
        let ns = i64::from(fraction) * if self.nanoseconds { 1 } else { 1_000 };
        let range = buffer.take(whole);
        Frame {
            time: Some(Instant::from_nanos(i64::from(seconds) * 1_000_000_000 + ns)),
            interface: 0,
            link: self.link,
            data: range.start + self.header..range.end,
            orig_len: original,
        }
    }
}

fn cut(at: u64) -> Error {
    Error::at(
        at,
        "the file ends in the middle of this packet (the capture was cut short or is still being written); all \
         packets before it were read",
    )
}

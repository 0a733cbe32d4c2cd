//! Frames that a network card would finish: super-segments that are to be cut, checksums that are to be completed
//! (virtio 1.2 5.1.6). [`SuperFrame`] is such a frame, [`Joiner`] makes one of the frames of a flow.

mod header;
mod join;
pub(crate) mod layout;
mod split;

pub use header::VnetHeader;
pub use join::Joiner;

use crate::checksum::Sum;
use layout::Layout;

/// An Ethernet frame as a device with `IFF_VNET_HDR` gives it: one packet of the wire, whose checksum may be partial,
/// or a super-segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuperFrame {
    bytes: Vec<u8>,
    work: Work,
}

/// What is left to do before the frame may go over a wire; offsets lie within the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Work {
    Nothing,
    /// The sum from `start` on goes to `offset` bytes behind it.
    Checksum {
        start: u16,
        offset: u16,
    },
    Cut(Cut),
}

/// How a super-segment is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cut {
    layout: Layout,
    /// Bytes of payload of each segment but the last, which may have fewer.
    size: u16,
    /// The checksum is the pseudo header's; else it means nothing.
    is_partial: bool,
    /// `VIRTIO_NET_HDR_GSO_ECN`.
    ecn: bool,
}

/// What a super-segment becomes on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segments {
    /// Number of frames, at least 2.
    pub count: u32,
    /// Bytes of each frame but the last.
    pub len: u32,
    /// Bytes of the last frame.
    pub last_len: u32,
}

/// Why a frame and the header before it do not fit together; Linux refuses such frames, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OffloadError {
    /// A type that is unknown, or fragments of UDP (UFO).
    #[error(
        "virtio_net_hdr: no segmentation of type {0} is known here (TCPV4, TCPV6 and UDP_L4 are)"
    )]
    Type(u8),
    /// `gso_size` is 0 or 65535, or makes packets that are too long, or more than 128 datagrams.
    #[error("virtio_net_hdr: gso_size {0} cannot be")]
    Size(u16),
    /// The checksum lies outside the frame.
    #[error("virtio_net_hdr: the checksum lies outside the frame")]
    Checksum,
    /// The frame's headers are not those of the type, or the checksum is not where they have it.
    #[error("virtio_net_hdr: the frame's headers are not those that the header tells of")]
    Headers,
}

impl SuperFrame {
    /// A frame of the wire, complete.
    pub fn plain(bytes: Vec<u8>) -> Self {
        let work = Work::Nothing;
        Self { bytes, work }
    }

    /// A frame and the header that stood before it. Super-segments that fit into one segment are plain frames.
    ///
    /// # Errors
    /// What Linux refuses (`virtio_net_hdr_to_skb()`, and before it cuts).
    pub fn new(bytes: Vec<u8>, header: &VnetHeader) -> Result<Self, OffloadError> {
        let work = Work::of(&bytes, header)?;
        Ok(Self { bytes, work })
    }

    /// The header to put before the frame.
    pub fn header(&self) -> VnetHeader {
        match self.work {
            Work::Nothing => VnetHeader::default(),
            Work::Checksum { start, offset } => VnetHeader {
                flags: VnetHeader::NEEDS_CSUM,
                csum_start: start,
                csum_offset: offset,
                ..VnetHeader::default()
            },
            Work::Cut(cut) => cut.header(),
        }
    }

    /// The frame; of a super-segment the whole.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The frame, to change bytes of its headers.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The frame's buffer, to use it again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Its frames on the wire; `None` if it is one frame.
    pub fn segments(&self) -> Option<Segments> {
        let Work::Cut(cut) = self.work else {
            return None;
        };
        let headers = cut.layout.payload();
        let payload = self.bytes.len().saturating_sub(headers);
        let size = usize::from(cut.size);
        let count = payload.div_ceil(size);
        let last = payload - (count - 1) * size;
        Some(Segments {
            count: count as u32,
            len: (headers + size) as u32,
            last_len: (headers + last) as u32,
        })
    }

    /// Completes a partial checksum, which a super-segment keeps until it is cut (`skb_checksum_help()`).
    pub fn complete(&mut self) {
        let Work::Checksum { start, offset } = self.work else {
            return;
        };
        self.work = Work::Nothing;
        let start = usize::from(start);
        let at = start + usize::from(offset);
        let sum = Sum::default().add(self.bytes.get(start..).unwrap_or_default());
        if let Some(field) = self.bytes.get_mut(at..at + 2) {
            // RFC 768: a sum of 0 would mean "no checksum". Linux does this for every protocol (CSUM_MANGLED_0).
            field.copy_from_slice(&never_0(sum.finish()).to_be_bytes());
        }
    }
}

/// The other zero of one's complement.
fn never_0(checksum: u16) -> u16 {
    match checksum {
        0 => 0xffff,
        sum => sum,
    }
}

impl Work {
    fn of(frame: &[u8], header: &VnetHeader) -> Result<Self, OffloadError> {
        let needs = header.flags & VnetHeader::NEEDS_CSUM != 0;
        let end = usize::from(header.csum_start) + usize::from(header.csum_offset) + 2;
        if needs && end > frame.len() {
            return Err(OffloadError::Checksum);
        }
        let plain = match needs {
            true => Self::Checksum {
                start: header.csum_start,
                offset: header.csum_offset,
            },
            false => Self::Nothing,
        };
        if header.gso_type == VnetHeader::NONE {
            return Ok(plain);
        }
        let cut = Cut::of(frame, header)?;
        let payload = frame.len() - cut.layout.payload();
        Ok(match payload > usize::from(cut.size) {
            true => Self::Cut(cut),
            // Too small to be cut: an ordinary packet.
            false => plain,
        })
    }
}

/// Datagrams of a super-segment (Linux: `UDP_MAX_SEGMENTS`).
const MAX_DATAGRAMS: usize = 128;
/// Smallest size; a smaller one is raised to it (Linux: `TCP_MIN_GSO_SIZE`).
const MIN_TCP_SIZE: u16 = 8;
/// Linux: `GSO_BY_FRAGS`.
const BY_FRAGMENTS: u16 = 0xffff;

impl Cut {
    fn of(frame: &[u8], header: &VnetHeader) -> Result<Self, OffloadError> {
        let ecn = header.gso_type & VnetHeader::ECN != 0;
        let is_partial = header.flags & VnetHeader::NEEDS_CSUM != 0;
        let (is_tcp, is_ipv6) = match header.gso_type & !VnetHeader::ECN {
            VnetHeader::TCPV4 => (true, Some(false)),
            VnetHeader::TCPV6 => (true, Some(true)),
            VnetHeader::UDP_L4 if !ecn => (false, None),
            _ => return Err(OffloadError::Type(header.gso_type)),
        };
        let layout = Layout::of(frame).ok_or(OffloadError::Headers)?;
        let is_right = layout.is_tcp == is_tcp && is_ipv6.is_none_or(|six| six == layout.is_ipv6);
        let fields = (header.csum_start, header.csum_offset);
        let is_there = match is_partial {
            true => fields == (layout.transport, layout.checksum()),
            // Datagrams need the sum of their pseudo header.
            false => is_tcp,
        };
        if !is_right || !is_there {
            return Err(OffloadError::Headers);
        }
        let size = match is_tcp && header.gso_size > 0 {
            true => header.gso_size.max(MIN_TCP_SIZE),
            false => header.gso_size,
        };
        let payload = frame.len() - layout.payload();
        let is_too_many = !is_tcp && payload > usize::from(size) * MAX_DATAGRAMS;
        let packet = usize::from(layout.payload - layout.network) + usize::from(size);
        let is_too_long = payload > usize::from(size) && packet > usize::from(u16::MAX);
        if size == 0 || size == BY_FRAGMENTS || is_too_many || is_too_long {
            return Err(OffloadError::Size(header.gso_size));
        }
        Ok(Self {
            layout,
            size,
            is_partial,
            ecn,
        })
    }

    fn header(&self) -> VnetHeader {
        let kind = match (self.layout.is_tcp, self.layout.is_ipv6) {
            (true, false) => VnetHeader::TCPV4,
            (true, true) => VnetHeader::TCPV6,
            (false, _) => VnetHeader::UDP_L4,
        };
        let ecn = if self.ecn { VnetHeader::ECN } else { 0 };
        let header = VnetHeader {
            gso_type: kind | ecn,
            hdr_len: self.layout.payload,
            gso_size: self.size,
            ..VnetHeader::default()
        };
        match self.is_partial {
            false => header,
            true => VnetHeader {
                flags: VnetHeader::NEEDS_CSUM,
                csum_start: self.layout.transport,
                csum_offset: self.layout.checksum(),
                ..header
            },
        }
    }
}

//! A segment as endpoints and links hand it on: header fields and a length, no bytes.

use tcplab_base::Seq;
use tcplab_wire::{CaqmInfo, CaqmUnits, TcpFlags, TcpOptions};

/// One end of a connection: a host's number in its experiment, and a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, PartialOrd, Ord)]
pub struct Addr {
    /// The host.
    pub host: u16,
    /// The TCP port.
    pub port: u16,
}

/// What stands between a segment's Ethernet and IP header (CAQM, docs/caqm.md).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Caqm {
    /// Nothing.
    #[default]
    Plain,
    /// The tag; of a super-segment, the tag of each packet.
    Tag(CaqmInfo),
    /// Tags of packets of data that GRO has joined: the bytes of window that they grant or take together.
    Joined(i32),
}

impl Caqm {
    /// Bytes of the tag, its EtherType and INFO.
    pub const BYTES: u32 = 4;

    /// Bytes of window that it grants, or takes when negative.
    pub fn bytes(self, units: &CaqmUnits) -> i64 {
        match self {
            Self::Plain => 0,
            Self::Tag(info) => info.value(units),
            Self::Joined(bytes) => bytes.into(),
        }
    }

    /// The tag of one packet on the wire.
    #[inline]
    pub fn info(self) -> Option<CaqmInfo> {
        match self {
            Self::Tag(info) => Some(info),
            Self::Plain | Self::Joined(_) => None,
        }
    }
}

/// A TCP segment, or a super-segment that a network card has still to cut (TSO) or has joined (GRO).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    /// Who sends it.
    pub src: Addr,
    /// Who shall get it.
    pub dst: Addr,
    /// Sequence number of the first byte (of the SYN, when there is one).
    pub seq: Seq,
    /// The acknowledgment number; counts with the flag ACK only.
    pub ack: Seq,
    /// Payload in bytes.
    pub len: u32,
    /// The window field, not scaled.
    pub window: u16,
    /// The urgent pointer; counts with the flag URG only.
    pub urgent: u16,
    /// The flags.
    pub flags: TcpFlags,
    /// Payload bytes of each wire packet of a super-segment; 0: it is one wire packet.
    pub gso_size: u16,
    /// The traffic class of the IP header; the low two bits are ECN (RFC 3168 5).
    pub tos: u8,
    /// The tag of CAQM.
    pub caqm: Caqm,
    /// The options.
    pub options: TcpOptions,
}

impl Segment {
    /// Not ECN-capable.
    pub const NOT_ECT: u8 = 0;
    /// ECN-capable, ECT(0).
    pub const ECT_0: u8 = 2;
    /// Congestion experienced.
    pub const CE: u8 = 3;

    /// The sequence number after it: payload, SYN and FIN each count (RFC 9293 3.4).
    #[inline]
    pub fn end_seq(&self) -> Seq {
        let syn = u32::from(self.flags.has(TcpFlags::SYN));
        let fin = u32::from(self.flags.has(TcpFlags::FIN));
        self.seq + (self.len + syn + fin)
    }

    /// The two ECN bits of the IP header.
    #[inline]
    pub fn ecn(&self) -> u8 {
        self.tos & 3
    }

    /// Bytes of the TCP header with its options, padded as Linux pads them.
    pub fn header_len(&self) -> u32 {
        let o = &self.options;
        let mut len = 20;
        if o.mss.is_some() {
            len += 4;
        }
        match (o.timestamps.is_some(), o.sack_permitted) {
            (true, _) => len += 12,
            (false, true) => len += 4,
            (false, false) => {}
        }
        if o.window_scale.is_some() {
            len += 4;
        }
        match o.sack.as_slice().len() as u32 {
            0 => len += o.fast_open_len(),
            blocks => len += 4 + 8 * blocks,
        }
        len
    }

    /// Packets on the wire that it stands for.
    #[inline]
    pub fn wire_packets(&self) -> u32 {
        match self.gso_size {
            0 => 1,
            size => self.pieces(size),
        }
    }

    #[cold]
    #[inline(never)]
    fn pieces(&self, size: u16) -> u32 {
        self.len.div_ceil(u32::from(size)).max(1)
    }
}

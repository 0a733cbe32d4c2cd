//! What kind of frame it is: what listed events count by.

use tcplab_plan::point::Of;
use tcplab_wire::{Config, LinkType, Parsed, TcpFlags, mark_ce, parse_frame};

/// Bytes of Ethernet's header with three tags, and of the longest header of IP.
const HEADERS: usize = 14 + 12 + 60;

/// What the listed events of a link ask about a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// A TCP segment with payload.
    pub data: bool,
    /// A TCP segment with ACK, but no payload, SYN, FIN or RST.
    pub ack: bool,
    /// A TCP segment with SYN.
    pub syn: bool,
    /// A TCP segment with FIN.
    pub fin: bool,
    /// A message of ICMP or ICMPv6.
    pub icmp: bool,
    /// An ECN-capable packet (RFC 3168 5): it may be marked.
    pub ect: bool,
}

impl Kind {
    /// A message of ICMP or ICMPv6.
    pub const ICMP: Self = Self {
        data: false,
        ack: false,
        syn: false,
        fin: false,
        icmp: true,
        ect: false,
    };

    /// The kind of an Ethernet frame; what is neither TCP nor ICMP is of no kind.
    pub fn of_ethernet(frame: &[u8]) -> Self {
        let mut headers = frame[..frame.len().min(HEADERS)].to_vec();
        Self {
            ect: mark_ce(&mut headers),
            ..Self::of_headers(frame)
        }
    }

    fn of_headers(frame: &[u8]) -> Self {
        if is_icmp(frame) {
            // An error quotes a segment, and that segment does not pass here.
            return Self::ICMP;
        }
        let length = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        match parse_frame(LinkType::Ethernet, frame, length, &Config::default()) {
            Parsed::Tcp(p) => Self::of_segment(p.payload_len, p.flags),
            _ => Self::default(),
        }
    }

    /// The kind of a segment.
    pub fn of_segment(payload_len: u32, flags: TcpFlags) -> Self {
        Self {
            data: payload_len > 0,
            ack: payload_len == 0
                && flags.has(TcpFlags::ACK)
                && !flags.has(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST),
            syn: flags.has(TcpFlags::SYN),
            fin: flags.has(TcpFlags::FIN),
            icmp: false,
            ect: false,
        }
    }

    /// Whether an event about `of` counts this frame.
    pub(crate) fn is(self, of: Of) -> bool {
        match of {
            Of::Frame => true,
            Of::Data => self.data,
            Of::Ack => self.ack,
            Of::Syn => self.syn,
            Of::Fin => self.fin,
            Of::Icmp => self.icmp,
        }
    }
}

/// Protocol 1 of IPv4 or 58 of IPv6, without a tag before it: an ICMP message.
fn is_icmp(frame: &[u8]) -> bool {
    let at = |place: usize| frame.get(place).copied();
    match (at(12), at(13)) {
        (Some(0x08), Some(0x00)) => at(14 + 9) == Some(1),
        (Some(0x86), Some(0xdd)) => at(14 + 6) == Some(58),
        _ => false,
    }
}

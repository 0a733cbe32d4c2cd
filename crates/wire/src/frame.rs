//! From the bytes of a frame to a [`TcpPacket`].

use crate::{LinkType, TcpPacket};

/// What the parser may be told.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// EtherType of the CAQM tag; it is not registered, 0x8200 by default.
    pub caqm_ethertype: u16,
    /// Look for TCP inside GRE.
    pub gre: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            caqm_ethertype: 0x8200,
            gre: true,
        }
    }
}

/// What a frame holds.
#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "made once for each packet, read at once, never stored"
)]
pub enum Parsed {
    /// A TCP packet.
    Tcp(TcpPacket),
    /// Something else, by kind.
    NotTcp(NotTcp),
}

/// Why a frame is no TCP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum NotTcp {
    /// A link type that tcplab does not read.
    UnknownLink,
    /// ARP, LLDP, IPX...: no IP packet inside.
    NotIp,
    /// IP with another protocol: its number.
    OtherProtocol(u8),
    /// A fragment of an IP packet (RFC 791, RFC 8200 4.5) that belongs to TCP or to another protocol.
    Fragment,
    /// The capture ends before the header that would tell.
    Truncated,
    /// A header contradicts itself (IHL below 5, data offset below 5, lengths past their container ...).
    Malformed,
}

/// Reads one frame. `data` is what was captured, `orig_len` the frame's length on the wire.
pub fn parse_frame(link: LinkType, data: &[u8], orig_len: u32, config: &Config) -> Parsed {
    let _ = (link, data, orig_len, config);
    Parsed::NotTcp(NotTcp::UnknownLink)
}

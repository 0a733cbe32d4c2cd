//! Where the headers of a frame stand.
//!
//! Linux: `skb_network_protocol()`, `ipv6_gso_pull_exthdrs()`. Left out: the jumbogram header of BIG TCP over IPv6,
//! which TAP devices do not hand out; tunnels; a CAQM tag of another EtherType than the default one.

use crate::caqm::{self, CAQM_ETHERTYPE};
use crate::ethernet::{IPV4, IPV6};
use crate::{ipv4, ipv6, tcp, udp};

/// EtherTypes of tags.
const TAGS: [u16; 2] = [0x8100, 0x88a8];
/// Tags that Linux steps over (`VLAN_MAX_DEPTH`).
const MAX_TAGS: usize = 8;

/// Offsets from the frame's first byte, all within the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    /// Of the IP header.
    pub network: u16,
    /// Of the TCP or UDP header.
    pub transport: u16,
    /// Of the bytes behind it.
    pub payload: u16,
    /// IPv6, not IPv4.
    pub is_ipv6: bool,
    /// TCP, not UDP.
    pub is_tcp: bool,
    /// There is a CAQM tag, which each segment repeats.
    pub is_caqm: bool,
}

impl Layout {
    /// None: the frame holds no TCP or UDP, or is cut off.
    pub fn of(frame: &[u8]) -> Option<Self> {
        let (kind, network, is_caqm) = network(frame)?;
        let (protocol, transport) = match kind {
            IPV4 => {
                let first = frame.get(network)?;
                let len = usize::from(first & 15) * 4;
                if len < ipv4::MIN_LEN || first >> 4 != 4 {
                    return None;
                }
                (*frame.get(network + 9)?, network + len)
            }
            IPV6 if frame.get(network)? >> 4 == 6 => {
                let next = *frame.get(network + 6)?;
                extensions(frame, next, network + ipv6::LEN)?
            }
            _ => return None,
        };
        let (is_tcp, len) = match protocol {
            tcp::PROTOCOL => {
                let len = usize::from(frame.get(transport + 12)? >> 4) * 4;
                (true, Some(len).filter(|len| *len >= tcp::MIN_LEN)?)
            }
            udp::PROTOCOL => (false, udp::LEN),
            _ => return None,
        };
        let payload = transport + len;
        frame.get(..payload)?;
        Some(Self {
            network: network as u16,
            transport: u16::try_from(transport).ok()?,
            payload: u16::try_from(payload).ok()?,
            is_ipv6: kind == IPV6,
            is_tcp,
            is_caqm,
        })
    }

    pub fn network(self) -> usize {
        usize::from(self.network)
    }

    pub fn transport(self) -> usize {
        usize::from(self.transport)
    }

    pub fn payload(self) -> usize {
        usize::from(self.payload)
    }

    /// Where the checksum of TCP or UDP stands, from the transport header.
    pub fn checksum(self) -> u16 {
        match self.is_tcp {
            true => tcp::CHECKSUM as u16,
            false => udp::CHECKSUM as u16,
        }
    }
}

/// The EtherType, where its packet begins, and whether a CAQM tag stands before it.
fn network(frame: &[u8]) -> Option<(u16, usize, bool)> {
    let (mut at, mut is_caqm) = (12, false);
    for _ in 0..=MAX_TAGS {
        let kind = u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]);
        at += 2;
        match kind {
            CAQM_ETHERTYPE if !is_caqm => {
                is_caqm = true;
                at += caqm::INFO_LEN;
            }
            _ if TAGS.contains(&kind) => at += 2,
            _ => return Some((kind, at, is_caqm)),
        }
    }
    None
}

/// Steps over the extension headers that every segment repeats.
fn extensions(frame: &[u8], next: u8, at: usize) -> Option<(u8, usize)> {
    let (mut next, mut at) = (next, at);
    while ipv6::is_repeated(next) {
        let len = (usize::from(*frame.get(at + 1)?) + 1) * 8;
        next = *frame.get(at)?;
        at += len;
    }
    Some((next, at))
}

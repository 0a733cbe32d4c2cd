//! ICMP (RFC 792) and ICMPv6 (RFC 4443) errors: they quote the packet they are about.
//!
//! A quoted TCP header is no packet of the connection, but Wireshark counts the frame as TCP, so it is read and marked.
//! What the error itself says is kept beside it, see [`Reassembler::icmp_error`](crate::Reassembler::icmp_error).

use std::net::IpAddr;

use tcplab_base::Seq;

use crate::Endpoint;
use crate::NotTcp;
use crate::frame::{Layer, Step, Walk};
use crate::rest::Rest;

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const UNREACHABLE: u8 = 3;
const FRAGMENTATION_NEEDED: u8 = 4;
const REDIRECT: u8 = 5;
/// ICMPv6's type.
const TOO_BIG: u8 = 2;
/// Type, code, checksum, and four bytes that depend on the type.
const LEN: usize = 8;
/// Ports and sequence number: what RFC 792 has an error quote of a TCP header at least.
const QUOTED: usize = 8;

/// An ICMP error that quotes a TCP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IcmpError {
    /// Who sent the error: a router, or the host that the quoted packet was for.
    pub from: IpAddr,
    /// ICMP's type, or ICMPv6's when `from` is an IPv6 address.
    pub kind: u8,
    /// Its code.
    pub code: u8,
    /// MTU of the link that the quoted packet did not fit into, bytes; 0 where the error says none.
    pub mtu: u32,
    /// Who had sent the quoted packet.
    pub src: Endpoint,
    /// Whom it was for.
    pub dst: Endpoint,
    /// Its sequence number.
    pub seq: Seq,
}

impl IcmpError {
    /// The packet was larger than the next link carries (RFC 1191 4, RFC 4443 3.2).
    pub fn is_too_big(&self) -> bool {
        match self.from {
            IpAddr::V4(_) => (self.kind, self.code) == (UNREACHABLE, FRAGMENTATION_NEEDED),
            IpAddr::V6(_) => self.kind == TOO_BIG,
        }
    }
}

/// An error whose quote is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    from: IpAddr,
    kind: u8,
    code: u8,
    mtu: u32,
}

impl Message {
    /// The whole error, when the quote holds enough of the TCP header.
    pub(crate) fn quotes(&self, src: IpAddr, dst: IpAddr, tcp: Rest<'_>) -> Option<IcmpError> {
        let (src, dst, seq) = ends(src, dst, tcp.data())?;
        Some(IcmpError {
            from: self.from,
            kind: self.kind,
            code: self.code,
            mtu: self.mtu,
            src,
            dst,
            seq,
        })
    }
}

/// The ends and the sequence number of a quoted segment, when the quote holds as much.
pub(crate) fn ends(src: IpAddr, dst: IpAddr, segment: &[u8]) -> Option<(Endpoint, Endpoint, Seq)> {
    let [a, b, c, d, seq @ ..] = *segment.first_chunk::<QUOTED>()?;
    let end = |ip, port| Endpoint {
        ip,
        port: u16::from_be_bytes(port),
    };
    let seq = Seq(u32::from_be_bytes(seq));
    Some((end(src, [a, b]), end(dst, [c, d]), seq))
}

pub(crate) const fn is_icmp(protocol: u8) -> bool {
    matches!(protocol, ICMP | ICMPV6)
}

pub(crate) fn step<'a>(walk: &mut Walk, protocol: u8, rest: Rest<'a>) -> Step<'a> {
    let kind = rest.u8(0)?;
    let quote = rest.skip(LEN)?;
    let (layer, quote) = match (protocol, kind) {
        // Unreachable, source quench, redirect, time exceeded, parameter problem.
        (ICMP, UNREACHABLE | 4 | REDIRECT | 11 | 12) => {
            (Layer::Ip, quote.limit(quoted_len(kind, rest, quote)))
        }
        // Unreachable, too big, time exceeded, parameter problem.
        (ICMPV6, 1..=4) => (Layer::Ipv6, quote),
        _ => return Err(NotTcp::OtherProtocol(protocol)),
    };
    walk.context.quoted = true;
    if let Ok(h) = rest.head::<LEN>() {
        let mtu = match (protocol, kind, h[1]) {
            (ICMP, UNREACHABLE, FRAGMENTATION_NEEDED) => u16::from_be_bytes([h[6], h[7]]).into(),
            (ICMPV6, TOO_BIG, _) => u32::from_be_bytes([h[4], h[5], h[6], h[7]]),
            _ => 0,
        };
        walk.message.get_or_insert(Message {
            from: walk.context.src,
            kind,
            code: h[1],
            mtu,
        });
    }
    Ok((layer, quote))
}

/// How much of the quote is the packet: a redirect holds 8 bytes behind the IP header (RFC 792), others as many words as
/// they say (RFC 4884), with extensions behind.
fn quoted_len(kind: u8, rest: Rest<'_>, quote: Rest<'_>) -> u32 {
    let (Ok(words), Ok(first), Ok(total)) = (rest.u8(5), quote.u8(0), quote.u16(2)) else {
        return quote.len();
    };
    let (header, words) = (u32::from(first & 0x0f) * 4, u32::from(words) * 4);
    if kind == REDIRECT {
        header + 8
    } else if words > 0 && quote.len() > words && u32::from(total) > words {
        header + words
    } else {
        quote.len()
    }
}

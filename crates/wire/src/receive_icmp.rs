//! ICMP errors about TCP segments, accepted as a host accepts them: a correct sum, and enough of the quoted segment to
//! identify its connection (RFC 792, RFC 4443; Linux `icmp_rcv()`, `icmp_unreach()`, `icmp_socket_deliver()`,
//! `icmpv6_rcv()`, `icmpv6_notify()`).
//!
//! The meaning of a message for the connection is decided elsewhere. Left out: all other messages, redirects, and
//! extension headers in packets that ICMPv6 quotes.

use std::net::IpAddr;

use tcplab_base::Seq;

use crate::receive::Refused;
use crate::tcp::{self, Context};
use crate::{Endpoint, Sum};

/// Their numbers in IP headers.
pub(crate) const ICMP: u8 = 1;
pub(crate) const ICMP6: u8 = 58;

/// Bytes of a message before what it quotes.
const HEADER: usize = 8;
/// What TCP needs of a segment: ports and sequence number.
const NEEDED: usize = 8;
/// The last code of "destination unreachable" that Linux knows (`NR_ICMP_UNREACH`).
const LAST_CODE: u8 = 15;

/// An ICMP error, and the segment of ours that it quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotation {
    /// ICMPv6.
    pub is_v6: bool,
    /// Type.
    pub kind: u8,
    /// Code.
    pub code: u8,
    /// The next link's MTU in bytes, where such a message has one.
    pub mtu: u32,
    /// Where the segment came from: this host.
    pub local: Endpoint,
    /// Where it went.
    pub remote: Endpoint,
    /// Its sequence number.
    pub seq: Seq,
}

fn ends(src: IpAddr, dst: IpAddr, segment: &[u8]) -> Result<(Endpoint, Endpoint, Seq), Refused> {
    let [a, b, c, d, e, f, g, h] = *segment.first_chunk::<NEEDED>().ok_or(Refused::IcmpHeader)?;
    let end = |ip, port| Endpoint {
        ip,
        port: u16::from_be_bytes(port),
    };
    let seq = Seq(u32::from_be_bytes([e, f, g, h]));
    Ok((end(src, [a, b]), end(dst, [c, d]), seq))
}

/// Reads an ICMP message.
pub(crate) fn v4(message: &[u8]) -> Result<Quotation, Refused> {
    if Sum::default().add(message).finish() != 0 {
        return Err(Refused::IcmpChecksum);
    }
    let (head, quoted) = message
        .split_first_chunk::<HEADER>()
        .ok_or(Refused::IcmpHeader)?;
    let [kind, code, .., high, low] = *head;
    if !matches!(kind, 3 | 11 | 12) || kind == 3 && code > LAST_CODE {
        return Err(Refused::NotTcp);
    }
    let ip = quoted.first_chunk::<20>().ok_or(Refused::IcmpHeader)?;
    let len = usize::from(ip[0] & 15) * 4;
    if len < ip.len() {
        return Err(Refused::IcmpHeader);
    }
    let segment = quoted.get(len..).ok_or(Refused::IcmpHeader)?;
    let src = IpAddr::from([ip[12], ip[13], ip[14], ip[15]]);
    let dst = IpAddr::from([ip[16], ip[17], ip[18], ip[19]]);
    let (local, remote, seq) = ends(src, dst, segment)?;
    if ip[9] != tcp::PROTOCOL {
        return Err(Refused::NotTcp);
    }
    Ok(Quotation {
        is_v6: false,
        kind,
        code,
        mtu: u32::from(u16::from_be_bytes([high, low])),
        local,
        remote,
        seq,
    })
}

/// Reads an ICMPv6 message; its sum covers the addresses.
pub(crate) fn v6(context: &Context, message: &[u8]) -> Result<Quotation, Refused> {
    let sum = Sum::pseudo(context.src, context.dst, ICMP6, message.len() as u32);
    let sum = sum.ok_or(Refused::IpHeader)?.add(message);
    if sum.finish() != 0 {
        return Err(Refused::IcmpChecksum);
    }
    let (head, quoted) = message
        .split_first_chunk::<HEADER>()
        .ok_or(Refused::IcmpHeader)?;
    let [kind, code, _, _, mtu @ ..] = *head;
    if !matches!(kind, 1..=4) {
        return Err(Refused::NotTcp);
    }
    let (ip, segment) = quoted
        .split_first_chunk::<40>()
        .ok_or(Refused::IcmpHeader)?;
    if ip[6] != tcp::PROTOCOL {
        return Err(Refused::NotTcp);
    }
    let address = |at: usize| {
        let bytes = ip.get(at..).and_then(<[u8]>::first_chunk::<16>);
        bytes.map(|&bytes| IpAddr::from(bytes))
    };
    let (src, dst) = address(8).zip(address(24)).ok_or(Refused::IcmpHeader)?;
    let (local, remote, seq) = ends(src, dst, segment)?;
    Ok(Quotation {
        is_v6: true,
        kind,
        code,
        mtu: u32::from_be_bytes(mtu),
        local,
        remote,
        seq,
    })
}

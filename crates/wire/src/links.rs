//! Link layers that are seldom met with, by their LINKTYPE number: each leads to something that has a file of its own.
//!
//! <https://www.tcpdump.org/linktypes.html> describes them all.

use crate::NotTcp;
use crate::frame::{Layer, Step};
use crate::rest::Rest;

/// The first header of a frame with LINKTYPE `number`.
pub(crate) fn first(number: u32, rest: Rest<'_>) -> Step<'_> {
    match number {
        6 => token_ring(rest),
        10 => fddi(rest),
        51 => Ok((Layer::PppoeSession, rest)),
        100 => Ok((Layer::Llc, rest)),
        104 => chdlc(rest),
        105 | 119 | 127 | 163 | 192 => crate::ieee80211::first(number, rest),
        107 => frame_relay(rest),
        117 => packet_filter(rest),
        // A direction byte before PPP.
        166 | 204 => Ok((Layer::PppHdlc, rest.skip(1)?)),
        219 => Ok((Layer::Mpls, rest)),
        239 => netfilter(rest),
        // netANALYZER: a 4 byte header before Ethernet.
        240 => Ok((Layer::Ethernet, rest.skip(4)?)),
        // IP over InfiniBand: 40 bytes of route header, 4 of EtherType and reserved.
        242 => Ok((Layer::EtherType(rest.u16(40)?), rest.skip(44)?)),
        _ => Err(NotTcp::UnknownLink),
    }
}

/// Cisco HDLC: address, control, EtherType.
pub(crate) fn chdlc(rest: Rest<'_>) -> Step<'_> {
    Ok((Layer::EtherType(rest.u16(2)?), rest.skip(4)?))
}

/// Access control, frame control, addresses, routes when the source says so; then LLC.
fn token_ring(rest: Rest<'_>) -> Step<'_> {
    let (control, source) = (rest.u8(1)?, rest.u8(8)?);
    if control >> 6 != 1 {
        return Err(NotTcp::NotIp);
    }
    let route = if source & 0x80 != 0 {
        usize::from(rest.u8(14)? & 0x1f)
    } else {
        0
    };
    Ok((Layer::Llc, rest.skip(14 + route)?))
}

fn fddi(rest: Rest<'_>) -> Step<'_> {
    match rest.u8(0)? & 0xf0 {
        0x50 => Ok((Layer::Llc, rest.skip(13)?)),
        _ => Err(NotTcp::NotIp),
    }
}

/// RFC 2427: address of two bytes, control, network layer protocol.
fn frame_relay(rest: Rest<'_>) -> Step<'_> {
    let mut at = 2;
    if rest.u8(at)? != 0x03 {
        return Err(NotTcp::NotIp);
    }
    at += 1;
    if rest.u8(at)? == 0 {
        at += 1;
    }
    match rest.u8(at)? {
        0xcc => Ok((Layer::Ipv4, rest.skip(at + 1)?)),
        0x8e => Ok((Layer::Ipv6, rest.skip(at + 1)?)),
        0x80 => {
            let oui: &[u8; 3] = rest.array(at + 1)?;
            if *oui != [0, 0, 0] {
                return Err(NotTcp::NotIp);
            }
            Ok((Layer::EtherType(rest.u16(at + 4)?), rest.skip(at + 6)?))
        }
        _ => Err(NotTcp::NotIp),
    }
}

/// OpenBSD's packet filter log: its length, rounded up to 4, and the address family.
fn packet_filter(rest: Rest<'_>) -> Step<'_> {
    let [len, family]: [u8; 2] = *rest.head()?;
    let inner = rest.skip(usize::from(len).next_multiple_of(4))?;
    match family {
        2 => Ok((Layer::Ipv4, inner)),
        10 | 24 | 28 | 30 => Ok((Layer::Ipv6, inner)),
        _ => Err(NotTcp::NotIp),
    }
}

/// Linux netfilter log: family, version, resource; then attributes in host order, of which one is the packet.
fn netfilter(rest: Rest<'_>) -> Step<'_> {
    const PAYLOAD: u16 = 9;
    let family = rest.u8(0)?;
    let mut at = 4;
    while (at as u64) < u64::from(rest.len()) {
        let &[a, b, c, d] = rest.array(at)?;
        // Lengths are small, so the order shows.
        let little = u16::from_le_bytes([a, b]) <= u16::from_be_bytes([a, b]) && b == 0 || b < a;
        let number = |x| {
            if little {
                u16::from_le_bytes(x)
            } else {
                u16::from_be_bytes(x)
            }
        };
        let (len, kind) = (usize::from(number([a, b])), number([c, d]));
        if len < 4 {
            return Err(NotTcp::Malformed);
        }
        if kind == PAYLOAD {
            let layer = if family == 2 {
                Layer::Ipv4
            } else {
                Layer::Ipv6
            };
            return Ok((layer, rest.limit((at + len) as u32).skip(at + 4)?));
        }
        at += len.next_multiple_of(4);
    }
    Err(NotTcp::NotIp)
}

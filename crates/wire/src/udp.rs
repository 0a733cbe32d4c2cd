//! Tunnels over UDP, recognised by the registered port of either side:
//!
//! - VXLAN (RFC 7348) and its generic form (VXLAN-GPE)
//! - Geneve (RFC 8926)
//! - GTP-U (3GPP TS 29.281)
//! - Teredo (RFC 4380)
//! - L2TP (RFC 2661)
//! - MPLS over UDP (RFC 7510)
//! - GRE over UDP (RFC 8086)
//! - AYIYA (draft-massar-v6ops-ayiya)

use crate::NotTcp;
use crate::frame::{Layer, Step};
use crate::rest::Rest;
use crate::tunnel;

pub(crate) const PROTOCOL: u8 = 17;
/// Source port 2, destination port 2, length 2, checksum 2.
pub(crate) const LEN: usize = 8;
/// Where the checksum stands.
pub(crate) const CHECKSUM: usize = 6;
const OTHER: NotTcp = NotTcp::OtherProtocol(PROTOCOL);

pub(crate) fn step(rest: Rest<'_>) -> Step<'_> {
    let (source, destination, len) = (rest.u16(0)?, rest.u16(2)?, rest.u16(4)?);
    let body = match u32::from(len) {
        // A length below the header's is 0 in jumbograms (RFC 2675 4) and nonsense else.
        n if n < LEN as u32 => rest.skip(LEN)?,
        n => rest.limit(n).skip(LEN)?,
    };
    // The lower port is more often the registered one.
    let (low, high) = (source.min(destination), source.max(destination));
    by_port(low, body).or_else(|e| {
        if e == OTHER {
            by_port(high, body)
        } else {
            Err(e)
        }
    })
}

fn by_port(port: u16, rest: Rest<'_>) -> Step<'_> {
    match port {
        4789 => Ok((Layer::Ethernet, rest.skip(8)?)),
        4790 => vxlan_generic(rest),
        6081 => geneve(rest),
        2152 => gtp(rest),
        3544 => teredo(rest),
        1701 => l2tp(rest),
        6635 => Ok((Layer::Mpls, rest)),
        4754 => Ok((Layer::Protocol(tunnel::GRE), rest)),
        5072 => ayiya(rest),
        _ => Err(OTHER),
    }
}

fn vxlan_generic(rest: Rest<'_>) -> Step<'_> {
    let layer = match rest.u8(3)? {
        1 => Layer::Ipv4,
        2 => Layer::Ipv6,
        3 => Layer::Ethernet,
        5 => Layer::Mpls,
        _ => return Err(OTHER),
    };
    Ok((layer, rest.skip(8)?))
}

fn geneve(rest: Rest<'_>) -> Step<'_> {
    let options = usize::from(rest.u8(0)? & 0x3f) * 4;
    let kind = rest.u16(2)?;
    Ok((Layer::EtherType(kind), rest.skip(8 + options)?))
}

/// Version 1, message type 255 (a user's packet); sequence number, N-PDU number and extension headers are stepped over.
fn gtp(rest: Rest<'_>) -> Step<'_> {
    let [flags, kind]: [u8; 2] = *rest.head()?;
    if flags >> 5 != 1 || kind != 255 {
        return Err(OTHER);
    }
    let mut at = 8;
    if flags & 0x07 != 0 {
        let mut next = rest.u8(11)?;
        at = 12;
        // The flag says whether the field of the first extension header's type counts.
        if flags & 0x04 == 0 {
            next = 0;
        }
        while next != 0 {
            let len = usize::from(rest.u8(at)?) * 4;
            if len == 0 {
                return Err(NotTcp::Malformed);
            }
            next = rest.u8(at + len - 1)?;
            at += len;
        }
    }
    let inner = rest.skip(at)?;
    match inner.u8(0)? >> 4 {
        4 | 6 => Ok((Layer::Ip, inner)),
        _ => Err(OTHER),
    }
}

/// Authentication and origin may stand before the IPv6 packet.
fn teredo(rest: Rest<'_>) -> Step<'_> {
    let mut rest = rest;
    if rest.data().starts_with(&[0, 1]) {
        let (client, value) = (rest.u8(2)?, rest.u8(3)?);
        rest = rest.skip(13 + usize::from(client) + usize::from(value))?;
    }
    if rest.data().starts_with(&[0, 0]) {
        rest = rest.skip(8)?;
    }
    if rest.u8(0)? >> 4 != 6 {
        return Err(OTHER);
    }
    Ok((Layer::Ipv6, rest))
}

/// Epoch and identity stand before the packet, and a signature whose length the header gives.
fn ayiya(rest: Rest<'_>) -> Step<'_> {
    const FORWARD: u8 = 1;
    let &[identity, signature, operation, next]: &[u8; 4] = rest.head()?;
    if operation & 0x0f != FORWARD {
        return Err(OTHER);
    }
    let len = 8 + (1_usize << (identity >> 4)) + usize::from(signature >> 4) * 4;
    Ok((Layer::Protocol(next), rest.skip(len)?))
}

/// Version 2 data messages: PPP behind a header whose fields the flags name.
fn l2tp(rest: Rest<'_>) -> Step<'_> {
    let flags = rest.u16(0)?;
    let (control, length, sequence, offset) = (
        flags & 0x8000,
        flags & 0x4000,
        flags & 0x0800,
        flags & 0x0200,
    );
    if control != 0 || flags & 0x000f != 2 {
        return Err(OTHER);
    }
    let mut at = 6 + if length != 0 { 2 } else { 0 } + if sequence != 0 { 4 } else { 0 };
    if offset != 0 {
        at += 2 + usize::from(rest.u16(at)?);
    }
    Ok((Layer::PppHdlc, rest.skip(at)?))
}

//! PPP (RFC 1661) in its framings: PPPoE sessions (RFC 2516), HDLC-like framing (RFC 1662).

use crate::NotTcp;
use crate::frame::{Layer, Step};
use crate::links;
use crate::rest::Rest;

/// PPPoE session header: version and type 1, code 1, session 2, length 2.
pub(crate) fn pppoe(rest: Rest<'_>) -> Step<'_> {
    let [_, _, _, _, hi, lo]: [u8; 6] = *rest.head()?;
    let length = u32::from(u16::from_be_bytes([hi, lo]));
    Ok((Layer::Ppp, rest.skip(6)?.limit(length)))
}

/// Address and control bytes may stand before the protocol.
pub(crate) fn hdlc(rest: Rest<'_>) -> Step<'_> {
    // Cisco's framing has these address bytes.
    if let [0x0f | 0x8f, ..] = rest.data() {
        return links::chdlc(rest);
    }
    let framed = rest.data().starts_with(&[0xff, 0x03]);
    Ok((Layer::Ppp, rest.skip(if framed { 2 } else { 0 })?))
}

/// Protocol number of one or two bytes (an odd byte ends it), then the packet.
pub(crate) fn step(rest: Rest<'_>) -> Step<'_> {
    let first = rest.u8(0)?;
    let (protocol, len) = if first & 1 == 1 {
        (u16::from(first), 1)
    } else {
        (rest.u16(0)?, 2)
    };
    let rest = rest.skip(len)?;
    match protocol {
        0x0021 => Ok((Layer::Ip, rest)),
        0x0057 => Ok((Layer::Ipv6, rest)),
        0x0281 | 0x0283 => Ok((Layer::Mpls, rest)),
        _ => Err(NotTcp::NotIp),
    }
}

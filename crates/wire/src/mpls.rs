//! MPLS label stack (RFC 3032). What follows has no type: the first nibble tells IPv4 and IPv6 from the rest.

use crate::NotTcp;
use crate::ethernet;
use crate::frame::{Layer, Step};
use crate::rest::Rest;

/// Labels that may be stacked before we give up.
const MAX_LABELS: usize = 64;

pub(crate) fn step(rest: Rest<'_>) -> Step<'_> {
    let mut rest = rest;
    for _ in 0..MAX_LABELS {
        let [_, _, bottom, _]: [u8; 4] = *rest.head()?;
        rest = rest.skip(4)?;
        if bottom & 1 == 0 {
            continue;
        }
        return match rest.u8(0)? >> 4 {
            4 | 6 => Ok((Layer::Ip, rest)),
            0 => pseudowire(rest),
            _ => Err(NotTcp::NotIp),
        };
    }
    Err(NotTcp::Malformed)
}

/// An Ethernet frame, with a control word before it (RFC 4385) or without one and an address that begins with 0. Wireshark
/// asks which of the addresses have a known manufacturer; we ask where a type stands that leads on.
fn pseudowire(rest: Rest<'_>) -> Step<'_> {
    const CONTROL_WORD: usize = 4;
    let word = rest.skip(CONTROL_WORD)?;
    if !ethernet::is_known_type(word) && ethernet::is_known_type(rest) {
        return Ok((Layer::Ethernet, rest));
    }
    Ok((Layer::Ethernet, word))
}

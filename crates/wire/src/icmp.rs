//! ICMP (RFC 792) and ICMPv6 (RFC 4443) errors: they quote the packet they are about.
//!
//! A quoted TCP header is no packet of the connection, but Wireshark counts the frame as TCP, so it is read and marked.

use crate::NotTcp;
use crate::frame::{Layer, Step, Walk};
use crate::rest::Rest;

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const REDIRECT: u8 = 5;
/// Type, code, checksum, and four bytes that depend on the type.
const LEN: usize = 8;

pub(crate) const fn is_icmp(protocol: u8) -> bool {
    matches!(protocol, ICMP | ICMPV6)
}

pub(crate) fn step<'a>(walk: &mut Walk, protocol: u8, rest: Rest<'a>) -> Step<'a> {
    let kind = rest.u8(0)?;
    let quote = rest.skip(LEN)?;
    let (layer, quote) = match (protocol, kind) {
        // Unreachable, source quench, redirect, time exceeded, parameter problem.
        (ICMP, 3 | 4 | 5 | 11 | 12) => (Layer::Ip, quote.limit(quoted_len(kind, rest, quote))),
        // Unreachable, too big, time exceeded, parameter problem.
        (ICMPV6, 1..=4) => (Layer::Ipv6, quote),
        _ => return Err(NotTcp::OtherProtocol(protocol)),
    };
    walk.context.quoted = true;
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

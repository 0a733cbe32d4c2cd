//! ICMP (RFC 792) and ICMPv6 (RFC 4443) errors: they quote the packet they are about.
//!
//! A quoted TCP header is no packet of the connection, but Wireshark counts the frame as TCP, so it is read and marked.

use crate::NotTcp;
use crate::frame::{Layer, Step, Walk};
use crate::rest::Rest;

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// Type, code, checksum, and four bytes that depend on the type.
const LEN: usize = 8;

pub(crate) const fn is_icmp(protocol: u8) -> bool {
    matches!(protocol, ICMP | ICMPV6)
}

pub(crate) fn step<'a>(walk: &mut Walk, protocol: u8, rest: Rest<'a>) -> Step<'a> {
    let kind = rest.u8(0)?;
    let inner = match (protocol, kind) {
        // Unreachable, source quench, redirect, time exceeded, parameter problem.
        (ICMP, 3 | 4 | 5 | 11 | 12) => Layer::Ipv4,
        // Unreachable, too big, time exceeded, parameter problem.
        (ICMPV6, 1..=4) => Layer::Ipv6,
        _ => return Err(NotTcp::OtherProtocol(protocol)),
    };
    walk.quoted = true;
    Ok((inner, rest.skip(LEN)?))
}

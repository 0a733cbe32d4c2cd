//! IPv6 (RFC 8200) and its extension headers; jumbograms (RFC 2675).
//!
//! Linux: `ip6_rcv_core()`, `ipv6_skip_exthdr()`. Addresses are the ones that end the connection: routing headers
//! (types 0, 2 and 4) and the home address option (RFC 6275) name them, as Wireshark does. ESP
//! hides what follows, nothing follows a mobility header (RFC 6275 6.1.1).

use std::net::{IpAddr, Ipv6Addr};

use crate::NotTcp;
use crate::frame::{Layer, Step, Walk};
use crate::reassemble::{Fragment, Key};
use crate::rest::Rest;

/// Fixed header.
pub(crate) const LEN: usize = 40;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const NO_NEXT: u8 = 59;
const DESTINATION: u8 = 60;
const SHIM6: u8 = 140;
const OPTION_JUMBO: u8 = 0xc2;
const OPTION_HOME_ADDRESS: u8 = 0xc9;

pub(crate) fn step<'a>(walk: &mut Walk, rest: Rest<'a>) -> Step<'a> {
    if rest.u8(0)? >> 4 != 6 {
        return Err(NotTcp::Malformed);
    }
    let h: &[u8; LEN] = rest.head()?;
    let next = h[6];
    let body = rest.skip(LEN)?;
    let payload_len = match u32::from(u16::from_be_bytes([h[4], h[5]])) {
        // Length 0: a jumbogram, or a packet taken before segmentation offload (TSO).
        0 if next == HOP_BY_HOP => jumbo_len(body).unwrap_or(0),
        0 if next != NO_NEXT => body.len(),
        n => n,
    };
    let (src, dst) = (address(h, 8), address(h, 24));
    walk.enter_ip(src, dst);
    walk.context.ecn = h[1] >> 4 & 3;
    walk.context.ttl = h[7];
    walk.context.ip_id = None;
    Ok((Layer::Protocol(next), body.limit(payload_len)))
}

fn address(bytes: &[u8], at: usize) -> IpAddr {
    let address: Option<&[u8; 16]> = bytes.get(at..).and_then(<[u8]>::first_chunk);
    IpAddr::V6(Ipv6Addr::from(address.copied().unwrap_or_default()))
}

pub(crate) const fn is_extension(protocol: u8) -> bool {
    matches!(
        protocol,
        HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION | SHIM6
    )
}

/// Extension headers that segmentation repeats before each segment; Linux: `INET6_PROTO_GSO_EXTHDR`.
pub(crate) const fn is_repeated(protocol: u8) -> bool {
    matches!(protocol, HOP_BY_HOP | ROUTING | DESTINATION)
}

/// One extension header; the walk bounds how many follow one another.
pub(crate) fn extension<'a>(walk: &mut Walk<'a>, protocol: u8, rest: Rest<'a>) -> Step<'a> {
    let [next, len]: [u8; 2] = *rest.head()?;
    let len = match protocol {
        FRAGMENT => 8,
        // RFC 4302 2.2: in words of 4 bytes, minus 2.
        AUTHENTICATION => (usize::from(len) + 2) * 4,
        _ => (usize::from(len) + 1) * 8,
    };
    let body = rest.skip(len)?;
    let header = rest.data().get(..len).ok_or(NotTcp::Truncated)?;
    match protocol {
        FRAGMENT => {
            let field = u16::from_be_bytes([header[2], header[3]]);
            // An atomic fragment (RFC 6946) is a whole packet.
            if field & 0xfff9 != 0 {
                let id = [header[4], header[5], header[6], header[7]];
                walk.fragment = body.is_complete().then(|| Fragment {
                    key: Key {
                        src: walk.context.src,
                        dst: walk.context.dst,
                        id: u32::from_be_bytes(id),
                        protocol: 0,
                    },
                    offset: u32::from(field & 0xfff8),
                    more: field & 1 != 0,
                    protocol: next,
                    bytes: body.data(),
                });
                return Err(NotTcp::Fragment);
            }
        }
        ROUTING => routing(walk, header),
        DESTINATION => {
            if let Some(home) = option(header, OPTION_HOME_ADDRESS, 16) {
                walk.context.src = address(home, 0);
            }
        }
        _ => {}
    }
    Ok((Layer::Protocol(next), body))
}

fn routing(walk: &mut Walk, header: &[u8]) {
    let &[_, len, kind, left, ..] = header else {
        return;
    };
    if left == 0 {
        return;
    }
    let at = match kind {
        // Type 0 and RFC 6275: the last address of the list.
        0 => 8 + (usize::from(len) / 2).saturating_sub(1) * 16,
        // RFC 8754: the list is written backwards.
        2 | 4 => 8,
        _ => return,
    };
    if header.len() >= at + 16 {
        walk.context.dst = address(header, at);
    }
}

/// The payload length of a jumbogram (RFC 2675 2).
fn jumbo_len(body: Rest<'_>) -> Option<u32> {
    let len = (usize::from(body.u8(1).ok()?) + 1) * 8;
    let header = body.data().get(..len)?;
    let value = option(header, OPTION_JUMBO, 4)?.first_chunk()?;
    let value = u32::from_be_bytes(*value);
    (value > 0xffff).then_some(value)
}

/// The data of the first option of that kind and length in an options header.
fn option(header: &[u8], kind: u8, len: usize) -> Option<&[u8]> {
    let mut options = header.get(2..)?;
    loop {
        options = match *options {
            [0, ref rest @ ..] => rest,
            [k, l, ref rest @ ..] => {
                let (data, rest) = rest.split_at_checked(usize::from(l))?;
                if k == kind && data.len() == len {
                    return Some(data);
                }
                rest
            }
            _ => return None,
        };
    }
}

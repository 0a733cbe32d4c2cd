//! IPv4 (RFC 791): lengths, fragments, source routes.
//!
//! Linux: `ip_rcv_core()`. Header checksums are not checked: captures at a sender with offload hold none.

use std::net::{IpAddr, Ipv4Addr};

use crate::NotTcp;
use crate::frame::{Layer, Step, Walk};
use crate::reassemble::{Fragment, Key};
use crate::rest::Rest;

/// Header without options.
pub(crate) const MIN_LEN: usize = 20;
const MORE_FRAGMENTS: u16 = 0x2000;
const OFFSET: u16 = 0x1fff;
const LOOSE_ROUTE: u8 = 131;
const STRICT_ROUTE: u8 = 137;

#[inline]
pub(crate) fn step<'a>(walk: &mut Walk<'a>, rest: Rest<'a>) -> Step<'a> {
    let first = rest.u8(0)?;
    if first >> 4 == 6 {
        // Seen behind IPv4's EtherType in cooked captures.
        return Ok((Layer::Ipv6, rest));
    }
    let header_len = usize::from(first & 0x0f) * 4;
    if first >> 4 != 4 || header_len < MIN_LEN {
        return Err(NotTcp::Malformed);
    }
    let h: &[u8; MIN_LEN] = rest.head()?;
    let total_len = u32::from(u16::from_be_bytes([h[2], h[3]]));
    // Length 0 is a packet larger than the field holds, taken before segmentation offload (TSO).
    let claimed = if total_len == 0 {
        rest.len()
    } else {
        total_len
    };
    if (claimed as usize) < header_len {
        return Err(NotTcp::Malformed);
    }
    let mut dst = [h[16], h[17], h[18], h[19]];
    if header_len > MIN_LEN {
        dst = final_destination(rest, header_len, dst);
    }
    walk.enter_ip(
        IpAddr::V4(Ipv4Addr::new(h[12], h[13], h[14], h[15])),
        IpAddr::V4(Ipv4Addr::from(dst)),
    );
    walk.context.ecn = h[1] & 3;
    walk.context.ttl = h[8];
    walk.context.ip_id = Some(u16::from_be_bytes([h[4], h[5]]));
    let payload = rest.limit(claimed).skip(header_len)?;
    let fragment = u16::from_be_bytes([h[6], h[7]]) & (MORE_FRAGMENTS | OFFSET);
    if fragment != 0 {
        meet_fragment(walk, fragment, h[9], payload, claimed - header_len as u32)?;
    }
    Ok((Layer::Protocol(h[9]), payload))
}

/// A fragment is not a whole packet, so its header is not read. Exception: if the capture cut the first fragment, the
/// packet cannot be reassembled; Wireshark then reads the header, and our counts must match.
#[cold]
fn meet_fragment<'a>(
    walk: &mut Walk<'a>,
    fragment: u16,
    protocol: u8,
    payload: Rest<'a>,
    claimed: u32,
) -> Result<(), NotTcp> {
    let offset = u32::from(fragment & OFFSET) * 8;
    if claimed > 0 && payload.data().len() as u64 >= u64::from(claimed) {
        walk.fragment = Some(Fragment {
            key: Key {
                src: walk.context.src,
                dst: walk.context.dst,
                id: u32::from(walk.context.ip_id.unwrap_or(0)),
                protocol,
            },
            offset,
            more: fragment & MORE_FRAGMENTS != 0,
            protocol,
            bytes: payload.data(),
        });
        return Err(NotTcp::Fragment);
    }
    if offset != 0 {
        return Err(NotTcp::Fragment);
    }
    walk.context.first_fragment = true;
    Ok(())
}

/// The last address of a source route (RFC 791 3.1) is where the connection ends.
#[cold]
fn final_destination(rest: Rest<'_>, header_len: usize, dst: [u8; 4]) -> [u8; 4] {
    let Some(mut options) = rest.data().get(MIN_LEN..header_len) else {
        return dst;
    };
    loop {
        options = match *options {
            [0, ..] | [] => return dst,
            [1, ref rest @ ..] => rest,
            [kind, len, ..] => {
                let Some((option, rest)) = options.split_at_checked(usize::from(len).max(2)) else {
                    return dst;
                };
                if len < 2 {
                    return dst;
                }
                if kind == LOOSE_ROUTE || kind == STRICT_ROUTE {
                    return match *option {
                        [_, _, pointer, .., a, b, c, d]
                            if pointer >= 4 && pointer % 4 == 0 && pointer <= len =>
                        {
                            [a, b, c, d]
                        }
                        _ => dst,
                    };
                }
                rest
            }
            [_] => return dst,
        };
    }
}

//! The TCP header (RFC 9293 3.1).
//!
//! Linux: `tcp_v4_rcv()`, `tcp_v6_rcv()`. Checksums are not checked: captures at a sender with offload hold none.

use tcplab_base::Seq;

use crate::frame::Walk;
use crate::rest::Rest;
use crate::{Endpoint, NotTcp, Standing, TcpFlags, TcpOptions, TcpPacket};

pub(crate) const PROTOCOL: u8 = 6;
/// Header without options.
pub(crate) const MIN_LEN: usize = 20;
/// Wireshark gives a packet a stream when it could read the header up to the window.
const STREAM_LEN: usize = 16;
/// Wireshark calls a packet TCP when it could read the ports.
const PORTS_LEN: usize = 4;

#[inline]
pub(crate) fn read(walk: &Walk, rest: Rest<'_>) -> Result<TcpPacket, NotTcp> {
    match rest.data().first_chunk::<MIN_LEN>() {
        Some(h) => Ok(read_header(walk, rest, h)),
        None => read_cut(walk, rest),
    }
}

/// Fewer than 20 bytes of the header were captured, or exist.
#[cold]
fn read_cut(walk: &Walk, rest: Rest<'_>) -> Result<TcpPacket, NotTcp> {
    let data = rest.data();
    if data.len() < PORTS_LEN {
        return Err(if rest.is_complete() {
            NotTcp::Malformed
        } else {
            NotTcp::Truncated
        });
    }
    if data.len() < STREAM_LEN {
        return Err(NotTcp::TcpStub);
    }
    let mut h = [0; MIN_LEN];
    for (to, from) in h.iter_mut().zip(data) {
        *to = *from;
    }
    Ok(read_header(walk, rest, &h))
}

#[inline]
fn read_header(walk: &Walk, rest: Rest<'_>, h: &[u8; MIN_LEN]) -> TcpPacket {
    let header_len = (h[12] >> 4) * 4;
    let mut packet = TcpPacket {
        src: Endpoint {
            ip: walk.src,
            port: u16::from_be_bytes([h[0], h[1]]),
        },
        dst: Endpoint {
            ip: walk.dst,
            port: u16::from_be_bytes([h[2], h[3]]),
        },
        seq: Seq(u32::from_be_bytes([h[4], h[5], h[6], h[7]])),
        ack: Seq(u32::from_be_bytes([h[8], h[9], h[10], h[11]])),
        flags: TcpFlags(u16::from_be_bytes([h[12], h[13]]) & 0x0fff),
        window: u16::from_be_bytes([h[14], h[15]]),
        urgent: u16::from_be_bytes([h[18], h[19]]),
        payload_len: rest.len().saturating_sub(u32::from(header_len)),
        header_len,
        options: TcpOptions::default(),
        ecn: walk.ecn,
        ttl: walk.ttl,
        ip_id: walk.ip_id,
        header_truncated: false,
        standing: standing(walk, header_len, rest.len()),
        encap: walk.encap,
    };
    let end = usize::from(header_len);
    if end > MIN_LEN && packet.standing != Standing::ShortSegment {
        match rest.data().get(MIN_LEN..end) {
            Some(options) => packet.options.read(options),
            None => {
                packet.header_truncated = true;
                packet
                    .options
                    .read_cut(rest.data().get(MIN_LEN..).unwrap_or_default());
            }
        }
    } else if rest.data().len() < end.max(MIN_LEN) {
        packet.header_truncated = true;
    }
    packet
}

#[inline]
fn standing(walk: &Walk, header_len: u8, segment_len: u32) -> Standing {
    if walk.quoted {
        Standing::Quoted
    } else if walk.first_fragment {
        Standing::FirstFragment
    } else if segment_len < u32::from(header_len) {
        Standing::ShortSegment
    } else if usize::from(header_len) < MIN_LEN {
        Standing::BadOffset
    } else {
        Standing::Whole
    }
}

//! The TCP header (RFC 9293 3.1).
//!
//! Linux: `tcp_v4_rcv()`, `tcp_v6_rcv()`. Checksums are not checked: captures at a sender with offload hold none.

use std::net::IpAddr;

use tcplab_base::Seq;

use crate::packet::MAX_PAYLOAD;
use crate::rest::Rest;
use crate::{Encap, Endpoint, NotTcp, Standing, TcpFlags, TcpOptions, TcpPacket};

pub(crate) const PROTOCOL: u8 = 6;
/// Header without options.
pub(crate) const MIN_LEN: usize = 20;
/// Where the checksum stands.
pub(crate) const CHECKSUM: usize = 16;
/// Wireshark gives a packet a stream when it could read the header up to the window.
const STREAM_LEN: usize = 16;
/// Wireshark calls a packet TCP when it could read the ports.
const PORTS_LEN: usize = 4;

/// Facts from the headers around a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    pub src: IpAddr,
    pub dst: IpAddr,
    pub ecn: u8,
    pub ttl: u8,
    pub ip_id: Option<u16>,
    pub encap: Encap,
    /// First fragment of a packet whose rest was not captured.
    pub first_fragment: bool,
    /// Inside the packet that an ICMP error quotes.
    pub quoted: bool,
}

pub(crate) fn read(context: &Context, rest: Rest<'_>) -> Result<TcpPacket, NotTcp> {
    match rest.data().first_chunk::<MIN_LEN>() {
        _ if rest.len() > MAX_PAYLOAD => Err(NotTcp::Malformed),
        Some(h) => Ok(read_header(context, rest, h)),
        None => read_cut(context, rest),
    }
}

/// Fewer than 20 bytes of the header were captured, or exist.
#[cold]
fn read_cut(context: &Context, rest: Rest<'_>) -> Result<TcpPacket, NotTcp> {
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
    Ok(read_header(context, rest, &h))
}

#[inline(always)]
pub(crate) fn read_header(context: &Context, rest: Rest<'_>, h: &[u8; MIN_LEN]) -> TcpPacket {
    let header_len = header_len(h);
    let standing = standing(context, header_len, rest.len());
    let (options, header_truncated) = options(rest, header_len, standing);
    TcpPacket {
        options,
        header_truncated,
        ..without_options(context, rest.len(), h, standing)
    }
}

/// All but the options. `len` is the segment's length on the wire.
#[inline(always)]
pub(crate) fn without_options(
    context: &Context,
    len: u32,
    h: &[u8; MIN_LEN],
    standing: Standing,
) -> TcpPacket {
    let header_len = header_len(h);
    TcpPacket {
        src: Endpoint {
            ip: context.src,
            port: u16::from_be_bytes([h[0], h[1]]),
        },
        dst: Endpoint {
            ip: context.dst,
            port: u16::from_be_bytes([h[2], h[3]]),
        },
        seq: Seq(u32::from_be_bytes([h[4], h[5], h[6], h[7]])),
        ack: Seq(u32::from_be_bytes([h[8], h[9], h[10], h[11]])),
        flags: TcpFlags(u16::from_be_bytes([h[12], h[13]]) & 0x0fff),
        window: u16::from_be_bytes([h[14], h[15]]),
        urgent: u16::from_be_bytes([h[18], h[19]]),
        payload_len: len.saturating_sub(u32::from(header_len)),
        header_len,
        options: TcpOptions::default(),
        ecn: context.ecn,
        ttl: context.ttl,
        ip_id: context.ip_id,
        header_truncated: false,
        standing,
        encap: context.encap,
    }
}

/// The data offset in bytes.
#[inline(always)]
pub(crate) const fn header_len(h: &[u8; MIN_LEN]) -> u8 {
    (h[12] >> 4) * 4
}

/// The options, and whether the capture cut the header.
#[inline(always)]
fn options(rest: Rest<'_>, header_len: u8, standing: Standing) -> (TcpOptions, bool) {
    let (data, end) = (rest.data(), usize::from(header_len));
    if end <= MIN_LEN || standing == Standing::ShortSegment {
        return (TcpOptions::default(), data.len() < end.max(MIN_LEN));
    }
    match data.get(MIN_LEN..end) {
        Some(bytes) => (TcpOptions::read(bytes), false),
        None => (
            TcpOptions::read_cut(data.get(MIN_LEN..).unwrap_or_default()),
            true,
        ),
    }
}

#[inline]
fn standing(context: &Context, header_len: u8, segment_len: u32) -> Standing {
    if context.quoted {
        Standing::Quoted
    } else if context.first_fragment {
        Standing::FirstFragment
    } else if segment_len < u32::from(header_len) {
        Standing::ShortSegment
    } else if usize::from(header_len) < MIN_LEN {
        Standing::BadOffset
    } else {
        Standing::Whole
    }
}

//! A frame as a host takes it: what is not whole, not for it, or has a wrong sum is refused, with the reason.
//!
//! [`parse_frame`](crate::parse_frame) reads captures: it looks into tunnels and believes cut frames. A receiver does not.
//! Linux: `__netif_receive_skb_core()`, `skb_vlan_untag()`, `ip_rcv_core()`, `ip6_rcv_core()`, `ip6_parse_tlv()`,
//! `tcp_v4_rcv()`; the tag of CAQM as openEuler's kernel takes it off, behind VLAN tags.
//!
//! ICMP and ICMPv6 errors about segments: `receive_icmp`.
//!
//! Left out: VLAN devices, fragments (refused), IPv4 options other than padding (refused; Linux knows some).

use std::net::IpAddr;

use crate::ethernet::{IPV4, IPV6};
use crate::receive_icmp::{self, Quotation};
use crate::rest::Rest;
use crate::tcp::{self, Context};
use crate::{CaqmInfo, Encap, Sum, TcpPacket};

const VLAN: u16 = 0x8100;
const PROVIDER_VLAN: u16 = 0x88a8;
/// Linux takes a priority tag off, and one more when the frame has two (`__netif_receive_skb_core()`).
const MOST_TAGS: u8 = 2;
/// The VLAN's number in a tag.
const VID: u16 = 0x0fff;

/// Who takes frames.
#[derive(Clone, Copy, Debug)]
pub struct Receiver<'a> {
    /// Its Ethernet address.
    pub mac: [u8; 6],
    /// Its IP addresses.
    pub addresses: &'a [IpAddr],
    /// The EtherType of CAQM's tag; none: it does not know it (`sysctl_caqm_enable` is 0).
    pub caqm_ethertype: Option<u16>,
}

/// A TCP segment that a host takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Received<'a> {
    /// Its fields.
    pub packet: TcpPacket,
    /// The traffic class of its IP header.
    pub tos: u8,
    /// Header, options and payload.
    pub segment: &'a [u8],
}

/// What a host takes that is about TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival<'a> {
    /// A segment.
    Segment(Received<'a>),
    /// An ICMP error about a segment.
    Icmp(Quotation),
}

/// Why a host takes no segment from a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Refused {
    /// Shorter than a header that it says it has.
    #[error("the frame ends within a header")]
    Short,
    /// For another Ethernet address, or for many.
    #[error("it is for another station")]
    NotForUs,
    /// It is in a VLAN that the host lacks.
    #[error("it is in a VLAN that the host is not in")]
    Vlan,
    /// Two tags of CAQM.
    #[error("it has two CAQM tags")]
    Caqm,
    /// No EtherType that the host knows.
    #[error("its EtherType is unknown")]
    EtherType,
    /// Version, header length or checksum (`IpInHdrErrors`).
    #[error("its IP header is wrong")]
    IpHeader,
    /// The IP packet is longer than the frame (`InTruncatedPkts`).
    #[error("its IP packet is longer than the frame")]
    IpLength,
    /// From or to an address that no packet of this host's has.
    #[error("its IP addresses are not of this network")]
    IpAddress,
    /// A fragment.
    #[error("it is a fragment")]
    Fragment,
    /// Another protocol.
    #[error("it is no TCP")]
    NotTcp,
    /// Less than a TCP header, or a data offset that lies (`TcpInErrs`).
    #[error("its TCP header is wrong")]
    TcpHeader,
    /// The checksum (`TcpInCsumErrors`).
    #[error("its TCP checksum is wrong")]
    TcpChecksum,
    /// Less than a header, or less than it must quote (`IcmpInErrors`).
    #[error("its ICMP message is too short")]
    IcmpHeader,
    /// The checksum (`IcmpInCsumErrors`).
    #[error("its ICMP checksum is wrong")]
    IcmpChecksum,
}

/// Reads an Ethernet frame as this host does.
///
/// # Errors
/// It holds no segment for this host.
pub fn receive<'a>(host: &Receiver<'_>, frame: &'a [u8]) -> Result<Received<'a>, Refused> {
    match receive_any(host, frame)? {
        Arrival::Segment(received) => Ok(received),
        Arrival::Icmp(_) => Err(Refused::NotTcp),
    }
}

/// The same, and ICMP errors about segments.
///
/// # Errors
/// It holds neither for this host.
pub fn receive_any<'a>(host: &Receiver<'_>, frame: &'a [u8]) -> Result<Arrival<'a>, Refused> {
    let (head, mut rest) = frame.split_first_chunk::<14>().ok_or(Refused::Short)?;
    let [d0, d1, d2, d3, d4, d5, .., a, b] = *head;
    if [d0, d1, d2, d3, d4, d5] != host.mac {
        return Err(Refused::NotForUs);
    }
    let mut kind = u16::from_be_bytes([a, b]);
    let mut encap = Encap::default();
    while matches!(kind, VLAN | PROVIDER_VLAN) {
        let (value, inner, behind) = tag(rest)?;
        if value & VID != 0 || encap.vlan_tags >= MOST_TAGS {
            return Err(Refused::Vlan);
        }
        encap.vlan_tags += 1;
        (kind, rest) = (inner, behind);
    }
    if Some(kind) == host.caqm_ethertype {
        let (info, inner, behind) = tag(rest)?;
        if inner == kind {
            return Err(Refused::Caqm);
        }
        encap.caqm = Some(CaqmInfo(info));
        (kind, rest) = (inner, behind);
    }
    match kind {
        IPV4 => ipv4(host, encap, rest),
        IPV6 => ipv6(host, encap, rest),
        _ => Err(Refused::EtherType),
    }
}

/// A tag behind its type: its value, the type inside, what follows. VLAN's and CAQM's look alike.
fn tag(rest: &[u8]) -> Result<(u16, u16, &[u8]), Refused> {
    let (tag, rest) = (rest.split_first_chunk::<4>()).ok_or(Refused::Short)?;
    let [a, b, c, d] = *tag;
    let word = |a, b| u16::from_be_bytes([a, b]);
    Ok((word(a, b), word(c, d), rest))
}

fn ipv4<'a>(host: &Receiver<'_>, encap: Encap, packet: &'a [u8]) -> Result<Arrival<'a>, Refused> {
    let fixed = packet.first_chunk::<20>().ok_or(Refused::Short)?;
    let header_len = usize::from(fixed[0] & 15) * 4;
    let header = packet.get(..header_len).ok_or(Refused::Short)?;
    if fixed[0] >> 4 != 4 || header_len < 20 || Sum::default().add(header).finish() != 0 {
        return Err(Refused::IpHeader);
    }
    let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if total < header_len {
        return Err(Refused::IpHeader);
    }
    // Behind it there is padding.
    let packet = packet.get(..total).ok_or(Refused::IpLength)?;
    if header[20..].iter().any(|&option| option > 1) {
        return Err(Refused::IpHeader);
    }
    let context = Context {
        src: IpAddr::from([fixed[12], fixed[13], fixed[14], fixed[15]]),
        dst: IpAddr::from([fixed[16], fixed[17], fixed[18], fixed[19]]),
        ecn: fixed[1] & 3,
        ttl: fixed[8],
        ip_id: Some(u16::from_be_bytes([fixed[4], fixed[5]])),
        encap,
        first_fragment: false,
        quoted: false,
    };
    addresses(host, &context)?;
    if u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff != 0 {
        return Err(Refused::Fragment);
    }
    let body = packet.get(header_len..).unwrap_or_default();
    match fixed[9] {
        tcp::PROTOCOL => segment_of(&context, fixed[1], body).map(Arrival::Segment),
        receive_icmp::ICMP => receive_icmp::v4(body).map(Arrival::Icmp),
        _ => Err(Refused::NotTcp),
    }
}

fn ipv6<'a>(host: &Receiver<'_>, encap: Encap, packet: &'a [u8]) -> Result<Arrival<'a>, Refused> {
    let (fixed, rest) = packet.split_first_chunk::<40>().ok_or(Refused::Short)?;
    if fixed[0] >> 4 != 6 {
        return Err(Refused::IpHeader);
    }
    let len = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let rest = rest.get(..len).ok_or(Refused::IpLength)?;
    let address = |at: usize| {
        let bytes = fixed.get(at..).and_then(<[u8]>::first_chunk::<16>);
        bytes
            .map(|&bytes| IpAddr::from(bytes))
            .ok_or(Refused::Short)
    };
    let tos = fixed[0] << 4 | fixed[1] >> 4;
    let context = Context {
        src: address(8)?,
        dst: address(24)?,
        ecn: tos & 3,
        ttl: fixed[7],
        ip_id: None,
        encap,
        first_fragment: false,
        quoted: false,
    };
    addresses(host, &context)?;
    match behind_extensions(fixed[6], rest)? {
        (tcp::PROTOCOL, segment) => segment_of(&context, tos, segment).map(Arrival::Segment),
        (receive_icmp::ICMP6, message) => receive_icmp::v6(&context, message).map(Arrival::Icmp),
        _ => Err(Refused::NotTcp),
    }
}

/// What no packet that counts comes from or goes to (`ip_route_input_slow()`: martians).
fn addresses(host: &Receiver<'_>, context: &Context) -> Result<(), Refused> {
    let is_martian = |ip: IpAddr| {
        ip.is_unspecified()
            || ip.is_loopback()
            || ip.is_multicast()
            || ip == IpAddr::from([255, 255, 255, 255])
            || host.addresses.contains(&ip)
    };
    if is_martian(context.src) || !host.addresses.contains(&context.dst) {
        return Err(Refused::IpAddress);
    }
    Ok(())
}

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const TARGET: u8 = 60;

/// Steps over the extension headers that a host reads.
fn behind_extensions(first: u8, packet: &[u8]) -> Result<(u8, &[u8]), Refused> {
    let (mut kind, mut rest) = (first, packet);
    let mut is_first = true;
    loop {
        let len = match kind {
            tcp::PROTOCOL | receive_icmp::ICMP6 => return Ok((kind, rest)),
            HOP_BY_HOP if is_first => None,
            TARGET | ROUTING => None,
            FRAGMENT => Some(8),
            _ => return Err(Refused::NotTcp),
        };
        let [next, units, third, fourth] = *rest.first_chunk::<4>().ok_or(Refused::Short)?;
        let len = len.unwrap_or((usize::from(units) + 1) * 8);
        let (header, behind) = rest.split_at_checked(len).ok_or(Refused::Short)?;
        match kind {
            // Segments left: it would have to be sent on.
            ROUTING if fourth != 0 => return Err(Refused::IpHeader),
            ROUTING => {}
            // A whole packet may say that it is its only fragment (RFC 6946).
            FRAGMENT if third != 0 || fourth & 0xf9 != 0 => return Err(Refused::Fragment),
            FRAGMENT => {}
            _ => options(header.get(2..).unwrap_or_default())?,
        }
        (kind, rest) = (next, behind);
        is_first = false;
    }
}

/// Options of a hop-by-hop or destination header: padding of up to seven zeros, and those that may be stepped over.
fn options(bytes: &[u8]) -> Result<(), Refused> {
    let mut rest = bytes;
    let mut padding = 0;
    while let Some((&kind, behind)) = rest.split_first() {
        if kind == 0 {
            padding += 1;
            rest = behind;
        } else {
            let (&len, behind) = behind.split_first().ok_or(Refused::IpHeader)?;
            let data = behind.get(..usize::from(len)).ok_or(Refused::IpHeader)?;
            match kind {
                1 if data.iter().all(|&byte| byte == 0) => padding += 2 + data.len(),
                // RFC 8200 4.2: the two highest bits say what to do with an unknown one.
                2..=0x3f => padding = 0,
                _ => return Err(Refused::IpHeader),
            }
            rest = behind.get(data.len()..).unwrap_or_default();
        }
        if padding > 7 {
            return Err(Refused::IpHeader);
        }
    }
    Ok(())
}

fn segment_of<'a>(context: &Context, tos: u8, segment: &'a [u8]) -> Result<Received<'a>, Refused> {
    let header = segment.first_chunk().ok_or(Refused::TcpHeader)?;
    let header_len = usize::from(tcp::header_len(header));
    if header_len < tcp::MIN_LEN || header_len > segment.len() {
        return Err(Refused::TcpHeader);
    }
    let len = segment.len() as u32;
    let sum = Sum::pseudo(context.src, context.dst, tcp::PROTOCOL, len).ok_or(Refused::IpHeader)?;
    if sum.add(segment).finish() != 0 {
        return Err(Refused::TcpChecksum);
    }
    Ok(Received {
        packet: tcp::read_header(context, Rest::new(segment, len), header),
        tos,
        segment,
    })
}

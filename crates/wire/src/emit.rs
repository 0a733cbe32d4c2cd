//! From a [`TcpPacket`] to the bytes of a frame: the way back of [`parse_frame`](crate::parse_frame).
//!
//! Used by tests, generators of captures and the simulator. What the fields do not say is fixed: MAC addresses are made
//! from the IP addresses, VLAN tags hold VID 1 and up, tunnels are IPv4 between 192.0.2.1 and 192.0.2.2, DF is set.
//! Checksums are right. A payload that is only a length is left out, so the frame is like one of a snapped capture.

use std::net::{IpAddr, Ipv4Addr};

use crate::checksum::Sum;
use crate::options::{FAST_OPEN_MAGIC, kind};
use crate::{Config, FastOpen, LinkType, SackBlocks, Standing, TcpOptions, TcpPacket};
use crate::{ethernet, ipv4, ipv6, mark, null, tcp, tunnel};

/// The payload of a packet to write.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// Only a length (the packet's `payload_len`): not written. The checksum is computed over zeros.
    Len,
    /// These bytes; the packet's `payload_len` must be their number.
    Bytes(&'a [u8]),
}

/// Why a packet cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// Source and destination are not both IPv4 or both IPv6.
    #[error("source and destination address are of different families")]
    Families,
    /// More than 40 bytes of options.
    #[error("the options take more than 40 bytes")]
    Options,
    /// The payload's length differs from `payload_len`, or no frame can hold so much.
    #[error("payload_len differs from the payload, or no frame can hold so much")]
    PayloadLength,
    /// The link type cannot carry the packet or its tags.
    #[error("the link type cannot carry this packet or its VLAN or CAQM tags")]
    Link,
    /// A packet that is broken, quoted or cut (see [`Standing`]).
    #[error("only whole packets can be written")]
    NotWhole,
}

/// Appends the frame to `out` and returns its length on the wire in bytes.
///
/// The header is at least `packet.header_len` long, padded with NOPs.
///
/// # Errors
/// When the packet cannot be written; `out` may then hold a part of the frame.
pub fn emit(
    link: LinkType,
    packet: &TcpPacket,
    payload: Payload<'_>,
    config: &Config,
    out: &mut Vec<u8>,
) -> Result<u32, EmitError> {
    if packet.standing != Standing::Whole || packet.header_truncated {
        return Err(EmitError::NotWhole);
    }
    let body: &[u8] = match payload {
        // Room for the headers: a captured length is hostile, and their sum must not wrap.
        _ if packet.payload_len > u32::MAX / 2 => return Err(EmitError::PayloadLength),
        Payload::Len => &[],
        Payload::Bytes(b) if b.len() as u64 == u64::from(packet.payload_len) => b,
        Payload::Bytes(_) => return Err(EmitError::PayloadLength),
    };
    let start = out.len();
    link_header(link, packet, config, out)?;
    let options = options(&packet.options)?;
    let header_len = (tcp::MIN_LEN + options.len()).max(usize::from(packet.header_len.min(60)));
    let header_len = header_len.next_multiple_of(4);
    let segment_len = header_len as u32 + packet.payload_len;
    ip_headers(packet, segment_len, out)?;
    let header = tcp_header(packet, &options, header_len);
    let sum = Sum::pseudo(packet.src.ip, packet.dst.ip, tcp::PROTOCOL, segment_len);
    let sum = sum.unwrap_or_default().add(&header).add(body).finish();
    let at = out.len() + tcp::CHECKSUM;
    out.extend(header);
    if let Some(field) = out.get_mut(at..at + 2) {
        field.copy_from_slice(&sum.to_be_bytes());
    }
    let headers = (out.len() - start) as u32;
    out.extend_from_slice(body);
    Ok(headers + packet.payload_len)
}

fn is_ipv6(packet: &TcpPacket) -> bool {
    // Tunnels are IPv4.
    packet.encap.tunnels == 0 && packet.src.ip.is_ipv6()
}

fn link_header(
    link: LinkType,
    packet: &TcpPacket,
    config: &Config,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let ipv6 = is_ipv6(packet);
    match link {
        LinkType::Ethernet => {
            out.extend(mac(packet.dst.ip));
            out.extend(mac(packet.src.ip));
            tags(packet, config, out);
            return Ok(());
        }
        LinkType::Sll => {
            out.extend([0, 0, 0, 1, 0, 6]);
            out.extend(mac(packet.src.ip));
            out.extend([0, 0]);
            tags(packet, config, out);
            return Ok(());
        }
        LinkType::Sll2 => {
            // The protocol stands first here, so what follows it in tags goes behind the header.
            let mut types = Vec::new();
            tags(packet, config, &mut types);
            let (protocol, rest) = types.split_at(2);
            out.extend_from_slice(protocol);
            out.extend([0, 0, 0, 0, 0, 1, 0, 1, 0, 6]);
            out.extend(mac(packet.src.ip));
            out.extend([0, 0]);
            out.extend_from_slice(rest);
            return Ok(());
        }
        _ if packet.encap.vlan_tags > 0 || packet.encap.caqm.is_some() => {
            return Err(EmitError::Link);
        }
        LinkType::Null => {
            let family = if ipv6 { 30 } else { null::AF_INET };
            out.extend(family.to_le_bytes());
        }
        LinkType::Ppp => out.extend([0xff, 0x03, 0x00, if ipv6 { 0x57 } else { 0x21 }]),
        LinkType::Raw => {}
        LinkType::Ipv4 if !ipv6 => {}
        LinkType::Ipv6 if ipv6 => {}
        LinkType::Ipv4 | LinkType::Ipv6 | LinkType::Other(_) => return Err(EmitError::Link),
    }
    Ok(())
}

/// A locally administered address that shows the IP address's last bytes.
fn mac(ip: IpAddr) -> [u8; 6] {
    let [a, b, c, d] = match ip {
        IpAddr::V4(ip) => ip.octets(),
        IpAddr::V6(ip) => {
            let o = ip.octets();
            [o[12], o[13], o[14], o[15]]
        }
    };
    [2, 0, a, b, c, d]
}

/// VLAN tags, CAQM inside them, and the EtherType of the IP packet.
fn tags(packet: &TcpPacket, config: &Config, out: &mut Vec<u8>) {
    let count = packet.encap.vlan_tags;
    for i in 0..count {
        let outer = i + 1 < count;
        out.extend(ethernet::vlan_type(outer).to_be_bytes());
        out.extend([0, i + 1]);
    }
    if let Some(info) = packet.encap.caqm {
        out.extend(config.caqm_ethertype.to_be_bytes());
        out.extend(info.0.to_be_bytes());
    }
    let ip = if is_ipv6(packet) {
        ethernet::IPV6
    } else {
        ethernet::IPV4
    };
    out.extend(ip.to_be_bytes());
}

fn ip_headers(packet: &TcpPacket, segment_len: u32, out: &mut Vec<u8>) -> Result<(), EmitError> {
    let inner = if packet.src.ip.is_ipv6() {
        ipv6::LEN
    } else {
        ipv4::MIN_LEN
    };
    let mut protocol = if packet.src.ip.is_ipv6() {
        tunnel::IPV6
    } else {
        tunnel::IPIP
    };
    // The innermost tunnel header is written last.
    let mut headers = Vec::new();
    let mut len = segment_len + inner as u32;
    for _ in 0..packet.encap.tunnels {
        let ends = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2));
        headers.push(ipv4_header(packet, ends, protocol, len));
        len += ipv4::MIN_LEN as u32;
        protocol = tunnel::IPIP;
    }
    out.extend(headers.iter().rev().flatten());
    match (packet.src.ip, packet.dst.ip) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            out.extend(ipv4_header(packet, (src, dst), tcp::PROTOCOL, segment_len));
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            // Length 0 stands for what does not fit, as in a capture before segmentation offload.
            let field = u16::try_from(segment_len).unwrap_or(0);
            out.extend([0x60, (packet.ecn & 3) << 4, 0, 0]);
            out.extend(field.to_be_bytes());
            out.extend([tcp::PROTOCOL, packet.ttl]);
            out.extend(src.octets());
            out.extend(dst.octets());
        }
        _ => return Err(EmitError::Families),
    }
    Ok(())
}

fn ipv4_header(
    packet: &TcpPacket,
    (src, dst): (Ipv4Addr, Ipv4Addr),
    protocol: u8,
    payload_len: u32,
) -> Vec<u8> {
    let total = payload_len.saturating_add(ipv4::MIN_LEN as u32);
    let mut h = vec![0x45, packet.ecn & 3];
    h.extend(u16::try_from(total).unwrap_or(0).to_be_bytes());
    h.extend(packet.ip_id.unwrap_or(0).to_be_bytes());
    h.extend([0x40, 0, packet.ttl, protocol, 0, 0]);
    h.extend(src.octets());
    h.extend(dst.octets());
    mark::checksum(&mut h);
    h
}

/// The TCP header of a packet as Linux writes it, its checksum 0.
pub(crate) fn header(packet: &TcpPacket) -> Result<Vec<u8>, EmitError> {
    let options = options(&packet.options)?;
    let header_len = (tcp::MIN_LEN + options.len()).next_multiple_of(4);
    Ok(tcp_header(packet, &options, header_len))
}

/// The TCP header, padded with NOPs, its checksum 0.
fn tcp_header(packet: &TcpPacket, options: &[u8], header_len: usize) -> Vec<u8> {
    let mut h = Vec::with_capacity(header_len);
    h.extend(packet.src.port.to_be_bytes());
    h.extend(packet.dst.port.to_be_bytes());
    h.extend(packet.seq.0.to_be_bytes());
    h.extend(packet.ack.0.to_be_bytes());
    let offset = (header_len as u16 / 4) << 12;
    h.extend((offset | packet.flags.0 & 0x0fff).to_be_bytes());
    h.extend(packet.window.to_be_bytes());
    h.extend([0, 0]);
    h.extend(packet.urgent.to_be_bytes());
    h.extend_from_slice(options);
    h.resize(header_len, kind::NOP);
    h
}

/// Option bytes in the order and with the padding of Linux (`tcp_options_write()`).
fn options(o: &TcpOptions) -> Result<Vec<u8>, EmitError> {
    let mut b = Vec::with_capacity(40);
    if let Some(mss) = o.mss {
        b.extend([kind::MSS, 4]);
        b.extend(mss.to_be_bytes());
    }
    if let Some((value, echo)) = o.timestamps {
        // SACK-permitted takes the place of the two NOPs.
        let pad = if o.sack_permitted {
            [kind::SACK_PERMITTED, 2]
        } else {
            [kind::NOP, kind::NOP]
        };
        b.extend(pad);
        b.extend([kind::TIMESTAMPS, 10]);
        b.extend(value.to_be_bytes());
        b.extend(echo.to_be_bytes());
    } else if o.sack_permitted {
        b.extend([kind::NOP, kind::NOP, kind::SACK_PERMITTED, 2]);
    }
    if let Some(shift) = o.window_scale {
        b.extend([kind::NOP, kind::WINDOW_SCALE, 3, shift]);
    }
    sack(&o.sack, &mut b);
    if let Some(option) = o.fast_open() {
        fast_open(&option, &mut b);
    }
    if b.len() > 40 {
        return Err(EmitError::Options);
    }
    Ok(b)
}

fn fast_open(option: &FastOpen, b: &mut Vec<u8>) {
    let cookie = option.as_slice();
    let len = cookie.len() as u8;
    match option.is_experimental() {
        true => {
            b.extend([kind::EXPERIMENTAL, 4 + len]);
            b.extend(FAST_OPEN_MAGIC);
        }
        false => b.extend([kind::FAST_OPEN, 2 + len]),
    }
    b.extend_from_slice(cookie);
    b.resize(b.len().next_multiple_of(4), kind::NOP);
}

fn sack(blocks: &SackBlocks, b: &mut Vec<u8>) {
    let blocks = blocks.as_slice();
    if blocks.is_empty() {
        return;
    }
    b.extend([kind::NOP, kind::NOP, kind::SACK, 2 + 8 * blocks.len() as u8]);
    for (left, right) in blocks {
        b.extend(left.0.to_be_bytes());
        b.extend(right.0.to_be_bytes());
    }
}

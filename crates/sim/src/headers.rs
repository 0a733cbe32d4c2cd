//! The headers of datagrams as captures show them: UDP and ICMP, in IPv4 and in IPv6.
//!
//! RFC 768, RFC 791, RFC 792, RFC 4443, RFC 8200; the Internet checksum of RFC 1071.

use std::net::IpAddr;

use tcplab_plan::network::host_address;
use tcplab_plan::point::Ip;
use tcplab_wire::emit::EmitError;
use tcplab_wire::{Config, LinkType};

use crate::packet::{Datagram, ETHERNET, Protocol, UDP_HEADER};
use crate::too_big::Quoted;

/// What a packet is beside its datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outer {
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    /// The identification of an IPv4 packet.
    pub(crate) id: u16,
    pub(crate) ttl: u8,
    /// The flow label of an IPv6 packet.
    pub(crate) flow_label: u32,
}

impl Outer {
    fn back(self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            ..self
        }
    }
}

/// The frame of a datagram up to its number, without Ethernet addresses; the rest of its payload is zeros. Gives its
/// length on the wire.
pub(crate) fn frame(datagram: &Datagram, outer: Outer, out: &mut Vec<u8>) -> u32 {
    out.extend([0; 12]);
    out.extend(match outer.src {
        IpAddr::V4(_) => [0x08, 0x00],
        IpAddr::V6(_) => [0x86, 0xdd],
    });
    let before = out.len();
    ip(datagram, outer, out);
    let header = (out.len() - before) as u32;
    match datagram.protocol {
        Protocol::Udp => out.extend(udp(datagram, outer)),
        Protocol::EchoRequest | Protocol::EchoReply => out.extend(echo(datagram, outer)),
        // Its frame is `too_big`'s.
        Protocol::TooBig(_) => {}
        Protocol::Unreachable(quote) => {
            let refused = quote.datagram(datagram);
            let quoted_outer = Outer {
                id: quote.id,
                ttl: quote.ttl,
                ..outer.back()
            };
            let mut quoted = Vec::new();
            ip(&refused, quoted_outer, &mut quoted);
            quoted.extend(udp(&refused, quoted_outer));
            // "Port unreachable".
            let (kind, code) = match outer.src {
                IpAddr::V4(_) => (3, 3),
                IpAddr::V6(_) => (1, 4),
            };
            let mut icmp = [kind, code, 0, 0, 0, 0, 0, 0];
            let zeros = (datagram.len as usize).saturating_sub(quoted.len());
            let pseudo = of_icmp(outer, UDP_HEADER as usize + quoted.len() + zeros);
            let check = sum(&[&pseudo, &icmp, &quoted]);
            icmp[2..4].copy_from_slice(&check.to_be_bytes());
            out.extend(icmp);
            out.extend(quoted);
        }
    }
    ETHERNET + header + UDP_HEADER + datagram.len
}

/// The frame of an error about a segment that did not fit into a link, up to the end of what it repeats.
///
/// # Errors
/// When the segment cannot be written.
pub(crate) fn too_big(
    error: &Datagram,
    quoted: &Quoted,
    outer: Outer,
    out: &mut Vec<u8>,
) -> Result<u32, EmitError> {
    let whole = frame(error, outer, out);
    let Protocol::TooBig(mtu) = error.protocol else {
        return Ok(whole);
    };
    let segment = &quoted.segment;
    let is_v4 = outer.src.is_ipv4();
    let protocol = if is_v4 { Ip::V4 } else { Ip::V6 };
    let receiver = host_address(protocol, segment.dst.host.into());
    let ends = [outer.dst, receiver];
    let tcp = segment.packet(ends, quoted.ttl, is_v4.then_some(quoted.id));
    let link = if is_v4 {
        LinkType::Ipv4
    } else {
        LinkType::Ipv6
    };
    let mut repeated = Vec::new();
    segment.emit(link, &tcp, &Config::default(), &mut repeated)?;
    // The payload is zeros.
    repeated.resize(error.len as usize, 0);
    let [a, b, c, d] = mtu.to_be_bytes();
    // RFC 792 with RFC 1191 4, RFC 4443 3.2.
    let mut icmp = match is_v4 {
        true => [3, 4, 0, 0, 0, 0, c, d],
        false => [2, 0, 0, 0, a, b, c, d],
    };
    let pseudo = of_icmp(outer, icmp.len() + repeated.len());
    let check = sum(&[&pseudo, &icmp, &repeated]);
    icmp[2..4].copy_from_slice(&check.to_be_bytes());
    out.extend(icmp);
    out.extend(repeated);
    Ok(whole)
}

/// The IP header of a datagram.
fn ip(datagram: &Datagram, outer: Outer, out: &mut Vec<u8>) {
    let length = UDP_HEADER + datagram.len;
    let (src, dst) = match (outer.src, outer.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => (src, dst),
        (src, dst) => {
            let protocol = match datagram.protocol {
                Protocol::Udp => UDP,
                _ => ICMPV6,
            };
            let first = 6 << 28 | u32::from(datagram.tos) << 20 | outer.flow_label & 0xf_ffff;
            out.extend(first.to_be_bytes());
            out.extend((length as u16).to_be_bytes());
            out.extend([protocol, outer.ttl]);
            out.extend(octets(src));
            out.extend(octets(dst));
            return;
        }
    };
    let mut ip = [0_u8; 20];
    ip[0] = 0x45;
    ip[1] = datagram.tos;
    ip[2..4].copy_from_slice(&((20 + length) as u16).to_be_bytes());
    ip[4..6].copy_from_slice(&outer.id.to_be_bytes());
    // Linux's ICMP socket, which sends replies and errors, does no path MTU discovery: no DF (icmp_sk_init()).
    (ip[6], ip[9]) = match datagram.protocol {
        Protocol::Udp => (0x40, UDP),
        Protocol::EchoRequest => (0x40, ICMP),
        Protocol::EchoReply | Protocol::Unreachable(_) | Protocol::TooBig(_) => (0, ICMP),
    };
    ip[8] = outer.ttl;
    ip[12..16].copy_from_slice(&src.octets());
    ip[16..20].copy_from_slice(&dst.octets());
    let check = sum(&[&ip]);
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    out.extend(ip);
}

/// Protocol numbers.
const ICMP: u8 = 1;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// What checksums count beside header and payload (RFC 768, RFC 8200 8.1).
fn pseudo(outer: Outer, protocol: u8, length: usize) -> Vec<u8> {
    let mut pseudo = octets(outer.src);
    pseudo.extend(octets(outer.dst));
    pseudo.extend((length as u32).to_be_bytes());
    pseudo.extend([0, 0, 0, protocol]);
    pseudo
}

/// The pseudo-header of ICMPv6; the checksum of ICMP covers its message only.
fn of_icmp(outer: Outer, length: usize) -> Vec<u8> {
    match outer.src {
        IpAddr::V4(_) => Vec::new(),
        IpAddr::V6(_) => pseudo(outer, ICMPV6, length),
    }
}

/// The bytes of the payload that are not zeros.
fn numbered(datagram: &Datagram) -> Vec<u8> {
    let mut number = datagram.number.to_be_bytes().to_vec();
    number.truncate(datagram.len as usize);
    number
}

/// A header of UDP, and the payload up to its zeros.
fn udp(datagram: &Datagram, outer: Outer) -> Vec<u8> {
    let (length, payload) = (UDP_HEADER + datagram.len, numbered(datagram));
    let mut udp = [0_u8; 8];
    udp[..2].copy_from_slice(&datagram.src.port.to_be_bytes());
    udp[2..4].copy_from_slice(&datagram.dst.port.to_be_bytes());
    udp[4..6].copy_from_slice(&(length as u16).to_be_bytes());
    let check = match sum(&[&pseudo(outer, UDP, length as usize), &udp, &payload]) {
        0 => 0xffff,
        sum => sum,
    };
    udp[6..8].copy_from_slice(&check.to_be_bytes());
    [&udp[..], &payload].concat()
}

/// The same of an echo: its identifier is the client's port, its sequence number the low half of the number.
fn echo(datagram: &Datagram, outer: Outer) -> Vec<u8> {
    let payload = numbered(datagram);
    let (request, reply) = match outer.src {
        IpAddr::V4(_) => (8, 0),
        IpAddr::V6(_) => (128, 129),
    };
    let mut icmp = [0_u8; 8];
    let client = match datagram.protocol {
        Protocol::EchoReply => {
            icmp[0] = reply;
            datagram.dst
        }
        _ => {
            icmp[0] = request;
            datagram.src
        }
    };
    icmp[4..6].copy_from_slice(&client.port.to_be_bytes());
    icmp[6..8].copy_from_slice(&(datagram.number as u16).to_be_bytes());
    let pseudo = of_icmp(outer, (UDP_HEADER + datagram.len) as usize);
    let check = sum(&[&pseudo, &icmp, &payload]);
    icmp[2..4].copy_from_slice(&check.to_be_bytes());
    [&icmp[..], &payload].concat()
}

/// The Internet checksum (RFC 1071) of parts of even length; the last one may be odd.
pub(crate) fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let mut sum: u32 = words
        .map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |b| u32::from(*b)))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use tcplab_plan::network::host_address;
    use tcplab_plan::point::Ip;
    use tcplab_tcp::Addr;

    use super::*;

    fn addr(host: u16, port: u16) -> Addr {
        Addr { host, port }
    }

    /// The sum over each header and the payload is zero, at any size.
    #[test]
    fn checksums_are_right() {
        for (ip, header) in [(Ip::V4, 20), (Ip::V6, 40)] {
            let outer = Outer {
                src: host_address(ip, 0),
                dst: host_address(ip, 1),
                id: 1,
                ttl: 64,
                flow_label: 0xabcde,
            };
            for protocol in [Protocol::Udp, Protocol::EchoRequest, Protocol::EchoReply] {
                for len in [1, 3, 4, 60] {
                    let datagram = Datagram {
                        src: addr(0, 40_000),
                        dst: addr(1, 53),
                        len,
                        tos: 0xb8,
                        number: 0x0102_0304,
                        protocol,
                    };
                    let mut out = Vec::new();
                    let whole = frame(&datagram, outer, &mut out);
                    let end = 14 + header;
                    assert_eq!(whole as usize, end + 8 + len as usize);
                    assert_eq!(out.len(), end + 8 + len.min(4) as usize);
                    match ip {
                        Ip::V4 => assert_eq!((out[15], sum(&[&out[14..34]])), (0xb8, 0)),
                        Ip::V6 => assert_eq!(out[14..18], [0x6b, 0x8a, 0xbc, 0xde]),
                    }
                    let number = match (protocol, ip) {
                        (Protocol::Udp, _) => 17,
                        (_, Ip::V4) => 1,
                        (_, Ip::V6) => 58,
                    };
                    let pseudo = match number {
                        1 => Vec::new(),
                        _ => pseudo(outer, number, 8 + len as usize),
                    };
                    let checked = sum(&[&pseudo, &out[end..]]);
                    assert_eq!(checked, 0, "{protocol:?} {len} {ip:?}");
                }
            }
        }
    }
}

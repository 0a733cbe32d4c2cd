//! Packets as bytes: from a segment to the IP packet that leaves, and from what arrives to a segment or an ICMP error.
//!
//! Payload is zeros. Options stand in the order and with the padding of Linux; `wire::emit` writes them so.

use std::net::IpAddr;

use tcplab_base::Seq;
use tcplab_tcp::{Addr, Caqm, Segment};
use tcplab_wire::{Config, Encap, LinkType, Parsed, Standing, TcpFlags, TcpPacket, parse_frame};

use crate::packet::protocol;

/// Time to live of what leaves.
pub(super) const TTL: u8 = 64;
/// The option of RFC 2385.
const KIND_MD5: u8 = 19;

/// Hosts by number: 0 is the host under test.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    known: Vec<IpAddr>,
}

impl Hosts {
    /// More hosts than that are not told apart.
    const MOST: usize = 4_096;

    /// An address's number; a new one gets the next.
    pub fn number(&mut self, ip: IpAddr) -> u16 {
        let ip = ip.to_canonical();
        if let Some(at) = self.known.iter().position(|&known| known == ip) {
            return at as u16;
        }
        if self.known.len() < Self::MOST {
            self.known.push(ip);
        }
        (self.known.len() - 1) as u16
    }

    /// The address of a number.
    pub fn ip(&self, number: u16) -> Option<IpAddr> {
        self.known.get(usize::from(number)).copied()
    }

    /// The addresses of a segment's ends; `None` if an end is no host.
    pub fn ends(&self, segment: &Segment) -> Option<[IpAddr; 2]> {
        Some([self.ip(segment.src.host)?, self.ip(segment.dst.host)?])
    }
}

/// What arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// A TCP segment.
    Tcp(Box<Segment>),
    /// An ICMP message about a segment of ours.
    Icmp(Icmp),
    /// UDP for this port: its payload in bytes.
    Udp { from: Addr, to: Addr, len: u32 },
    /// Something that no socket hears of: why.
    Nothing(&'static str),
}

/// An ICMP or ICMPv6 error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Icmp {
    pub(super) says: Says,
    /// Ends of the quoted segment, ours first.
    pub(super) local: Addr,
    pub(super) remote: Addr,
    pub(super) seq: Seq,
    /// It quotes a datagram of UDP, not a segment.
    pub(super) is_udp: bool,
}

/// What an ICMP or ICMPv6 error says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Says {
    pub(super) is_v6: bool,
    pub(super) kind: u8,
    pub(super) code: u8,
    /// The next link's MTU, where the message has one.
    pub(super) mtu: u32,
}

/// The IP packet of a segment; `None` if an end is no host.
pub fn bytes_of(hosts: &Hosts, seg: &Segment) -> Option<Vec<u8>> {
    bytes_with(hosts, seg, TTL)
}

/// The same with this time to live.
pub(super) fn bytes_with(hosts: &Hosts, seg: &Segment, ttl: u8) -> Option<Vec<u8>> {
    let packet = TcpPacket {
        encap: Encap::default(),
        ..seg.packet(hosts.ends(seg)?, ttl, None)
    };
    let mut out = Vec::with_capacity(100 + seg.len as usize);
    let whole = seg.emit(LinkType::Raw, &packet, &Config::default(), &mut out);
    out.resize(whole.ok()? as usize, 0);
    Some(out)
}

/// An IP header: addresses, traffic class, the protocol behind it and what it carries.
struct Ip<'a> {
    src: IpAddr,
    dst: IpAddr,
    tos: u8,
    protocol: u8,
    rest: &'a [u8],
}

/// Reads an IPv4 or IPv6 header; extension headers are not stepped over.
fn read_ip(packet: &[u8]) -> Option<Ip<'_>> {
    if packet.first()? >> 4 == 4 {
        let h = packet.first_chunk::<20>()?;
        let rest = packet.get(usize::from(h[0] & 15) * 4..)?;
        return Some(Ip {
            src: IpAddr::from([h[12], h[13], h[14], h[15]]),
            dst: IpAddr::from([h[16], h[17], h[18], h[19]]),
            tos: h[1],
            protocol: h[9],
            rest,
        });
    }
    let h = packet.first_chunk::<40>()?;
    let address = |at: usize| {
        let bytes: Option<&[u8; 16]> = h.get(at..)?.first_chunk();
        bytes.map(|&bytes| IpAddr::from(bytes))
    };
    Some(Ip {
        src: address(8)?,
        dst: address(24)?,
        tos: h[0] << 4 | h[1] >> 4,
        protocol: h[6],
        rest: packet.get(40..)?,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    let pair: &[u8; 2] = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*pair))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    let four: &[u8; 4] = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*four))
}

/// Reads what arrives. `gso_size`: larger TCP packets count as segments of so many bytes, put together.
pub(super) fn read(hosts: &mut Hosts, packet: &[u8], gso_size: Option<u16>) -> Arrived {
    const BROKEN: Arrived = Arrived::Nothing("it is not a whole IP packet");
    let Some(ip) = read_ip(packet) else {
        return BROKEN;
    };
    match ip.protocol {
        protocol::TCP => segment_of(hosts, packet, &ip, gso_size),
        protocol::ICMP | protocol::ICMPV6 => icmp_of(hosts, &ip).map_or(BROKEN, Arrived::Icmp),
        protocol::UDP => {
            let (Some(src), Some(dst)) = (word(ip.rest, 0), word(ip.rest, 2)) else {
                return BROKEN;
            };
            Arrived::Udp {
                from: end(hosts, ip.src, src),
                to: end(hosts, ip.dst, dst),
                len: ip.rest.len().saturating_sub(8) as u32,
            }
        }
        _ => Arrived::Nothing("the host does not support its protocol"),
    }
}

fn end(hosts: &mut Hosts, ip: IpAddr, port: u16) -> Addr {
    Addr {
        host: hosts.number(ip),
        port,
    }
}

fn segment_of(hosts: &mut Hosts, packet: &[u8], ip: &Ip<'_>, gso_size: Option<u16>) -> Arrived {
    let len = packet.len() as u32;
    let Parsed::Tcp(p) = parse_frame(LinkType::Raw, packet, len, &Config::default()) else {
        return Arrived::Nothing("it is not a whole TCP segment");
    };
    if p.standing != Standing::Whole || p.header_truncated {
        return Arrived::Nothing("its TCP header is broken");
    }
    if has_md5(ip.rest) {
        // tcp_inbound_md5_hash(): no socket here has a key.
        return Arrived::Nothing("it has an unexpected MD5 signature");
    }
    let gso_size = gso_size.filter(|&size| p.payload_len > u32::from(size));
    Arrived::Tcp(Box::new(Segment {
        gso_size: gso_size.unwrap_or(0),
        ..segment(hosts, &p, ip.tos)
    }))
}

/// The segment that a packet's fields describe; `tos` is the traffic class of its IP header.
pub fn segment(hosts: &mut Hosts, p: &TcpPacket, tos: u8) -> Segment {
    Segment {
        src: end(hosts, p.src.ip, p.src.port),
        dst: end(hosts, p.dst.ip, p.dst.port),
        seq: p.seq,
        ack: p.ack,
        len: p.payload_len,
        window: p.window,
        urgent: p.urgent,
        flags: p.flags,
        gso_size: 0,
        tos,
        caqm: p.encap.caqm.map_or(Caqm::Plain, Caqm::Tag),
        options: p.options,
    }
}

/// Whether a segment has the option of RFC 2385.
pub fn has_md5(segment: &[u8]) -> bool {
    let len = segment.get(12).map_or(0, |&b| usize::from(b >> 4) * 4);
    let mut rest = segment.get(20..len).unwrap_or_default();
    loop {
        rest = match *rest {
            [0, ..] | [] => return false,
            [1, ref rest @ ..] => rest,
            [KIND_MD5, 18, ..] => return true,
            [_, len, ..] if len >= 2 => rest.get(usize::from(len)..).unwrap_or_default(),
            _ => return false,
        };
    }
}

fn icmp_of(hosts: &mut Hosts, ip: &Ip<'_>) -> Option<Icmp> {
    let is_v6 = ip.protocol == protocol::ICMPV6;
    let (&kind, &code) = (ip.rest.first()?, ip.rest.get(1)?);
    let mtu = match is_v6 {
        true => long(ip.rest, 4)?,
        false => u32::from(word(ip.rest, 6)?),
    };
    let quoted = read_ip(ip.rest.get(8..)?)?;
    let is_udp = quoted.protocol == protocol::UDP;
    if quoted.protocol != protocol::TCP && !is_udp {
        return None;
    }
    let (src, dst) = (word(quoted.rest, 0)?, word(quoted.rest, 2)?);
    Some(Icmp {
        says: Says {
            is_v6,
            kind,
            code,
            mtu,
        },
        local: end(hosts, quoted.src, src),
        remote: end(hosts, quoted.dst, dst),
        seq: Seq(long(quoted.rest, 4)?),
        is_udp,
    })
}

/// The first wire packet of a super-segment, and what is left (`tcp_gso_segment()`): PSH and FIN stand in the last one,
/// CWR in the first.
pub(super) fn cut(segment: &Segment) -> (Segment, Option<Segment>) {
    let size = u32::from(segment.gso_size);
    if size == 0 || segment.len <= size {
        let whole = Segment {
            gso_size: 0,
            ..*segment
        };
        return (whole, None);
    }
    let ends = TcpFlags::PSH | TcpFlags::FIN;
    let first = Segment {
        len: size,
        gso_size: 0,
        flags: TcpFlags(segment.flags.0 & !ends),
        ..*segment
    };
    let rest = Segment {
        seq: segment.seq + size,
        len: segment.len - size,
        flags: TcpFlags(segment.flags.0 & !TcpFlags::CWR),
        ..*segment
    };
    (first, Some(rest))
}

#[cfg(test)]
mod tests {
    use tcplab_wire::{TcpFlags, TcpOptions};

    use super::*;

    fn hosts(a: &str, b: &str) -> Hosts {
        let mut hosts = Hosts::default();
        hosts.number(a.parse().unwrap());
        hosts.number(b.parse().unwrap());
        hosts
    }

    #[test]
    fn a_segment_is_the_same_after_the_wire() {
        for (a, b) in [("192.168.0.1", "192.0.2.1"), ("fd3d::1", "fd3d::2")] {
            let mut hosts = hosts(a, b);
            let seg = Segment {
                src: Addr {
                    host: 0,
                    port: 8080,
                },
                dst: Addr { host: 1, port: 9 },
                seq: Seq(7),
                ack: Seq(9),
                len: 1000,
                window: 77,
                flags: TcpFlags(TcpFlags::ACK | TcpFlags::PSH),
                tos: 0x2a,
                options: TcpOptions {
                    timestamps: Some((5, 6)),
                    ..TcpOptions::default()
                },
                ..Segment::default()
            };
            let bytes = bytes_of(&hosts, &seg).unwrap();
            assert_eq!(read(&mut hosts, &bytes, None), Arrived::Tcp(Box::new(seg)));
            for cut in 0..bytes.len() {
                read(&mut hosts, &bytes[..cut], None);
            }
        }
    }

    #[test]
    fn a_super_segment_is_cut_as_the_kernel_does() {
        let whole = Segment {
            len: 2500,
            gso_size: 1000,
            flags: TcpFlags(TcpFlags::ACK | TcpFlags::PSH | TcpFlags::CWR),
            ..Segment::default()
        };
        let mut parts = Vec::new();
        let mut next = Some(whole);
        while let Some(segment) = next {
            let (first, rest) = cut(&segment);
            parts.push((first.seq.0, first.len, first.flags.0 & !TcpFlags::ACK));
            next = rest;
        }
        let (psh, cwr) = (TcpFlags::PSH, TcpFlags::CWR);
        assert_eq!(parts, [(0, 1000, cwr), (1000, 1000, 0), (2000, 500, psh)]);
    }

    #[test]
    fn an_md5_option_is_seen() {
        let mut segment = vec![0; 40];
        segment[12] = 0xa0;
        segment[20..23].copy_from_slice(&[1, 19, 18]);
        assert!(has_md5(&segment));
        segment[20] = 0;
        assert!(!has_md5(&segment));
    }
}

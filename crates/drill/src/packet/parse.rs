//! Bytes to headers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tcplab_wire::Sum;

use super::build::gre_len;
use super::emit::pseudo;
use super::{Icmp, Ip, Layer, MAX_LAYERS, Packet, Tcp, Udp, option, protocol};
use crate::script::{Gre, MplsLabel};

/// What the header says that was read last: what follows, and where that ends.
enum Next<'a> {
    /// By the number of an IP header.
    Protocol(u8, &'a [u8]),
    /// By EtherType.
    Ether(u16, &'a [u8]),
    /// Nothing of ours.
    Done,
    /// The rest is payload.
    Payload(&'a [u8]),
}

fn is_transport(number: u8) -> bool {
    use protocol::{ICMP, ICMPV6, TCP, UDP};
    matches!(number, TCP | UDP | ICMP | ICMPV6)
}

impl Packet {
    /// Reads an IP packet. None: it carries nothing that scripts speak of.
    ///
    /// # Errors
    /// It is broken: how.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, String> {
        let mut packet = Self::default();
        let mut next = match bytes.first().map(|b| b >> 4) {
            Some(4) => Next::Ether(0x0800, bytes),
            Some(6) => Next::Ether(0x86dd, bytes),
            _ => return Err("it is neither IPv4 nor IPv6".into()),
        };
        loop {
            if packet.layers.len() > MAX_LAYERS {
                return Err(format!("it has more than {MAX_LAYERS} headers"));
            }
            next = match next {
                Next::Ether(0x0800, b) => packet.ipv4(b)?,
                Next::Ether(0x86dd, b) => packet.ipv6(b)?,
                Next::Ether(0x8847 | 0x8848, b) | Next::Protocol(protocol::MPLS, b) => {
                    packet.mpls(b)?
                }
                Next::Protocol(protocol::IPIP, b) => Next::Ether(0x0800, b),
                Next::Protocol(protocol::IPV6, b) => Next::Ether(0x86dd, b),
                Next::Protocol(protocol::GRE, b) => packet.gre(b)?,
                Next::Protocol(number, b) if is_transport(number) => {
                    packet.read_transport(number, b)?
                }
                Next::Protocol(..) | Next::Ether(..) | Next::Done => return Ok(None),
                Next::Payload(b) => {
                    packet.payload_len = b.len() as u32;
                    packet.is_dirty = b.iter().any(|x| *x != 0);
                    return Ok(Some(packet));
                }
            };
        }
    }

    fn ipv4<'a>(&mut self, b: &'a [u8]) -> Result<Next<'a>, String> {
        let head: &[u8; 20] = b.first_chunk().ok_or("the IPv4 header is cut")?;
        let header_len = usize::from(head[0] & 15) * 4;
        let total = usize::from(u16::from_be_bytes([head[2], head[3]]));
        if head[0] >> 4 != 4 || header_len < 20 || total < header_len {
            return Err("the IPv4 header is impossible".into());
        }
        let whole = b.get(..total).ok_or("the IPv4 packet is cut")?;
        let (header, inner) = whole.split_at(header_len);
        if Sum::default().add(header).finish() != 0 {
            return Err("the checksum of the IPv4 header is wrong".into());
        }
        // MF and offset; DF may be set.
        if u16::from_be_bytes([head[6], head[7]]) & 0x3fff != 0 {
            return Err("it is a fragment".into());
        }
        let at = |i: usize| Ipv4Addr::new(head[i], head[i + 1], head[i + 2], head[i + 3]);
        self.layers.push(Layer::Ip(Ip {
            src: at(12).into(),
            dst: at(16).into(),
            header_len: header_len as u8,
            total_len: total as u32,
            tos: head[1],
            flow_label: 0,
            ttl: head[8],
            protocol: head[9],
        }));
        Ok(Next::Protocol(head[9], inner))
    }

    fn ipv6<'a>(&mut self, b: &'a [u8]) -> Result<Next<'a>, String> {
        let (head, rest) = b
            .split_first_chunk::<40>()
            .ok_or("the IPv6 header is cut")?;
        let len = usize::from(u16::from_be_bytes([head[4], head[5]]));
        if head[0] >> 4 != 6 {
            return Err("the IPv6 header is impossible".into());
        }
        let inner = rest.get(..len).ok_or("the IPv6 packet is cut")?;
        let word = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        let at = |i: usize| {
            let mut octets = [0; 16];
            octets.copy_from_slice(&head[i..i + 16]);
            IpAddr::from(Ipv6Addr::from(octets))
        };
        self.layers.push(Layer::Ip(Ip {
            src: at(8),
            dst: at(24),
            header_len: 40,
            total_len: len as u32 + 40,
            tos: (word >> 20) as u8,
            flow_label: word & 0xf_ffff,
            ttl: head[7],
            protocol: head[6],
        }));
        Ok(Next::Protocol(head[6], inner))
    }

    fn mpls<'a>(&mut self, mut b: &'a [u8]) -> Result<Next<'a>, String> {
        let mut labels = Vec::new();
        loop {
            let (word, rest) = b.split_first_chunk::<4>().ok_or("the MPLS stack is cut")?;
            let word = u32::from_be_bytes(*word);
            labels.push(MplsLabel {
                label: word >> 12,
                tc: (word >> 9 & 7) as u8,
                bottom: word & 0x100 != 0,
                ttl: word as u8,
            });
            b = rest;
            if word & 0x100 != 0 {
                break;
            }
        }
        self.layers.push(Layer::Mpls(labels));
        Ok(match b.first().map(|x| x >> 4) {
            Some(4) => Next::Ether(0x0800, b),
            Some(6) => Next::Ether(0x86dd, b),
            _ => Next::Done,
        })
    }

    fn gre<'a>(&mut self, b: &'a [u8]) -> Result<Next<'a>, String> {
        let (head, mut rest) = b.split_first_chunk::<4>().ok_or("the GRE header is cut")?;
        let flags = u16::from_be_bytes([head[0], head[1]]);
        let ether_type = u16::from_be_bytes([head[2], head[3]]);
        let mut gre = Gre {
            flags,
            ..Gre::default()
        };
        if flags & 0x4007 != 0 || rest.len() + 4 < gre_len(&gre) as usize {
            return Err("the GRE header is cut, or of a kind that scripts do not have".into());
        }
        let mut word = |is_there: bool| {
            let (word, after) = rest.split_first_chunk::<4>().filter(|_| is_there)?;
            rest = after;
            Some(u32::from_be_bytes(*word))
        };
        if let Some(sum) = word(flags & 0x8000 != 0) {
            (gre.sum, gre.off) = ((sum >> 16) as u16, sum as u16);
        }
        gre.key = word(flags & 0x2000 != 0).unwrap_or(0);
        gre.seq = word(flags & 0x1000 != 0).unwrap_or(0);
        self.layers.push(Layer::Gre(gre, ether_type));
        Ok(Next::Ether(ether_type, rest))
    }

    fn read_transport<'a>(&mut self, number: u8, b: &'a [u8]) -> Result<Next<'a>, String> {
        // RFC 768: a checksum of 0 means that there is no checksum.
        let has_sum = number != protocol::UDP || b.get(6..8) != Some(&[0, 0]);
        let sum = pseudo(self.ip(), number, b.len() as u32).add(b).finish();
        self.has_bad_sum = has_sum && sum != 0;
        match number {
            protocol::TCP => self.tcp_header(b),
            protocol::UDP => self.udp(b),
            number => self.icmp(b, number == protocol::ICMPV6),
        }
    }

    fn tcp_header<'a>(&mut self, b: &'a [u8]) -> Result<Next<'a>, String> {
        let head: &[u8; 20] = b.first_chunk().ok_or("the TCP header is cut")?;
        let header_len = usize::from(head[12] >> 4) * 4;
        if header_len < 20 {
            return Err("the TCP data offset is too small".into());
        }
        let (header, payload) = b
            .split_at_checked(header_len)
            .ok_or("the TCP data offset is too large")?;
        let two = |i: usize| u16::from_be_bytes([head[i], head[i + 1]]);
        let four = |i: usize| u32::from_be_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
        let (options, is_malformed) = option::read(header.get(20..).unwrap_or_default());
        self.layers.push(Layer::Tcp(Tcp {
            src: two(0),
            dst: two(2),
            seq: four(4),
            ack: four(8),
            flags: two(12) & 0x1ff,
            reserved: head[12] >> 1 & 7,
            header_len: header_len as u8,
            window: two(14),
            urgent: two(18),
            options,
            is_malformed,
        }));
        Ok(Next::Payload(payload))
    }

    fn udp<'a>(&mut self, b: &'a [u8]) -> Result<Next<'a>, String> {
        let (head, payload) = b.split_first_chunk::<8>().ok_or("the UDP header is cut")?;
        let two = |i: usize| u16::from_be_bytes([head[i], head[i + 1]]);
        let udp = Udp {
            src: two(0),
            dst: two(2),
            len: two(4),
        };
        if usize::from(udp.len) != b.len() {
            return Err("the UDP length is not that of the packet".into());
        }
        self.layers.push(Layer::Udp(udp));
        Ok(Next::Payload(payload))
    }

    fn icmp<'a>(&mut self, b: &'a [u8], is_v6: bool) -> Result<Next<'a>, String> {
        let (head, payload) = b.split_first_chunk::<8>().ok_or("the ICMP header is cut")?;
        self.layers.push(Layer::Icmp(Icmp {
            kind: head[0],
            code: head[1],
            word: u32::from_be_bytes([head[4], head[5], head[6], head[7]]),
            is_v6,
            quoted: None,
        }));
        Ok(Next::Payload(payload))
    }
}

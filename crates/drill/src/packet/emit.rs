//! Headers to bytes, with right checksums and a payload of zeros.

use std::net::IpAddr;

use tcplab_wire::Sum;

use super::{Icmp, Ip, Layer, Packet, Tcp, Udp, option, protocol};
use crate::script::{Gre, MplsLabel};

impl Packet {
    /// The bytes from the outermost IP header on.
    pub(crate) fn emit(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut innermost = None;
        for layer in &self.layers {
            match layer {
                Layer::Ip(header) => {
                    innermost = Some(header);
                    ip(header, &mut out);
                }
                Layer::Gre(header, ether_type) => gre(header, *ether_type, &mut out),
                Layer::Mpls(labels) => labels.iter().for_each(|l| mpls(l, &mut out)),
                Layer::Tcp(header) => {
                    let head = tcp(header);
                    self.transport(innermost, (protocol::TCP, 16), head, &mut out);
                }
                Layer::Udp(header) => {
                    let head = udp(header);
                    self.transport(innermost, (protocol::UDP, 6), head, &mut out);
                }
                Layer::Icmp(header) => {
                    let number = if header.is_v6 {
                        protocol::ICMPV6
                    } else {
                        protocol::ICMP
                    };
                    let head = icmp(header);
                    self.transport(innermost, (number, 2), head, &mut out);
                }
            }
        }
        out
    }

    /// Appends a transport header with its checksum, and the payload.
    fn transport(
        &self,
        ip: Option<&Ip>,
        (number, checksum): (u8, usize),
        mut head: Vec<u8>,
        out: &mut Vec<u8>,
    ) {
        let quoted = match self.layers.last() {
            Some(Layer::Icmp(Icmp { quoted, .. })) => quoted.as_deref(),
            _ => None,
        };
        match quoted {
            Some(packet) => head.extend(packet.quote()),
            None => head.resize(head.len() + self.payload_len as usize, 0),
        }
        let sum = pseudo(ip, number, head.len() as u32).add(&head).finish();
        if let Some(field) = head.get_mut(checksum..checksum + 2) {
            field.copy_from_slice(&sum.to_be_bytes());
        }
        out.extend(head);
    }

    /// The IP header and 8 bytes behind it, as routers quote it (RFC 792).
    fn quote(&self) -> Vec<u8> {
        let mut bytes = self.emit();
        let header = self.ip().map_or(0, |ip| usize::from(ip.header_len));
        bytes.truncate(header + 8);
        bytes
    }
}

/// The pseudo header (RFC 9293 3.1, RFC 8200 8.1); empty for ICMPv4.
pub(super) fn pseudo(ip: Option<&Ip>, number: u8, len: u32) -> Sum {
    let ip = ip.filter(|_| number != protocol::ICMP);
    ip.and_then(|ip| Sum::pseudo(ip.src, ip.dst, number, len))
        .unwrap_or_default()
}

fn ip(ip: &Ip, out: &mut Vec<u8>) {
    match (ip.src, ip.dst) {
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let word = 6 << 28 | u32::from(ip.tos) << 20 | ip.flow_label & 0xf_ffff;
            out.extend(word.to_be_bytes());
            out.extend((ip.total_len.saturating_sub(40) as u16).to_be_bytes());
            out.extend([ip.protocol, ip.ttl]);
            out.extend(src.octets());
            out.extend(dst.octets());
        }
        (src, dst) => {
            let four = |a: IpAddr| match a {
                IpAddr::V4(a) => a.octets(),
                IpAddr::V6(_) => [0; 4],
            };
            let mut h = vec![0x45, ip.tos];
            h.extend((ip.total_len as u16).to_be_bytes());
            // Neither identification nor DF, as the original sends them.
            h.extend([0, 0, 0, 0, ip.ttl, ip.protocol, 0, 0]);
            h.extend(four(src));
            h.extend(four(dst));
            let sum = Sum::default().add(&h).finish();
            h[10..12].copy_from_slice(&sum.to_be_bytes());
            out.extend(h);
        }
    }
}

fn gre(gre: &Gre, ether_type: u16, out: &mut Vec<u8>) {
    out.extend(gre.flags.to_be_bytes());
    out.extend(ether_type.to_be_bytes());
    if gre.flags & 0x8000 != 0 {
        out.extend(gre.sum.to_be_bytes());
        out.extend(gre.off.to_be_bytes());
    }
    if gre.flags & 0x2000 != 0 {
        out.extend(gre.key.to_be_bytes());
    }
    if gre.flags & 0x1000 != 0 {
        out.extend(gre.seq.to_be_bytes());
    }
}

fn mpls(l: &MplsLabel, out: &mut Vec<u8>) {
    let word =
        l.label << 12 | u32::from(l.tc & 7) << 9 | u32::from(l.bottom) << 8 | u32::from(l.ttl);
    out.extend(word.to_be_bytes());
}

fn tcp(tcp: &Tcp) -> Vec<u8> {
    let mut h = Vec::with_capacity(60);
    h.extend(tcp.src.to_be_bytes());
    h.extend(tcp.dst.to_be_bytes());
    h.extend(tcp.seq.to_be_bytes());
    h.extend(tcp.ack.to_be_bytes());
    let offset = u16::from(tcp.header_len / 4) << 12;
    let word = offset | u16::from(tcp.reserved & 7) << 9 | tcp.flags & 0x1ff;
    h.extend(word.to_be_bytes());
    h.extend(tcp.window.to_be_bytes());
    h.extend([0, 0]);
    h.extend(tcp.urgent.to_be_bytes());
    tcp.options.iter().for_each(|o| option::write(o, &mut h));
    h
}

fn udp(udp: &Udp) -> Vec<u8> {
    let mut h = Vec::with_capacity(8);
    h.extend(udp.src.to_be_bytes());
    h.extend(udp.dst.to_be_bytes());
    h.extend(udp.len.to_be_bytes());
    h.extend([0, 0]);
    h
}

fn icmp(icmp: &Icmp) -> Vec<u8> {
    let mut h = vec![icmp.kind, icmp.code, 0, 0];
    h.extend(icmp.word.to_be_bytes());
    h
}

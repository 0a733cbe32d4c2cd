//! A packet of a script as headers, in the script's numbers; addresses and ports that it does not say are open (0).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{ANY_TTL, Icmp, Ip, Layer, MAX_LAYERS, Packet, Tcp, Udp, flag, icmp, option, protocol};
use crate::script::{Body, Gre, IcmpSpec, IpInfo, Outer, PacketSpec, Quoted, TcpSpec, Tos};
use crate::target::IpMode;

/// The longest header of TCP.
const MAX_TCP_HEADER: usize = 60;
/// What a quoted packet has behind its IP header (RFC 792).
const QUOTED_LEN: u32 = 8;

/// Builds the packet.
///
/// # Errors
/// No such packet can be sent: the reason.
pub(crate) fn build(spec: &PacketSpec, mode: IpMode) -> Result<Packet, String> {
    if spec.psp_spi.is_some() {
        return Err("PSP is not supported".into());
    }
    let is_v6 = mode == IpMode::Ipv6;
    let (inner, body_len, payload_len) = body(&spec.body, is_v6)?;
    let mut layers = Vec::with_capacity(spec.outer.len() + 2);
    let protocol = match &inner {
        Layer::Tcp(_) => protocol::TCP,
        Layer::Udp(_) => protocol::UDP,
        _ if is_v6 => protocol::ICMPV6,
        _ => protocol::ICMP,
    };
    let (src, dst) = open_addresses(is_v6);
    let ip = ip(src, dst, &spec.ip, protocol, body_len)?;
    let mut len = ip.total_len;
    layers.push(inner);
    layers.push(Layer::Ip(ip));
    // From the inside out: each header needs the length of what is in it.
    for outer in spec.outer.iter().rev() {
        let next = layers.last();
        let layer = self::outer(outer, next, len)?;
        len += layer_len(&layer);
        layers.push(layer);
    }
    if layers.len() > MAX_LAYERS {
        return Err(format!("more than {MAX_LAYERS} headers"));
    }
    layers.reverse();
    Ok(Packet {
        layers,
        payload_len,
        ..Packet::default()
    })
}

fn open_addresses(is_v6: bool) -> (IpAddr, IpAddr) {
    let any: IpAddr = if is_v6 {
        Ipv6Addr::UNSPECIFIED.into()
    } else {
        Ipv4Addr::UNSPECIFIED.into()
    };
    (any, any)
}

fn ip(src: IpAddr, dst: IpAddr, info: &IpInfo, protocol: u8, inner: u32) -> Result<Ip, String> {
    let header_len: u8 = if src.is_ipv6() { 40 } else { 20 };
    let total_len = inner + u32::from(header_len);
    // IPv6 counts what follows its header, and this is checked alike.
    if total_len > u32::from(u16::MAX) {
        return Err(format!("a packet of {total_len} bytes is too long for IP"));
    }
    Ok(Ip {
        src,
        dst,
        header_len,
        total_len,
        tos: match info.tos {
            Tos::NotSaid | Tos::EitherEct => 0,
            Tos::Ecn(bits) => bits & 3,
            Tos::Byte(tos) => tos,
        },
        flow_label: if src.is_ipv6() {
            info.flow_label & 0xf_ffff
        } else {
            0
        },
        ttl: match info.ttl {
            0 => ANY_TTL,
            ttl => ttl,
        },
        protocol,
    })
}

fn outer(outer: &Outer, next: Option<&Layer>, len: u32) -> Result<Layer, String> {
    let (src, dst, info): (IpAddr, IpAddr, _) = match outer {
        Outer::Ipv4 { src, dst, ip } => ((*src).into(), (*dst).into(), ip),
        Outer::Ipv6 { src, dst, ip } => ((*src).into(), (*dst).into(), ip),
        Outer::Gre(gre) if gre.flags & 0x4000 != 0 => {
            return Err("GRE with routing is not supported".into());
        }
        Outer::Gre(gre) => return Ok(Layer::Gre(*gre, ether_type(next))),
        Outer::Mpls(labels) => return Ok(Layer::Mpls(labels.clone())),
    };
    Ok(Layer::Ip(ip(src, dst, info, ip_protocol(next), len)?))
}

/// The protocol of an IP header around `next`.
fn ip_protocol(next: Option<&Layer>) -> u8 {
    match next {
        Some(Layer::Ip(ip)) if ip.src.is_ipv6() => protocol::IPV6,
        Some(Layer::Ip(_)) => protocol::IPIP,
        Some(Layer::Gre(..)) => protocol::GRE,
        Some(Layer::Mpls(_)) => protocol::MPLS,
        _ => 0,
    }
}

/// The EtherType in a GRE header around `next`.
fn ether_type(next: Option<&Layer>) -> u16 {
    match next {
        Some(Layer::Ip(ip)) if ip.src.is_ipv6() => 0x86dd,
        Some(Layer::Ip(_)) => 0x0800,
        Some(Layer::Mpls(_)) => 0x8847,
        _ => 0,
    }
}

fn layer_len(layer: &Layer) -> u32 {
    match layer {
        Layer::Ip(ip) => u32::from(ip.header_len),
        Layer::Gre(gre, _) => gre_len(gre),
        Layer::Mpls(labels) => 4 * labels.len() as u32,
        Layer::Tcp(tcp) => u32::from(tcp.header_len),
        Layer::Udp(_) | Layer::Icmp(_) => 8,
    }
}

/// Length of a GRE header: checksum (with offset), key and sequence number by the flags.
pub(super) fn gre_len(gre: &Gre) -> u32 {
    4 + 4 * (gre.flags & 0xb000).count_ones()
}

/// The innermost header, its length with all behind it, and the payload.
fn body(body: &Body, is_v6: bool) -> Result<(Layer, u32, u32), String> {
    match body {
        Body::Tcp(spec) => {
            let tcp = tcp(spec)?;
            let payload = u32::from(spec.seq.len);
            let len = u32::from(tcp.header_len) + payload;
            Ok((Layer::Tcp(tcp), len, payload))
        }
        Body::Udp { ports, len } => {
            let (src, dst) = ports.unwrap_or_default();
            let all = len
                .checked_add(8)
                .ok_or("a UDP datagram has at most 65,527 bytes")?;
            let udp = Udp { src, dst, len: all };
            Ok((Layer::Udp(udp), u32::from(all), u32::from(*len)))
        }
        Body::Icmp(spec) => icmp_message(spec, is_v6),
    }
}

fn tcp(spec: &TcpSpec) -> Result<Tcp, String> {
    let options = spec.options.clone().unwrap_or_default();
    let mut bytes = Vec::new();
    options.iter().for_each(|o| option::write(o, &mut bytes));
    if bytes.len() % 4 != 0 {
        return Err(format!(
            "the TCP options take {} bytes, which is not a multiple of 4: pad them with nop",
            bytes.len()
        ));
    }
    let header_len = 20 + bytes.len();
    if header_len > MAX_TCP_HEADER {
        return Err(format!(
            "the TCP options take {} bytes, at most 40 fit",
            bytes.len()
        ));
    }
    let (src, dst) = spec.ports.unwrap_or_default();
    Ok(Tcp {
        src,
        dst,
        seq: spec.seq.start,
        ack: spec.ack.unwrap_or(0),
        flags: spec.flags.bits & 0x1ff,
        reserved: 0,
        header_len: header_len as u8,
        window: spec.window.unwrap_or(0),
        urgent: spec.urgent,
        options,
        is_malformed: false,
    })
}

fn icmp_message(spec: &IcmpSpec, is_v6: bool) -> Result<(Layer, u32, u32), String> {
    let (kind, code, word) = icmp::numbers(spec, is_v6)?;
    let message = |quoted| {
        Layer::Icmp(Icmp {
            kind,
            code,
            word,
            is_v6,
            quoted,
        })
    };
    // Without a word on it, the head of a TCP segment at 0 is quoted.
    let (protocol, transport, len) = match spec.quoted.unwrap_or(Quoted::Tcp(Default::default())) {
        Quoted::Raw(len) if len < 8 => return Err("an ICMP message has 8 bytes at least".into()),
        Quoted::Raw(len) => {
            return Ok((message(None), u32::from(len), u32::from(len) - 8));
        }
        Quoted::Tcp(seq) => {
            let tcp = Tcp {
                seq: seq.start,
                header_len: 20,
                flags: flag::ACK,
                ..Tcp::default()
            };
            (protocol::TCP, Layer::Tcp(tcp), u32::from(seq.len) + 20)
        }
        Quoted::Udp(len) => {
            let udp = Udp {
                src: 0,
                dst: 0,
                len: len.saturating_add(8),
            };
            (protocol::UDP, Layer::Udp(udp), u32::from(len) + 8)
        }
    };
    let (src, dst) = open_addresses(is_v6);
    let header = ip(src, dst, &IpInfo::default(), protocol, len)?;
    let quoted_len = u32::from(header.header_len) + QUOTED_LEN;
    let quoted = Packet {
        layers: vec![Layer::Ip(header), transport],
        ..Packet::default()
    };
    Ok((message(Some(Box::new(quoted))), 8 + quoted_len, quoted_len))
}

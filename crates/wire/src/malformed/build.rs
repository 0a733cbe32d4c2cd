//! Bytes of frames, with right sums unless somebody spoils them.

use std::net::IpAddr;

use tcplab_base::Seq;

use super::{Case, Digits, Fate, Flow, SHAPES, Shape};
use crate::{Sum, TcpFlags, ethernet, mark};

/// Numbers of protocols in IP headers.
pub(super) const TCP: u8 = 6;
pub(super) const ICMP: u8 = 1;
pub(super) const ICMP6: u8 = 58;
/// Bytes of the headers without options.
pub(super) const ETHERNET_LEN: usize = 14;
pub(super) const IPV4_LEN: usize = 20;
pub(super) const IPV6_LEN: usize = 40;
pub(super) const TCP_LEN: usize = 20;
/// Most bytes of a TCP header's options.
pub(super) const OPTIONS: usize = 40;
/// The payload of most frames.
pub(super) const PAYLOAD: [u8; 8] = [0xaa; 8];

/// How far from the window a segment lies that no receiver takes.
const FAR: u32 = 1 << 30;

/// A TCP segment to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft<'a> {
    pub seq: Seq,
    pub ack: Seq,
    /// Twelve bits: the reserved ones too.
    pub flags: u16,
    pub urgent: u16,
    pub window: u16,
    /// The data offset, when it lies.
    pub offset: Option<u8>,
    pub options: &'a [u8],
    pub payload: &'a [u8],
}

impl<'a> Draft<'a> {
    /// The next data of the connection, right in every way.
    pub(super) fn next(flow: &Flow, options: &'a [u8]) -> Self {
        Self {
            seq: flow.seq,
            ack: flow.ack,
            flags: TcpFlags::ACK | TcpFlags::PSH,
            urgent: 0,
            window: flow.window,
            offset: None,
            options,
            payload: &PAYLOAD,
        }
    }

    /// The same far before the window: a receiver answers with an ACK at most (RFC 9293 3.10.7.4, first check).
    pub(super) fn old(flow: &Flow, options: &'a [u8]) -> Self {
        Self {
            seq: Seq(flow.seq.0.wrapping_sub(FAR)),
            ..Self::next(flow, options)
        }
    }

    /// Far behind it.
    pub(super) fn beyond(flow: &Flow, options: &'a [u8]) -> Self {
        Self {
            seq: flow.seq + FAR,
            ..Self::next(flow, options)
        }
    }

    /// The segment's bytes; the options are padded with END.
    pub(super) fn bytes(&self, flow: &Flow) -> Vec<u8> {
        let header = (TCP_LEN + self.options.len()).next_multiple_of(4);
        let offset = self.offset.unwrap_or((header / 4) as u8);
        let mut b = Vec::with_capacity(header + self.payload.len());
        b.extend(flow.src.port.to_be_bytes());
        b.extend(flow.dst.port.to_be_bytes());
        b.extend(self.seq.0.to_be_bytes());
        b.extend(self.ack.0.to_be_bytes());
        b.extend((u16::from(offset) << 12 | self.flags & 0x0fff).to_be_bytes());
        b.extend(self.window.to_be_bytes());
        b.extend([0, 0]);
        b.extend(self.urgent.to_be_bytes());
        b.extend_from_slice(self.options);
        b.resize(header, 0);
        b.extend_from_slice(self.payload);
        sum_tcp(flow, &mut b);
        b
    }

    /// The IP packet.
    pub(super) fn ip(&self, flow: &Flow) -> Vec<u8> {
        ip(flow, TCP, &self.bytes(flow))
    }

    /// The frame.
    pub(super) fn frame(&self, flow: &Flow) -> Vec<u8> {
        frame(flow, &[], ethertype(flow), &self.ip(flow))
    }
}

/// Options with the time stamps of a valid segment, as Linux writes them; empty when the connection
/// has no time stamps.
pub(super) fn stamps(flow: &Flow) -> Vec<u8> {
    let Some((value, echo)) = flow.timestamps else {
        return Vec::new();
    };
    let mut b = vec![1, 1, 8, 10];
    b.extend(value.to_be_bytes());
    b.extend(echo.to_be_bytes());
    b
}

/// 40 bytes of options: time stamps where the connection has them, then NOPs.
pub(super) fn full_options(flow: &Flow) -> Vec<u8> {
    let mut b = stamps(flow);
    b.resize(OPTIONS, 1);
    b
}

/// Writes the right checksum into a segment; one that is too short for it stays.
pub(super) fn sum_tcp(flow: &Flow, segment: &mut [u8]) {
    write_sum(flow, TCP, segment, 16);
}

/// Writes the right checksum of a protocol into a message, which has it at this place, if it is long enough.
pub(super) fn write_sum(flow: &Flow, protocol: u8, message: &mut [u8], at: usize) {
    let Some(field) = message.get_mut(at..at + 2) else {
        return;
    };
    field.fill(0);
    let pseudo = match protocol {
        ICMP => None,
        _ => Sum::pseudo(flow.src.ip, flow.dst.ip, protocol, message.len() as u32),
    };
    let sum = pseudo.unwrap_or_default().add(message).finish();
    message[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}

/// Writes the right checksum into an IPv4 header, as long as its IHL says, if it can be.
pub(super) fn sum_ipv4(packet: &mut [u8]) {
    let ihl = packet.first().map_or(5, |b| usize::from(b & 15).max(5)) * 4;
    let end = ihl.min(packet.len());
    if let Some(header) = packet.get_mut(..end).filter(|h| h.len() >= IPV4_LEN) {
        mark::checksum(header);
    }
}

/// An IP packet of the connection with this body.
pub(super) fn ip(flow: &Flow, protocol: u8, body: &[u8]) -> Vec<u8> {
    match (flow.src.ip, flow.dst.ip) {
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let mut b = vec![0x60, 0, 0, 0];
            b.extend((body.len() as u16).to_be_bytes());
            b.extend([protocol, 64]);
            b.extend(src.octets());
            b.extend(dst.octets());
            b.extend_from_slice(body);
            b
        }
        (src, dst) => {
            let four = |ip: IpAddr| match ip {
                IpAddr::V4(ip) => ip.octets(),
                IpAddr::V6(_) => [0; 4],
            };
            let mut b = vec![0x45, 0];
            b.extend(((IPV4_LEN + body.len()) as u16).to_be_bytes());
            b.extend([0, 1, 0x40, 0, 64, protocol, 0, 0]);
            b.extend(four(src));
            b.extend(four(dst));
            sum_ipv4(&mut b);
            b.extend_from_slice(body);
            b
        }
    }
}

/// The connection as its other end sees it.
pub(super) fn reversed(flow: &Flow) -> Flow {
    Flow {
        src_mac: flow.dst_mac,
        dst_mac: flow.src_mac,
        src: flow.dst,
        dst: flow.src,
        seq: flow.ack,
        ack: flow.seq,
        ..*flow
    }
}

/// The EtherType of the connection's IP version.
pub(super) fn ethertype(flow: &Flow) -> u16 {
    match flow.src.ip {
        IpAddr::V4(_) => ethernet::IPV4,
        IpAddr::V6(_) => ethernet::IPV6,
    }
}

/// Ethernet addresses, tags, a type and what follows.
pub(super) fn frame(flow: &Flow, tags: &[u8], kind: u16, rest: &[u8]) -> Vec<u8> {
    let mut b = Vec::with_capacity(ETHERNET_LEN + tags.len() + rest.len());
    b.extend(flow.dst_mac);
    b.extend(flow.src_mac);
    b.extend_from_slice(tags);
    b.extend(kind.to_be_bytes());
    b.extend_from_slice(rest);
    b
}

/// An IP packet in a frame with these tags, which is refused unless a host takes it.
pub(super) fn case(taken: bool, flow: &Flow, tags: &[u8], packet: &[u8]) -> Case {
    if_taken(taken, frame(flow, tags, ethertype(flow), packet))
}

/// A frame that is refused unless a host takes it.
pub(super) fn if_taken(taken: bool, frame: Vec<u8>) -> Case {
    Case::new(frame, if taken { Fate::Harmless } else { Fate::Refused })
}

/// Writes this number in place of the right checksum, or another one where it is the right one.
pub(super) fn spoil(field: &mut [u8], number: u64) {
    let right = u16::from_be_bytes([field[0], field[1]]);
    let mut wrong = number as u16;
    // 0 and 0xffff are one number (RFC 1071).
    if wrong == right || (wrong ^ right == u16::MAX && matches!(right, 0 | u16::MAX)) {
        wrong ^= 0x0100;
    }
    field[..2].copy_from_slice(&wrong.to_be_bytes());
}

/// Lengths in an IP header: 64 steps over all, each of the first 130, the largest.
pub(super) const LENGTHS: u64 = 64 + 130 + 1;

/// The length that the next digit names.
pub(super) fn length(digits: &mut Digits) -> u16 {
    match digits.next(LENGTHS) {
        step @ 0..64 => step as u16 * 1024 + 7,
        small @ 64..194 => (small - 64) as u16,
        _ => u16::MAX,
    }
}

/// Which of the parts, one behind the other, this number is in, and its number there.
pub(super) fn part(mut number: u64, counts: &[u64]) -> (usize, u64) {
    for (at, count) in counts.iter().enumerate() {
        if number < *count {
            return (at, number);
        }
        number -= count;
    }
    (counts.len(), number)
}

/// The shape that the next digit names, and its tags' bytes.
pub(super) fn shape(digits: &mut Digits, flow: &Flow) -> (Shape, Vec<u8>) {
    let shape = digits.one_of(&SHAPES).unwrap_or(SHAPES[0]);
    (shape, shape.bytes(flow.caqm_ethertype))
}

/// A tag: its type and its value.
pub(super) fn tag(kind: u16, value: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (kind.to_be_bytes(), value.to_be_bytes());
    [a, b, c, d]
}

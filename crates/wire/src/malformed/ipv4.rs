//! IPv4 headers whose lengths, fields, options and sums are wrong or strange (RFC 791; Linux `ip_rcv_core()`).

use std::net::IpAddr;

use super::build::{
    self, Draft, IPV4_LEN, LENGTHS, OPTIONS, PAYLOAD, TCP_LEN, case, full_options, part, shape,
    spoil, stamps, sum_ipv4,
};
use super::{Case, Digits, Fate, Flow, Group};

/// The whole packet of `ipv4-length`.
const WHOLE: usize = IPV4_LEN + TCP_LEN + OPTIONS + PAYLOAD.len();

/// Values of `ipv4-fields`: version, protocol, flags and offset, TTL, TOS.
const FIELDS: [u64; 5] = [16, 256, 8 * 5, 3, 256];

pub(super) const GROUPS: &[Group] = &[
    Group::v4(
        "ipv4-length",
        "header lengths 0 to 15 with total lengths from 0 to 65,535, in ten shapes",
        10 * 16 * LENGTHS,
        length,
    ),
    Group::v4(
        "ipv4-fields",
        "every version, protocol, fragment flag and service; offsets and times to live at their ends",
        FIELDS[0] + FIELDS[1] + FIELDS[2] + FIELDS[3] + FIELDS[4],
        fields,
    ),
    Group::v4(
        "ipv4-checksum",
        "every wrong checksum of the IP header",
        1 << 16,
        checksum,
    ),
    Group::v4(
        "ipv4-options",
        "every IP option with lengths 0 to 40",
        256 * 41,
        options,
    ),
    Group::v4(
        "ipv4-option-values",
        "routes, time stamps, security, streams, router alert, labels: every third byte (the pointer) with lengths 2 to 39",
        9 * 256 * 38,
        option_values,
    ),
    Group::v4(
        "ipv4-source",
        "addresses that nobody has: nowhere, loopback, multicast, broadcast, the host's own",
        9 * 2 * 2,
        source,
    ),
];

fn length(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let (shape, tags) = shape(&mut digits, flow);
    let ihl = digits.next(16) as u8;
    let total = build::length(&mut digits);
    let mut packet = Draft::old(flow, &full_options(flow)).ip(flow);
    packet[0] = 0x40 | ihl;
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    sum_ipv4(&mut packet);
    // A length that is less cuts the segment, whose sum is then wrong.
    let is_whole = ihl == 5 && usize::from(total) == WHOLE;
    case(is_whole && shape.is_taken, flow, &tags, &packet)
}

fn fields(flow: &Flow, number: u64, _: u64) -> Case {
    let mut packet = Draft::old(flow, &stamps(flow)).ip(flow);
    let taken = match part(number, &FIELDS) {
        (0, version) => {
            packet[0] = (version as u8) << 4 | 5;
            version == 4
        }
        (1, protocol) => {
            packet[9] = protocol as u8;
            protocol == 6
        }
        (2, fragment) => {
            let offset = [0_u16, 1, 8, 185, 0x1fff][(fragment % 5) as usize];
            let word = ((fragment / 5) as u16) << 13 | offset;
            // Identifications of their own: no two are pieces of one packet.
            packet[4..6].copy_from_slice(&(0x4000 | fragment as u16).to_be_bytes());
            packet[6..8].copy_from_slice(&word.to_be_bytes());
            word & 0x3fff == 0
        }
        (3, ttl) => {
            packet[8] = [0, 1, 255][(ttl % 3) as usize];
            true
        }
        (_, tos) => {
            packet[1] = tos as u8;
            true
        }
    };
    sum_ipv4(&mut packet);
    case(taken, flow, &[], &packet)
}

fn checksum(flow: &Flow, number: u64, _: u64) -> Case {
    let mut packet = Draft::next(flow, &stamps(flow)).ip(flow);
    spoil(&mut packet[10..12], number);
    case(false, flow, &[], &packet)
}

fn options(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let (kind, len) = (digits.next(256) as u8, digits.next(41) as u8);
    let plain = Draft::old(flow, &stamps(flow)).ip(flow);
    let (head, segment) = plain.split_at(IPV4_LEN);
    let mut packet = head.to_vec();
    packet.extend([kind, len]);
    packet.resize(IPV4_LEN + OPTIONS, 1);
    packet.extend_from_slice(segment);
    packet[0] = 0x4f;
    let total = packet.len() as u16;
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    sum_ipv4(&mut packet);
    case(true, flow, &[], &packet)
}

/// Record route, time stamps, security, loose and strict source routes, CIPSO, streams, router alert, quick start.
const READ: [u8; 9] = [7, 68, 130, 131, 134, 136, 137, 148, 25];

fn option_values(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let kind = digits.one_of(&READ).unwrap_or(7);
    let third = digits.next(256) as u8;
    let len = 2 + digits.next(38) as u8;
    let mut option = vec![kind, len];
    // Behind the pointer, overflow and flags of a time stamp, then addresses: the peer's own.
    let IpAddr::V4(peer) = flow.src.ip else {
        return case(false, flow, &[], &[]);
    };
    option.extend([third, third]);
    option.extend(peer.octets().into_iter().cycle().take(OPTIONS));
    option.truncate(usize::from(len));
    // The header is as short as the option lets it be.
    option.resize(option.len().next_multiple_of(4), 0);
    let plain = Draft::old(flow, &stamps(flow)).ip(flow);
    let (head, segment) = plain.split_at(IPV4_LEN);
    let mut packet = [head, &option, segment].concat();
    packet[0] = 0x40 | ((IPV4_LEN + option.len()) / 4) as u8;
    let total = packet.len() as u16;
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    sum_ipv4(&mut packet);
    case(true, flow, &[], &packet)
}

fn source(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let own = match flow.dst.ip {
        IpAddr::V4(ip) => ip.octets(),
        IpAddr::V6(_) => [0; 4],
    };
    let [a, b, c, _] = own;
    let addresses = [
        [0, 0, 0, 0],
        [127, 0, 0, 1],
        [224, 0, 0, 1],
        [255, 255, 255, 255],
        [240, 0, 0, 1],
        [a, b, c, 255],
        [a, b, c, 0],
        [0, 0, 0, 1],
        own,
    ];
    let ip = digits.one_of(&addresses).unwrap_or(own);
    let mut other = *flow;
    other.src.ip = IpAddr::from(ip);
    if digits.next(2) == 1 {
        // From the port that it goes to: it would answer itself.
        other.src.port = flow.dst.port;
    }
    let mut draft = Draft::old(flow, &[]);
    if digits.next(2) == 1 {
        draft.flags = crate::TcpFlags::SYN;
    }
    Case::new(draft.frame(&other), Fate::Harmless)
}

//! IPv4 headers whose lengths, fields, options and sums are wrong or strange (RFC 791; Linux `ip_rcv_core()`).

use std::net::IpAddr;

use super::build::{
    Draft, IPV4_LEN, OPTIONS, PAYLOAD, TCP_LEN, frame, full_options, shape, stamps, sum_ipv4,
};
use super::{Aim, Case, Digits, Family, Fate, Flow, Group};
use crate::ethernet::IPV4;

/// The whole packet of `ipv4-length`.
const WHOLE: usize = IPV4_LEN + TCP_LEN + OPTIONS + PAYLOAD.len();
/// Total lengths: 64 steps over all, each of the first 130, the largest.
const LENGTHS: u64 = 64 + 130 + 1;

/// Values of `ipv4-fields`: version, protocol, flags and offset, TTL, TOS.
const FIELDS: [u64; 5] = [16, 256, 8 * 5, 3, 256];

pub(super) const GROUPS: &[Group] = &[
    Group {
        name: "ipv4-length",
        about: "header lengths 0 to 15 with total lengths from 0 to 65,535, in ten shapes",
        count: 10 * 16 * LENGTHS,
        aim: Aim::Live,
        family: Family::V4,
        make: length,
    },
    Group {
        name: "ipv4-fields",
        about: "every version, protocol, fragment flag and service; offsets and times to live at their ends",
        count: FIELDS[0] + FIELDS[1] + FIELDS[2] + FIELDS[3] + FIELDS[4],
        aim: Aim::Live,
        family: Family::V4,
        make: fields,
    },
    Group {
        name: "ipv4-checksum",
        about: "every wrong checksum of the IP header",
        count: 1 << 16,
        aim: Aim::Live,
        family: Family::V4,
        make: checksum,
    },
    Group {
        name: "ipv4-options",
        about: "every IP option with lengths 0 to 40",
        count: 256 * 41,
        aim: Aim::Live,
        family: Family::V4,
        make: options,
    },
    Group {
        name: "ipv4-option-values",
        about: "routes, time stamps, security, streams, router alert, labels: every third byte (the pointer) with lengths 2 to 39",
        count: 9 * 256 * 38,
        aim: Aim::Live,
        family: Family::V4,
        make: option_values,
    },
    Group {
        name: "ipv4-source",
        about: "addresses that nobody has: nowhere, loopback, multicast, broadcast, the host's own",
        count: 9 * 2 * 2,
        aim: Aim::Live,
        family: Family::V4,
        make: source,
    },
];

fn case(taken: bool, flow: &Flow, tags: &[u8], packet: &[u8]) -> Case {
    Case {
        frame: frame(flow, tags, IPV4, packet),
        fate: if taken { Fate::Harmless } else { Fate::Refused },
        rest: Vec::new(),
    }
}

fn length(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let (shape, tags) = shape(&mut digits, flow);
    let ihl = digits.next(16) as u8;
    let total = match digits.next(LENGTHS) {
        step @ 0..64 => step as u16 * 1024 + 7,
        small @ 64..194 => (small - 64) as u16,
        _ => u16::MAX,
    };
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
    let [versions, protocols, fragments, ttls, _] = FIELDS;
    let mut n = number;
    let mut within = |count: u64| {
        let is = n < count;
        if !is {
            n -= count;
        }
        is.then_some(n)
    };
    let taken = if let Some(version) = within(versions) {
        packet[0] = (version as u8) << 4 | 5;
        version == 4
    } else if let Some(protocol) = within(protocols) {
        packet[9] = protocol as u8;
        protocol == 6
    } else if let Some(fragment) = within(fragments) {
        let offset = [0_u16, 1, 8, 185, 0x1fff][(fragment % 5) as usize];
        let word = ((fragment / 5) as u16) << 13 | offset;
        // Identifications of their own: no two are pieces of one packet.
        packet[4..6].copy_from_slice(&(0x4000 | fragment as u16).to_be_bytes());
        packet[6..8].copy_from_slice(&word.to_be_bytes());
        word & 0x3fff == 0
    } else if let Some(ttl) = within(ttls) {
        packet[8] = [0, 1, 255][(ttl % 3) as usize];
        true
    } else {
        packet[1] = n as u8;
        true
    };
    sum_ipv4(&mut packet);
    case(taken, flow, &[], &packet)
}

fn checksum(flow: &Flow, number: u64, _: u64) -> Case {
    let mut packet = Draft::next(flow, &stamps(flow)).ip(flow);
    let right = u16::from_be_bytes([packet[10], packet[11]]);
    let mut wrong = number as u16;
    // 0 and 0xffff are one number (RFC 1071).
    if wrong == right || (wrong ^ right == u16::MAX && matches!(right, 0 | u16::MAX)) {
        wrong ^= 0x0100;
    }
    packet[10..12].copy_from_slice(&wrong.to_be_bytes());
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
    Case {
        frame: draft.frame(&other),
        fate: Fate::Harmless,
        rest: Vec::new(),
    }
}

//! IPv6 headers and extension headers that lie (RFC 8200 3, 4; Linux `ip6_rcv_core()`, `ip6_protocol_deliver_rcu()`).

use super::build::{
    self, Draft, IPV6_LEN, LENGTHS, OPTIONS, TCP, case, full_options, ip, part, shape, stamps,
};
use super::{Case, Digits, Flow, Group};

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const OPTIONS_FOR_TARGET: u8 = 60;
/// What can stand before TCP: also ESP, AH, mobility, HIP, shim6, and nothing.
const EXTENSIONS: [u8; 9] = [
    HOP_BY_HOP,
    ROUTING,
    FRAGMENT,
    OPTIONS_FOR_TARGET,
    50,
    51,
    135,
    139,
    59,
];

/// Values of `ipv6-fields`: version, next header, hop limit, traffic class, flow label.
const FIELDS: [u64; 5] = [16, 256, 3, 256, 20];

pub(super) const GROUPS: &[Group] = &[
    Group::v6(
        "ipv6-length",
        "payload lengths from 0 to 65,535, in ten shapes",
        10 * LENGTHS,
        length,
    ),
    Group::v6(
        "ipv6-fields",
        "every version, next header and traffic class; hop limits and flow labels at their ends",
        FIELDS[0] + FIELDS[1] + FIELDS[2] + FIELDS[3] + FIELDS[4],
        fields,
    ),
    Group::v6(
        "ipv6-extension",
        "nine extension headers with every length, alone and behind another one",
        9 * 256 * 4,
        extension,
    ),
    Group::v6(
        "ipv6-options",
        "every option of hop-by-hop and destination headers with lengths 0 to 40",
        2 * 256 * 41,
        options,
    ),
    Group::v6(
        "ipv6-chain",
        "up to 64 extension headers in a row",
        65 * 4,
        chain,
    ),
];

fn length(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let (shape, tags) = shape(&mut digits, flow);
    let len = build::length(&mut digits);
    let mut packet = Draft::old(flow, &full_options(flow)).ip(flow);
    packet[4..6].copy_from_slice(&len.to_be_bytes());
    let is_whole = usize::from(len) == packet.len() - IPV6_LEN;
    // One that is less cuts the segment, whose sum is then wrong; 0 is for jumbograms (RFC 2675), which say so.
    case(is_whole && shape.is_taken, flow, &tags, &packet)
}

fn fields(flow: &Flow, number: u64, _: u64) -> Case {
    let mut packet = Draft::old(flow, &stamps(flow)).ip(flow);
    let taken = match part(number, &FIELDS) {
        (0, version) => {
            packet[0] = (version as u8) << 4;
            version == 6
        }
        (1, next) => {
            packet[6] = next as u8;
            next == 6
        }
        (2, limit) => {
            packet[7] = [0, 1, 255][(limit % 3) as usize];
            true
        }
        (3, class) => {
            let class = class as u8;
            (packet[0], packet[1]) = (0x60 | class >> 4, class << 4);
            true
        }
        (_, bit) => {
            let label = 1_u32 << (bit % 20);
            packet[1..4].copy_from_slice(&label.to_be_bytes()[1..]);
            true
        }
    };
    // Another next header reads TCP's bytes as its own, so the packet never reaches this connection.
    case(taken, flow, &[], &packet)
}

/// An extension header of `len` + 1 times eight bytes, filled with what pads options, without segments or offset left.
fn header(kind: u8, next: u8, len: u8) -> Vec<u8> {
    let bytes = 8 * (usize::from(len) + 1);
    let mut b = vec![next, len];
    match kind {
        FRAGMENT => {
            b[1] = 0;
            b.resize(8, 0);
        }
        ROUTING => b.resize(bytes, 0),
        _ => {
            // PadN over all of it, in pieces of at most 257 bytes.
            while b.len() < bytes {
                let room = bytes - b.len();
                match room {
                    1 => b.push(0),
                    _ => {
                        let data = (room - 2).min(255);
                        b.extend([1, data as u8]);
                        b.resize(b.len() + data, 0);
                    }
                }
            }
        }
    }
    b
}

fn extension(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let kind = digits.one_of(&EXTENSIONS).unwrap_or(HOP_BY_HOP);
    let len = digits.next(256) as u8;
    let is_filled = digits.next(2) == 1;
    let is_second = digits.next(2) == 1;
    let mut own = header(kind, TCP, len);
    if !is_filled {
        // It says more than there is, or takes TCP's header for its own.
        own.truncate(8);
    }
    let (mut first, mut body) = (kind, Vec::new());
    if is_second {
        first = OPTIONS_FOR_TARGET;
        body = header(first, kind, 0);
    }
    body.extend(own);
    body.extend(Draft::old(flow, &stamps(flow)).bytes(flow));
    let packet = ip(flow, first, &body);
    case(true, flow, &[], &packet)
}

fn options(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let kind = digits.one_of(&[HOP_BY_HOP, OPTIONS_FOR_TARGET]);
    let kind = kind.unwrap_or(HOP_BY_HOP);
    let (option, len) = (digits.next(256) as u8, digits.next(41) as u8);
    let mut body = vec![TCP, 5, option, len];
    // Pad1 behind it.
    body.resize(8 + OPTIONS, 0);
    body.extend(Draft::old(flow, &stamps(flow)).bytes(flow));
    let packet = ip(flow, kind, &body);
    case(true, flow, &[], &packet)
}

fn chain(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let depth = digits.next(65) as usize;
    let kinds = match digits.next(4) {
        0 => [OPTIONS_FOR_TARGET, OPTIONS_FOR_TARGET],
        1 => [HOP_BY_HOP, HOP_BY_HOP],
        2 => [ROUTING, OPTIONS_FOR_TARGET],
        _ => [FRAGMENT, ROUTING],
    };
    let kind = |at: usize| if at < depth { kinds[at % 2] } else { TCP };
    let mut body = Vec::new();
    for at in 0..depth {
        body.extend(header(kind(at), kind(at + 1), 0));
    }
    body.extend(Draft::old(flow, &stamps(flow)).bytes(flow));
    let packet = ip(flow, kind(0), &body);
    case(true, flow, &[], &packet)
}

//! ICMP and ICMPv6: all types and codes, and errors that quote segments of a connection, truncated, false, with wrong
//! sums (RFC 792, RFC 4443, RFC 5927; Linux `icmp_rcv()`, `tcp_v4_err()`, `icmpv6_rcv()`, `tcp_v6_err()`).
//!
//! ICMPv6 frames have a hop limit other than 255. Messages that only a neighbour may send (RFC 4861), such as routers
//! and their prefixes, would change more than one connection.

use tcplab_base::Seq;

use super::build::{
    Draft, ICMP, ICMP6, IPV4_LEN, IPV6_LEN, ethertype, frame, ip, reversed, spoil, stamps,
    sum_ipv4, write_sum,
};
use super::{Aim, Case, Digits, Fate, Flow, Group};

/// Bytes of type, code, sum and what stands before the quotation.
const HEADER: usize = 8;
/// Bytes that `icmp-cut` leaves, at most: header, IP, TCP with time stamps, payload.
const CUTS: u64 = 8 + 40 + 32 + 8 + 1;

/// Errors about a segment: destination unreachable, source quench, redirect, time exceeded, parameter problem.
const ERRORS: [u8; 5] = [3, 4, 5, 11, 12];
/// Of ICMPv6: unreachable, too big, time exceeded, parameter problem.
const ERRORS6: [u8; 4] = [1, 2, 3, 4];
/// MTUs of "fragmentation needed": none, less than any, at the edges of what IPv4 and IPv6 must carry and of Ethernet.
const MTUS: [u32; 12] = [
    0,
    1,
    67,
    68,
    551,
    552,
    576,
    1_279,
    1_280,
    1_499,
    65_535,
    u32::MAX,
];
/// Sequence numbers far from what is in flight, from SND.NXT.
const OUTSIDE: [u32; 6] = [
    1,
    0_u32.wrapping_sub(100_000),
    100_000,
    1 << 30,
    1 << 31,
    0_u32.wrapping_sub(1 << 30),
];
/// Near it.
const NEAR: [u32; 5] = [
    0,
    1,
    0_u32.wrapping_sub(1),
    0_u32.wrapping_sub(1_448),
    1_448,
];

pub(super) const GROUPS: &[Group] = &[
    Group::v4(
        "icmp-types",
        "every ICMP type and code, quoting a segment that was never sent",
        1 << 16,
        types,
    ),
    Group::v6(
        "icmp6-types",
        "the same of ICMPv6, not from a neighbour",
        1 << 16,
        types,
    ),
    Group::v4(
        "icmp-outside",
        "errors that quote segments outside what is in flight, with twelve MTUs",
        5 * 16 * 12 * 6,
        outside,
    ),
    Group::v6(
        "icmp6-outside",
        "the same of ICMPv6",
        4 * 16 * 12 * 6,
        outside,
    ),
    Group::v4(
        "icmp-near",
        "errors that quote segments in flight or nearly, about a connection that may be hurt",
        5 * 16 * 12 * 5,
        near,
    )
    .aimed(Aim::Victim),
    Group::v6("icmp6-near", "the same of ICMPv6", 4 * 16 * 12 * 5, near).aimed(Aim::Victim),
    Group::v4(
        "icmp-cut",
        "errors cut after each byte, with a length and a sum of the rest and without",
        5 * 2 * CUTS,
        cut,
    ),
    Group::v6("icmp6-cut", "the same of ICMPv6", 4 * 2 * CUTS, cut),
    Group::v4(
        "icmp-quote",
        "quotations that lie: every first byte, length, fragment offset, protocol, data offset; RFC 4884 lengths",
        5 * 256 * 6,
        quote,
    ),
    Group::v6(
        "icmp6-quote",
        "the same of ICMPv6, whose next header may be any extension",
        4 * 256 * 6,
        quote,
    ),
    Group::v4(
        "icmp-checksum",
        "every wrong checksum of an error about the newest segment",
        1 << 16,
        checksum,
    ),
    Group::v6("icmp6-checksum", "the same of ICMPv6", 1 << 16, checksum),
];

fn is_v6(flow: &Flow) -> bool {
    flow.dst.ip.is_ipv6()
}

/// Which error the next digit names.
fn error(digits: &mut Digits, flow: &Flow) -> u8 {
    let of: &[u8] = match is_v6(flow) {
        true => &ERRORS6,
        false => &ERRORS,
    };
    digits.one_of(of).unwrap_or(3)
}

/// An IP packet of the host on this connection: what a message quotes.
fn quoted(flow: &Flow, from_next: u32) -> Vec<u8> {
    let back = reversed(flow);
    let options = stamps(&back);
    let draft = Draft {
        seq: Seq(flow.ack.0.wrapping_add(from_next)),
        ..Draft::next(&back, &options)
    };
    draft.ip(&back)
}

/// A message: type, code, the four bytes behind the sum, what it quotes.
fn message(flow: &Flow, kind: u8, code: u8, word: u32, quote: &[u8]) -> Vec<u8> {
    let mut b = vec![kind, code, 0, 0];
    b.extend(word.to_be_bytes());
    b.extend_from_slice(quote);
    sum(flow, &mut b);
    b
}

/// Writes the right checksum into a message; one that is too short for it stays.
fn sum(flow: &Flow, message: &mut [u8]) {
    write_sum(flow, protocol(flow), message, 2);
}

fn protocol(flow: &Flow) -> u8 {
    if is_v6(flow) { ICMP6 } else { ICMP }
}

fn packet(flow: &Flow, message: &[u8]) -> Vec<u8> {
    ip(flow, protocol(flow), message)
}

fn case(flow: &Flow, packet: &[u8], fate: Fate) -> Case {
    Case::new(frame(flow, &[], ethertype(flow), packet), fate)
}

/// The word behind the sum: the MTU where the message has one. A redirect names a router that does not exist.
fn word(flow: &Flow, kind: u8, code: u8, mtu: u32) -> u32 {
    match (is_v6(flow), kind, code) {
        (true, 2, _) => mtu,
        (false, 3, 4) => mtu & 0xffff,
        (false, 12, _) => mtu << 24,
        (true, 4, _) => mtu,
        _ => 0,
    }
}

fn types(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let (code, kind) = (digits.next(256) as u8, digits.next(256) as u8);
    let quote = quoted(flow, 1 << 30);
    let message = message(flow, kind, code, word(flow, kind, code, 1_000), &quote);
    case(flow, &packet(flow, &message), Fate::Harmless)
}

fn about(flow: &Flow, number: u64, from_next: &[u32], fate: Fate) -> Case {
    let mut digits = Digits::of(number);
    let kind = error(&mut digits, flow);
    let code = digits.next(16) as u8;
    let mtu = digits.one_of(&MTUS).unwrap_or(0);
    let quote = quoted(flow, digits.one_of(from_next).unwrap_or(0));
    let message = message(flow, kind, code, word(flow, kind, code, mtu), &quote);
    case(flow, &packet(flow, &message), fate)
}

fn outside(flow: &Flow, number: u64, _: u64) -> Case {
    about(flow, number, &OUTSIDE, Fate::Harmless)
}

fn near(flow: &Flow, number: u64, _: u64) -> Case {
    about(flow, number, &NEAR, Fate::Any)
}

fn cut(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let kind = error(&mut digits, flow);
    let is_told = digits.next(2) == 1;
    let left = digits.next(CUTS) as usize;
    let mut whole = message(flow, kind, 1, 0, &quoted(flow, 1 << 30));
    let is_whole = left >= whole.len();
    whole.truncate(left);
    if is_told {
        sum(flow, &mut whole);
        let fate = match left < HEADER {
            true => Fate::Refused,
            false => Fate::Harmless,
        };
        return case(flow, &packet(flow, &whole), fate);
    }
    // The IP header tells the length of the whole one.
    let mut packet = packet(flow, &message(flow, kind, 1, 0, &quoted(flow, 1 << 30)));
    packet.truncate(ip_len(flow) + left);
    let fate = match is_whole {
        true => Fate::Harmless,
        false => Fate::Refused,
    };
    case(flow, &packet, fate)
}

fn ip_len(flow: &Flow) -> usize {
    match is_v6(flow) {
        true => IPV6_LEN,
        false => IPV4_LEN,
    }
}

fn quote(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let kind = error(&mut digits, flow);
    let value = digits.next(256) as u8;
    let mut quote = quoted(flow, 1 << 30);
    let mut behind = 0;
    let tcp = ip_len(flow);
    match (digits.next(6), is_v6(flow)) {
        (0, _) => quote[0] = value,
        (1, false) => quote[2..4].copy_from_slice(&(u16::from(value) << 8 | 7).to_be_bytes()),
        (1, true) => quote[4..6].copy_from_slice(&(u16::from(value) << 8 | 7).to_be_bytes()),
        (2, false) => quote[6..8].copy_from_slice(&(u16::from(value) << 5).to_be_bytes()),
        // A fragment header, or any other, and TCP's bytes as its own.
        (2 | 3, true) => quote[6] = value,
        (3, false) => quote[9] = value,
        (4, _) => quote[tcp + 12] = value,
        // RFC 4884: the quotation's length in words of 32 or 64 bits, and an invalid extension.
        _ => {
            behind = u32::from(value) << if is_v6(flow) { 24 } else { 16 };
            quote.resize(tcp + 128, 0);
            quote.extend([0x20, 0, 0xff, 0xff, 0, value, 1, 1]);
        }
    }
    if !is_v6(flow) && quote[0] == 0x45 {
        sum_ipv4(&mut quote);
    }
    let message = message(flow, kind, 1, behind, &quote);
    case(flow, &packet(flow, &message), Fate::Harmless)
}

fn checksum(flow: &Flow, number: u64, _: u64) -> Case {
    let kind = if is_v6(flow) { 1 } else { 3 };
    let mut message = message(flow, kind, 1, 0, &quoted(flow, 0));
    spoil(&mut message[2..4], number);
    case(flow, &packet(flow, &message), Fate::Refused)
}

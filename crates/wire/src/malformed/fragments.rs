//! All fragments of one packet: in any order, tiny, overlapping, too long together, never complete (RFC 791 3.2, RFC
//! 8200 4.5, RFC 5722, RFC 1858; Linux `ip_defrag()`, `ipv6_frag_rcv()`).
//!
//! The packet carries old data of a connection that must survive: reassembled, it is answered with at most an ACK.
//! Each case has a different identification.

use super::build::{Draft, TCP, ethertype, frame, full_options, ip, sum_ipv4};
use super::{Case, Digits, Fate, Flow, Group};

const FRAGMENT: u8 = 44;
/// Bytes of a segment: header, options, payload; in units of eight.
const UNITS: usize = 20;
const LEN: usize = UNITS * 8;
/// The largest offset, in units.
const LAST: u16 = 0x1fff;

/// Pairs of places to cut.
const PAIRS: u64 = (UNITS * UNITS) as u64;

pub(super) const GROUPS: &[Group] = &[
    Group::v4(
        "fragments",
        "a packet in pieces of each size: in order, backwards, odd ones first, each twice",
        UNITS as u64 * 4,
        whole,
    ),
    Group::v6("fragments-v6", "the same in IPv6", UNITS as u64 * 4, whole),
    Group::v4(
        "fragments-overlap",
        "two pieces that overlap by each number of units or leave a hole: alike, with other bytes, in both orders",
        PAIRS * 4,
        overlap,
    ),
    Group::v6(
        "fragments-overlap-v6",
        "the same in IPv6",
        PAIRS * 4,
        overlap,
    ),
    Group::v4(
        "fragments-never",
        "packets that never get complete: one piece each, every offset, with more to come and without",
        (LAST as u64 + 1) * 2,
        never,
    ),
    Group::v6(
        "fragments-never-v6",
        "the same in IPv6",
        (LAST as u64 + 1) * 2,
        never,
    ),
    Group::v4(
        "fragments-odd",
        "pieces of any length with more to come, empty ones, two ends, an end before what came, more than 64 KiB",
        6 * 65 * 2,
        odd,
    ),
    Group::v6("fragments-odd-v6", "the same in IPv6", 6 * 65 * 2, odd),
];

/// A piece: where it belongs in units, whether more follow, its bytes.
struct Piece<'a>(u16, bool, &'a [u8]);

/// The segment that is cut: old, 160 bytes.
fn segment(flow: &Flow) -> Vec<u8> {
    let options = full_options(flow);
    let payload = vec![0x5a; LEN - 20 - options.len()];
    let draft = Draft {
        payload: &payload,
        ..Draft::old(flow, &options)
    };
    draft.bytes(flow)
}

/// A frame of a piece.
fn of(flow: &Flow, ident: u32, Piece(offset, more, bytes): &Piece<'_>) -> Vec<u8> {
    let word = offset & LAST;
    let packet = match flow.dst.ip.is_ipv6() {
        true => {
            let mut body = vec![TCP, 0];
            body.extend((word << 3 | u16::from(*more)).to_be_bytes());
            body.extend(ident.to_be_bytes());
            body.extend_from_slice(bytes);
            ip(flow, FRAGMENT, &body)
        }
        false => {
            let mut packet = ip(flow, TCP, bytes);
            packet[4..6].copy_from_slice(&(ident as u16).to_be_bytes());
            let word = word | u16::from(*more) << 13;
            packet[6..8].copy_from_slice(&word.to_be_bytes());
            sum_ipv4(&mut packet);
            packet
        }
    };
    frame(flow, &[], ethertype(flow), &packet)
}

fn case(flow: &Flow, ident: u64, pieces: &[Piece<'_>]) -> Case {
    let mut frames = pieces.iter().map(|piece| of(flow, ident as u32, piece));
    Case {
        frame: frames.next().unwrap_or_default(),
        rest: frames.collect(),
        fate: Fate::Harmless,
    }
}

/// From one unit to another, of the whole.
fn units(segment: &[u8], from: usize, to: usize) -> Piece<'_> {
    let to = to.clamp(from, UNITS);
    let bytes = segment.get(from * 8..to * 8).unwrap_or_default();
    Piece(from as u16, to < UNITS, bytes)
}

fn whole(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let size = 1 + digits.next(UNITS as u64) as usize;
    let segment = segment(flow);
    let starts = (0..UNITS).step_by(size);
    let all: Vec<Piece<'_>> = starts.map(|at| units(&segment, at, at + size)).collect();
    let order: Vec<usize> = match digits.next(4) {
        0 => (0..all.len()).collect(),
        1 => (0..all.len()).rev().collect(),
        2 => {
            let odd = (0..all.len()).filter(|at| at % 2 == 1);
            odd.chain((0..all.len()).step_by(2)).collect()
        }
        _ => (0..all.len()).flat_map(|at| [at, at]).collect(),
    };
    let Some(pieces) = order
        .iter()
        .map(|&at| all.get(at))
        .collect::<Option<Vec<_>>>()
    else {
        return case(flow, number, &all);
    };
    let pieces: Vec<Piece<'_>> = pieces.iter().map(|p| Piece(p.0, p.1, p.2)).collect();
    case(flow, 0x1000 + number, &pieces)
}

fn overlap(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let end = 1 + digits.next(UNITS as u64) as usize;
    let start = digits.next(UNITS as u64) as usize;
    let (is_other, is_backwards) = (digits.next(2) == 1, digits.next(2) == 1);
    let segment = segment(flow);
    let mut second = segment.clone();
    if is_other {
        second.fill(0xee);
    }
    // The first one has more to come, even when it is all.
    let mut pieces = [units(&segment, 0, end), units(&second, start, UNITS)];
    pieces[0].1 = true;
    if is_backwards {
        pieces.reverse();
    }
    case(flow, 0x2000 + number, &pieces)
}

fn never(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let more = digits.next(2) == 1;
    let offset = digits.next(u64::from(LAST) + 1) as u16;
    let segment = segment(flow);
    let mut piece = Piece(offset, more, segment.get(..64).unwrap_or_default());
    if offset == 0 && !more {
        // That would be all of it.
        piece.1 = true;
    }
    case(flow, 0x4000 + number, &[piece])
}

fn odd(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let len = digits.next(65) as usize;
    let is_backwards = digits.next(2) == 1;
    let segment = segment(flow);
    let part = segment.get(..len).unwrap_or_default();
    let behind = (len / 8) as u16;
    let mut pieces = match digits.next(6) {
        // A length that is no multiple of eight, with more to come (RFC 8200 4.5: parameter problem).
        0 => vec![Piece(0, true, part), units(&segment, len / 8, UNITS)],
        // Nothing in it.
        1 => vec![
            Piece(behind, true, &[]),
            Piece(0, true, part),
            Piece(behind, false, &[]),
        ],
        // Two ends.
        2 => vec![
            Piece(4, false, part),
            Piece(8, false, part),
            Piece(0, true, &segment[..64]),
        ],
        // An end before what came.
        3 => vec![
            Piece(behind + 4, true, &segment[..32]),
            Piece(0, false, part),
        ],
        // More than 65,535 bytes.
        4 => vec![Piece(LAST, true, part), Piece(LAST - 8, false, part)],
        // The first piece holds part of TCP's header only (RFC 1858).
        _ => vec![
            Piece(0, true, &segment[..(len / 8 * 8).min(16)]),
            units(&segment, (len / 8).min(2), UNITS),
        ],
    };
    if is_backwards {
        pieces.reverse();
    }
    case(flow, 0x9000 + number, &pieces)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use tcplab_base::Seq;

    use super::super::build::IPV4_LEN;
    use super::*;
    use crate::Endpoint;

    #[test]
    fn the_pieces_of_a_whole_one_are_the_packet() {
        let end = |n, port| Endpoint {
            ip: IpAddr::from([192, 0, 2, n]),
            port,
        };
        let flow = Flow {
            src_mac: [2; 6],
            dst_mac: [4; 6],
            src: end(1, 4000),
            dst: end(2, 80),
            seq: Seq(1),
            ack: Seq(2),
            window: 500,
            rcv_wnd: 65_535,
            timestamps: Some((1, 2)),
            caqm_ethertype: 0x8200,
        };
        let want = segment(&flow);
        assert_eq!(want.len(), LEN);
        for number in 0..UNITS as u64 * 4 {
            let mut got = vec![0; LEN];
            for frame in whole(&flow, number, 1).frames() {
                let packet = &frame[14..];
                let at = usize::from(u16::from_be_bytes([packet[6], packet[7]]) & LAST) * 8;
                let bytes = &packet[IPV4_LEN..];
                got[at..at + bytes.len()].copy_from_slice(bytes);
            }
            assert_eq!(got, want, "{number}");
        }
    }
}

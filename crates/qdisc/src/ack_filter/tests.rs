//! The cases of the patch, one by one: which packet of a queue gives way to the one that comes.

use crate::kinds::AckFilter::{self, Aggressive, Conservative, First, FirstAggressive, Naive};
use tcplab_base::Seq;

use super::{AckHeader, redundant};
use crate::ack_filter::AckOptions;

/// Reads a queue from text, head first, the trigger last. `A5` is an ACK of 5, `D5` the same with
/// data, `S5` a SYN-ACK. Options follow after slashes: `ece`, `cwr`, `ns`, `urg`, `psh`, `fin`,
/// `rst`, `unknown` (an option), `ts=V,E`, `sack=B-E,B-E`, `port=N`, `v6`.
fn headers(text: &str) -> Vec<Option<AckHeader>> {
    text.split_whitespace().map(header).collect()
}

fn header(word: &str) -> Option<AckHeader> {
    let mut parts = word.split('/');
    let (kind, number) = parts.next()?.split_at(1);
    if kind == "U" {
        return None;
    }
    let mut header = AckHeader {
        addresses: [[1, 0, 0, 0], [2, 0, 0, 0]],
        ports: [1_000, 80],
        version: 4,
        flags: if kind == "S" { 0x12 } else { 0x10 },
        no_payload: kind != "D",
        ack: Seq(number.parse().expect(word)),
        options: AckOptions::default(),
    };
    let pair = |text: &str, by: char| {
        let (a, b) = text.split_once(by).expect(word);
        (a.parse().expect(word), b.parse().expect(word))
    };
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key {
            "ece" => header.flags |= 0x40,
            "cwr" => header.flags |= 0x80,
            "ns" => header.flags |= 0x100,
            "reserved" => header.flags |= 0x200,
            "urg" => header.flags |= 0x20,
            "psh" => header.flags |= 0x08,
            "rst" => header.flags |= 0x04,
            "syn" => header.flags |= 0x02,
            "fin" => header.flags |= 0x01,
            "unknown" => header.options.are_harmless = false,
            "port" => header.ports[0] = value.parse().expect(word),
            "v6" => header.version = 6,
            "ts" => {
                let (value, echo) = pair(value, ',');
                header.options.add_stamp(value, echo);
            }
            "sack" => {
                for block in value.split(',') {
                    let (begin, end) = pair(block, '-');
                    header.options.add_block(Seq(begin), Seq(end));
                }
            }
            _ => panic!("{word}"),
        }
    }
    Some(header)
}

/// The place of the packet that gives way, from 1; 0: none.
fn gives_way(filter: AckFilter, text: &str) -> usize {
    let all = headers(text);
    let (trigger, queue) = all.split_last().expect("a trigger");
    let Some(trigger) = trigger else { return 0 };
    let places = queue.iter().enumerate();
    redundant(filter, places.map(|(n, h)| (n + 1, h.as_ref())), trigger).unwrap_or(0)
}

/// Each case: the queue, then who gives way by conservative, aggressive, first and first aggressive filter.
fn check(table: &[(&str, [usize; 4])]) {
    for (text, right) in table {
        let is = [Conservative, Aggressive, First, FirstAggressive].map(|f| gives_way(f, text));
        assert_eq!(is, *right, "{text}");
    }
}

#[test]
fn the_golden_cases() {
    check(&[
        ("A1 A2", [0, 1, 0, 1]),
        ("A1 A2 A3", [1, 1, 1, 1]),
        ("A2 A2 A2", [0, 0, 0, 0]),
        ("A2 A2/sack=10-20 A2/sack=10-30", [1, 1, 1, 1]),
        ("A1/ece A2 A3", [0, 2, 1, 1]),
        ("A1 D1 A2 D3", [1, 1, 1, 1]),
        ("A5 A3", [0, 0, 0, 0]),
        ("A1/unknown A2 A3", [0, 2, 1, 1]),
        ("A1 S2", [0, 0, 0, 0]),
        ("A1", [0, 0, 0, 0]),
    ]);
}

#[test]
fn other_flows_and_other_packets_in_the_queue() {
    check(&[
        ("A1/port=7 A1 A2/port=7 A2", [0, 0, 0, 2]),
        ("A1/port=7 A1 A2 A3/port=7", [0, 0, 0, 1]),
        ("A1/v6 A2", [0, 0, 0, 0]),
        ("U0 A1 U0 A2 U0 A3", [2, 2, 2, 2]),
        ("A1 U0 A2", [0, 0, 0, 1]),
        ("U0 A1 A2", [0, 2, 0, 2]),
        ("A1 U0", [0, 0, 0, 0]),
        ("D1 D2 A3", [0, 0, 0, 0]),
    ]);
}

#[test]
fn each_flag() {
    for flag in ["urg", "psh", "rst", "syn", "fin", "reserved"] {
        let text = format!("A1/{flag} A2/{flag} A3");
        for filter in [Conservative, Aggressive, First, FirstAggressive] {
            assert_eq!(gives_way(filter, &text), 0, "{text}");
        }
    }
    check(&[
        ("A1/ns A2/ns A3", [0, 0, 1, 1]),
        // The same ECE all along says nothing new.
        ("A1/ece A2/ece A3/ece", [1, 1, 1, 1]),
        ("A1/ece A2/ece A3", [1, 1, 1, 1]),
        ("A1/ece A2", [0, 0, 0, 1]),
        ("A1/cwr A2/ece A3", [0, 0, 1, 1]),
        ("A1 A2/ece A3/ece", [0, 2, 1, 1]),
        // A data packet with other marks breaks the run as well.
        ("A1 D1/ece A2 A3", [0, 3, 1, 1]),
        // The trigger may carry data and flags.
        ("A1 A2 D3/psh", [1, 1, 1, 1]),
        ("A1 A2 A3/fin", [1, 1, 1, 1]),
    ]);
}

#[test]
fn numbers_wrap() {
    check(&[
        ("A4294967290 A4294967295 A3", [1, 1, 1, 1]),
        ("A3 A4294967290", [0, 0, 0, 0]),
    ]);
}

#[test]
fn sack_and_dsack() {
    check(&[
        // Lower number, the same blocks.
        ("A1/sack=10-20 A2/sack=10-20 A3/sack=10-20", [1, 1, 1, 1]),
        // What the trigger does not SACK stays.
        ("A1/sack=30-40 A2/sack=30-40 A3/sack=10-20", [0, 0, 1, 1]),
        ("A1/sack=10-20 A2", [0, 0, 0, 1]),
        // Two blocks in one of the trigger's.
        ("A1/sack=10-20,30-40 A3/sack=10-50", [0, 1, 0, 1]),
        // A block over two of the trigger's is in neither.
        ("A1/sack=10-40 A3/sack=10-20,20-40", [0, 0, 0, 1]),
        // A block below the number tells of a duplicate.
        ("A20/sack=10-20 A21/sack=10-20 A22/sack=10-20", [0, 0, 1, 1]),
        // Equal numbers: only what SACKs more.
        ("A2/sack=10-20 A2/sack=10-20", [0, 0, 0, 1]),
        ("A2/sack=10-20 A2/sack=10-30", [0, 1, 0, 1]),
        ("A2/sack=10-30 A2/sack=10-20,30-40", [0, 0, 0, 1]),
        ("A2 A2/sack=10-20", [0, 1, 0, 1]),
    ]);
}

#[test]
fn time_stamps() {
    check(&[
        ("A1/ts=5,5 A2/ts=6,6", [0, 1, 0, 1]),
        ("A1/ts=7,5 A2/ts=6,6", [0, 0, 0, 1]),
        ("A1/ts=5,7 A2/ts=6,6", [0, 0, 0, 1]),
        ("A1/ts=4294967295,1 A2/ts=3,1", [0, 1, 0, 1]),
        ("A1/ts=1,1 A2", [0, 0, 0, 1]),
        ("A1 A2/ts=1,1", [0, 1, 0, 1]),
    ]);
}

#[test]
fn the_naive_filter_loses_what_the_others_keep() {
    for (text, right) in [
        ("A1 A2", 1),
        ("A1 A2 A3", 2),
        ("A2 A2 A2", 2),
        ("A1/ece A2", 1),
        ("A2/sack=10-20 A2", 1),
        ("A1 A2/port=7 A3", 0),
        ("A1 D1 A2", 0),
        ("A1 D2", 0),
        ("A5 A3", 0),
    ] {
        assert_eq!(gives_way(Naive, text), right, "{text}");
    }
}

/// A TCP segment with these options and payload, its number 0x0102_0304.
fn segment(flags: u16, options: &[u8], payload: usize) -> Vec<u8> {
    let length = 20 + options.len();
    let mut out = vec![0x03, 0xe8, 0, 80, 0, 0, 0, 1, 1, 2, 3, 4];
    out.extend(((length as u16 / 4) << 12 | flags).to_be_bytes());
    out.extend([0; 6]);
    out.extend(options);
    out.resize(length + payload, 0xab);
    out
}

fn ipv4(protocol: u8, inner: &[u8]) -> Vec<u8> {
    let total = 20 + inner.len() as u16;
    let mut out = vec![
        0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    out[2..4].copy_from_slice(&total.to_be_bytes());
    out.extend(inner);
    out
}

fn ipv6(next: u8, inner: &[u8]) -> Vec<u8> {
    let mut out = vec![0x60, 0, 0, 0, 0, 0, next, 64];
    out[4..6].copy_from_slice(&(inner.len() as u16).to_be_bytes());
    out.extend([0x20; 16]);
    out.extend([0x21; 16]);
    out.extend(inner);
    out
}

const NOP: u8 = 1;

#[test]
fn headers_of_ipv4_ipv6_and_ipv6_in_ipv4() {
    let bare = segment(0x010, &[], 0);
    let v4 = AckHeader::of_ip(&ipv4(6, &bare)).expect("IPv4");
    assert_eq!((v4.version, v4.ports, v4.flags), (4, [1_000, 80], 0x010));
    assert_eq!((v4.ack, v4.no_payload), (Seq(0x0102_0304), true));
    assert_eq!(v4.addresses[1], [0x0a00_0002, 0, 0, 0]);
    let v6 = AckHeader::of_ip(&ipv6(6, &bare)).expect("IPv6");
    assert_eq!(
        (v6.version, v6.no_payload, v6.addresses[0]),
        (6, true, [0x2020_2020; 4])
    );
    let tunnel = AckHeader::of_ip(&ipv4(41, &ipv6(6, &bare))).expect("6in4");
    assert_eq!(tunnel, v6);
    // An extension header, another protocol, another tunnel.
    assert_eq!(AckHeader::of_ip(&ipv6(0, &bare)), None);
    assert_eq!(AckHeader::of_ip(&ipv4(17, &bare)), None);
    assert_eq!(AckHeader::of_ip(&ipv4(4, &ipv4(6, &bare))), None);
    let data = AckHeader::of_ip(&ipv4(6, &segment(0x018, &[], 1))).expect("data");
    assert!(!data.no_payload && data.flags == 0x018);
}

#[test]
fn cut_bytes_are_no_header() {
    let whole = ipv4(
        6,
        &segment(0x010, &[NOP, NOP, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], 0),
    );
    assert!(AckHeader::of_ip(&whole).is_some());
    for end in 0..whole.len() {
        assert_eq!(AckHeader::of_ip(&whole[..end]), None, "{end}");
    }
    let mut short = ipv4(6, &segment(0x010, &[], 0));
    short[20 + 12] = 0x40;
    assert_eq!(AckHeader::of_ip(&short), None);
}

#[test]
fn options() {
    let read = |options: &[u8]| {
        let header = AckHeader::of_ip(&ipv4(6, &segment(0x010, options, 0))).expect("a header");
        header.options
    };
    let harmless: [&[u8]; 6] = [
        &[],
        &[NOP, NOP, NOP, 0],
        &[8, 10, 0, 0, 0, 1, 0, 0, 0, 2, NOP, NOP],
        &[
            19, 18, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, NOP, NOP,
        ],
        // A length under 2, and one past the end, end the reading.
        &[5, 1, NOP, NOP],
        &[2, 9, 0, 0],
    ];
    for options in harmless {
        assert!(read(options).are_harmless, "{options:?}");
    }
    let others: [&[u8]; 6] = [
        &[2, 4, 5, 180],
        &[NOP, 3, 3, 7],
        &[4, 2, NOP, NOP],
        &[34, 2, NOP, NOP],
        &[254, 4, 0xf9, 0x89],
        &[5, 6, 1, 2, 3, 4, NOP, NOP],
    ];
    for options in others {
        assert!(!read(options).are_harmless, "{options:?}");
    }
    let both = read(&[8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 5, 10, 0, 0, 1, 0, 0, 0, 2, 0]);
    assert_eq!(both.stamps(), [(7, 9)]);
    assert_eq!(
        both.blocks().collect::<Vec<_>>(),
        [(Seq(0x100), Seq(0x200))]
    );
    // Of two SACK options the first counts.
    let two = read(&[5, 10, 0, 0, 1, 0, 0, 0, 2, 0, 5, 10, 0, 0, 3, 0, 0, 0, 4, 0]);
    assert_eq!(two.blocks().count(), 1);
}

//! Frames of a flow, joined.

use tcplab_wire::{Joiner, SuperFrame, VnetHeader};

use crate::{Case, cases, wire};

/// Joins as far as it goes; the super-segments.
fn join(frames: &[Vec<u8>]) -> Vec<SuperFrame> {
    let mut out = Vec::new();
    let mut open: Option<Joiner> = None;
    for frame in frames {
        let frame = SuperFrame::plain(frame.clone());
        if open.as_mut().is_some_and(|joiner| joiner.push(&frame)) {
            continue;
        }
        out.extend(open.replace(Joiner::new(frame)).map(Joiner::finish));
    }
    out.extend(open.map(Joiner::finish));
    out
}

fn case(name: &str) -> Case {
    let mut all = cases().into_iter();
    all.find(|case| case.name == name).expect("named")
}

#[test]
fn what_the_kernel_cut_is_joined() {
    for case in cases() {
        let joined = join(&case.wire);
        let frames: Vec<_> = joined.iter().flat_map(wire).collect();
        assert_eq!(frames, case.wire, "{}", case.name);
        // UDP, urgent data and IP options are left alone, as the kernel does it; a routing header because the checksum is
        // that of the last hop.
        let is_alone = ["udp", "urgent", "IP options", "routing", "checksum only"];
        let count = match is_alone.iter().any(|what| case.name.contains(what)) {
            true => case.wire.len(),
            false => 1,
        };
        assert_eq!(joined.len(), count, "{}", case.name);
        // CWR of the first frame makes SKB_GSO_TCP_ECN.
        let has_cwr = case.name == "tcp4 without the bit for ECN";
        let had_sum = case.header.flags != 0 && !has_cwr;
        if count == 1 && case.wire.len() > 1 && had_sum {
            assert_eq!(joined[0].bytes(), case.frame, "{}", case.name);
            let header = joined[0].header();
            assert_eq!(header.gso_type, case.header.gso_type, "{}", case.name);
            assert_eq!(header.csum_start, case.header.csum_start, "{}", case.name);
            assert_eq!(header.flags, VnetHeader::NEEDS_CSUM);
        }
    }
}

/// Sets bytes of a frame and makes its IPv4 and TCP checksums right again.
fn changed(frame: &[u8], at: usize, to: u8) -> Vec<u8> {
    let mut out = frame.to_vec();
    out[at] = to;
    out[24..26].fill(0);
    out[50..52].fill(0);
    let sum = sum(&out[14..34]);
    out[24..26].copy_from_slice(&(!sum).to_be_bytes());
    let len = (out.len() - 34) as u16;
    let pseudo = [&out[26..34], &[0, 6], &len.to_be_bytes(), &out[34..]].concat();
    let check = !self::sum(&pseudo);
    out[50..52].copy_from_slice(&check.to_be_bytes());
    out
}

fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|word| {
        let low = word.get(1).copied().unwrap_or(0);
        u32::from(u16::from_be_bytes([word[0], low]))
    });
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[test]
fn what_does_not_fit() {
    let [first, second, ..] = &case("tcp4").wire[..] else {
        panic!("frames")
    };
    let joins = |next: &[u8]| join(&[first.clone(), next.to_vec()]).len() == 1;
    assert!(joins(second));
    assert!(joins(&changed(second, 14, 0x45)), "the same");
    let table = [
        ("source address of Ethernet", 6),
        ("DSCP", 15),
        ("identification", 19),
        ("don't fragment", 20),
        ("fragment", 21),
        ("TTL", 22),
        ("source address", 26),
        ("source port", 34),
        ("sequence number", 41),
        ("acknowledgment number", 45),
        ("window", 48),
        ("urgent pointer", 53),
        ("time stamp", 64),
    ];
    for (what, at) in table {
        assert!(!joins(&changed(second, at, second[at] ^ 4)), "{what}");
    }
    for (flags, fits) in [
        (0x10, true),
        (0x18, true),
        (0x11, true),
        (0x90, false),
        (0x50, false),
        (0x14, false),
        (0x12, false),
        (0x30, false),
        (0x00, false),
    ] {
        assert_eq!(joins(&changed(second, 47, flags)), fits, "{flags:#x}");
        let begins = join(&[changed(first, 47, flags), second.clone()]).len() == 1;
        assert_eq!(begins, flags & 0x7f == 0x10, "{flags:#x}");
    }
    // Damage is not healed.
    for at in [24, 50, 70, second.len() - 1] {
        let mut damaged = second.clone();
        damaged[at] ^= 1;
        assert!(!joins(&damaged), "{at}");
        let mut damaged = first.clone();
        damaged[at] ^= 1;
        let frames = [damaged, second.clone()];
        assert_eq!(join(&frames).len(), 2, "{at}");
    }
    // Padding, or bytes that are missing.
    assert!(!joins(&[&second[..], &[0]].concat()));
    assert!(!joins(&second[..second.len() - 1]));
}

#[test]
fn the_last_one_ends_it() {
    let frames = case("tcp4").wire;
    // 1448, 1448, 104 bytes: what follows the shorter one begins another.
    let mut all = frames.clone();
    let mut more = changed(&frames[0], 19, 1);
    more = changed(&more, 18, 0);
    let seq = 0xffff_ff00_u32.wrapping_add(3_000).to_be_bytes();
    for (at, byte) in (38..42).zip(seq) {
        more = changed(&more, at, byte);
    }
    all.push(more);
    assert_eq!(join(&all).len(), 2);
    let mut joiner = Joiner::new(SuperFrame::plain(frames[0].clone()));
    assert!(joiner.is_open());
    assert!(joiner.push(&SuperFrame::plain(frames[1].clone())));
    assert!(joiner.is_open());
    assert!(joiner.push(&SuperFrame::plain(frames[2].clone())));
    assert!(!joiner.is_open());
    // Nothing joins what is longer than the first, or holds nothing.
    assert_eq!(join(&[frames[2].clone(), frames[0].clone()]).len(), 2);
}

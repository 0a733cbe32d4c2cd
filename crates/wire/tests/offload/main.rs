//! Super-segments: as the kernel cuts them, and joined again.

mod any;
mod join;

use tcplab_wire::{OffloadError, SuperFrame, VnetHeader};

const KERNEL: &str = include_str!("kernel.txt");

fn hex(text: &str) -> Vec<u8> {
    let digit = |c: u8| char::from(c).to_digit(16).expect("a digit") as u8;
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

/// The name, the super-segment and its frames on the wire.
struct Case {
    name: &'static str,
    header: VnetHeader,
    frame: Vec<u8>,
    wire: Vec<Vec<u8>>,
}

fn cases() -> Vec<Case> {
    let blocks = KERNEL.split("\n\n").skip(1);
    let cases = blocks.map(|block| {
        let mut lines = block.lines();
        let name = lines.next().expect("a name");
        let (header, frame) = lines.next().and_then(|l| l.split_once(' ')).expect(name);
        Case {
            name,
            header: VnetHeader::parse(&hex(header)).expect(name),
            frame: hex(frame),
            wire: lines.map(hex).collect(),
        }
    });
    cases.collect()
}

/// The frames of the wire; a plain frame is completed.
fn wire(frame: &SuperFrame) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let was_cut = frame.split(|| vec![1, 2, 3], |piece| out.push(piece.into_bytes()));
    assert_eq!(was_cut, frame.segments().is_some());
    if !was_cut {
        let mut plain = frame.clone();
        plain.complete();
        assert_eq!(plain.header(), VnetHeader::default());
        out.push(plain.into_bytes());
    }
    out
}

#[test]
fn as_the_kernel_cuts() {
    let cases = cases();
    assert_eq!(cases.len(), 22);
    for case in cases {
        let frame = SuperFrame::new(case.frame.clone(), &case.header).expect(case.name);
        assert_eq!(wire(&frame), case.wire, "{}", case.name);
        if let Some(segments) = frame.segments() {
            let lens = case.wire.iter().map(|frame| frame.len() as u32);
            let mut all = vec![segments.len; segments.count as usize - 1];
            all.push(segments.last_len);
            assert!(lens.eq(all), "{}", case.name);
            // What goes to another device says the same.
            let hint = VnetHeader {
                hdr_len: 0,
                ..frame.header()
            };
            assert_eq!(hint, case.header, "{}", case.name);
        }
        let bytes = case.header.emit();
        assert_eq!(VnetHeader::parse(&bytes), Some(case.header));
    }
}

#[test]
fn what_is_refused() {
    let cases = cases();
    let of = |name: &str| cases.iter().find(|case| case.name == name).expect("named");
    let tcp = of("tcp4");
    type Change = fn(&mut VnetHeader);
    let table: [(&str, Change, OffloadError); 11] = [
        ("tcp4", |h| h.gso_type = 3, OffloadError::Type(3)),
        ("tcp4", |h| h.gso_type = 9, OffloadError::Type(9)),
        ("udp4", |h| h.gso_type |= 0x80, OffloadError::Type(0x85)),
        ("tcp4", |h| h.gso_type = 4, OffloadError::Headers),
        ("tcp4", |h| h.gso_type = 5, OffloadError::Headers),
        ("tcp4", |h| h.gso_size = 0, OffloadError::Size(0)),
        ("tcp4", |h| h.gso_size = 0xffff, OffloadError::Size(0xffff)),
        ("udp4", |h| h.gso_size = 1, OffloadError::Size(1)),
        ("tcp4", |h| h.csum_offset = 6, OffloadError::Headers),
        ("udp4", |h| h.flags = 0, OffloadError::Headers),
        ("tcp4", |h| h.csum_start = 4_000, OffloadError::Checksum),
    ];
    for (name, change, error) in table {
        let case = of(name);
        let mut header = case.header;
        change(&mut header);
        let refused = SuperFrame::new(case.frame.clone(), &header);
        assert_eq!(refused.err(), Some(error), "{name} {header:?}");
    }
    assert_eq!(VnetHeader::parse(&[0; 9]), None);
    // Less than 8 bytes are 8 (Linux 6.1: TCP_MIN_GSO_SIZE).
    let small = VnetHeader {
        gso_size: 1,
        ..tcp.header
    };
    let frame = SuperFrame::new(tcp.frame.clone(), &small).expect("small");
    assert_eq!(frame.segments().map(|s| s.count), Some(3_000 / 8));
    assert!(!frame.header().emit().is_empty());
}

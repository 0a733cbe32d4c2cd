//! Malformed headers, enumerated: every outer shape, cut and extreme value that a header can have, each packet with
//! the answer that it must get. More than two million packets, a second or two.

use std::net::{IpAddr, Ipv4Addr};

use tcplab_base::Seq;
use tcplab_wire::emit::{Payload, emit};
use tcplab_wire::malformed::{SHAPES, Shape};
use tcplab_wire::{
    CaqmInfo, Config, Encap, Endpoint, LinkType, NotTcp, Parsed, SackBlocks, Standing, TcpFlags,
    TcpOptions, TcpPacket, parse_frame,
};

const CAQM: u16 = 0x8200;

/// The ten outer shapes of the generator: name, bytes between the MAC addresses and the IP header without the last
/// EtherType, VLAN tags, CAQM.
fn shapes() -> Vec<(&'static str, Vec<u8>, u8, bool)> {
    let one = |shape: &Shape| {
        let bytes = shape.bytes(CAQM);
        (shape.name, bytes, shape.vlan_tags, shape.has_caqm())
    };
    SHAPES.iter().map(one).collect()
}

fn packet() -> TcpPacket {
    TcpPacket {
        src: Endpoint {
            ip: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            port: 40_000,
        },
        dst: Endpoint {
            ip: IpAddr::V4(Ipv4Addr::new(198, 51, 100, 2)),
            port: 80,
        },
        seq: Seq(1),
        ack: Seq(2),
        flags: TcpFlags(TcpFlags::ACK),
        window: 229,
        urgent: 0,
        payload_len: 8,
        header_len: 60,
        options: TcpOptions::default(),
        ecn: 0,
        ttl: 64,
        ip_id: Some(1),
        header_truncated: false,
        standing: Standing::Whole,
        encap: Encap::default(),
    }
}

/// The IPv4 packet: 20 bytes of IP, 60 of TCP (options are NOPs), 8 of payload.
fn ip_packet() -> Vec<u8> {
    let mut bytes = Vec::new();
    emit(
        LinkType::Ipv4,
        &packet(),
        Payload::Bytes(&[0xaa; 8]),
        &Config::default(),
        &mut bytes,
    )
    .expect("plain packet");
    assert_eq!(bytes.len(), 88);
    bytes
}

const IP: usize = 0;
const TCP: usize = 20;
const OPTIONS: usize = 40;

fn frame(shape: &[u8], ethertype: u16, ip: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    bytes.extend(shape);
    bytes.extend(ethertype.to_be_bytes());
    bytes.extend(ip);
    bytes
}

fn parse(bytes: &[u8], orig_len: usize) -> Parsed {
    parse_frame(
        LinkType::Ethernet,
        bytes,
        orig_len as u32,
        &Config::default(),
    )
}

fn tcp(parsed: Parsed) -> TcpPacket {
    match parsed {
        Parsed::Tcp(p) => p,
        other => panic!("expected TCP, got {other:?}"),
    }
}

#[test]
fn shapes_and_cuts() {
    let config = Config::default();
    for (name, shape, vlan_tags, caqm) in shapes() {
        let whole = frame(&shape, 0x0800, &ip_packet());
        let p = tcp(parse(&whole, whole.len()));
        assert_eq!(
            (p.encap.vlan_tags, p.encap.caqm.is_some(), p.payload_len),
            (vlan_tags, caqm, 8),
            "{name}"
        );
        let ip = 14 + shape.len();
        for cut in 0..=whole.len() {
            let piece = &whole[..cut];
            // Cut by the snap length: what the wire had is known.
            let snapped = parse_frame(LinkType::Ethernet, piece, whole.len() as u32, &config);
            match cut {
                _ if cut < ip + TCP + 4 => assert_eq!(
                    snapped,
                    Parsed::NotTcp(NotTcp::Truncated),
                    "{name} cut at {cut}"
                ),
                _ if cut < ip + TCP + 16 => assert_eq!(
                    snapped,
                    Parsed::NotTcp(NotTcp::TcpStub),
                    "{name} cut at {cut}"
                ),
                _ => {
                    let t = tcp(snapped);
                    assert_eq!(
                        (t.payload_len, t.standing),
                        (8, Standing::Whole),
                        "{name} cut at {cut}"
                    );
                    assert_eq!(
                        t.header_truncated,
                        cut < ip + TCP + 60,
                        "{name} cut at {cut}"
                    );
                    assert!(!t.options.malformed, "{name} cut at {cut}");
                }
            }
            // A frame that really ends there: lengths contradict one another.
            let short = parse(piece, cut);
            if cut < whole.len() {
                let fine = match short {
                    Parsed::Tcp(t) if cut < ip + TCP + 60 => t.standing == Standing::ShortSegment,
                    // The IP packet says more than the frame holds: the frame counts.
                    Parsed::Tcp(t) => t.payload_len as usize == cut - ip - TCP - 60,
                    Parsed::NotTcp(NotTcp::TcpStub) => cut >= ip + TCP + 4,
                    Parsed::NotTcp(why) => cut < ip + TCP + 4 && why == NotTcp::Malformed,
                };
                assert!(fine, "{name} short at {cut}: {short:?}");
            }
        }
    }
}

#[test]
fn tag_values_mean_nothing_and_types_everything() {
    for pcp_dei in 0..16_u16 {
        for vid in [0, 1, 2, 0x7ff, 4094, 4095] {
            let tci = (pcp_dei << 12 | vid).to_be_bytes();
            let shape = [&[0x81, 0x00][..], &tci].concat();
            tcp(parse(&frame(&shape, 0x0800, &ip_packet()), 200));
        }
    }
    for (_, shape, ..) in shapes() {
        for inner in 0..=u16::MAX {
            let parsed = parse(&frame(&shape, inner, &ip_packet()), 200);
            let known = [
                0x0800, 0x86dd, 0x8100, 0x88a8, 0x9100, CAQM, 0x8847, 0x8848, 0x8864, 0x880b,
                0x88e7, 0x6558, 0x8909, 0x8926, 0x893f, 0xf1c1,
            ];
            if inner == 0x0800 {
                tcp(parsed);
            } else if !known.contains(&inner) {
                assert!(
                    matches!(parsed, Parsed::NotTcp(NotTcp::NotIp | NotTcp::Malformed)),
                    "{inner:#x}: {parsed:?}"
                );
            }
        }
    }
    // More tags than anybody writes.
    let many: Vec<u8> = (0..40).flat_map(|_| [0x81, 0x00, 0, 1]).collect();
    assert_eq!(
        parse(&frame(&many, 0x0800, &ip_packet()), 400),
        Parsed::NotTcp(NotTcp::Malformed)
    );
}

/// A second tag means nothing, wherever VLAN tags stand; what a tag says does not matter to the packet inside.
#[test]
fn caqm_tags() {
    let [vlan, tag]: [&[u8]; 2] = [&[0x81, 0x00, 0, 1], &[0x82, 0x00, 0x05, 0x80]];
    for twice in [
        vec![tag, tag],
        vec![vlan, tag, tag],
        vec![tag, vlan, tag],
        vec![vlan, vlan, tag, tag],
        vec![tag, tag, tag],
    ] {
        assert_eq!(
            parse(&frame(&twice.concat(), 0x0800, &ip_packet()), 200),
            Parsed::NotTcp(NotTcp::Malformed),
            "{twice:?}"
        );
    }
    for once in [
        vec![tag],
        vec![vlan, tag],
        vec![vlan, vlan, tag],
        vec![tag, vlan],
    ] {
        for info in 0..=u16::MAX {
            let mut shape = once.concat();
            let at = 4 * once.iter().take_while(|t| **t != tag).count() + 2;
            shape[at..at + 2].copy_from_slice(&info.to_be_bytes());
            let p = tcp(parse(&frame(&shape, 0x0800, &ip_packet()), 200));
            assert_eq!(p.encap.caqm, Some(CaqmInfo(info)));
            assert_eq!(usize::from(p.encap.vlan_tags), once.len() - 1);
            assert_eq!((p.payload_len, p.standing), (8, Standing::Whole));
        }
    }
    // An IEEE 802.3 length cannot follow the tag, nor can the frame end in it.
    for inner in 0..0x600 {
        assert_eq!(
            parse(&frame(tag, inner, &ip_packet()), 200),
            Parsed::NotTcp(NotTcp::NotIp)
        );
    }
    for len in 14..18 {
        let mut short = frame(tag, 0x0800, &[]);
        short.truncate(len);
        assert_eq!(parse(&short, len), Parsed::NotTcp(NotTcp::Malformed));
    }
}

#[test]
fn ip_lengths() {
    for (name, shape, ..) in shapes() {
        for ihl in 0..16_u8 {
            let mut totals: Vec<u16> = (0..64).map(|i| i * 1024 + 7).collect();
            totals.extend(0..130);
            totals.push(u16::MAX);
            for total in totals {
                let mut ip = ip_packet();
                ip[IP] = 0x40 | ihl;
                ip[IP + 2..IP + 4].copy_from_slice(&total.to_be_bytes());
                let available = ip.len() as u32;
                let bytes = frame(&shape, 0x0800, &ip);
                let parsed = parse(&bytes, bytes.len());
                let header = u32::from(ihl) * 4;
                let claimed = if total == 0 {
                    available
                } else {
                    u32::from(total)
                };
                if ihl < 5 || claimed < header {
                    assert_eq!(
                        parsed,
                        Parsed::NotTcp(NotTcp::Malformed),
                        "{name} ihl {ihl} total {total}"
                    );
                    continue;
                }
                let segment = claimed.min(available) - header;
                match parsed {
                    Parsed::Tcp(p) => assert!(
                        p.payload_len <= segment && segment >= 16,
                        "{name} ihl {ihl} total {total}"
                    ),
                    Parsed::NotTcp(NotTcp::TcpStub) => {
                        assert!((4..16).contains(&segment), "{name} ihl {ihl} total {total}")
                    }
                    Parsed::NotTcp(why) => assert!(
                        segment < 4 && why == NotTcp::Malformed,
                        "{name} ihl {ihl} total {total}: {why:?}"
                    ),
                }
            }
        }
    }
}

#[test]
fn data_offsets() {
    for (name, shape, ..) in shapes() {
        for offset in 0..16_u8 {
            for segment in 16..=68_u16 {
                let mut ip = ip_packet();
                ip[TCP + 12] = offset << 4;
                ip[IP + 2..IP + 4].copy_from_slice(&(20 + segment).to_be_bytes());
                let bytes = frame(&shape, 0x0800, &ip);
                let p = tcp(parse(&bytes, bytes.len()));
                let header = u16::from(offset) * 4;
                let want = match offset {
                    _ if segment < header => Standing::ShortSegment,
                    0..5 => Standing::BadOffset,
                    _ => Standing::Whole,
                };
                assert_eq!(p.standing, want, "{name} offset {offset} segment {segment}");
                assert_eq!(
                    p.payload_len,
                    u32::from(segment.saturating_sub(header)),
                    "{name} offset {offset} segment {segment}"
                );
                assert!(offset >= 5 || p.options == TcpOptions::default());
            }
        }
    }
}

/// What RFC 9293 and Linux say an option of that kind and length gives, with `room` bytes to the end of the header.
fn option_is_malformed(kind: u8, len: u8, room: usize) -> bool {
    if kind < 2 || room == 0 {
        return false;
    }
    let fits = room >= 2 && len >= 2 && usize::from(len) <= room;
    if !fits {
        return true;
    }
    match kind {
        2 => len != 4,
        3 => len != 3,
        4 => len != 2,
        5 => len < 10 || !(len - 2).is_multiple_of(8),
        8 => len != 10,
        _ => false,
    }
}

#[test]
fn every_option_kind_length_and_offset() {
    let mut packets = 0_u32;
    for (name, shape, ..) in shapes() {
        let mut bytes = frame(&shape, 0x0800, &ip_packet());
        let ip = 14 + shape.len();
        for offset in 5..16_u8 {
            bytes[ip + TCP + 12] = offset << 4;
            let room = usize::from(offset) * 4 - 20;
            for kind in 0..=u8::MAX {
                for len in 0..=40_u8 {
                    bytes[ip + OPTIONS] = kind;
                    bytes[ip + OPTIONS + 1] = len;
                    let p = tcp(parse(&bytes, bytes.len()));
                    packets += 1;
                    // The rest is NOPs; kind 1 makes the length byte an option of its own.
                    let want = match kind {
                        1 => room > 1 && option_is_malformed(len, 1, room - 1),
                        _ => option_is_malformed(kind, len, room),
                    };
                    assert_eq!(
                        p.options.malformed, want,
                        "{name} kind {kind} length {len} offset {offset}"
                    );
                    assert_eq!(p.options.mss.is_some(), (kind, len) == (2, 4) && room >= 4);
                    assert_eq!(p.payload_len, 68 - u32::from(offset) * 4);
                }
            }
        }
    }
    assert_eq!(packets, 10 * 115_456);
}

/// Puts option bytes into a packet and reads it.
fn with_options(options: &[u8]) -> TcpOptions {
    let mut bytes = frame(&[], 0x0800, &ip_packet());
    bytes[14 + OPTIONS..14 + OPTIONS + options.len()].copy_from_slice(options);
    tcp(parse(&bytes, bytes.len())).options
}

#[test]
fn values_of_known_options() {
    for mss in [0, 1, 47, 48, 535, 536, 1460, 65_535_u16] {
        let [a, b] = mss.to_be_bytes();
        assert_eq!(with_options(&[2, 4, a, b]).mss, Some(mss));
    }
    for shift in 0..=u8::MAX {
        assert_eq!(
            with_options(&[3, 3, shift, 1]).window_scale,
            Some(shift.min(14))
        );
    }
    for blocks in 0..=5_usize {
        // Inverted, overlapping, outside any window: the wire does not judge.
        let edges = [(9_u32, 3_u32), (3, 9), (3, 9), (u32::MAX, 0), (0, u32::MAX)];
        let mut bytes = vec![5, (2 + 8 * blocks) as u8];
        for (left, right) in edges.iter().take(blocks) {
            bytes.extend(left.to_be_bytes());
            bytes.extend(right.to_be_bytes());
        }
        if bytes.len() > 40 {
            bytes.truncate(40);
            assert!(with_options(&bytes).malformed);
            continue;
        }
        let o = with_options(&bytes);
        assert_eq!(o.malformed, blocks == 0);
        let got: Vec<_> = o.sack.as_slice().iter().map(|(l, r)| (l.0, r.0)).collect();
        assert_eq!(got, edges[..blocks]);
    }
    // Fast Open cookies, AO, MD5, MPTCP, experiments: stepped over, the next option is read.
    for (kind, longest) in [(34, 18), (29, 36), (19, 36), (30, 36), (253, 36), (254, 36)] {
        for len in 2..=longest {
            let mut bytes = vec![kind, len];
            bytes.resize(usize::from(len), 0x55);
            bytes.extend([2, 4, 0x05, 0xb4]);
            let o = with_options(&bytes);
            assert_eq!(
                (o.mss, o.malformed),
                (Some(1460), false),
                "kind {kind} length {len}"
            );
        }
    }
    let stamped = with_options(&[1, 1, 8, 10, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0]);
    assert_eq!(stamped.timestamps, Some((1, u32::MAX)));
}

#[test]
fn checksums_are_not_judged() {
    for sum in [0_u16, 1, 0xfffe, 0xffff] {
        let mut ip = ip_packet();
        ip[IP + 10..IP + 12].copy_from_slice(&sum.to_be_bytes());
        ip[TCP + 16..TCP + 18].copy_from_slice(&sum.to_be_bytes());
        let bytes = frame(&[], 0x0800, &ip);
        assert_eq!(
            tcp(parse(&bytes, bytes.len())),
            tcp(parse(&frame(&[], 0x0800, &ip_packet()), bytes.len()))
        );
    }
}

#[test]
fn sack_blocks_of_a_snapped_header_are_those_captured() {
    let mut blocks = SackBlocks::default();
    for i in 0..4 {
        blocks.push(Seq(i * 10), Seq(i * 10 + 5));
    }
    let p = TcpPacket {
        header_len: 20,
        options: TcpOptions {
            sack: blocks,
            ..TcpOptions::default()
        },
        ..packet()
    };
    let mut bytes = Vec::new();
    let len = emit(
        LinkType::Raw,
        &p,
        Payload::Len,
        &Config::default(),
        &mut bytes,
    )
    .expect("fits");
    for cut in 40..bytes.len() {
        let got = tcp(parse_frame(
            LinkType::Raw,
            &bytes[..cut],
            len,
            &Config::default(),
        ));
        assert!(got.header_truncated && got.options.sack.is_empty() && !got.options.malformed);
        assert_eq!(got.payload_len, 8);
    }
}

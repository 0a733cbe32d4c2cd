//! Fragmented IP packets: the frame that completes one gives it, in any order, and memory stays bounded.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tcplab_base::Seq;
use tcplab_wire::emit::{Payload, emit};
use tcplab_wire::{
    Config, Encap, Endpoint, LinkType, NotTcp, Parsed, Reassembler, Standing, TcpFlags, TcpOptions,
    TcpPacket, parse_frame,
};

fn packet(src: IpAddr, dst: IpAddr, payload_len: u32) -> TcpPacket {
    TcpPacket {
        src: Endpoint {
            ip: src,
            port: 40_000,
        },
        dst: Endpoint { ip: dst, port: 80 },
        seq: Seq(1),
        ack: Seq(2),
        flags: TcpFlags(TcpFlags::ACK),
        window: 229,
        urgent: 0,
        payload_len,
        header_len: 20,
        options: TcpOptions::default(),
        ecn: 0,
        ttl: 64,
        ip_id: src.is_ipv4().then_some(77),
        header_truncated: false,
        standing: Standing::Whole,
        encap: Encap::default(),
    }
}

fn v4(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
}

fn bytes(p: &TcpPacket) -> Vec<u8> {
    let mut out = Vec::new();
    let body = vec![0x5a; p.payload_len as usize];
    emit(
        LinkType::Raw,
        p,
        Payload::Bytes(&body),
        &Config::default(),
        &mut out,
    )
    .expect("a plain packet");
    out
}

/// Cuts the payload of an IPv4 packet into fragments of `size` bytes (a multiple of 8).
fn split_v4(ip: &[u8], size: usize) -> Vec<Vec<u8>> {
    let (header, payload) = ip.split_at(20);
    let count = payload.len().div_ceil(size);
    let cut = |(i, piece): (usize, &[u8])| {
        let mut out = header.to_vec();
        out[2..4].copy_from_slice(&(20 + piece.len() as u16).to_be_bytes());
        let more = if i + 1 < count { 0x2000 } else { 0 };
        out[6..8].copy_from_slice(&(more | (i * size / 8) as u16).to_be_bytes());
        out.extend(piece);
        out
    };
    payload.chunks(size).enumerate().map(cut).collect()
}

fn split_v6(ip: &[u8], size: usize) -> Vec<Vec<u8>> {
    let (header, payload) = ip.split_at(40);
    let count = payload.len().div_ceil(size);
    let cut = |(i, piece): (usize, &[u8])| {
        let mut out = header.to_vec();
        out[4..6].copy_from_slice(&(8 + piece.len() as u16).to_be_bytes());
        out[6] = 44;
        let field = (i * size) as u16 | u16::from(i + 1 < count);
        out.extend([6, 0]);
        out.extend(field.to_be_bytes());
        out.extend([0, 0, 0, 9]);
        out.extend(piece);
        out
    };
    payload.chunks(size).enumerate().map(cut).collect()
}

fn feed(r: &mut Reassembler, frame: &[u8]) -> Parsed {
    r.parse(LinkType::Raw, frame, frame.len() as u32, &Config::default())
}

const FRAGMENT: Parsed = Parsed::NotTcp(NotTcp::Fragment);

#[test]
fn packets_come_back_from_fragments_in_any_order() {
    let v6 = |n| IpAddr::V6(Ipv6Addr::from(n));
    for p in [packet(v4(1), v4(2), 3_000), packet(v6(1), v6(2), 3_000)] {
        let whole = bytes(&p);
        let pieces = if p.src.ip.is_ipv4() {
            split_v4(&whole, 1480)
        } else {
            split_v6(&whole, 1480)
        };
        assert_eq!(pieces.len(), 3);
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            let mut r = Reassembler::default();
            let got: Vec<_> = order.iter().map(|i| feed(&mut r, &pieces[*i])).collect();
            assert_eq!(got[..2], [FRAGMENT, FRAGMENT]);
            let want = TcpPacket {
                encap: Encap {
                    fragments: 3,
                    ..Encap::default()
                },
                ..p
            };
            assert_eq!(got[2], Parsed::Tcp(want), "{order:?}");
            assert_eq!(r.joined(), 2);
            // A second one with the same identification begins anew.
            assert_eq!(feed(&mut r, &pieces[1]), FRAGMENT);
        }
        for piece in &pieces {
            assert_eq!(
                parse_frame(LinkType::Raw, piece, piece.len() as u32, &Config::default()),
                FRAGMENT
            );
        }
    }
}

#[test]
fn overlaps_duplicates_and_holes() {
    let p = packet(v4(1), v4(2), 100);
    let whole = bytes(&p);
    let (small, large) = (split_v4(&whole, 8), split_v4(&whole, 64));
    let mut r = Reassembler::default();
    for piece in small.iter().take(5).chain(small.iter().take(5)) {
        assert_eq!(feed(&mut r, piece), FRAGMENT);
    }
    // Overlaps with what is there and leaves no hole.
    assert_eq!(feed(&mut r, &large[0]), FRAGMENT);
    assert!(matches!(feed(&mut r, &large[1]), Parsed::Tcp(t) if t.payload_len == 100));
    let mut r = Reassembler::default();
    for piece in small.iter().skip(1) {
        assert_eq!(feed(&mut r, piece), FRAGMENT, "the first is missing");
    }
}

#[test]
fn a_cut_first_fragment_is_read_as_wireshark_reads_it() {
    let whole = bytes(&packet(v4(1), v4(2), 3_000));
    let first = &split_v4(&whole, 1480)[0];
    let parsed = parse_frame(
        LinkType::Raw,
        &first[..96],
        first.len() as u32,
        &Config::default(),
    );
    assert!(matches!(parsed, Parsed::Tcp(p) if p.standing == Standing::FirstFragment));
}

#[test]
fn hostile_fragments_are_bounded() {
    let mut r = Reassembler::default();
    let whole = bytes(&packet(v4(1), v4(2), 1_000));
    let pieces = split_v4(&whole, 512);
    // Never completed, each with another identification: the oldest go.
    for id in 0..5_000_u16 {
        let mut piece = pieces[0].clone();
        piece[4..6].copy_from_slice(&id.to_be_bytes());
        assert_eq!(feed(&mut r, &piece), FRAGMENT);
    }
    let mut last = pieces[1].clone();
    last[4..6].copy_from_slice(&1_u16.to_be_bytes());
    assert_eq!(feed(&mut r, &last), FRAGMENT, "packet 1 was forgotten");
    let mut newest = pieces[2..]
        .iter()
        .chain(&pieces[1..2])
        .cloned()
        .collect::<Vec<_>>();
    for piece in &mut newest {
        piece[4..6].copy_from_slice(&4_999_u16.to_be_bytes());
    }
    assert!(
        newest.iter().map(|p| feed(&mut r, p)).any(|p| p.is_tcp()),
        "the newest is there"
    );
    // Past the largest packet.
    let mut far = pieces[1].clone();
    far[6..8].copy_from_slice(&0x1fff_u16.to_be_bytes());
    assert_eq!(feed(&mut r, &far), FRAGMENT);
}

#[test]
fn pieces_that_overlap_hold_no_more_than_a_packet() {
    let whole = bytes(&packet(v4(1), v4(2), 60_000));
    let pieces = split_v4(&whole, 30_000);
    let mut r = Reassembler::default();
    let each_twice = pieces.iter().flat_map(|p| [p, p]);
    let got: Vec<Parsed> = each_twice.map(|p| feed(&mut r, p)).collect();
    assert!(
        got.iter()
            .any(|p| matches!(p, Parsed::Tcp(t) if t.payload_len == 60_000))
    );
    // The same bytes at other offsets: beyond 64 KiB nothing more is kept, so the packet stays incomplete.
    let mut r = Reassembler::default();
    feed(&mut r, &pieces[0]);
    for units in 1..1_000_u16 {
        let mut shifted = pieces[0].clone();
        shifted[6..8].copy_from_slice(&(0x2000 | units).to_be_bytes());
        assert_eq!(feed(&mut r, &shifted), FRAGMENT);
    }
    for piece in &pieces[1..] {
        assert_eq!(feed(&mut r, piece), FRAGMENT);
    }
}

#[test]
fn a_payload_that_no_packet_has_is_malformed() {
    // IPv4 length 0 (segmentation offload) leaves the length to the capture's record.
    let mut frame = bytes(&packet(v4(1), v4(2), 100));
    frame[2..4].fill(0);
    let parse = |orig_len| parse_frame(LinkType::Raw, &frame, orig_len, &Config::default());
    assert!(matches!(parse(500_000), Parsed::Tcp(p) if p.payload_len == 500_000 - 40));
    assert_eq!(parse(u32::MAX), Parsed::NotTcp(NotTcp::Malformed));
}

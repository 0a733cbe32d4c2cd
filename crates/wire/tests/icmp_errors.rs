//! ICMP errors that quote a TCP header, byte by byte: RFC 792 lets them quote eight bytes of it, hosts quote more.

use std::net::IpAddr;

use tcplab_base::Seq;
use tcplab_wire::{Config, Endpoint, IcmpError, LinkType, NotTcp, Parsed, Reassembler, Standing};

/// An IPv4 header with this protocol, from `src` to `dst`.
fn ipv4(protocol: u8, src: [u8; 4], dst: [u8; 4], body: &[u8]) -> Vec<u8> {
    let len = u16::try_from(20 + body.len())
        .expect("a packet")
        .to_be_bytes();
    let mut packet = vec![0x45, 0, len[0], len[1], 0, 7, 0x40, 0, 64, protocol, 0, 0];
    packet.extend([src, dst].concat());
    packet.extend(body);
    packet
}

/// The TCP header of a full segment from 192.0.2.1:2000 to 192.0.2.2:80.
const TCP: [u8; 20] = [
    0x07, 0xd0, 0, 80, 0, 0, 0, 101, 0, 0, 1, 245, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0,
];

/// An error of 192.0.2.9 that quotes so many bytes of the header.
fn error(kind: u8, code: u8, rest: [u8; 4], quoted: usize) -> Vec<u8> {
    let mut quote = ipv4(6, [192, 0, 2, 1], [192, 0, 2, 2], &TCP);
    quote[2..4].copy_from_slice(&1500_u16.to_be_bytes());
    quote.truncate(20 + quoted);
    let body = [&[kind, code, 0, 0], &rest[..], &quote].concat();
    ipv4(1, [192, 0, 2, 9], [192, 0, 2, 1], &body)
}

fn parse(reassembler: &mut Reassembler, frame: &[u8]) -> Parsed {
    let len = u32::try_from(frame.len()).expect("a frame");
    reassembler.parse(LinkType::Raw, frame, len, &Config::default())
}

fn end(ip: [u8; 4], port: u16) -> Endpoint {
    let ip = IpAddr::from(ip);
    Endpoint { ip, port }
}

#[test]
fn the_mtu_and_both_ends_are_read() {
    let mut reassembler = Reassembler::default();
    let parsed = parse(&mut reassembler, &error(3, 4, [0, 0, 0x05, 0x78], 20));
    assert!(matches!(parsed, Parsed::Tcp(p) if p.standing == Standing::Quoted));
    let want = IcmpError {
        from: [192, 0, 2, 9].into(),
        kind: 3,
        code: 4,
        mtu: 1400,
        src: end([192, 0, 2, 1], 2000),
        dst: end([192, 0, 2, 2], 80),
        seq: Seq(101),
    };
    assert_eq!(reassembler.icmp_error(), Some(&want));
    assert!(want.is_too_big());
}

#[test]
fn eight_bytes_are_enough_and_seven_are_not() {
    for (quoted, is_told) in [(16, true), (15, true), (8, true), (7, false), (4, false)] {
        let mut reassembler = Reassembler::default();
        let parsed = parse(&mut reassembler, &error(3, 1, [0; 4], quoted));
        let is_stub = parsed == Parsed::NotTcp(NotTcp::TcpStub);
        assert_eq!(is_stub, quoted < 16, "{quoted}");
        let told = reassembler.icmp_error();
        assert_eq!(told.is_some(), is_told, "{quoted}");
        assert!(told.is_none_or(|e| !e.is_too_big() && e.mtu == 0));
    }
}

#[test]
fn truncated_packet_is_no_error_of_the_frame_before() {
    let mut reassembler = Reassembler::default();
    parse(&mut reassembler, &error(3, 1, [0; 4], 20));
    let cut = ipv4(6, [192, 0, 2, 1], [192, 0, 2, 2], &TCP[..8]);
    assert_eq!(
        parse(&mut reassembler, &cut),
        Parsed::NotTcp(NotTcp::TcpStub)
    );
    assert_eq!(reassembler.icmp_error(), None);
}

#[test]
fn icmpv6_says_it_with_a_type_of_its_own() {
    let ipv6 = |next: u8, src: u8, dst: u8, body: &[u8]| {
        let len = u16::try_from(body.len()).expect("a packet").to_be_bytes();
        let mut packet = vec![0x60, 0, 0, 0, len[0], len[1], next, 64];
        for host in [src, dst] {
            packet.extend([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
        }
        packet.extend(body);
        packet
    };
    let quote = ipv6(6, 1, 2, &TCP);
    let body = [&[2, 0, 0, 0, 0, 0, 0x05, 0], &quote[..]].concat();
    let mut reassembler = Reassembler::default();
    parse(&mut reassembler, &ipv6(58, 9, 1, &body));
    let told = reassembler.icmp_error().copied().expect("an error");
    assert!(told.is_too_big());
    assert_eq!((told.mtu, told.seq, told.src.port), (1280, Seq(101), 2000));
    assert_eq!(
        told.from,
        "2001:db8::9".parse::<IpAddr>().expect("an address")
    );
}

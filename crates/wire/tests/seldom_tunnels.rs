//! Tunnels that few captures hold: the packet inside is the same as without them.

use std::net::{IpAddr, Ipv4Addr};

use tcplab_base::Seq;
use tcplab_wire::emit::{Payload, emit};
use tcplab_wire::{
    Config, Encap, Endpoint, LinkType, NotTcp, Parsed, Standing, TcpFlags, TcpOptions, TcpPacket,
    parse_frame,
};

fn inner() -> (TcpPacket, Vec<u8>) {
    let end = |last, port| Endpoint {
        ip: IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)),
        port,
    };
    let packet = TcpPacket {
        src: end(1, 1234),
        dst: end(2, 80),
        seq: Seq(7),
        ack: Seq(9),
        flags: TcpFlags(TcpFlags::ACK),
        window: 500,
        urgent: 0,
        payload_len: 0,
        header_len: 20,
        options: TcpOptions::default(),
        ecn: 0,
        ttl: 64,
        ip_id: Some(3),
        header_truncated: false,
        standing: Standing::Whole,
        encap: Encap::default(),
    };
    let mut bytes = Vec::new();
    emit(
        LinkType::Raw,
        &packet,
        Payload::Len,
        &Config::default(),
        &mut bytes,
    )
    .unwrap();
    (packet, bytes)
}

/// An IPv4 packet around `body`.
fn ipv4(protocol: u8, body: &[u8]) -> Vec<u8> {
    let len = u16::try_from(20 + body.len()).unwrap().to_be_bytes();
    let mut packet = vec![
        0x45, 0, len[0], len[1], 0, 0, 0, 0, 9, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    packet.extend_from_slice(body);
    packet
}

fn udp(port: u16, body: &[u8]) -> Vec<u8> {
    let len = u16::try_from(8 + body.len()).unwrap();
    let mut datagram = Vec::new();
    for field in [50_000, port, len, 0] {
        datagram.extend(field.to_be_bytes());
    }
    datagram.extend_from_slice(body);
    ipv4(17, &datagram)
}

fn parse(frame: &[u8]) -> Parsed {
    let len = u32::try_from(frame.len()).unwrap();
    parse_frame(LinkType::Raw, frame, len, &Config::default())
}

#[track_caller]
fn finds_it(frame: &[u8]) {
    let Parsed::Tcp(found) = parse(frame) else {
        panic!("{:?}", parse(frame));
    };
    let (expected, _) = inner();
    assert_eq!(found.encap.tunnels, 1);
    let encap = Encap::default();
    assert_eq!(TcpPacket { encap, ..found }, expected);
    // Cut anywhere, it is no panic and no other packet.
    for end in 0..frame.len() {
        if let Parsed::Tcp(cut) = parse(&frame[..end]) {
            assert!(cut.header_truncated || cut.standing != Standing::Whole);
        }
    }
}

#[test]
fn gre_over_udp() {
    let mut body = vec![0, 0, 0x08, 0x00];
    body.extend(inner().1);
    finds_it(&udp(4754, &body));
}

#[test]
fn ayiya() {
    // Identity of 16 bytes, signature of 20, forwarded packet, IPv4 inside.
    let mut body = vec![0x42, 0x52, 0x11, 4];
    body.resize(8 + 16 + 20, 0);
    body.extend(inner().1);
    finds_it(&udp(5072, &body));
    // Any other operation carries no packet.
    body[2] = 0x10;
    let other = Parsed::NotTcp(NotTcp::OtherProtocol(17));
    assert_eq!(parse(&udp(5072, &body)), other);
}

#[test]
fn ieee_802_11_in_gre() {
    for kind in [0x8200_u16, 0x8370] {
        let mut body = vec![0, 0];
        body.extend(kind.to_be_bytes());
        // A data frame without QoS, three addresses, then LLC and SNAP.
        body.push(0x08);
        body.resize(4 + 24, 0);
        body.extend([0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0x00]);
        body.extend(inner().1);
        finds_it(&ipv4(47, &body));
    }
}

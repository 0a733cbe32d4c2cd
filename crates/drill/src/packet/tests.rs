//! Packets to bytes and back, and what differs between two.

use std::net::SocketAddr;

use super::{Layer, Packet, Rules, Shown, build, compare, line};
use crate::script::{Action, Direction, PacketSpec};
use crate::target::IpMode;
use crate::{Defines, parse};

const RULES: Rules = Rules {
    ts_tick_us: 0,
    ts_tolerance_us: 0,
    sums: true,
};

fn spec(text: &str) -> PacketSpec {
    let script = parse(&format!("0 {text}"), &Defines::new()).unwrap();
    match &script.events[0].action {
        Action::Packet(spec) => spec.as_ref().clone(),
        other => panic!("{other:?}"),
    }
}

/// As a packet that left with these addresses.
fn sent(text: &str, mode: IpMode) -> Packet {
    let mut packet = build(&spec(text), mode).unwrap();
    let (src, dst): (SocketAddr, SocketAddr) = match mode {
        IpMode::Ipv6 => (
            "[fd::1]:8080".parse().unwrap(),
            "[fd::2]:40001".parse().unwrap(),
        ),
        _ => (
            "192.0.2.1:8080".parse().unwrap(),
            "192.0.2.2:40001".parse().unwrap(),
        ),
    };
    packet.set_ends(src, dst);
    packet
}

const PACKETS: &[&str] = &[
    "> S 0:0(0) win 65535 <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 8>",
    "> FPUEW. 4294967285:4294967295(10) ack 7 win 1 urg 3 <nop,nop,sack 1:2 3:4 4294967295:0>",
    "> .5 1:1(0) ack 1 <ECN e0b 1 ceb 2 e1b 3,nop>",
    "> [ect0] . 1:1461(1460) ack 1",
    "> [tos 0xb8] P. 1:2(1) ack 1",
    "> (ttl 5) - 1:1(0)",
    "> S 0:0(0) <mss 9,FO 0102030405060708,nop,nop>",
    "> S 0:0(0) <FOEXP 01020304>",
    "> . 1:1(0) ack 1 <nop,nop,md5 000102030405060708090a0b0c0d0e0f>",
    "> udp (37)",
    "> ipv4 1.1.1.1 > 2.2.2.2: gre: . 1:1001(1000) ack 1",
    "> ipv6 fd::5 > fd::6: . 1:11(10) ack 1",
    "> ipv4 1.1.1.1 > 2.2.2.2: ipv6 fd::5 > fd::6: . 1:1(0) ack 1",
];

#[test]
fn written_packet_reads_back_equal() {
    for mode in [IpMode::Ipv4, IpMode::Mapped, IpMode::Ipv6] {
        for text in PACKETS {
            let packet = sent(text, mode);
            let bytes = packet.emit();
            let read = Packet::parse(&bytes).unwrap().unwrap();
            assert_eq!(read, packet, "{text}");
            let script = build(&spec(text), mode).unwrap();
            assert_eq!(compare(&spec(text), &script, &read, RULES), [], "{text}");
        }
    }
}

#[test]
fn texts_are_those_of_scripts() {
    for text in PACKETS
        .iter()
        .filter(|t| !t.contains("gre") && !t.contains("ttl"))
    {
        let spec = spec(text);
        let shown = Shown {
            spec: Some(&spec),
            is_script: true,
            direction: Direction::Out,
        };
        let packet = build(&spec, IpMode::Ipv4).unwrap();
        let shown = line(&packet, shown).replace(" win *", "");
        assert_eq!(shown, *text);
    }
}

#[test]
fn every_two_packets_differ() {
    for (i, a) in PACKETS.iter().enumerate() {
        for (j, b) in PACKETS.iter().enumerate() {
            let script = build(&spec(a), IpMode::Ipv4).unwrap();
            let actual = sent(b, IpMode::Ipv4);
            let differences = compare(&spec(a), &script, &actual, RULES);
            assert_eq!(differences.is_empty(), i == j, "{a} / {b}");
        }
    }
}

#[test]
fn a_wrong_checksum_and_a_dirty_payload_are_seen() {
    let text = "> P. 1:11(10) ack 1";
    let script = build(&spec(text), IpMode::Ipv4).unwrap();
    let mut bytes = sent(text, IpMode::Ipv4).emit();
    let last = bytes.len() - 1;
    bytes[last] = 1;
    let actual = Packet::parse(&bytes).unwrap().unwrap();
    let differences = compare(&spec(text), &script, &actual, RULES);
    let names: Vec<&str> = differences.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["payload", "checksum"]);
}

#[test]
fn mpls_labels_are_counted() {
    let text = "> ipv4 1.1.1.1 > 2.2.2.2: mpls (label 5, tc 1, ttl 9) (label 7, tc 0, [S], ttl 3): . 1:1(0) ack 1";
    let packet = sent(text, IpMode::Ipv4);
    let read = Packet::parse(&packet.emit()).unwrap().unwrap();
    assert_eq!(read, packet);
    assert!(matches!(&read.layers[1], Layer::Mpls(labels) if labels.len() == 2));
}

#[test]
fn no_bytes_make_it_panic() {
    let mut random = tcplab_base::Random::stream(1, "packets");
    for text in PACKETS {
        for mode in [IpMode::Ipv4, IpMode::Ipv6] {
            let bytes = sent(text, mode).emit();
            for cut in 0..bytes.len().min(120) {
                let _ = Packet::parse(&bytes[..cut]);
            }
            for _ in 0..300 {
                let mut bytes = bytes.clone();
                for _ in 0..1 + random.below(4) {
                    let at = random.below(bytes.len() as u64) as usize;
                    bytes[at] = random.below(256) as u8;
                }
                if let Ok(Some(packet)) = Packet::parse(&bytes) {
                    let _ = compare(&spec(text), &sent(text, mode), &packet, RULES);
                    let _ = packet.emit();
                }
            }
        }
    }
}

#[test]
fn unsendable_packet_is_an_error() {
    for text in [
        "> . 1:65536(65535) ack 1",
        "> udp (65530)",
        "> icmp unreachable mtu 5",
        "> icmp unreachable frag_needed mtu 70000",
        "> icmp echo_request [raw (7)]",
    ] {
        assert!(build(&spec(text), IpMode::Ipv4).is_err(), "{text}");
    }
}

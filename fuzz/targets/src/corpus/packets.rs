//! Frames that are made here: TCP in everything that the parser steps over, and the generator's malformed ones.

use std::net::IpAddr;

use tcplab_base::Seq;
use tcplab_wire::malformed::{Family, Flow, Sample, groups};
use tcplab_wire::{CAQM_ETHERTYPE, Endpoint};

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// An Ethernet frame of a TCP packet. `tags` stand between the addresses and the EtherType.
fn ethernet(tags: &[u8], ip: &[u8]) -> Vec<u8> {
    let ethertype: [u8; 2] = if ip[0] >> 4 == 6 {
        [0x86, 0xdd]
    } else {
        [0x08, 0x00]
    };
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2], tags, &ethertype, ip].concat()
}

fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let total = (20 + payload.len() as u16).to_be_bytes();
    let mut out = vec![
        0x45, 0, total[0], total[1], 0, 1, 0x40, 0, 64, protocol, 0, 0,
    ];
    out.extend([192, 0, 2, 1, 192, 0, 2, 2]);
    out.extend(payload);
    out
}

fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    let mut out = vec![0x60, 0, 0, 0, length[0], length[1], next, 64];
    for host in [1, 2] {
        out.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
    }
    out.extend(payload);
    out
}

fn tcp(seq: u32, ack: u32, flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
    let mut out = vec![0x9c, 0x40, 0, 80];
    out.extend(seq.to_be_bytes());
    out.extend(ack.to_be_bytes());
    out.extend([
        ((20 + options.len()) << 2) as u8,
        flags,
        0x20,
        0,
        0,
        0,
        0,
        0,
    ]);
    out.extend(options);
    out.extend(std::iter::repeat_n(b'x', payload));
    out
}

const SYN_OPTIONS: [u8; 20] = [
    2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7,
];
const TIMES: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 5];
const SACK: [u8; 20] = [
    1, 1, 5, 18, 0, 0, 0, 200, 0, 0, 1, 200, 0, 0, 3, 0, 0, 0, 4, 0,
];

fn segments() -> Vec<Vec<u8>> {
    vec![
        tcp(100, 0, SYN, &SYN_OPTIONS, 0),
        tcp(500, 101, SYN | ACK, &SYN_OPTIONS, 0),
        tcp(101, 501, PSH | ACK, &TIMES, 100),
        tcp(101, 501, ACK, &SACK, 0),
        tcp(201, 501, FIN | ACK, &[], 0),
    ]
}

/// Frames with their link type, in the form of [`crate::frame`]: link, two bytes of length, the frame.
pub fn frames() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut add = |link: u8, bytes: &[u8]| out.push([&[link, 0, 0], bytes].concat());
    for segment in segments() {
        add(0, &ethernet(&[], &ipv4(6, &segment)));
        add(0, &ethernet(&[], &ipv6(6, &segment)));
    }
    let data = tcp(101, 501, PSH | ACK, &TIMES, 30);
    let tags: [&[u8]; 4] = [
        &[0x81, 0, 0, 5],
        &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6],
        &[0x82, 0, 0x12, 0x34],
        &[0x81, 0, 0, 5, 0x82, 0, 0x12, 0x34],
    ];
    for tag in tags {
        add(0, &ethernet(tag, &ipv4(6, &data)));
    }
    let v4 = ipv4(6, &data);
    let v6 = ipv6(6, &data);
    add(1, &v4);
    add(1, &v6);
    add(
        2,
        &[&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], &v4[..]].concat(),
    );
    add(
        3,
        &[
            &[
                0x86, 0xdd, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0,
            ],
            &v6[..],
        ]
        .concat(),
    );
    add(4, &[&[2, 0, 0, 0], &v4[..]].concat());
    add(5, &v4);
    add(6, &v6);
    // 6in4, IP in IP, GRE, IPv6 extension headers, a fragment.
    add(0, &ethernet(&[], &ipv4(41, &v6)));
    add(0, &ethernet(&[], &ipv4(4, &v4)));
    add(
        0,
        &ethernet(&[], &ipv4(47, &[&[0, 0, 8, 0], &v4[..]].concat())),
    );
    add(
        0,
        &ethernet(
            &[],
            &ipv6(0, &[&[6, 0, 1, 4, 0, 0, 0, 0], &data[..]].concat()),
        ),
    );
    add(
        0,
        &ethernet(
            &[],
            &ipv6(44, &[&[6, 0, 0, 1, 0, 0, 0, 7], &data[..]].concat()),
        ),
    );
    for bytes in malformed() {
        add(0, &bytes);
    }
    out
}

/// Some frames of each group of malformed ones.
fn malformed() -> impl Iterator<Item = Vec<u8>> {
    const OF_A_GROUP: u64 = 4;
    groups().flat_map(|group| {
        let end = |n: u16, port| Endpoint {
            ip: match group.family {
                Family::V4 => IpAddr::from([192, 0, 2, n as u8]),
                Family::V6 => IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, n]),
            },
            port,
        };
        let flow = Flow {
            src_mac: [2, 0, 0, 0, 0, 1],
            dst_mac: [2, 0, 0, 0, 0, 2],
            src: end(1, 40_000),
            dst: end(2, 80),
            seq: Seq(101),
            ack: Seq(501),
            window: 502,
            rcv_wnd: 65_536,
            timestamps: Some((9, 5)),
            caqm_ethertype: CAQM_ETHERTYPE,
        };
        let numbers = Sample::new(group, OF_A_GROUP, 1).numbers();
        numbers.map(move |number| group.case(&flow, number, 1).frame)
    })
}

/// The frames of one short connection, both directions in one (the addresses do not change: the parser is not asked).
pub(super) fn ethernet_frames() -> Vec<Vec<u8>> {
    segments()
        .iter()
        .enumerate()
        .map(|(i, s)| ethernet(&[], &if i % 2 == 0 { ipv4(6, s) } else { ipv6(6, s) }))
        .collect()
}

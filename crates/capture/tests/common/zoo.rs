//! Frames to compare with Wireshark: every encapsulation that is read, broken headers, quotes in ICMP errors, fragments.

use tcplab_wire::emit::{Payload, emit};
use tcplab_wire::{Config, LinkType, TcpFlags};

use crate::common::{endpoint, packet};

/// A frame: its name, link type, bytes, and length on the wire.
pub struct Frame {
    pub name: String,
    pub link: u32,
    pub bytes: Vec<u8>,
    pub len: usize,
}

#[derive(Default)]
struct Zoo(Vec<Frame>);

impl Zoo {
    fn add(&mut self, name: impl Into<String>, link: u32, bytes: Vec<u8>) {
        let len = bytes.len();
        self.0.push(Frame {
            name: name.into(),
            link,
            bytes,
            len,
        });
    }

    /// The first `cut` bytes of a frame.
    fn snapped(&mut self, name: impl Into<String>, link: u32, bytes: &[u8], cut: usize) {
        let (len, bytes) = (bytes.len(), bytes[..cut].to_vec());
        self.0.push(Frame {
            name: name.into(),
            link,
            bytes,
            len,
        });
    }
}

/// An IP packet with TCP: 20 bytes of header, 100 of payload; ports differ so that each makes a stream of its own.
fn ip(v6: bool, port: u16) -> Vec<u8> {
    let (a, b) = if v6 {
        ("2001:db8::1", "2001:db8::2")
    } else {
        ("192.0.2.1", "198.51.100.2")
    };
    let p = packet(
        endpoint(a, port),
        endpoint(b, 8_000),
        TcpFlags::ACK | TcpFlags::PSH,
        1,
        2,
        100,
    );
    let mut out = Vec::new();
    emit(
        LinkType::Raw,
        &p,
        Payload::Bytes(&[0x41; 100]),
        &Config::default(),
        &mut out,
    )
    .expect("plain");
    out
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

const MACS: &[u8] = &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];

fn ethernet(kind: u16, body: &[u8]) -> Vec<u8> {
    join(&[MACS, &kind.to_be_bytes(), body])
}

/// An IPv4 header before `body`.
fn ipv4(protocol: u8, body: &[u8]) -> Vec<u8> {
    let [a, b] = (body.len() as u16 + 20).to_be_bytes();
    let header = [
        0x45, 0, a, b, 0, 9, 0, 0, 64, protocol, 0, 0, 203, 0, 113, 1, 203, 0, 113, 2,
    ];
    join(&[&header, body])
}

/// An IPv6 header before `body`.
fn ipv6(next: u8, body: &[u8]) -> Vec<u8> {
    let [a, b] = (body.len() as u16).to_be_bytes();
    let mut header = vec![0x60, 0, 0, 0, a, b, next, 64];
    header.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
    header.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8]);
    join(&[&header, body])
}

fn udp(port: u16, body: &[u8]) -> Vec<u8> {
    let len = (body.len() as u16 + 8).to_be_bytes();
    ipv4(
        17,
        &join(&[
            &50_000_u16.to_be_bytes(),
            &port.to_be_bytes(),
            &len,
            &[0, 0],
            body,
        ]),
    )
}

fn encapsulations(zoo: &mut Zoo) {
    let (v4, v6) = (|n| ip(false, n), |n| ip(true, n));
    let frame = ethernet(0x0800, &v4(100));
    zoo.add("Ethernet", 1, frame.clone());
    zoo.add("padded", 1, join(&[&frame, &[0; 30]]));
    zoo.add("IPv6", 1, ethernet(0x86dd, &v6(101)));
    for (i, tags) in [
        &[0x8100_u16][..],
        &[0x88a8, 0x8100],
        &[0x9100, 0x8100],
        &[0x8100; 8],
        &[0x8100; 25],
    ]
    .into_iter()
    .enumerate()
    {
        let tagged: Vec<u8> = tags
            .iter()
            .flat_map(|t| [t.to_be_bytes(), [0, 5]])
            .flatten()
            .collect();
        zoo.add(
            format!("tags {tags:x?}"),
            1,
            join(&[MACS, &tagged, &[8, 0], &v4(110 + i as u16)]),
        );
    }
    let snap = join(&[&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &v4(120)]);
    zoo.add("802.3 SNAP", 1, ethernet(snap.len() as u16, &snap));
    zoo.add("802.3 SNAP, length short", 1, ethernet(60, &snap));
    zoo.add("802.3 SNAP, length long", 1, ethernet(1_400, &snap));
    zoo.add(
        "802.3 LLC IP",
        1,
        ethernet(123, &join(&[&[6, 6, 3], &v4(121)])),
    );
    zoo.add(
        "raw 802.3",
        1,
        ethernet(100, &join(&[&[0xff, 0xff, 3], &v4(122)])),
    );
    zoo.add("no type, no length", 1, ethernet(1_510, &v4(123)));
    zoo.add(
        "VLAN with a length",
        1,
        ethernet(
            0x8100,
            &join(&[&[0, 5], &(snap.len() as u16).to_be_bytes(), &snap]),
        ),
    );
    zoo.add(
        "MPLS",
        1,
        ethernet(0x8847, &join(&[&[0, 1, 0, 64, 0, 2, 1, 64], &v4(124)])),
    );
    zoo.add(
        "MPLS pseudowire",
        1,
        ethernet(
            0x8847,
            &join(&[&[0, 2, 1, 64, 0, 0, 0, 0], &ethernet(0x0800, &v4(125))]),
        ),
    );
    let ppp = join(&[&[0, 0x21], &v4(126)]);
    let session = join(&[&[0x11, 0, 0, 1], &(ppp.len() as u16).to_be_bytes(), &ppp]);
    zoo.add("PPPoE", 1, ethernet(0x8864, &session));
    zoo.add(
        "PPPoE, IPv6",
        1,
        ethernet(
            0x8864,
            &join(&[&[0x11, 0, 0, 1, 0, 162, 0, 0x57], &v6(127)]),
        ),
    );
    zoo.add(
        "802.1ah",
        1,
        ethernet(0x88e7, &join(&[&[0, 0, 0, 1], &frame])),
    );
    zoo.add("bridged", 1, ethernet(0x6558, &ethernet(0x0800, &v4(128))));
    zoo.add("unknown type", 1, ethernet(0x1234, &v4(129)));
}

fn tunnels(zoo: &mut Zoo) {
    let (v4, v6) = (|n| ip(false, n), |n| ip(true, n));
    zoo.add("IPIP", 101, ipv4(4, &v4(130)));
    zoo.add("6in4", 101, ipv4(41, &v6(131)));
    zoo.add("4in6", 101, ipv6(4, &v4(132)));
    zoo.add("6in6", 101, ipv6(41, &v6(133)));
    zoo.add("GRE", 101, ipv4(47, &join(&[&[0, 0, 8, 0], &v4(134)])));
    zoo.add(
        "GRE with all",
        101,
        ipv4(47, &join(&[&[0xb0, 0, 0x86, 0xdd], &[0; 12], &v6(135)])),
    );
    zoo.add(
        "GRE bridged",
        101,
        ipv4(
            47,
            &join(&[&[0, 0, 0x65, 0x58], &ethernet(0x0800, &v4(136))]),
        ),
    );
    zoo.add(
        "GRE PPP",
        101,
        ipv4(
            47,
            &join(&[
                &[0x20, 1, 0x88, 0x0b, 0, 142, 0, 1, 0xff, 3, 0, 0x21],
                &v4(137),
            ]),
        ),
    );
    zoo.add(
        "ERSPAN",
        101,
        ipv4(
            47,
            &join(&[
                &[0x10, 0, 0x88, 0xbe],
                &[0; 4],
                &[0x10; 8],
                &ethernet(0x0800, &v4(138)),
            ]),
        ),
    );
    zoo.add(
        "EtherIP",
        101,
        ipv4(97, &join(&[&[0x30, 0], &ethernet(0x0800, &v4(139))])),
    );
    zoo.add(
        "MPLS in IP",
        101,
        ipv4(137, &join(&[&[0, 1, 1, 64], &v4(140)])),
    );
}

fn udp_tunnels(zoo: &mut Zoo) {
    let v4 = |n| ip(false, n);
    zoo.add(
        "VXLAN",
        101,
        udp(
            4789,
            &join(&[&[8, 0, 0, 0, 0, 0, 7, 0], &ethernet(0x0800, &v4(141))]),
        ),
    );
    zoo.add(
        "VXLAN GPE",
        101,
        udp(4790, &join(&[&[0xc, 0, 0, 1, 0, 0, 7, 0], &v4(142)])),
    );
    zoo.add(
        "Geneve",
        101,
        udp(
            6081,
            &join(&[
                &[1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 0],
                &ethernet(0x0800, &v4(143)),
            ]),
        ),
    );
    zoo.add(
        "GTP-U",
        101,
        udp(2152, &join(&[&[0x30, 255, 0, 140, 0, 0, 0, 1], &v4(144)])),
    );
    zoo.add(
        "GTP-U, extended",
        101,
        udp(
            2152,
            &join(&[
                &[0x34, 255, 0, 148, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 0, 0],
                &v4(145),
            ]),
        ),
    );
    zoo.add("Teredo", 101, udp(3544, &ip(true, 146)));
    zoo.add(
        "L2TP",
        101,
        udp(
            1701,
            &join(&[&[0, 2, 0, 1, 0, 1, 0xff, 3, 0, 0x21], &v4(147)]),
        ),
    );
    zoo.add("UDP", 101, udp(5_004, &v4(148)));
}

fn links(zoo: &mut Zoo) {
    let (v4, v6) = (|n| ip(false, n), |n| ip(true, n));
    zoo.add("raw IPv4", 101, v4(200));
    zoo.add("raw IPv6", 101, v6(201));
    zoo.add("IPv4", 228, v4(202));
    zoo.add("IPv6", 229, v6(203));
    zoo.add("raw, no version", 101, vec![0x15; 60]);
    for (i, family) in [[2, 0, 0, 0], [0, 0, 0, 2], [0, 0, 8, 0]]
        .into_iter()
        .enumerate()
    {
        zoo.add(
            format!("NULL {family:?}"),
            0,
            join(&[&family, &v4(204 + i as u16)]),
        );
    }
    for (i, family) in [24_u8, 28, 30].into_iter().enumerate() {
        zoo.add(
            format!("NULL {family}"),
            0,
            join(&[&[family, 0, 0, 0], &v6(210 + i as u16)]),
        );
    }
    zoo.add("LOOP", 108, join(&[&[0, 0, 0, 2], &v4(213)]));
    zoo.add(
        "SLL",
        113,
        join(&[&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], &v4(214)]),
    );
    zoo.add(
        "SLL, VLAN",
        113,
        join(&[
            &[
                0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x81, 0, 0, 5, 8, 0,
            ],
            &v4(215),
        ]),
    );
    zoo.add(
        "SLL, IPv6 in IPv4's type",
        113,
        join(&[&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], &v6(216)]),
    );
    zoo.add(
        "SLL, GRE interface",
        113,
        join(&[&[0, 0, 3, 10, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0, 8, 0], &v4(217)]),
    );
    zoo.add(
        "SLL2",
        276,
        join(&[
            &[
                0x86, 0xdd, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0,
            ],
            &v6(218),
        ]),
    );
}

fn serial_links(zoo: &mut Zoo) {
    let v4 = |n| ip(false, n);
    zoo.add("PPP", 9, join(&[&[0xff, 3, 0, 0x21], &v4(219)]));
    zoo.add("PPP, short", 9, join(&[&[0x21], &v4(220)]));
    zoo.add("Cisco HDLC", 104, join(&[&[0x0f, 0, 8, 0], &v4(221)]));
    zoo.add("Cisco HDLC in PPP", 50, join(&[&[0x0f, 0, 8, 0], &v4(222)]));
    zoo.add(
        "PPPoE alone",
        51,
        join(&[&[0x11, 0, 0, 1, 0, 142, 0, 0x21], &v4(223)]),
    );
    zoo.add(
        "frame relay",
        107,
        join(&[&[0x18, 0x41, 3, 0xcc], &v4(224)]),
    );
    zoo.add("MPLS alone", 219, join(&[&[0, 1, 1, 64], &v4(225)]));
}

fn lan_links(zoo: &mut Zoo) {
    let v4 = |n| ip(false, n);
    let llc: &[u8] = &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let data = join(&[&[0x08, 0x01], &[0; 20], &[0x10, 0]]);
    zoo.add("802.11", 105, join(&[&data, llc, &v4(226)]));
    zoo.add(
        "802.11 QoS",
        105,
        join(&[&[0x88, 0x01], &[0; 20], &[0x10, 0, 0, 0], llc, &v4(227)]),
    );
    zoo.add(
        "802.11 encrypted",
        105,
        join(&[&[0x08, 0x41], &[0; 22], &[1; 8], llc, &v4(228)]),
    );
    zoo.add(
        "802.11 beacon",
        105,
        join(&[&[0x80, 0], &[0; 22], &[0; 30]]),
    );
    zoo.add(
        "radiotap",
        127,
        join(&[&[0, 0, 8, 0, 0, 0, 0, 0], &data, llc, &v4(229)]),
    );
    zoo.add(
        "radiotap, padded",
        127,
        join(&[
            &[0, 0, 9, 0, 2, 0, 0, 0, 0x20, 0x88, 0x01],
            &[0; 20],
            &[0x10, 0, 0, 0, 0, 0],
            llc,
            &v4(230),
        ]),
    );
    zoo.add("FDDI", 10, join(&[&[0x50], MACS, llc, &v4(231)]));
    zoo.add("token ring", 6, join(&[&[0x10, 0x40], MACS, llc, &v4(232)]));
    let log = join(&[&[45, 2], &[0; 46], &v4(233)]);
    zoo.add("packet filter log", 117, log);
    zoo.add(
        "netfilter log",
        239,
        join(&[
            &[2, 0, 0, 1, 8, 0, 1, 0, 8, 0, 1, 0, 144, 0, 9, 0],
            &v4(234),
        ]),
    );
}

fn ip_lengths(zoo: &mut Zoo) {
    let v4 = |n| ip(false, n);
    for ihl in 0..16_u8 {
        let mut b = v4(300 + u16::from(ihl));
        b[0] = 0x40 | ihl;
        zoo.add(format!("IHL {ihl}"), 101, b);
    }
    for (i, total) in [
        0_u16, 1, 19, 20, 21, 24, 27, 30, 36, 39, 40, 41, 139, 140, 141, 65_535,
    ]
    .into_iter()
    .enumerate()
    {
        let mut b = v4(320 + i as u16);
        b[2..4].copy_from_slice(&total.to_be_bytes());
        zoo.add(format!("total length {total}"), 1, ethernet(0x0800, &b));
    }
}

fn ip_extensions(zoo: &mut Zoo) {
    let tcp = ip(false, 340)[20..].to_vec();
    let v6tcp = ip(true, 341)[40..].to_vec();
    for (name, route) in [("loose", 131), ("strict", 137)] {
        let mut b = ipv4(
            6,
            &join(&[&[route, 11, 4, 10, 0, 0, 1, 10, 0, 0, 2, 0], &tcp]),
        );
        b[0] = 0x48;
        zoo.add(format!("{name} source route"), 101, b);
    }
    for (name, kind, length) in [
        ("hop by hop", 0, 0),
        ("destination options", 60, 1),
        ("routing", 43, 2),
        ("mobility", 135, 0),
    ] {
        let mut header = vec![6, length];
        header.resize((usize::from(length) + 1) * 8, 0);
        zoo.add(name, 101, ipv6(kind, &join(&[&header, &v6tcp])));
    }
    let mut header = vec![6, 2, 0, 1, 0, 0, 0, 0];
    header.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x77]);
    zoo.add(
        "routing to the end",
        101,
        ipv6(43, &join(&[&header, &v6tcp])),
    );
    zoo.add(
        "authentication",
        101,
        ipv6(51, &join(&[&[6, 4], &[0; 22], &v6tcp])),
    );
    zoo.add(
        "authentication, IPv4",
        101,
        ipv4(51, &join(&[&[6, 4], &[0; 22], &tcp])),
    );
    zoo.add(
        "atomic fragment",
        101,
        ipv6(44, &join(&[&[6, 0, 0, 0, 0, 0, 0, 1], &v6tcp])),
    );
    zoo.add(
        "extension too long",
        101,
        ipv6(0, &join(&[&[6, 200, 0, 0, 0, 0, 0, 0], &v6tcp])),
    );
    let chain: Vec<u8> = (0..7)
        .flat_map(|i| [if i < 6 { 60 } else { 6 }, 0, 1, 4, 0, 0, 0, 0])
        .collect();
    zoo.add("seven extensions", 101, ipv6(60, &join(&[&chain, &v6tcp])));
    for plen in [0_u16, 1, 15, 19, 20, 119, 121, 65_535] {
        let mut b = ip(true, 350 + plen % 97);
        b[4..6].copy_from_slice(&plen.to_be_bytes());
        zoo.add(format!("payload length {plen}"), 1, ethernet(0x86dd, &b));
    }
    zoo.add("no next header", 101, ipv6(59, &v6tcp));
    zoo.add("ESP", 101, ipv4(50, &tcp));
}

fn broken_tcp(zoo: &mut Zoo) {
    for offset in 0..16_u8 {
        let mut b = ip(false, 400 + u16::from(offset));
        b[32] = offset << 4;
        zoo.add(format!("data offset {offset}"), 101, b.clone());
        // Only 30 bytes of segment.
        b[3] = 50;
        zoo.add(format!("data offset {offset}, short"), 101, b);
    }
    let whole = ethernet(0x0800, &ip(false, 420));
    for cut in 0..=60 {
        zoo.snapped(format!("cut at {cut}"), 1, &whole, cut);
    }
    let whole = ethernet(0x86dd, &ip(true, 421));
    for cut in 50..=80 {
        zoo.snapped(format!("IPv6 cut at {cut}"), 1, &whole, cut);
    }
    for len in 0..=24_usize {
        let tcp = ip(false, 430)[20..20 + len].to_vec();
        zoo.add(format!("segment of {len} bytes"), 101, ipv4(6, &tcp));
    }
}

fn quotes(zoo: &mut Zoo) {
    for kind in [0_u8, 3, 4, 5, 8, 11, 12, 40] {
        for keep in [20 + 8, 20 + 4, 20 + 15, 20 + 16, 20 + 40, 140] {
            for words in [0_u8, 8, 200] {
                let quote = ip(false, 500)[..keep].to_vec();
                let icmp = join(&[&[kind, 1, 0, 0, 0, words, 0, 0], &quote]);
                zoo.add(
                    format!("ICMP {kind} quotes {keep}, length {words}"),
                    101,
                    ipv4(1, &icmp),
                );
            }
        }
    }
    for kind in [1_u8, 2, 3, 4, 128] {
        for keep in [40 + 8, 40 + 16, 160] {
            let quote = ip(true, 501)[..keep].to_vec();
            let icmp = join(&[&[kind, 0, 0, 0, 0, 0, 0, 0], &quote]);
            zoo.add(format!("ICMPv6 {kind} quotes {keep}"), 101, ipv6(58, &icmp));
        }
    }
}

fn fragments(zoo: &mut Zoo) {
    let whole = ip(false, 600);
    let piece = |range: std::ops::Range<usize>, more: bool, id: u8| {
        let mut b = ipv4(6, &whole[20 + range.start..20 + range.end]);
        b[5] = id;
        b[6] = if more { 0x20 } else { 0 };
        b[7] = (range.start / 8) as u8;
        b
    };
    for (i, range, more, id) in [
        (0, 0..64, true, 1),
        (1, 64..120, false, 1),
        (2, 64..120, false, 2),
        (3, 0..64, true, 2),
        (4, 0..64, true, 3),
        (5, 0..64, true, 3),
        (6, 96..120, false, 3),
        (7, 64..104, true, 3),
        (8, 0..8, true, 4),
        (9, 8..120, false, 4),
        (10, 64..120, false, 5),
    ] {
        zoo.add(format!("fragment {i}"), 101, piece(range, more, id));
    }
    let first = piece(0..64, true, 9);
    for cut in [20, 24, 30, 36, 40, 60] {
        zoo.snapped(format!("first fragment cut at {cut}"), 101, &first, cut);
    }
    zoo.snapped("later fragment cut", 101, &piece(64..120, false, 9), 50);
    let tcp = ip(true, 601)[40..].to_vec();
    let piece6 = |range: std::ops::Range<usize>, more: u8| {
        ipv6(
            44,
            &join(&[
                &[6, 0, 0, range.start as u8 | more, 0, 0, 0, 5],
                &tcp[range],
            ]),
        )
    };
    zoo.add("IPv6 fragment 0", 101, piece6(0..80, 1));
    zoo.add("IPv6 fragment 1", 101, piece6(80..120, 0));
}

/// All of them.
pub fn zoo() -> Vec<Frame> {
    let mut zoo = Zoo::default();
    encapsulations(&mut zoo);
    tunnels(&mut zoo);
    udp_tunnels(&mut zoo);
    links(&mut zoo);
    serial_links(&mut zoo);
    lan_links(&mut zoo);
    ip_lengths(&mut zoo);
    ip_extensions(&mut zoo);
    broken_tcp(&mut zoo);
    quotes(&mut zoo);
    fragments(&mut zoo);
    zoo.0
}

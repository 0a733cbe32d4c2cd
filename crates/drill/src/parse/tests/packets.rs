//! Packets.

use super::packet;
use crate::script::{
    AccEcnField, Body, Direction, Flags, Gre, IcmpSpec, IpInfo, MplsLabel, Outer, Quoted, SeqRange,
    TcpOption, TcpSpec, Tos,
};

fn tcp(text: &str) -> TcpSpec {
    match packet(text).unwrap_or_else(|e| panic!("{text}: {e}")).body {
        Body::Tcp(tcp) => tcp,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn flags() {
    for (text, bits, is_ace) in [
        ("-", 0, false),
        (".", 16, false),
        ("S", 2, false),
        ("S.", 18, false),
        ("FP.", 25, false),
        ("SEW", 194, false),
        ("SEWA", 450, false),
        ("R.", 20, false),
        ("U.", 48, false),
        (".5", 16 + 5 * 64, true),
        ("S.5", 18 + 5 * 64, true),
        ("P.0", 24, true),
        ("S7", 2 + 7 * 64, true),
        ("SA.", 274, false),
    ] {
        let found = tcp(&format!("> {text} 0:0(0)")).flags;
        assert_eq!(found, Flags { bits, is_ace }, "{text}");
    }
}

#[test]
fn numbers_of_a_segment() {
    let spec = tcp("< 4000 > 80 P. 1:1001(1000) ack 0x10 win 65535 urg 7");
    assert_eq!(spec.ports, Some((4000, 80)));
    assert_eq!(
        spec.seq,
        SeqRange {
            start: 1,
            len: 1000
        }
    );
    assert_eq!(
        (spec.ack, spec.window, spec.urgent),
        (Some(16), Some(65535), 7)
    );
    assert_eq!(spec.options, Some(vec![]));
    let bare = tcp("> . 4294967295:4294967295(0)");
    assert_eq!(
        (bare.ack, bare.window, bare.urgent, bare.ports),
        (None, None, 0, None)
    );
    assert_eq!(bare.seq.start, u32::MAX);
    assert_eq!(tcp("> . 1:1(0) <...>").options, None);
}

#[test]
fn options() {
    for (text, expected) in [
        ("mss 1460", vec![TcpOption::Mss(1460)]),
        (
            "nop,nop,sackOK",
            vec![TcpOption::Nop, TcpOption::Nop, TcpOption::SackPermitted],
        ),
        (
            "wscale 7,eol",
            vec![TcpOption::WindowScale(7), TcpOption::Eol],
        ),
        (
            "nop,nop,TS val 1 ecr 4294967295",
            vec![
                TcpOption::Nop,
                TcpOption::Nop,
                TcpOption::Timestamps {
                    val: 1,
                    ecr: u32::MAX,
                },
            ],
        ),
        (
            "nop,nop,sack 1:2 3:4",
            vec![
                TcpOption::Nop,
                TcpOption::Nop,
                TcpOption::Sack(vec![(1, 2), (3, 4)]),
            ],
        ),
        (
            "FO,nop,nop",
            vec![TcpOption::FastOpen(vec![]), TcpOption::Nop, TcpOption::Nop],
        ),
        ("FO abcd,nop,nop,nop,nop", {
            let mut all = vec![TcpOption::FastOpen(vec![0xab, 0xcd])];
            all.extend([
                TcpOption::Nop,
                TcpOption::Nop,
                TcpOption::Nop,
                TcpOption::Nop,
            ]);
            all
        }),
        ("FO 12345678,nop,nop", {
            vec![
                TcpOption::FastOpen(vec![0x12, 0x34, 0x56, 0x78]),
                TcpOption::Nop,
                TcpOption::Nop,
            ]
        }),
        ("FOEXP 0123456789ABCDEF", {
            vec![TcpOption::FastOpenExp(vec![
                1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
            ])]
        }),
    ] {
        assert_eq!(
            tcp(&format!("> S 0:0(0) <{text}>")).options,
            Some(expected),
            "{text}"
        );
    }
}

#[test]
fn options_of_other_mechanisms() {
    for (text, expected) in [
        // A cookie that looks like a word of the language.
        ("FOEXP ce,nop,nop,nop", {
            vec![
                TcpOption::FastOpenExp(vec![0xce]),
                TcpOption::Nop,
                TcpOption::Nop,
                TcpOption::Nop,
            ]
        }),
        ("nop,nop,md5 00112233445566778899aabbccddeeff", {
            vec![
                TcpOption::Nop,
                TcpOption::Nop,
                TcpOption::Md5((0..16).map(|n| n * 0x11).collect()),
            ]
        }),
        ("ECN e0b 1 ceb 0 e1b 16777215,nop", {
            let fields = vec![
                (AccEcnField::E0b, 1),
                (AccEcnField::Ceb, 0),
                (AccEcnField::E1b, 0xff_ffff),
            ];
            vec![TcpOption::AccEcn(fields), TcpOption::Nop]
        }),
        (
            "ECN e1b 2 ceb 3",
            vec![TcpOption::AccEcn(vec![
                (AccEcnField::E1b, 2),
                (AccEcnField::Ceb, 3),
            ])],
        ),
        ("ECN e0b 1,nop,nop,nop", {
            vec![
                TcpOption::AccEcn(vec![(AccEcnField::E0b, 1)]),
                TcpOption::Nop,
                TcpOption::Nop,
                TcpOption::Nop,
            ]
        }),
    ] {
        assert_eq!(
            tcp(&format!("> S 0:0(0) <{text}>")).options,
            Some(expected),
            "{text}"
        );
    }
}

#[test]
fn ip_header_fields() {
    let tos = |tos| IpInfo {
        tos,
        ..IpInfo::default()
    };
    for (text, expected) in [
        ("", tos(Tos::NotSaid)),
        ("[noecn]", tos(Tos::Ecn(0))),
        ("(ect1)", tos(Tos::Ecn(1))),
        ("[ect0]", tos(Tos::Ecn(2))),
        ("[ce]", tos(Tos::Ecn(3))),
        ("[ect01]", tos(Tos::EitherEct)),
        ("(tos 0x28)", tos(Tos::Byte(0x28))),
        (
            "[ttl 64]",
            IpInfo {
                ttl: 64,
                ..IpInfo::default()
            },
        ),
        (
            "[flowlabel 0xfffff]",
            IpInfo {
                flow_label: 0xf_ffff,
                ..IpInfo::default()
            },
        ),
        (
            "[ect0, flowlabel 0x7]",
            IpInfo {
                flow_label: 7,
                ..tos(Tos::Ecn(2))
            },
        ),
    ] {
        assert_eq!(
            packet(&format!("> {text} . 1:1(0)")).unwrap().ip,
            expected,
            "{text}"
        );
    }
}

#[test]
fn headers_around_a_packet() {
    let text = "< ipv4 [ttl 9] 10.0.0.1 > 10.0.0.2: gre: ipv6 fd::1 > fd::2: \
        mpls (label 16, tc 7, ttl 1) (label 1048575, tc 0, [S], ttl 255): . 1:1(0) ack 1 win 5";
    let found = packet(text).unwrap();
    assert_eq!(found.direction, Direction::In);
    let label = |label, tc, bottom, ttl| MplsLabel {
        label,
        tc,
        bottom,
        ttl,
    };
    assert_eq!(
        found.outer,
        [
            Outer::Ipv4 {
                src: [10, 0, 0, 1].into(),
                dst: [10, 0, 0, 2].into(),
                ip: IpInfo {
                    ttl: 9,
                    ..IpInfo::default()
                },
            },
            Outer::Gre(Gre::default()),
            Outer::Ipv6 {
                src: "fd::1".parse().unwrap(),
                dst: "fd::2".parse().unwrap(),
                ip: IpInfo::default(),
            },
            Outer::Mpls(vec![label(16, 7, false, 1), label(0xf_ffff, 0, true, 255)]),
        ]
    );
    let gre = "> GREv0, Flags [checksum present, key present], sum 0x1 off 0, key = 0xffffffff, seq 3: . 1:1(0)";
    let expected = Gre {
        flags: 0xa000,
        sum: 1,
        off: 0,
        key: u32::MAX,
        seq: 3,
    };
    assert_eq!(packet(gre).unwrap().outer, [Outer::Gre(expected)]);
    assert_eq!(
        packet("> encap psp spi 0x12 . 1:1(0)").unwrap().psp_spi,
        Some(0x12)
    );
}

#[test]
fn udp_and_icmp() {
    assert_eq!(
        packet("> udp (1000)").unwrap().body,
        Body::Udp {
            ports: None,
            len: 1000
        }
    );
    assert_eq!(
        packet("< udp 5 > 6 (0)").unwrap().body,
        Body::Udp {
            ports: Some((5, 6)),
            len: 0
        }
    );
    let icmp = |text: &str| match packet(text).unwrap().body {
        Body::Icmp(icmp) => icmp,
        other => panic!("{other:?}"),
    };
    let IcmpSpec {
        kind,
        code,
        mtu,
        echo_id,
        quoted,
    } = icmp("< icmp unreachable frag_needed mtu 1200 [1:1461(1460)]");
    assert_eq!(
        (kind.value.as_str(), code.unwrap().value.as_str()),
        ("unreachable", "frag_needed")
    );
    assert_eq!((mtu, echo_id), (Some(1200), 0));
    assert_eq!(
        quoted,
        Some(Quoted::Tcp(SeqRange {
            start: 1,
            len: 1460
        }))
    );
    assert_eq!(icmp("< [ce] icmp echo_request id 9").echo_id, 9);
    assert_eq!(
        icmp("< icmp type_7 code_8 [udp (5)]").quoted,
        Some(Quoted::Udp(5))
    );
    assert_eq!(
        icmp("> icmp echo_reply [raw (64)]").quoted,
        Some(Quoted::Raw(64))
    );
    assert_eq!(icmp("> icmp packet_too_big mtu 70000").code, None);
}

//! `parse(emit(p)) == p` for every packet that can be written.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::option;
use proptest::prelude::*;
use tcplab_base::Seq;
use tcplab_wire::emit::{Payload, emit};
use tcplab_wire::{
    CaqmInfo, Config, Encap, Endpoint, FastOpen, LinkType, Parsed, SackBlocks, Standing, TcpFlags,
    TcpOptions, TcpPacket, caqm_ethertype, parse_frame,
};

fn addresses() -> impl Strategy<Value = (IpAddr, IpAddr)> {
    prop_oneof![
        (any::<u32>(), any::<u32>())
            .prop_map(|(a, b)| (IpAddr::V4(Ipv4Addr::from(a)), IpAddr::V4(Ipv4Addr::from(b)))),
        (any::<u128>(), any::<u128>())
            .prop_map(|(a, b)| (IpAddr::V6(Ipv6Addr::from(a)), IpAddr::V6(Ipv6Addr::from(b)))),
    ]
}

/// Options that fit into 40 bytes, with the bytes they take.
fn options() -> impl Strategy<Value = (TcpOptions, u8)> {
    let all = (
        option::of(any::<u16>()),
        option::of(0_u8..=14),
        any::<bool>(),
        prop::collection::vec(any::<(u32, u32)>(), 0..=4),
        option::of(any::<(u32, u32)>()),
        option::of((
            prop::collection::vec(any::<[u8; 2]>(), 0..=8),
            any::<bool>(),
        )),
    );
    all.prop_filter_map(
        "more than 40 bytes",
        |(mss, scale, permitted, sack, ts, cookie)| {
            let permitted_len = if ts.is_some() || !permitted { 0 } else { 4 };
            let sack_len = if sack.is_empty() {
                0
            } else {
                4 + 8 * sack.len()
            };
            let cookie = cookie.filter(|_| sack.is_empty());
            let cookie = cookie.map(|(pairs, experimental)| match pairs.is_empty() {
                true => FastOpen::request(experimental),
                false => FastOpen::cookie(&pairs.concat(), experimental).unwrap_or_default(),
            });
            let len = 4 * usize::from(mss.is_some())
                + 4 * usize::from(scale.is_some())
                + 12 * usize::from(ts.is_some())
                + permitted_len
                + sack_len
                + cookie.map_or(0, |cookie| cookie.wire_len() as usize);
            let mut blocks = SackBlocks::default();
            for (l, r) in sack {
                blocks.push(Seq(l), Seq(r));
            }
            let mut o = TcpOptions {
                mss,
                window_scale: scale,
                sack_permitted: permitted,
                sack: blocks,
                timestamps: ts,
                mptcp: 0,
                malformed: false,
            };
            o.set_fast_open(cookie);
            (len <= 40).then_some((o, len as u8))
        },
    )
}

prop_compose! {
    fn packet()(
        (src, dst) in addresses(), ports in any::<(u16, u16)>(), seq in any::<u32>(), ack in any::<u32>(),
        flags in 0_u16..0x1000, window in any::<u16>(), urgent in any::<u16>(), payload_len in 0_u32..70_000,
        (options, options_len) in options(), extra in 0_u8..3, ecn in 0_u8..4, ttl in any::<u8>(), id in any::<u16>(),
        vlan_tags in 0_u8..=8, caqm in option::of(any::<u16>()), tunnels in 0_u8..3,
    ) -> TcpPacket {
        TcpPacket {
            src: Endpoint { ip: src, port: ports.0 },
            dst: Endpoint { ip: dst, port: ports.1 },
            seq: Seq(seq), ack: Seq(ack), flags: TcpFlags(flags), window, urgent, payload_len,
            header_len: (20 + options_len + 4 * extra).min(60), options, ecn, ttl,
            ip_id: src.is_ipv4().then_some(id), header_truncated: false, standing: Standing::Whole,
            encap: Encap { vlan_tags, caqm: caqm.map(CaqmInfo), tunnels, fragments: 0 },
        }
    }
}

fn check(link: LinkType, packet: &TcpPacket, payload: Payload<'_>) {
    let mut bytes = Vec::new();
    let len = emit(link, packet, payload, &Config::default(), &mut bytes).expect("can be written");
    let parsed = parse_frame(link, &bytes, len, &Config::default());
    assert_eq!(parsed, Parsed::Tcp(*packet), "{link:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn tagged_links(p in packet()) {
        for link in [LinkType::Ethernet, LinkType::Sll, LinkType::Sll2] {
            check(link, &p, Payload::Len);
            check(link, &p, Payload::Bytes(&vec![0xa5; p.payload_len as usize]));
        }
    }

    #[test]
    fn bare_links(p in packet()) {
        let p = TcpPacket { encap: Encap { vlan_tags: 0, caqm: None, ..p.encap }, ..p };
        let exact = if p.src.ip.is_ipv4() || p.encap.tunnels > 0 { LinkType::Ipv4 } else { LinkType::Ipv6 };
        for link in [LinkType::Null, LinkType::Raw, LinkType::Ppp, exact] {
            check(link, &p, Payload::Len);
        }
    }

    /// The tag stands inside the VLAN tags, its inner EtherType is the packet's, and the same bytes come back.
    #[test]
    fn the_tag_of_any_ethertype(p in packet(), info in any::<u16>(), vlan_tags in 0_u8..=2, ethertype in 0x600_u16..) {
        let Ok(ethertype) = caqm_ethertype(ethertype) else { return Ok(()) };
        let config = Config { caqm_ethertype: ethertype, ..Config::default() };
        let caqm = Some(CaqmInfo(info));
        let p = TcpPacket { encap: Encap { vlan_tags, caqm, ..p.encap }, ..p };
        let write = |p: &TcpPacket| {
            let mut bytes = Vec::new();
            let len = emit(LinkType::Ethernet, p, Payload::Len, &config, &mut bytes).expect("can be written");
            (bytes, len)
        };
        let (bytes, len) = write(&p);
        let at = 12 + 4 * usize::from(vlan_tags);
        let inner = if p.src.ip.is_ipv4() || p.encap.tunnels > 0 { 0x0800_u16 } else { 0x86dd };
        let tag = [ethertype, info, inner].map(u16::to_be_bytes).concat();
        prop_assert_eq!(&bytes[at..at + 6], &tag[..]);
        let parsed = parse_frame(LinkType::Ethernet, &bytes, len, &config);
        prop_assert_eq!(parsed, Parsed::Tcp(p));
        // Without the tag's EtherType nobody sees through it.
        let other = Config { caqm_ethertype: ethertype ^ 0x0101, ..config };
        prop_assert!(!parse_frame(LinkType::Ethernet, &bytes, len, &other).is_tcp());
        // Only INFO differs where only INFO changes: a switch may rewrite it without touching a checksum.
        let refused = Some(CaqmInfo(info).refused());
        let (changed, _) = write(&TcpPacket { encap: Encap { caqm: refused, ..p.encap }, ..p });
        let differ: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i] != changed[*i]).collect();
        prop_assert!(differ.iter().all(|i| *i == at + 2), "{:?}", differ);
    }

    #[test]
    fn padding_is_no_payload(p in packet(), pad in 1_usize..50) {
        // A length of 0 in the IP header means "to the end of the frame", where padding cannot be told from payload.
        let p = TcpPacket { payload_len: p.payload_len % 1461, ..p };
        let mut bytes = Vec::new();
        let body = vec![1; p.payload_len as usize];
        emit(LinkType::Ethernet, &p, Payload::Bytes(&body), &Config::default(), &mut bytes).expect("can be written");
        bytes.resize(bytes.len() + pad, 0);
        let parsed = parse_frame(LinkType::Ethernet, &bytes, bytes.len() as u32, &Config::default());
        prop_assert_eq!(parsed, Parsed::Tcp(p));
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), number in 0_u32..300, len in any::<u32>()) {
        let parsed = parse_frame(LinkType::from_number(number), &bytes, len, &Config::default());
        prop_assert!(!matches!(parsed, Parsed::Tcp(p) if p.payload_len > len.max(bytes.len() as u32)));
    }

    /// The short way for plain frames says what the long way says, which a raw IP packet takes.
    #[test]
    fn the_short_way_and_the_long_way_agree(
        p in packet(), flips in prop::collection::vec((14_usize..74, any::<u8>()), 0..4), cut in 14_usize..200, more in 0_u32..100,
    ) {
        let p = TcpPacket { encap: Encap::default(), payload_len: p.payload_len % 100, ..p };
        let mut bytes = Vec::new();
        let payload = vec![0; p.payload_len as usize];
        emit(LinkType::Ethernet, &p, Payload::Bytes(&payload), &Config::default(), &mut bytes).expect("can be written");
        let len = bytes.len() as u32 + more;
        for (at, value) in flips {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        bytes.truncate(cut);
        let short = parse_frame(LinkType::Ethernet, &bytes, len, &Config::default());
        let long = parse_frame(LinkType::Raw, &bytes[14..], len - 14, &Config::default());
        // IPv6's EtherType does not allow another version, a raw packet does.
        if p.src.ip.is_ipv4() || bytes.get(14).is_none_or(|b| b >> 4 == 6) {
            prop_assert_eq!(short, long);
        }
    }
}

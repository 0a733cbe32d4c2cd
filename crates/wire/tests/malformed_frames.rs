//! The generator of malformed frames, and how a host takes them. Each frame goes through the parser of captures, which
//! must not fail, and through the receiver, which must refuse the frames that the generator calls refused.

use std::collections::BTreeMap;
use std::net::IpAddr;

use tcplab_base::Seq;
use tcplab_wire::malformed::{Family, Fate, Flow, GROUPS, Group, Sample, group, groups};
use tcplab_wire::{
    Arrival, Config, Endpoint, LinkType, NotTcp, Parsed, Reassembler, Receiver, Refused, Standing,
    parse_frame, receive_any,
};

const CAQM: u16 = 0x8200;
const HOST: [u8; 6] = [2, 0, 0, 0, 0, 2];

fn flow(family: Family) -> Flow {
    let end = |n: u16, port| {
        let ip = match family {
            Family::V4 => IpAddr::from([192, 0, 2, n as u8]),
            Family::V6 => IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, n]),
        };
        Endpoint { ip, port }
    };
    Flow {
        src_mac: [2, 0, 0, 0, 0, 1],
        dst_mac: HOST,
        src: end(1, 40_000),
        dst: end(2, 80),
        seq: Seq(0x1234_5678),
        ack: Seq(0x9abc_def0),
        window: 502,
        rcv_wnd: 65_536,
        timestamps: Some((1_000_000, 2_000_000)),
        caqm_ethertype: CAQM,
    }
}

fn take(frame: &[u8], caqm: bool) -> Result<(), Refused> {
    let addresses = [flow(Family::V4).dst.ip, flow(Family::V6).dst.ip];
    let host = Receiver {
        mac: HOST,
        addresses: &addresses,
        caqm_ethertype: caqm.then_some(CAQM),
    };
    receive_any(&host, frame).map(|arrival| {
        let Arrival::Segment(received) = arrival else {
            return;
        };
        assert!(received.packet.standing == Standing::Whole && !received.packet.header_truncated);
        let header = usize::from(received.packet.header_len);
        assert_eq!(
            received.segment.len(),
            header + received.packet.payload_len as usize
        );
    })
}

#[test]
fn refused_frames_are_refused_and_readable_ones_are_read() {
    let mut all = 0;
    let mut pieces = Reassembler::default();
    for group in groups() {
        let flow = flow(group.family);
        let mut taken = 0;
        for number in Sample::new(group, u64::MAX, 1).numbers() {
            all += 1;
            let case = group.case(&flow, number, 1);
            let name = format!("{}:{number}", group.name);
            for frame in case.frames() {
                let len = frame.len() as u32;
                pieces.parse(LinkType::Ethernet, frame, len, &Config::default());
            }
            let len = case.frame.len() as u32;
            let parsed = parse_frame(LinkType::Ethernet, &case.frame, len, &Config::default());
            if let Parsed::Tcp(p) = parsed {
                assert!(p.payload_len <= len, "{name}");
            }
            let [with, without] = [true, false].map(|caqm| take(&case.frame, caqm));
            if case.fate == Fate::Refused {
                assert!(with.is_err() && without.is_err(), "{name} is taken");
            }
            taken += u64::from(with.is_ok());
            // A host that does not know CAQM's tag takes no more frames, and none of the others less.
            assert!(with.is_ok() || without.is_err(), "{name}");
            // The parser of captures gives up behind 64 headers; it does not look for what ICMP quotes in a few bytes.
            let is_icmp = group.name.starts_with("icmp");
            if with.is_ok() && !is_icmp && !(group.name == "ipv6-chain" && number % 65 > 60) {
                assert!(matches!(parsed, Parsed::Tcp(_)), "{name}: {parsed:?}");
            }
        }
        let none = [
            "tag-alone",
            "ipv4-checksum",
            "tcp-checksum",
            "tcp-checksum-v6",
            "address",
            "icmp-checksum",
            "icmp6-checksum",
            // Linux knows some options; `receive` says that it does not.
            "ipv4-option-values",
            // Fragments wait for each other, which `receive` does not.
            "fragments-never",
            "fragments-never-v6",
        ];
        assert_eq!(taken == 0, none.contains(&group.name), "{}", group.name);
    }
    assert!(all > 2_000_000, "{all}");
}

#[test]
fn groups_have_names_of_their_own_and_whole_numbers() {
    let mut names = BTreeMap::new();
    for group in groups() {
        *names.entry(group.name).or_insert(0) += 1;
        assert!(group.count > 0 && !group.about.is_empty());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(group.name.chars().all(is_plain), "{}", group.name);
    }
    assert!(names.values().all(|&n| n == 1) && names.len() == groups().count());
    assert_eq!(
        GROUPS.iter().map(|g| g.len()).sum::<usize>(),
        groups().count()
    );
    assert!(group("cut").is_some() && group("none").is_none());
    let all: u64 = groups().map(|group| group.count).sum();
    assert!(all > 2_000_000, "{all}");
}

/// FNV-1a over frames of every group.
fn digest(seed: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for group in groups() {
        for number in Sample::new(group, 200, seed).numbers() {
            for byte in group.case(&flow(group.family), number, seed).frame {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    hash
}

#[test]
fn the_same_seed_gives_the_same_frames() {
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

fn only(name: &str, number: u64) -> Vec<u8> {
    let group: &Group = group(name).expect("a group");
    group.case(&flow(group.family), number, 1).frame
}

#[test]
fn the_first_frames_are_the_report_s() {
    // Plain shape, CAQM's type; 14 bytes: the type and nothing behind it.
    let alone = only("tag-alone", 14 * 60);
    assert_eq!(alone, [&HOST[..], &[2, 0, 0, 0, 0, 1, 0x82, 0]].concat());
    let parsed = |frame: &[u8]| {
        let len = frame.len() as u32;
        parse_frame(LinkType::Ethernet, frame, len, &Config::default())
    };
    assert_eq!(parsed(&alone), Parsed::NotTcp(NotTcp::Malformed));
    assert_eq!(take(&alone, true), Err(Refused::Short));
    assert_eq!(take(&alone, false), Err(Refused::EtherType));
    // One with every reason.
    for (name, number, why) in [
        ("address", 0, Refused::NotForUs),
        ("vlan-nested", 1 + 41 * 4, Refused::Vlan),
        ("caqm-info", 1 << 16, Refused::Caqm),
        ("ethertype", 0x86dd, Refused::IpHeader),
        ("ethertype", 0x0806, Refused::EtherType),
        ("cut", 10 * 60, Refused::IpLength),
        ("ipv4-checksum", 0, Refused::IpHeader),
        ("ipv4-fields", 16 + 17, Refused::NotTcp),
        ("ipv4-fields", 16 + 256 + 1, Refused::Fragment),
        ("ipv4-source", 1, Refused::IpAddress),
        ("tcp-offset", 10 * 16 * 60, Refused::TcpHeader),
        ("tcp-checksum", 0, Refused::TcpChecksum),
        ("icmp-checksum", 0, Refused::IcmpChecksum),
        ("icmp6-checksum", 0, Refused::IcmpChecksum),
        // Seven bytes with a right sum; an echo request.
        ("icmp-cut", 5 + 10 * 7, Refused::IcmpHeader),
        ("icmp-types", 8 << 8, Refused::NotTcp),
        ("fragments-never", 2, Refused::Fragment),
    ] {
        assert_eq!(take(&only(name, number), true), Err(why), "{name}:{number}");
    }
}

/// Every type, code and sequence number of errors is read as it was written.
#[test]
fn errors_about_segments_are_taken_with_what_they_quote() {
    let host_of = |family| {
        let flow = flow(family);
        (flow, [flow.dst.ip])
    };
    for (name, family) in [("icmp-near", Family::V4), ("icmp6-near", Family::V6)] {
        let (flow, addresses) = host_of(family);
        let host = Receiver {
            mac: HOST,
            addresses: &addresses,
            caqm_ethertype: None,
        };
        let group = group(name).unwrap();
        let mut seen = BTreeMap::new();
        for number in 0..group.count {
            let case = group.case(&flow, number, 1);
            match receive_any(&host, &case.frame) {
                Ok(Arrival::Icmp(is)) => {
                    assert_eq!((is.local, is.remote), (flow.dst, flow.src));
                    *seen.entry((is.kind, is.code)).or_insert(0) += 1;
                }
                // Source quench and redirect are no errors that TCP hears of.
                Err(Refused::NotTcp) => assert!(family == Family::V4),
                other => panic!("{name}:{number}: {other:?}"),
            }
        }
        let kinds = if family == Family::V4 { 3 } else { 4 };
        assert_eq!(seen.len(), kinds * 16, "{name}");
        assert!(seen.values().all(|&n| n == 12 * 5), "{seen:?}");
    }
}

/// The pieces that are not odd are put together by the parser of captures, in any order.
#[test]
fn fragments_that_are_whole_give_the_segment() {
    for (name, family) in [("fragments", Family::V4), ("fragments-v6", Family::V6)] {
        let group = group(name).unwrap();
        let mut pieces = Reassembler::default();
        for number in 0..group.count {
            let case = group.case(&flow(family), number, 1);
            let parse = |frame: &[u8]| {
                let len = frame.len() as u32;
                pieces.parse(LinkType::Ethernet, frame, len, &Config::default())
            };
            let got: Vec<Parsed> = case.frames().map(parse).collect();
            let whole = |parsed: &&Parsed| matches!(parsed, Parsed::Tcp(p) if p.payload_len == 100);
            assert!(got.iter().find(whole).is_some(), "{name}:{number}: {got:?}");
        }
    }
}

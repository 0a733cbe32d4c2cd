//! What holds for any frame and any header.

use proptest::prelude::*;
use tcplab_base::Seq;
use tcplab_wire::emit::{Payload, emit};
use tcplab_wire::{
    CaqmInfo, Config, Encap, Endpoint, Joiner, LinkType, Parsed, Standing, SuperFrame, TcpFlags,
    TcpOptions, TcpPacket, VnetHeader, parse_frame,
};

fn packet(six: bool, tags: u8, stamps: bool, flags: u16, seq: u32, payload_len: u32) -> TcpPacket {
    let ip = |n: u8| match six {
        true => std::net::IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, u16::from(n)]),
        false => std::net::IpAddr::from([10, 0, 0, n]),
    };
    TcpPacket {
        src: Endpoint {
            ip: ip(1),
            port: 80,
        },
        dst: Endpoint {
            ip: ip(2),
            port: 999,
        },
        seq: Seq(seq),
        ack: Seq(9),
        flags: TcpFlags(flags | TcpFlags::ACK),
        window: 500,
        urgent: 0,
        payload_len,
        header_len: if stamps { 32 } else { 20 },
        options: TcpOptions {
            timestamps: stamps.then_some((5, 6)),
            ..TcpOptions::default()
        },
        ecn: 2,
        ttl: 64,
        ip_id: (!six).then_some(65_530),
        header_truncated: false,
        standing: Standing::Whole,
        encap: Encap {
            vlan_tags: tags,
            ..Encap::default()
        },
    }
}

fn parse(frame: &[u8]) -> TcpPacket {
    let config = Config::default();
    match parse_frame(LinkType::Ethernet, frame, frame.len() as u32, &config) {
        Parsed::Tcp(packet) => packet,
        Parsed::NotTcp(why) => panic!("{why:?}"),
    }
}

prop_compose! {
    fn header()(
        flags in 0_u8..4, gso_type in prop_oneof![Just(1_u8), Just(4), Just(5), Just(0x81), any::<u8>()],
        hdr_len in any::<u16>(), gso_size in prop_oneof![0_u16..2_000, any::<u16>()],
        csum_start in prop_oneof![Just(34_u16), Just(54), 0_u16..90, any::<u16>()],
        csum_offset in prop_oneof![Just(16_u16), Just(6), any::<u16>()],
    ) -> VnetHeader {
        VnetHeader { flags, gso_type, hdr_len, gso_size, csum_start, csum_offset }
    }
}

proptest! {
    #[test]
    fn split_and_joined_again(
        six in any::<bool>(), tags in 0_u8..=2, caqm in prop::option::of(any::<u16>()), stamps in any::<bool>(), seq in any::<u32>(),
        last in prop::sample::select(vec![0, TcpFlags::PSH, TcpFlags::FIN | TcpFlags::PSH]),
        first in prop::sample::select(vec![0, TcpFlags::CWR]),
        payload in prop::collection::vec(any::<u8>(), 2..5_000), size in 8_u16..2_000,
    ) {
        let caqm = caqm.map(CaqmInfo);
        let tagged = |p: TcpPacket| TcpPacket { encap: Encap { caqm, ..p.encap }, ..p };
        let whole = tagged(packet(six, tags, stamps, first | last, seq, payload.len() as u32));
        let mut bytes = Vec::new();
        let body = Payload::Bytes(&payload);
        emit(LinkType::Ethernet, &whole, body, &Config::default(), &mut bytes).expect("emit");
        let header = VnetHeader {
            gso_type: if six { VnetHeader::TCPV6 } else { VnetHeader::TCPV4 },
            gso_size: size,
            ..VnetHeader::default()
        };
        let frame = SuperFrame::new(bytes.clone(), &header).expect("right");
        let mut pieces = Vec::new();
        if !frame.split(Vec::new, |piece| pieces.push(piece)) {
            prop_assert!(payload.len() <= usize::from(size));
            return Ok(());
        }
        let mut joined = Vec::new();
        for (n, piece) in pieces.iter().enumerate() {
            // What the emitter of the crate makes of the same fields, with its own checksums.
            let chunk = payload.chunks(size.into()).nth(n).expect("as many");
            let is_last = n + 1 == pieces.len();
            let kept = if n == 0 { first } else { 0 } | if is_last { last } else { 0 };
            let at = seq.wrapping_add((n * usize::from(size)) as u32);
            let id = whole.ip_id.map(|id| id.wrapping_add(n as u16));
            let wanted = TcpPacket {
                ip_id: id,
                ..tagged(packet(six, tags, stamps, kept, at, chunk.len() as u32))
            };
            let mut expected = Vec::new();
            let body = Payload::Bytes(chunk);
            emit(LinkType::Ethernet, &wanted, body, &Config::default(), &mut expected).expect("emit");
            prop_assert_eq!(piece.bytes(), &expected[..]);
            prop_assert_eq!(parse(piece.bytes()), wanted);
            joined.extend_from_slice(chunk);
        }
        prop_assert_eq!(&joined, &payload);
        if caqm.is_some() {
            // One frame has no room for two hints.
            prop_assert!(!Joiner::new(pieces[0].clone()).push(&pieces[1]));
            return Ok(());
        }
        let mut joiner = Joiner::new(pieces[0].clone());
        for piece in &pieces[1..] {
            prop_assert!(joiner.push(piece));
        }
        let joined = joiner.finish();
        let mut again = Vec::new();
        prop_assert!(joined.split(Vec::new, |piece| again.push(piece)));
        prop_assert_eq!(again, pieces);
        // The whole differs in its checksum only, which is partial.
        let [at, end] = [joined.header().csum_start, joined.header().csum_offset].map(usize::from);
        bytes[at + end..at + end + 2].copy_from_slice(&joined.bytes()[at + end..at + end + 2]);
        prop_assert_eq!(joined.bytes(), &bytes[..]);
    }

    #[test]
    fn any_bytes_and_any_header(
        bytes in prop::collection::vec(any::<u8>(), 0..200), header in header(), ethertype in 0_usize..4,
        others in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut bytes = bytes;
        let start: &[u8] = [&[8, 0, 0x45][..], &[0x86, 0xdd, 0x60], &[0x81, 0], &[]][ethertype];
        if bytes.len() > 14 + 20 {
            bytes[12..12 + start.len()].copy_from_slice(start);
            let protocol = if ethertype == 0 { 23 } else { 20 };
            bytes[protocol] = if header.gso_type == 5 { 17 } else { 6 };
        }
        let Ok(frame) = SuperFrame::new(bytes.clone(), &header) else { return Ok(()) };
        let mut changed = frame.clone();
        for (at, to) in others {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                changed.bytes_mut()[at] = to;
            }
        }
        for frame in [frame, changed] {
            let mut pieces = Vec::new();
            let is_cut = frame.split(Vec::new, |piece| pieces.push(piece));
            prop_assert_eq!(is_cut, frame.segments().is_some());
            if let Some(segments) = frame.segments() {
                prop_assert_eq!(pieces.len(), segments.count as usize);
                prop_assert!(segments.count > 1);
                let lens = pieces.iter().map(|piece| piece.bytes().len() as u32);
                let sum = segments.len * (segments.count - 1) + segments.last_len;
                prop_assert_eq!(lens.sum::<u32>(), sum);
                // The header says the same again.
                let twice = SuperFrame::new(frame.bytes().to_vec(), &frame.header());
                prop_assert!(twice.is_ok_and(|twice| twice.segments() == frame.segments()) || bytes != frame.bytes());
            }
            let mut joiner = Joiner::new(frame.clone());
            let before = frame.bytes().to_vec();
            if !pieces.iter().fold(false, |any, piece| joiner.push(piece) | any) {
                prop_assert_eq!(joiner.finish().into_bytes(), before);
            }
            let mut frame = frame;
            frame.complete();
        }
    }
}

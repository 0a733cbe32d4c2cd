//! The parser of frames: link layers, tags, IP, TCP and its options.

use tcplab_wire::emit::{Payload, emit};
use tcplab_wire::{
    CAQM_ETHERTYPE, Config, LinkType, Parsed, Receiver, Standing, TcpPacket, parse_frame, receive,
};

/// Link type (first byte), how much longer the frame was on the wire (two bytes), then the frame.
pub fn frame(data: &[u8]) {
    let [link, more_high, more_low, bytes @ ..] = data else {
        return;
    };
    let link = LINKS[usize::from(*link) % LINKS.len()];
    let more = u32::from(u16::from_be_bytes([*more_high, *more_low]));
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let config = Config::default();
    check(link, bytes, length, &config);
    check(link, bytes, length.saturating_add(more), &config);
    check(link, bytes, u32::MAX, &config);
    if link == LinkType::Ethernet {
        taken(bytes);
    }
    // A capture that was cut holds less, never something else.
    if let Parsed::Tcp(whole) = parse_frame(link, bytes, length, &config) {
        for cut in [bytes.len() / 2, bytes.len().saturating_sub(1)] {
            if let Parsed::Tcp(part) = parse_frame(link, &bytes[..cut], length, &config) {
                assert_eq!((part.src, part.dst), (whole.src, whole.dst));
                assert_eq!((part.seq, part.payload_len), (whole.seq, whole.payload_len));
            }
        }
    }
}

/// What a host takes is whole; it is for it, whoever it is.
fn taken(bytes: &[u8]) {
    let Some(mac) = bytes.first_chunk() else {
        return;
    };
    let length = bytes.len() as u32;
    let Parsed::Tcp(read) = parse_frame(LinkType::Ethernet, bytes, length, &Config::default())
    else {
        return;
    };
    let host = Receiver {
        mac: *mac,
        addresses: &[read.dst.ip],
        caqm_ethertype: Some(CAQM_ETHERTYPE),
    };
    if let Ok(taken) = receive(&host, bytes) {
        let p = taken.packet;
        assert!(p.standing == Standing::Whole && !p.header_truncated);
        let header = usize::from(p.header_len);
        assert_eq!(taken.segment.len(), header + p.payload_len as usize);
    }
}

/// What is written is read again as the same packet.
fn write_and_read(p: &TcpPacket, config: &Config) {
    let mut frame = Vec::new();
    let Ok(length) = emit(LinkType::Ethernet, p, Payload::Len, config, &mut frame) else {
        return;
    };
    let again = parse_frame(LinkType::Ethernet, &frame, length, config);
    let Parsed::Tcp(q) = again else {
        panic!("{p:?} is read as {again:?}");
    };
    // What was damaged is written whole, and padding of options may differ.
    let mut expected = *p;
    expected.header_len = q.header_len;
    expected.options.malformed = false;
    assert_eq!(q, expected);
}

const LINKS: [LinkType; 9] = [
    LinkType::Ethernet,
    LinkType::Raw,
    LinkType::Sll,
    LinkType::Sll2,
    LinkType::Null,
    LinkType::Ipv4,
    LinkType::Ipv6,
    LinkType::Ppp,
    LinkType::Other(147),
];

fn check(link: LinkType, bytes: &[u8], orig_len: u32, config: &Config) {
    let parsed = parse_frame(link, bytes, orig_len, config);
    assert_eq!(
        parsed,
        parse_frame(link, bytes, orig_len, config),
        "parsing has no hidden state"
    );
    if let Parsed::Tcp(p) = parsed {
        if p.standing == Standing::Whole {
            assert!((20..=60).contains(&p.header_len), "header {}", p.header_len);
            write_and_read(&p, config);
        }
        assert!(
            p.payload_len <= orig_len,
            "payload {} in a frame of {orig_len}",
            p.payload_len
        );
        assert!(p.options.sack.as_slice().len() <= 4);
        assert!(p.options.window_scale.is_none_or(|shift| shift <= 14));
        assert!(p.ecn <= 3);
        // A jumbogram's length is hostile too: sums with SYN and FIN must not wrap.
        let _ = (p.seq_len(), p.seq_end());
    }
}

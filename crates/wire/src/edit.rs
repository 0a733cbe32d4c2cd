//! Another TCP header in a frame that is there: what middle boxes do.

use crate::emit::{EmitError, header};
use crate::mark::set_traffic_class;
use crate::offload::layout::Layout;
use crate::{Sum, TcpPacket, tcp};

/// Puts `packet`'s sequence and acknowledgment number, flags, window, urgent pointer, options and ECN bits into an Ethernet
/// frame with a whole TCP segment, with right lengths and checksums. The payload is cut to `payload_len`, or zeros follow
/// it. Options are written in Linux's order and padding. Addresses, ports and all else stay.
///
/// # Errors
/// When the options do not fit, or the frame has no TCP segment; the frame stays as it was.
pub fn set_tcp(frame: &mut Vec<u8>, packet: &TcpPacket) -> Result<(), EmitError> {
    let at = Layout::of(frame).filter(|at| at.is_tcp);
    let at = at.ok_or(EmitError::NotWhole)?;
    let (network, transport) = (at.network(), at.transport());
    let mut header = header(packet)?;
    let length = transport - network + header.len() + packet.payload_len as usize;
    let length = u16::try_from(length).map_err(|_| EmitError::PayloadLength)?;
    // The ports are the frame's.
    header[..4].copy_from_slice(&frame[transport..transport + 4]);
    frame.resize(at.payload() + packet.payload_len as usize, 0);
    frame.splice(transport..at.payload(), header);
    let ip = &mut frame[network..];
    let field = match at.is_ipv6 {
        true => (4, length - 40),
        false => (2, length),
    };
    ip[field.0..field.0 + 2].copy_from_slice(&field.1.to_be_bytes());
    let tos = match at.is_ipv6 {
        true => ip[0] << 4 | ip[1] >> 4,
        false => ip[1],
    };
    // It sets the checksum of the IPv4 header as well.
    set_traffic_class(ip, tos & 0xfc | packet.ecn & 3);
    let addresses = match at.is_ipv6 {
        true => 8..40,
        false => 12..20,
    };
    let segment = transport - network;
    let sum = Sum::default()
        .add(&ip[addresses])
        .add_number(u32::from(tcp::PROTOCOL))
        .add_number((ip.len() - segment) as u32)
        .add(&ip[segment..]);
    let sum = sum.finish().to_be_bytes();
    ip[segment + tcp::CHECKSUM..segment + tcp::CHECKSUM + 2].copy_from_slice(&sum);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use tcplab_base::Seq;

    use super::*;
    use crate::emit::{Payload, emit};
    use crate::{
        Config, Encap, Endpoint, LinkType, Parsed, Receiver, Standing, TcpFlags, TcpOptions,
        parse_frame, receive,
    };

    fn packet(ip: fn(u8) -> IpAddr) -> TcpPacket {
        let end = |n: u8, port| Endpoint { ip: ip(n), port };
        TcpPacket {
            src: end(1, 40_000),
            dst: end(2, 5_001),
            seq: Seq(1_000),
            ack: Seq(2_000),
            flags: TcpFlags(TcpFlags::ACK | TcpFlags::ECE),
            window: 500,
            payload_len: 5,
            options: TcpOptions {
                timestamps: Some((7, 8)),
                ..TcpOptions::default()
            },
            ecn: 2,
            ttl: 64,
            ip_id: ip(1).is_ipv4().then_some(77),
            urgent: 0,
            header_len: 32,
            header_truncated: false,
            standing: Standing::Whole,
            encap: Encap::default(),
        }
    }

    fn parsed(frame: &[u8]) -> TcpPacket {
        let length = frame.len() as u32;
        match parse_frame(LinkType::Ethernet, frame, length, &Config::default()) {
            Parsed::Tcp(packet) => packet,
            other => panic!("{other:?}"),
        }
    }

    const FAMILIES: [fn(u8) -> IpAddr; 2] = [
        |n| IpAddr::from([10, 0, 0, n]),
        |n| IpAddr::from([0xfd77, 0, 0, 0, 0, 0, 0, u16::from(n)]),
    ];

    /// A host that checks the sums takes it.
    fn assert_taken(frame: &[u8]) {
        let host = Receiver {
            mac: frame[..6].try_into().unwrap(),
            addresses: &FAMILIES.map(|ip| ip(2)),
            caqm_ethertype: None,
        };
        assert!(receive(&host, frame).is_ok(), "{frame:x?}");
    }

    #[test]
    fn a_header_without_an_option_is_shorter_and_its_sums_are_right() {
        for ip in FAMILIES {
            let mut frame = Vec::new();
            let body = Payload::Bytes(b"hello");
            let config = Config::default();
            emit(LinkType::Ethernet, &packet(ip), body, &config, &mut frame).unwrap();
            let mut new = parsed(&frame);
            new.options.timestamps = None;
            new.flags = TcpFlags(TcpFlags::ACK);
            new.ecn = 0;
            let before = frame.len();
            set_tcp(&mut frame, &new).unwrap();
            assert_eq!(frame.len(), before - 12);
            assert!(frame.ends_with(b"hello"));
            let now = parsed(&frame);
            assert_eq!(
                (now.options, now.flags, now.ecn),
                (new.options, new.flags, 0)
            );
            assert_eq!((now.seq, now.ack, now.payload_len), (new.seq, new.ack, 5));
            assert_taken(&frame);
        }
    }

    #[test]
    fn a_payload_of_another_length_is_cut_or_filled() {
        for length in [0, 3, 9] {
            let mut frame = Vec::new();
            let body = Payload::Bytes(b"hello");
            let config = Config::default();
            let from = packet(FAMILIES[0]);
            emit(LinkType::Ethernet, &from, body, &config, &mut frame).unwrap();
            let mut new = parsed(&frame);
            new.payload_len = length;
            set_tcp(&mut frame, &new).unwrap();
            assert_eq!(parsed(&frame).payload_len, length);
            assert_taken(&frame);
        }
    }

    #[test]
    fn what_is_no_segment_stays() {
        for frame in [&b""[..], b"short", &[0; 60]] {
            let mut copy = frame.to_vec();
            assert!(set_tcp(&mut copy, &packet(FAMILIES[0])).is_err());
            assert_eq!(copy, frame);
        }
    }
}

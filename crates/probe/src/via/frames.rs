//! Segments as Ethernet frames, and frames as the endpoint takes them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tcplab_drill::packets::{Hosts, has_md5, segment};
use tcplab_tcp::{Addr, Segment};
use tcplab_wire::{Config, LinkType, Receiver, Refused, receive};

use super::neighbours::Own;
use super::{Mac, ndp};

const IPV4: [u8; 2] = [0x08, 0x00];
const ICMP: u8 = 1;
/// Types of ICMP (RFC 792) and ICMPv6 (RFC 4443).
const ECHO_REPLY: u8 = 0;
const ECHO: u8 = 8;
const ECHO_V6: u8 = 128;
const ECHO_REPLY_V6: u8 = 129;

/// What a frame was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Heard {
    /// A segment for the endpoint, and its time to live.
    Segment(Segment, u8),
    /// Nothing for it: why.
    Refused(Refused),
    /// An option of RFC 2385, for which no socket here has a key (`tcp_inbound_md5_hash()`).
    Md5,
}

/// Both ways between segments and frames. Payload that leaves is zeros.
#[derive(Debug)]
pub(super) struct Frames {
    own: Own,
    addresses: [IpAddr; 1],
    /// It knows CAQM's tag.
    knows_tag: bool,
    config: Config,
    hosts: Hosts,
    id: u16,
    /// Time to live of what leaves.
    ttl: u8,
}

impl Frames {
    /// `ethertype`: that of CAQM's tag, when the endpoint knows it; `ttl`: time to live of what leaves.
    pub(super) fn new(own: Own, ethertype: Option<u16>, ttl: u8) -> Self {
        let mut config = Config::default();
        if let Some(ethertype) = ethertype {
            config.caqm_ethertype = ethertype;
        }
        let mut hosts = Hosts::default();
        hosts.number(own.ip);
        Self {
            own,
            addresses: [own.ip],
            knows_tag: ethertype.is_some(),
            config,
            hosts,
            id: 0,
            ttl,
        }
    }

    /// The number of a host, by which segments name it.
    pub(super) fn number(&mut self, ip: IpAddr) -> u16 {
        self.hosts.number(ip)
    }

    /// An end in words.
    pub(super) fn words(&self, end: Addr) -> String {
        let ip = self.hosts.ip(end.host);
        ip.map_or_else(String::new, |ip| SocketAddr::new(ip, end.port).to_string())
    }

    /// Reads a frame of the wire.
    pub(super) fn read(&mut self, frame: &[u8]) -> Heard {
        let host = Receiver {
            mac: self.own.mac,
            addresses: &self.addresses,
            caqm_ethertype: self.knows_tag.then_some(self.config.caqm_ethertype),
        };
        match receive(&host, frame) {
            Ok(got) if has_md5(got.segment) => Heard::Md5,
            Ok(got) => {
                let segment = segment(&mut self.hosts, &got.packet, got.tos);
                Heard::Segment(segment, got.packet.ttl)
            }
            Err(why) => Heard::Refused(why),
        }
    }

    /// The frame of a segment without its Ethernet addresses, and to whom it goes.
    pub(super) fn write(&mut self, segment: &Segment) -> Option<(IpAddr, Vec<u8>)> {
        let ends = self.hosts.ends(segment)?;
        let to = ends[1];
        self.id = self.id.wrapping_add(1);
        let packet = segment.packet(ends, self.ttl, Some(self.id));
        let mut frame = Vec::with_capacity(14 + 4 + 40 + 60 + segment.len as usize);
        let whole = segment.emit(LinkType::Ethernet, &packet, &self.config, &mut frame);
        let whole = whole.ok()?;
        frame.resize(whole as usize, 0);
        Some((to, frame))
    }

    /// The answer to a ping (RFC 792, RFC 4443): the same message back.
    pub(super) fn echo(&self, frame: &[u8]) -> Option<Vec<u8>> {
        match self.own.ip {
            IpAddr::V4(own) => self.echo_v4(own, frame),
            IpAddr::V6(own) => self.echo_v6(own, frame),
        }
    }

    fn echo_v6(&self, own: Ipv6Addr, frame: &[u8]) -> Option<Vec<u8>> {
        let (from, to, _, body) = ndp::icmpv6(frame)?;
        let is_ours = frame.get(..6)? == self.own.mac && to == own;
        if !is_ours || body.len() < 8 || body[0] != ECHO_V6 || body[1] != 0 {
            return None;
        }
        let mut reply = frame.get(..54 + body.len())?.to_vec();
        let them: Mac = *frame.get(6..)?.first_chunk()?;
        super::neighbours::head(&mut reply, them, self.own.mac);
        reply[21] = self.ttl;
        reply[22..38].copy_from_slice(&to.octets());
        reply[38..54].copy_from_slice(&from.octets());
        reply[54] = ECHO_REPLY_V6;
        // RFC 1624: addresses that change places leave the sum as it is, the type makes it smaller.
        grow_sum(&mut reply[56..58], 0xffff - 0x0100);
        Some(reply)
    }

    fn echo_v4(&self, own: Ipv4Addr, frame: &[u8]) -> Option<Vec<u8>> {
        let ip: &[u8; 20] = frame.get(14..)?.first_chunk()?;
        let is_ours = frame.get(12..14)? == IPV4
            && frame.get(..6)? == self.own.mac
            && ip[16..] == own.octets();
        // Options and fragments are answered by nobody here.
        if !is_ours || ip[0] != 0x45 || ip[9] != ICMP || ip[6] & 0x3f != 0 || ip[7] != 0 {
            return None;
        }
        let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        let mut reply = frame.get(..14 + total)?.to_vec();
        let message = reply.get_mut(34..)?;
        if message.len() < 8 || message[0] != ECHO || message[1] != 0 {
            return None;
        }
        message[0] = ECHO_REPLY;
        // RFC 1624: the sum of a message in which 0x0800 became 0.
        grow_sum(&mut message[2..4], 0x0800);
        let them: Mac = *frame.get(6..)?.first_chunk()?;
        super::neighbours::head(&mut reply, them, self.own.mac);
        // Addresses that change places leave the header's sum as it is.
        reply[26..30].copy_from_slice(&ip[16..]);
        reply[30..34].copy_from_slice(&ip[12..16]);
        Some(reply)
    }
}

/// Adds to a checksum of two bytes, in ones' complement.
fn grow_sum(sum: &mut [u8], by: u32) {
    let grown = u32::from(u16::from_be_bytes([sum[0], sum[1]])) + by;
    let grown = (grown & 0xffff) + (grown >> 16);
    sum.copy_from_slice(&(grown as u16).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use tcplab_base::Seq;
    use tcplab_tcp::Caqm;
    use tcplab_wire::{CaqmInfo, TcpFlags, TcpOptions};

    use super::*;

    const TTL: u8 = 33;

    fn own(n: u8) -> Own {
        Own {
            mac: [2, 0x77, 0, 0, 0, n],
            ip: Ipv4Addr::new(10, 77, 0, n).into(),
        }
    }

    fn own_v6(n: u8) -> Own {
        Own {
            ip: Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, n.into()).into(),
            ..own(n)
        }
    }

    #[test]
    fn a_segment_is_the_same_after_the_wire() {
        same_after_the_wire(own, ["10.77.0.1:8080", "10.77.0.2:9"]);
        same_after_the_wire(own_v6, ["[fd77::1]:8080", "[fd77::2]:9"]);
    }

    fn same_after_the_wire(own: fn(u8) -> Own, words: [&str; 2]) {
        let (mut us, mut them) = (
            Frames::new(own(1), Some(0x8200), TTL),
            Frames::new(own(2), None, TTL),
        );
        let here = us.number(own(1).ip);
        let there = us.number(own(2).ip);
        for (caqm, tos, len) in [
            (Caqm::Plain, 0, 0),
            (Caqm::Plain, 0x2a, 1_000),
            (Caqm::Tag(CaqmInfo(0x1234)), 1, 1_444),
        ] {
            let sent = Segment {
                src: Addr {
                    host: here,
                    port: 8_080,
                },
                dst: Addr {
                    host: there,
                    port: 9,
                },
                seq: Seq(7),
                ack: Seq(9),
                len,
                window: 77,
                flags: TcpFlags(TcpFlags::ACK | TcpFlags::PSH),
                tos,
                caqm,
                options: TcpOptions {
                    timestamps: Some((5, 6)),
                    ..TcpOptions::default()
                },
                ..Segment::default()
            };
            let (to, mut frame) = us.write(&sent).unwrap();
            assert_eq!(to, own(2).ip);
            super::super::neighbours::head(&mut frame, own(2).mac, own(1).mac);
            let heard = them.read(&frame);
            if caqm != Caqm::Plain {
                // A host without the tag does not know its EtherType.
                assert_eq!(heard, Heard::Refused(Refused::EtherType));
                them = Frames::new(own(2), Some(0x8200), TTL);
            }
            let Heard::Segment(got, TTL) = them.read(&frame) else {
                panic!("{:?}", them.read(&frame));
            };
            let (src, dst) = (got.src, got.dst);
            assert_eq!([src, dst].map(|end| them.words(end)), words);
            let same = Segment {
                src: sent.src,
                dst: sent.dst,
                ..got
            };
            assert_eq!(same, sent);
        }
    }

    #[test]
    fn a_ping_over_ipv6_is_answered_and_nothing_else() {
        let us = Frames::new(own_v6(1), None, TTL);
        let [from, to] = [2, 1].map(|n| Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, n));
        let mut body = vec![ECHO_V6, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
        let sum = ndp::sum((from, to), &body).to_be_bytes();
        body[2..4].copy_from_slice(&sum);
        let mut ping = Vec::new();
        ping.extend(own(1).mac);
        ping.extend(own(2).mac);
        ping.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 12, ndp::ICMPV6, 64]);
        ping.extend(from.octets());
        ping.extend(to.octets());
        ping.extend(&body);
        let whole = ping.len();
        // Ethernet's padding does not come back.
        ping.extend([0; 6]);
        let reply = us.echo(&ping).unwrap();
        assert_eq!(reply.len(), whole);
        let (src, dst, hops, answer) = ndp::icmpv6(&reply).unwrap();
        assert_eq!((src, dst, hops), (to, from, TTL));
        assert_eq!((answer[0], &answer[4..]), (ECHO_REPLY_V6, &body[4..]));
        assert_eq!(ndp::sum((to, from), answer), 0);
        for length in 0..whole {
            assert_eq!(us.echo(&ping[..length]), None, "{length} bytes");
        }
        for at in [0, 12, 14, 20, 53, 54, 55] {
            let mut other = ping.clone();
            other[at] ^= 0x11;
            assert_eq!(us.echo(&other), None, "byte {at}");
        }
    }

    #[test]
    fn a_ping_is_answered_and_nothing_else() {
        let us = Frames::new(own(1), None, TTL);
        let mut ping = Vec::new();
        ping.extend(own(1).mac);
        ping.extend(own(2).mac);
        ping.extend(IPV4);
        ping.extend([0x45, 0, 0, 32, 1, 2, 0, 0, 64, ICMP, 0, 0]);
        ping.extend([10, 77, 0, 2, 10, 77, 0, 1]);
        ping.extend([ECHO, 0, 0xf0, 0x0d, 1, 2, 3, 4, 5, 6, 7, 8]);
        // Ethernet's padding does not come back.
        ping.extend([0; 14]);
        let reply = us.echo(&ping).unwrap();
        assert_eq!(reply.len(), 14 + 32);
        assert_eq!(&reply[..6], &own(2).mac);
        assert_eq!(&reply[26..34], &[10, 77, 0, 1, 10, 77, 0, 2]);
        assert_eq!(&reply[34..40], &[0, 0, 0xf8, 0x0d, 1, 2]);
        for length in 0..14 + 32 {
            assert_eq!(us.echo(&ping[..length]), None, "{length} bytes");
        }
        for (at, byte) in [
            (0, 4),
            (12, 9),
            (14, 0x46),
            (20, 0x20),
            (23, 17),
            (33, 3),
            (34, 0),
        ] {
            let mut other = ping.clone();
            other[at] = byte;
            assert_eq!(us.echo(&other), None, "byte {at}");
        }
    }
}

//! Messages of neighbour discovery over IPv6: solicitations and advertisements (RFC 4861 4.3, 4.4; Linux `ndisc_rcv()`).
//!
//! Left out: routers, redirects, and addresses that are probed for before they are used (RFC 4862).

use std::net::Ipv6Addr;

use tcplab_wire::Sum;

use super::Mac;
use super::neighbours::{Message, Own, head};

const IPV6: [u8; 2] = [0x86, 0xdd];
pub(super) const ICMPV6: u8 = 58;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// Options (RFC 4861 4.6.1).
const SOURCE_MAC: u8 = 1;
const TARGET_MAC: u8 = 2;
/// Solicited, and wins over what was known.
const FLAGS: u8 = 0x60;
/// RFC 4861 7.1: no router has forwarded it.
const HOPS: u8 = 255;

/// The group that a host with this address listens to (RFC 4291 2.7.1).
fn group(ip: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = ip.octets();
    let [high, low] = [0xff00 | u16::from(a), u16::from_be_bytes([b, c])];
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, high, low)
}

/// The Ethernet address of a group (RFC 2464 7).
fn group_mac(group: Ipv6Addr) -> Mac {
    let [.., a, b, c, d] = group.octets();
    [0x33, 0x33, a, b, c, d]
}

/// Who has this address?
pub(super) fn solicitation(own: Own, (from, target): (Ipv6Addr, Ipv6Addr)) -> Vec<u8> {
    let group = group(target);
    message(own, SOLICITATION, (from, group), target, group_mac(group))
}

/// This host has the address.
pub(super) fn advertisement(own: Own, (from, to): (Ipv6Addr, Ipv6Addr), mac: Mac) -> Vec<u8> {
    message(own, ADVERTISEMENT, (from, to), from, mac)
}

fn message(
    own: Own,
    kind: u8,
    (from, to): (Ipv6Addr, Ipv6Addr),
    target: Ipv6Addr,
    mac: Mac,
) -> Vec<u8> {
    let (flags, option) = match kind {
        SOLICITATION => (0, SOURCE_MAC),
        _ => (FLAGS, TARGET_MAC),
    };
    let mut body = vec![kind, 0, 0, 0, flags, 0, 0, 0];
    body.extend(target.octets());
    body.extend([option, 1]);
    body.extend(own.mac);
    let sum = sum((from, to), &body).to_be_bytes();
    body[2..4].copy_from_slice(&sum);
    let mut frame = vec![0; 12];
    head(&mut frame, mac, own.mac);
    frame.extend(IPV6);
    frame.extend([0x60, 0, 0, 0]);
    frame.extend((body.len() as u16).to_be_bytes());
    frame.extend([ICMPV6, HOPS]);
    frame.extend(from.octets());
    frame.extend(to.octets());
    frame.extend(body);
    frame
}

/// The checksum of a message of ICMPv6 (RFC 4443 2.3); 0 when the message has it already.
pub(super) fn sum((from, to): (Ipv6Addr, Ipv6Addr), body: &[u8]) -> u16 {
    let pseudo = Sum::default().add(&from.octets()).add(&to.octets());
    let pseudo = pseudo.add_number(body.len() as u32);
    pseudo.add_number(u32::from(ICMPV6)).add(body).finish()
}

/// A packet of ICMPv6 without extension headers: who sent it, to whom, its hop limit and its message.
pub(super) fn icmpv6(frame: &[u8]) -> Option<(Ipv6Addr, Ipv6Addr, u8, &[u8])> {
    let header: &[u8; 40] = frame.get(14..)?.first_chunk()?;
    if frame.get(12..14)? != IPV6 || header[0] >> 4 != 6 || header[6] != ICMPV6 {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let body = frame.get(54..)?.get(..length)?;
    let from = Ipv6Addr::from(*header.get(8..24)?.first_chunk::<16>()?);
    let to = Ipv6Addr::from(*header.get(24..40)?.first_chunk::<16>()?);
    Some((from, to, header[7], body))
}

/// The neighbour message in a frame; `None` for other or invalid messages.
pub(super) fn read(frame: &[u8]) -> Option<Message> {
    let (from, to, hops, body) = icmpv6(frame)?;
    let (fixed, mut options) = body.split_first_chunk::<24>()?;
    let kind = fixed[0];
    let is_one = matches!(kind, SOLICITATION | ADVERTISEMENT) && fixed[1] == 0 && hops == HOPS;
    if !is_one || sum((from, to), body) != 0 || from.is_unspecified() || from.is_multicast() {
        return None;
    }
    let target = Ipv6Addr::from(*fixed.last_chunk::<16>()?);
    let mut mac = None;
    while let Some((&[kind_of, eighths], _)) = options.split_first_chunk::<2>() {
        let length = usize::from(eighths) * 8;
        if length == 0 {
            return None;
        }
        let option = options.get(..length)?;
        let wanted = [TARGET_MAC, SOURCE_MAC][usize::from(kind == SOLICITATION)];
        if kind_of == wanted {
            mac = option.get(2..)?.first_chunk().copied();
        }
        options = options.get(length..)?;
    }
    // RFC 4861 4.3: a solicitation sent to one host may leave the option out.
    let mac = mac.or(frame.get(6..)?.first_chunk().copied())?;
    Some(match kind {
        SOLICITATION => Message {
            asks: true,
            mac,
            ip: from.into(),
            target: target.into(),
        },
        // It tells of its target, to us.
        _ => Message {
            asks: false,
            mac,
            ip: target.into(),
            target: to.into(),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const OWN: Own = Own {
        mac: [2, 0x77, 0, 0, 0, 1],
        ip: IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1)),
    };

    fn ip(n: u16) -> Ipv6Addr {
        Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0xab12, n)
    }

    #[test]
    fn a_question_goes_to_the_group_of_its_target() {
        let frame = solicitation(OWN, (ip(1), ip(0x3456)));
        assert_eq!(frame[..6], [0x33, 0x33, 0xff, 0x12, 0x34, 0x56]);
        assert_eq!(frame.len(), 14 + 40 + 32);
        let heard = read(&frame).unwrap();
        assert!(heard.asks && heard.mac == OWN.mac);
        assert_eq!(
            [heard.ip, heard.target],
            [ip(1), ip(0x3456)].map(IpAddr::V6)
        );
        let answer = read(&advertisement(OWN, (ip(2), ip(1)), [2; 6])).unwrap();
        assert!(!answer.asks && answer.mac == OWN.mac);
        assert_eq!([answer.ip, answer.target], [ip(2), ip(1)].map(IpAddr::V6));
    }

    #[test]
    fn cut_changed_or_forwarded_messages_are_ignored() {
        let whole = solicitation(OWN, (ip(1), ip(2)));
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_none(), "{length} bytes");
        }
        for at in 12..whole.len() {
            // The traffic class and the flow label say nothing here.
            if matches!(at, 15..=17) {
                continue;
            }
            let mut other = whole.clone();
            other[at] ^= 0x10;
            assert!(read(&other).is_none(), "byte {at}");
        }
    }
}

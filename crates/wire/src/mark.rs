//! The ECN mark of a router, put into a frame (RFC 3168 5).

use crate::CAQM_ETHERTYPE;
use crate::checksum::Sum;

/// Sets Congestion Experienced in an Ethernet frame whose packet is ECN-capable, behind VLAN tags and CAQM's of the usual
/// EtherType; gives whether it did. Frames without IP stay as they are.
pub fn mark_ce(frame: &mut [u8]) -> bool {
    const TYPE: usize = 12;
    // Two VLAN tags, and CAQM's.
    for tags in 0..=3 {
        let at = TYPE + 4 * tags;
        let Some(&[a, b]) = frame.get(at..at + 2) else {
            return false;
        };
        match u16::from_be_bytes([a, b]) {
            0x0800 => return ipv4(&mut frame[at + 2..]),
            0x86dd => return ipv6(&mut frame[at + 2..]),
            0x8100 | 0x88a8 | CAQM_ETHERTYPE => {}
            _ => return false,
        }
    }
    false
}

/// Sets Congestion Experienced in an IP packet that is ECN-capable; `protocol` is that of its frame.
pub fn mark_ce_ip(protocol: u16, packet: &mut [u8]) -> bool {
    match protocol {
        0x0800 => ipv4(packet),
        0x86dd => ipv6(packet),
        _ => false,
    }
}

/// Sets the whole DS field (RFC 2474), ECN's bits with it, of an IPv4 or IPv6 packet.
pub fn set_traffic_class(packet: &mut [u8], tos: u8) {
    let length = packet.first().map_or(0, |b| usize::from(b & 15) * 4);
    match packet.first().map(|b| b >> 4) {
        Some(4) if length >= 20 && packet.len() >= length => {
            packet[1] = tos;
            checksum(&mut packet[..length]);
        }
        Some(6) if packet.len() >= 40 => {
            packet[0] = 0x60 | tos >> 4;
            packet[1] = packet[1] & 0x0f | tos << 4;
        }
        _ => {}
    }
}

/// Clears the code point of an IP packet (RFC 2474), ECN stays; `protocol` is that of its frame.
pub fn wash(protocol: u16, packet: &mut [u8]) {
    const ECN: u8 = 3;
    match protocol {
        0x0800 => {
            let length = packet.first().map_or(0, |b| usize::from(b & 15) * 4);
            if length >= 20 && packet.len() >= length {
                packet[1] &= ECN;
                checksum(&mut packet[..length]);
            }
        }
        0x86dd if packet.len() >= 40 => {
            packet[0] &= 0xf0;
            packet[1] &= 0x0f | ECN << 4;
        }
        _ => {}
    }
}

/// Sets the checksum of an IPv4 header.
pub(crate) fn checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let sum = Sum::default().add(header).finish();
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}

fn ipv4(packet: &mut [u8]) -> bool {
    let length = packet.first().map_or(0, |b| usize::from(b & 15) * 4);
    if length < 20 || packet.len() < length || packet[1] & 3 == 0 {
        return false;
    }
    packet[1] |= 3;
    checksum(&mut packet[..length]);
    true
}

fn ipv6(packet: &mut [u8]) -> bool {
    // The traffic class begins in the low half of the first byte: ECN is in the high half of the second.
    if packet.len() < 40 || packet[1] & 0x30 == 0 {
        return false;
    }
    packet[1] |= 0x30;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(tos: u8) -> Vec<u8> {
        let mut f = vec![0; 14 + 20];
        f[12] = 8;
        f[14] = 0x45;
        f[15] = tos;
        f[17] = 20;
        f
    }

    #[test]
    fn only_capable_packets_are_marked_and_the_checksum_holds() {
        let mut plain = frame(0);
        assert!(!mark_ce(&mut plain));
        assert_eq!(plain, frame(0));
        let mut capable = frame(2);
        assert!(mark_ce(&mut capable));
        assert_eq!(capable[15], 3);
        // A right header sums to zero.
        assert_eq!(Sum::default().add(&capable[14..]).finish(), 0);
    }

    #[test]
    fn tags_are_stepped_over() {
        for tags in [
            &[0x81, 0][..],
            &[0x88, 0xa8, 0, 1, 0x81, 0],
            &[0x81, 0, 0, 1, 0x82, 0],
        ] {
            let mut tagged = frame(2);
            let mut head = vec![0; 12];
            head.extend(tags);
            head.extend([0, 7]);
            let ip = head.len() + 2;
            tagged.splice(..12, head);
            assert!(mark_ce(&mut tagged), "{tags:x?}");
            assert_eq!(tagged[ip + 1], 3);
            assert_eq!(Sum::default().add(&tagged[ip..]).finish(), 0);
        }
        let mut endless = [0x81_u8, 0, 0, 1].repeat(20);
        assert!(!mark_ce(&mut endless));
    }

    #[test]
    fn the_traffic_class_is_set_whole() {
        let mut four = frame(1)[14..].to_vec();
        set_traffic_class(&mut four, 0xb9);
        assert_eq!(four[1], 0xb9);
        assert_eq!(Sum::default().add(&four).finish(), 0);
        let mut six = vec![0; 40];
        six[..4].copy_from_slice(&[0x60, 0x05, 6, 7]);
        set_traffic_class(&mut six, 0xb9);
        assert_eq!(six[..4], [0x6b, 0x95, 6, 7]);
    }

    #[test]
    fn short_and_foreign_frames_stay() {
        for length in 0..40 {
            let mut cut = frame(2);
            cut.resize(length, 0);
            let whole = length >= 34;
            assert_eq!(mark_ce(&mut cut), whole, "{length}");
        }
        let mut six = vec![0; 54];
        six[12..16].copy_from_slice(&[0x86, 0xdd, 0x60, 0x20]);
        assert!(mark_ce(&mut six));
        assert_eq!(six[15], 0x30);
    }
}

//! The ECN mark of a router, put into a frame (RFC 3168 5).

use crate::checksum::Sum;

/// Sets Congestion Experienced in an Ethernet frame whose packet is ECN-capable; gives whether it
/// did. Frames with VLAN tags or without IP stay as they are.
pub fn mark_ce(frame: &mut [u8]) -> bool {
    match frame.get(12..14) {
        Some([0x08, 0x00]) => ipv4(&mut frame[14..]),
        Some([0x86, 0xdd]) => ipv6(&mut frame[14..]),
        _ => false,
    }
}

/// Sets Congestion Experienced in an IP packet that is ECN-capable; `protocol` is that of its frame.
pub fn mark_ce_ip(protocol: u16, packet: &mut [u8]) -> bool {
    match protocol {
        0x0800 => ipv4(packet),
        0x86dd => ipv6(packet),
        _ => false,
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
fn checksum(header: &mut [u8]) {
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

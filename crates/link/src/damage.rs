//! What a damaged frame looks like.

/// Makes the checksum of a TCP segment, a UDP datagram or an ICMP message wrong (RFC 9293 3.1, RFC 768, RFC 792, RFC 4443).
/// Any other frame stays as it is.
pub fn damage(frame: &mut [u8]) {
    // Behind the addresses, or behind a tag of four bytes.
    let is_ip = |at: &usize| matches!(frame.get(at - 2..*at), Some([0x08, 0x00] | [0x86, 0xdd]));
    let Some(ip) = [14, 18].into_iter().find(is_ip) else {
        return;
    };
    let byte = |at: usize| frame.get(ip + at).copied();
    let Some(first) = byte(0) else { return };
    let (protocol, header) = match first >> 4 {
        4 => (byte(9), usize::from(first & 15) * 4),
        _ => (byte(6), 40),
    };
    let checksum = match protocol {
        Some(6) => 16,
        Some(17) => 6,
        Some(1 | 58) => 2,
        _ => return,
    };
    if let Some(byte) = frame.get_mut(ip + header + checksum) {
        *byte ^= 0x55;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_with_a_checksum_is_damaged() {
        for (version, tag, protocol, place) in [
            (4, 0, 6, 16),
            (4, 0, 17, 6),
            (4, 0, 1, 2),
            (4, 4, 6, 16),
            (6, 0, 6, 16),
            (6, 0, 17, 6),
            (6, 0, 58, 2),
        ] {
            let ip = 14 + tag;
            let mut frame = vec![0; ip + 60];
            let (kind, next, header) = match version {
                4 => ([0x08, 0x00], 9, 20),
                _ => ([0x86, 0xdd], 6, 40),
            };
            frame[ip - 2..ip].copy_from_slice(&kind);
            frame[ip] = version << 4 | 5;
            frame[ip + next] = protocol;
            let mut whole = frame.clone();
            whole[ip + header + place] ^= 0x55;
            damage(&mut frame);
            assert!(frame == whole, "IPv{version}, protocol {protocol}");
        }
        let mut arp = vec![1; 60];
        damage(&mut arp);
        assert_eq!(arp, [1; 60]);
    }
}

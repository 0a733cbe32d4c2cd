//! What a damaged frame looks like.

/// Makes the checksum of a TCP segment, a UDP datagram or an ICMP message wrong (RFC 9293 3.1, RFC 768, RFC 792, RFC 4443).
/// Any other frame stays as it is.
pub fn damage(frame: &mut [u8]) {
    // A byte of its own: a frame that netem damaged before stays wrong.
    tcplab_qdisc::damage(frame, 0);
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

    /// Each damages a byte of its own.
    #[test]
    fn damage_of_netem_is_not_undone() {
        let mut frame = vec![0; 60];
        frame[12] = 0x08;
        frame[14] = 0x45;
        frame[14 + 9] = 17;
        tcplab_qdisc::Packet::corrupt(&mut frame, 0, 0);
        damage(&mut frame);
        assert_eq!(frame[40..42], [0x55, 0x55]);
        let mut other = vec![0; 60];
        tcplab_qdisc::Packet::corrupt(&mut other, 3, 1);
        assert_eq!(other[3], 2, "it has no checksum");
    }
}

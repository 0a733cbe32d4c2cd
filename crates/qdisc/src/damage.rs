//! What a damaged frame looks like.

/// Makes a byte of the checksum of a TCP segment, a UDP datagram or an ICMP message wrong (RFC 9293 3.1, RFC 768, RFC 792,
/// RFC 4443): the first (0) or the second (1). False: it has no checksum, and stays as it is.
pub fn damage(frame: &mut [u8], which: usize) -> bool {
    // Behind the addresses, or behind a tag of four bytes.
    let is_ip = |at: &usize| matches!(frame.get(at - 2..*at), Some([0x08, 0x00] | [0x86, 0xdd]));
    let Some(ip) = [14, 18].into_iter().find(is_ip) else {
        return false;
    };
    let byte = |at: usize| frame.get(ip + at).copied();
    let Some(first) = byte(0) else { return false };
    let (protocol, header) = match first >> 4 {
        4 => (byte(9), usize::from(first & 15) * 4),
        _ => (byte(6), 40),
    };
    let checksum = match protocol {
        Some(6) => 16,
        Some(17) => 6,
        Some(1 | 58) => 2,
        _ => return false,
    };
    let place = frame.get_mut(ip + header + checksum + which.min(1));
    place.map(|byte| *byte ^= 0x55).is_some()
}

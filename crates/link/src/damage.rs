//! What a damaged frame looks like.

/// Makes the checksum of a TCP segment or UDP datagram over IPv4 wrong (RFC 9293 3.1, RFC 768).
pub fn damage(frame: &mut [u8]) {
    let header = frame.get(14).map_or(0, |b| usize::from(b & 15) * 4);
    let checksum = match frame.get(14 + 9) {
        Some(6) => 16,
        Some(17) => 6,
        _ => return,
    };
    if let Some(byte) = frame.get_mut(14 + header + checksum) {
        *byte ^= 0x55;
    }
}

//! Reading a header from an Ethernet frame, as tolerant as the kernel (`cake_get_tcphdr`, `cake_get_iphdr`).

use tcplab_base::Seq;

use super::AckHeader;
use super::header::AckOptions;

const TCP: u8 = 6;
/// IPv6 in IPv4.
const IPV6: u8 = 41;
const IPV6_HEADER: usize = 40;

impl AckHeader {
    /// The header of the TCP segment in an IP packet; `None` for other protocols and truncated
    /// packets. Looks into IPv6 in IPv4 (RFC 4213), but not into other tunnels or extension
    /// headers.
    pub fn of_ip(packet: &[u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => {
                let header = usize::from(packet[0] & 15) * 4;
                match *packet.get(9)? {
                    IPV6 => Self::of_ipv6(packet.get(header..)?),
                    TCP => {
                        let payload = usize::from(word(packet, 2)?).checked_sub(header);
                        let addresses = [address4(packet, 12)?, address4(packet, 16)?];
                        Self::of_tcp(packet.get(header..)?, 4, addresses, payload)
                    }
                    _ => None,
                }
            }
            6 => Self::of_ipv6(packet),
            _ => None,
        }
    }

    fn of_ipv6(packet: &[u8]) -> Option<Self> {
        if packet.get(6) != Some(&TCP) {
            return None;
        }
        let payload = usize::from(word(packet, 4)?);
        let addresses = [address6(packet, 8)?, address6(packet, 24)?];
        Self::of_tcp(packet.get(IPV6_HEADER..)?, 6, addresses, Some(payload))
    }

    fn of_tcp(
        segment: &[u8],
        version: u8,
        addresses: [[u32; 4]; 2],
        payload: Option<usize>,
    ) -> Option<Self> {
        let length = usize::from(segment.get(12)? >> 4) * 4;
        let options = segment.get(20..length)?;
        Some(Self {
            addresses,
            ports: [word(segment, 0)?, word(segment, 2)?],
            version,
            flags: word(segment, 12)? & 0xfff,
            no_payload: payload == Some(length),
            ack: Seq(long(segment, 8)?),
            options: AckOptions::of_bytes(options),
        })
    }
}

const END: u8 = 0;
const NOP: u8 = 1;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const MD5: u8 = 19;

impl AckOptions {
    /// Reads options up to the end, or to a length that cannot be right.
    fn of_bytes(mut rest: &[u8]) -> Self {
        let mut out = Self::default();
        let mut sack: Option<&[u8]> = None;
        let mut stamps_are_good = true;
        while let Some(&kind) = rest.first() {
            match kind {
                END => break,
                NOP => {
                    rest = &rest[1..];
                    continue;
                }
                _ => {}
            }
            let size = rest.get(1).map_or(0, |size| usize::from(*size));
            let Some(value) = rest.get(2..size).filter(|_| size >= 2) else {
                break;
            };
            match kind {
                MD5 => {}
                SACK => {
                    out.are_harmless &= value.len() % 8 == 0;
                    out.has_sack = true;
                    sack = sack.or(Some(value));
                }
                TIMESTAMPS => {
                    // A damaged one ends what is known of them.
                    stamps_are_good &= value.len() == 8;
                    out.are_harmless &= stamps_are_good;
                    if let (true, Some(a), Some(b)) =
                        (stamps_are_good, long(value, 0), long(value, 4))
                    {
                        out.add_stamp(a, b);
                    }
                }
                _ => out.are_harmless = false,
            }
            rest = &rest[size..];
        }
        for block in sack.unwrap_or_default().chunks_exact(8) {
            if let (Some(begin), Some(end)) = (long(block, 0), long(block, 4)) {
                out.add_block(Seq(begin), Seq(end));
            }
        }
        out
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn address4(bytes: &[u8], at: usize) -> Option<[u32; 4]> {
    Some([long(bytes, at)?, 0, 0, 0])
}

fn address6(bytes: &[u8], at: usize) -> Option<[u32; 4]> {
    let word = |n: usize| long(bytes, at + 4 * n);
    Some([word(0)?, word(1)?, word(2)?, word(3)?])
}

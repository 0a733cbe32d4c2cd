//! One TCP packet as everything above the wire sees it: the fields, not the bytes.

use std::fmt;
use std::net::IpAddr;

use tcplab_base::Seq;

use crate::{CaqmInfo, TcpOptions};

/// Address and port. Prints as `192.0.2.1:80` and `[2001:db8::1]:80`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Endpoint {
    /// Address of the innermost IP header.
    pub ip: IpAddr,
    /// TCP port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ip {
            IpAddr::V4(a) => write!(f, "{a}:{}", self.port),
            IpAddr::V6(a) => write!(f, "[{a}]:{}", self.port),
        }
    }
}

impl Endpoint {
    /// The same as `to_string()`, which takes ten times as long for IPv4.
    pub fn text(&self) -> String {
        let IpAddr::V4(ip) = self.ip else {
            return self.to_string();
        };
        let mut text = [0; "255.255.255.255:65535".len()];
        let mut at = 0;
        for (octet, after) in ip.octets().into_iter().zip(*b"...:") {
            at = decimal(&mut text, at, octet.into(), [100, 10]);
            text[at] = after;
            at += 1;
        }
        at = decimal(&mut text, at, self.port, [10_000, 1_000, 100, 10]);
        // It is ASCII.
        String::from_utf8(text[..at].to_vec()).unwrap_or_default()
    }
}

/// Puts a number at `at` and gives where it ends; `powers` are the powers of ten that it may reach, without the
/// last one.
#[inline]
fn decimal<const N: usize>(text: &mut [u8], mut at: usize, n: u16, powers: [u16; N]) -> usize {
    for power in powers {
        if n >= power {
            text[at] = b'0' + (n / power % 10) as u8;
            at += 1;
        }
    }
    text[at] = b'0' + (n % 10) as u8;
    at + 1
}

/// The flag bits of a TCP header (RFC 9293 3.1), the low 12 bits of bytes 12 and 13.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct TcpFlags(pub u16);

impl TcpFlags {
    /// Sender has finished.
    pub const FIN: u16 = 0x001;
    /// Synchronise sequence numbers.
    pub const SYN: u16 = 0x002;
    /// Reset.
    pub const RST: u16 = 0x004;
    /// Push.
    pub const PSH: u16 = 0x008;
    /// The acknowledgment field counts.
    pub const ACK: u16 = 0x010;
    /// The urgent pointer counts.
    pub const URG: u16 = 0x020;
    /// ECN echo (RFC 3168).
    pub const ECE: u16 = 0x040;
    /// Congestion window reduced (RFC 3168).
    pub const CWR: u16 = 0x080;
    /// Accurate ECN bit (RFC 9768), once NS.
    pub const AE: u16 = 0x100;

    /// Whether any of `bits` is set.
    #[inline]
    pub const fn has(self, bits: u16) -> bool {
        self.0 & bits != 0
    }
}

/// What stood around the innermost IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Encap {
    /// 802.1Q, 802.1ad and QinQ tags stepped over.
    pub vlan_tags: u8,
    /// What the CAQM tag says.
    pub caqm: Option<CaqmInfo>,
    /// IP headers outside the innermost one (6in4, 4in6, IPIP, GRE).
    pub tunnels: u8,
    /// Fragments that the IP packet was put together from; 0 for a whole packet.
    pub fragments: u16,
}

/// How far the fields of a packet may be used. Wireshark counts all of these as TCP packets of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Standing {
    /// An ordinary segment: all fields count.
    #[default]
    Whole,
    /// The data offset is below 5: there are no options, and the payload begins at a wrong place. A receiver drops it;
    /// Wireshark goes on with `payload_len` as given here.
    BadOffset,
    /// The data offset points past the segment: a receiver drops it. `payload_len` is 0 and means nothing.
    ShortSegment,
    /// First fragment of an IP packet that the capture cut: `payload_len` is the fragment's, not the segment's.
    FirstFragment,
    /// Quoted by an ICMP error: nobody sent it now. `payload_len` means nothing.
    Quoted,
}

impl Standing {
    /// Whether Wireshark's sequence analysis looks at the packet.
    #[inline]
    pub const fn has_length(self) -> bool {
        matches!(self, Self::Whole | Self::BadOffset)
    }
}

/// The fields of one TCP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpPacket {
    /// Who sent it.
    pub src: Endpoint,
    /// Who shall get it.
    pub dst: Endpoint,
    /// Sequence number of the first byte (or of SYN).
    pub seq: Seq,
    /// Acknowledgment number; meaningful with the ACK flag.
    pub ack: Seq,
    /// Flag bits.
    pub flags: TcpFlags,
    /// Window field, not scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Bytes of payload on the wire (by the IP length, not by what was captured).
    pub payload_len: u32,
    /// TCP header length in bytes (data offset x 4).
    pub header_len: u8,
    /// Options.
    pub options: TcpOptions,
    /// ECN field of the IP header: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// TTL or hop limit.
    pub ttl: u8,
    /// IPv4 identification; `None` for IPv6.
    pub ip_id: Option<u16>,
    /// The capture holds less than the TCP header (options may be missing), `payload_len` is still right.
    pub header_truncated: bool,
    /// How far the fields may be used.
    pub standing: Standing,
    /// What stood around the IP packet.
    pub encap: Encap,
}

/// Most payload that a packet is believed to have, bytes: Linux joins 524,280 at most before it splits them (BIG
/// TCP), and a frame's own length fields can claim 4 GB. More is a damaged frame.
pub const MAX_PAYLOAD: u32 = 1 << 24;

impl TcpPacket {
    /// Sequence space the packet takes: payload, plus one each for SYN and FIN. The readers of captures bound
    /// [`TcpPacket::payload_len`]; a caller that does not gets the number modulo 2^32, as all of them count.
    #[inline]
    pub fn seq_len(&self) -> u32 {
        let flags =
            u32::from(self.flags.has(TcpFlags::SYN)) + u32::from(self.flags.has(TcpFlags::FIN));
        self.payload_len.wrapping_add(flags)
    }

    /// Sequence number after the packet.
    #[inline]
    pub fn seq_end(&self) -> Seq {
        self.seq + self.seq_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_have_one_form() {
        let octets = [0, 1, 9, 10, 11, 99, 100, 101, 199, 200, 255];
        let ports = [0, 9, 10, 80, 99, 100, 999, 1_000, 9_999, 10_000, 65_535];
        for (octet, port) in octets.into_iter().zip(ports) {
            for ip in [[octet, 0, 255, 1], [10, octet, 100, octet]] {
                let ip = IpAddr::from(ip);
                let end = Endpoint { ip, port };
                assert_eq!(end.text(), end.to_string());
            }
        }
        let ip = IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]);
        assert_eq!(Endpoint { ip, port: 80 }.text(), "[2001:db8::1]:80");
    }
}

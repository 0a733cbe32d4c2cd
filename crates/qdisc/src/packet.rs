//! What a discipline asks of a packet.

use tcplab_base::Instant;
use tcplab_wire::{CaqmInfo, Segments};

use crate::ack_filter::AckHeader;

/// A packet in a queue.
pub trait Packet: Clone {
    /// Bytes of its frame, link header included (`qdisc_pkt_len`); of a super-segment, of all its frames.
    fn size(&self) -> u32;

    /// Bytes before its IP header (`skb_network_offset`).
    fn network_offset(&self) -> u32 {
        ETHERNET
    }

    /// Bytes of memory that it is held to take (`truesize`).
    fn truesize(&self) -> u32 {
        truesize(self.size())
    }

    /// What tells its flow from others.
    fn flow_keys(&self) -> FlowKeys;

    /// The Differentiated Services code point (RFC 2474); CS7 for ARP, 0 for packets without one.
    fn dscp(&self) -> u8;

    /// Clears the code point.
    fn wash(&mut self);

    /// Marks congestion experienced when the packet is ECN-capable (RFC 3168 5); false: it is not.
    fn set_ce(&mut self) -> bool;

    /// Damages it: its transport checksum is wrong. What has no checksum gets this bit of one of its [`Packet::size`]
    /// bytes flipped.
    fn corrupt(&mut self, byte: u32, bit: u8);

    /// INFO of its CAQM tag behind this EtherType; none: it has no tag, or one that is cut off.
    fn caqm(&self, ethertype: u16) -> Option<CaqmInfo> {
        let _ = ethertype;
        None
    }

    /// Writes the first byte of INFO of its tag: a switch changes no hint. Nothing happens to a packet without one.
    fn set_caqm(&mut self, ethertype: u16, info: CaqmInfo) {
        let _ = (ethertype, info);
    }

    /// When it may leave at the earliest (`skb->tstamp`, the earliest departure time); none: at once.
    fn departure(&self) -> Option<Instant> {
        None
    }

    /// The socket that sent it, by a number of its own; `None` if it only passes through.
    fn socket(&self) -> Option<u64> {
        None
    }

    /// `skb->priority`: what forwarding sets by the bits of the old type of service (`ip_tos2prio`).
    fn priority(&self) -> u8 {
        const OF_TOS: [u8; 4] = [0, 2, 6, 4];
        OF_TOS[usize::from(self.dscp() & 7) >> 1]
    }

    /// The header for the ACK filter; `None` if it is not a TCP segment, or is damaged.
    fn ack_header(&self) -> Option<AckHeader>;

    /// The packets that go over the wire for a super-segment; none for a plain packet.
    fn segments(&self) -> Option<Segments> {
        None
    }

    /// A super-segment is cut into the packets that go over the wire, each given to `each`; none for a plain packet,
    /// which is left as it is.
    fn split(&self, each: &mut dyn FnMut(Self)) -> bool {
        let _ = each;
        false
    }
}

/// Bytes of an Ethernet header.
pub(crate) const ETHERNET: u32 = 14;

/// Bytes that Linux charges for a frame from a device that copies it into one buffer. They are `struct sk_buff` and
/// the buffer: a power of two, with `struct skb_shared_info` at its end, both in cache lines.
pub(crate) fn truesize(len: u32) -> u32 {
    const SKB: u32 = 256;
    const SHARED_INFO: u32 = 320;
    const HEADROOM: u32 = 64;
    SKB + (len + HEADROOM + SHARED_INFO).next_power_of_two()
}

/// Addresses, ports and protocol of a packet; what Linux's flow dissector finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowKeys {
    /// Source address; an IPv4 address stands in the first word.
    pub src: [u32; 4],
    /// Destination address.
    pub dst: [u32; 4],
    /// Source and destination port; 0 for protocols without ports, and with a flow label, where the dissector stops.
    pub ports: [u16; 2],
    /// The protocol above IP.
    pub protocol: u8,
    /// The flow label of IPv6.
    pub label: u32,
}

impl FlowKeys {
    /// A hash of the whole that both directions share, as `flow_hash_from_keys` does: the lower address comes first.
    /// Never 0.
    pub fn hash(&self, key: u64) -> u32 {
        let swap = self.dst < self.src || (self.dst == self.src && self.ports[1] < self.ports[0]);
        let (a, b, ports) = match swap {
            true => (self.dst, self.src, [self.ports[1], self.ports[0]]),
            false => (self.src, self.dst, self.ports),
        };
        let ports = u64::from(ports[0]) << 16 | u64::from(ports[1]);
        let rest = u64::from(self.protocol) << 32 | u64::from(self.label);
        let hash = fold(fold(address(address(key, a), b), ports), rest);
        never_0(hash)
    }

    /// A hash of one address.
    pub fn hash_address(key: u64, of: [u32; 4]) -> u32 {
        never_0(address(key, of))
    }
}

fn never_0(hash: u64) -> u32 {
    ((hash >> 32) as u32 ^ hash as u32).max(1)
}

fn address(hash: u64, of: [u32; 4]) -> u64 {
    let [a, b, c, d] = of.map(u64::from);
    let hash = fold(hash, a << 32 | b);
    match c | d {
        0 => hash,
        _ => fold(hash, c << 32 | d),
    }
}

/// One word into a hash: the two halves of a long product.
#[inline]
fn fold(hash: u64, word: u64) -> u64 {
    let wide = u128::from(hash ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    (wide >> 64) as u64 ^ wide as u64
}

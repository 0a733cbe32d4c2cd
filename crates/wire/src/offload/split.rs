//! A super-segment into the frames that go over the wire.
//!
//! Linux: `tcp_gso_segment()`, `__udp_gso_segment()`, `inet_gso_segment()`, `ipv6_gso_segment()`. The payload is read
//! once, into the segment's frame, and summed there while it is in the cache.

use super::layout::Layout;
use super::{Cut, SuperFrame, Work, never_0};
use crate::checksum::Sum;
use crate::{ipv4, ipv6, tcp, udp};

/// In byte 13 of a TCP header.
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

impl SuperFrame {
    /// Cuts a super-segment: each frame is written into a `buffer`, which is cleared before, and given to `each`.
    /// False, and nothing is done, when it is one frame.
    pub fn split(
        &self,
        mut buffer: impl FnMut() -> Vec<u8>,
        mut each: impl FnMut(SuperFrame),
    ) -> bool {
        let Work::Cut(cut) = self.work else {
            return false;
        };
        let Some((headers, payload)) = self.bytes.split_at_checked(cut.layout.payload()) else {
            return false;
        };
        let Some(plan) = Plan::new(&cut, headers, payload.len()) else {
            return false;
        };
        let size = usize::from(cut.size);
        let last = payload.len().div_ceil(size).saturating_sub(1);
        for (n, piece) in payload.chunks(size).enumerate() {
            let mut bytes = buffer();
            bytes.clear();
            bytes.reserve(headers.len() + piece.len());
            bytes.extend_from_slice(headers);
            bytes.extend_from_slice(piece);
            plan.finish(&mut bytes, n as u32, n == last);
            each(SuperFrame::plain(bytes));
        }
        true
    }
}

/// What the segments share.
struct Plan {
    layout: Layout,
    size: u32,
    /// Of the first segment.
    id: u16,
    seq: u32,
    /// Sum of the pseudo header without the length.
    pseudo: Sum,
}

impl Plan {
    fn new(cut: &Cut, headers: &[u8], payload: usize) -> Option<Self> {
        let layout = cut.layout;
        let transport = headers.get(layout.transport()..)?;
        let total = (transport.len() + payload) as u32;
        Some(Self {
            layout,
            size: u32::from(cut.size),
            id: match layout.is_ipv6 {
                false => word(headers, layout.network() + 4)?,
                true => 0,
            },
            seq: match layout.is_tcp {
                true => u32::from_be_bytes(*transport.get(4..8)?.first_chunk()?),
                false => 0,
            },
            pseudo: match (cut.is_partial, layout.is_tcp) {
                // It may be that of other addresses than the packet's: of the last hop of a routing header.
                (true, true) => Sum::default()
                    .add_number(u32::from(word(transport, tcp::CHECKSUM)?))
                    .add_number(!total),
                (true, false) => Sum::default()
                    .add_number(u32::from(word(transport, udp::CHECKSUM)?))
                    .add_number(u32::from(!word(transport, 4)?)),
                (false, _) => addresses(headers, layout)?,
            },
        })
    }

    /// The fields that differ, and the checksums, of segment `n`; `frame` holds the super-segment's headers and its
    /// payload.
    fn finish(&self, frame: &mut [u8], n: u32, is_last: bool) {
        let Some((link, packet)) = frame.split_at_mut_checked(self.layout.network()) else {
            return;
        };
        let total = packet.len();
        let at = self.layout.transport() - link.len();
        let Some((ip, segment)) = packet.split_at_mut_checked(at) else {
            return;
        };
        match self.layout.is_ipv6 {
            false => finish_ipv4(ip, total, self.id.wrapping_add(n as u16)),
            true => put(ip, 4, (total - ipv6::LEN.min(total)) as u16),
        }
        let len = segment.len() as u32;
        let pseudo = self.pseudo.add_number(len);
        match self.layout.is_tcp {
            true => {
                let seq = self.seq.wrapping_add(n.wrapping_mul(self.size));
                finish_tcp(segment, seq, [n == 0, is_last], pseudo);
            }
            false => finish_udp(segment, pseudo),
        }
    }
}

fn finish_ipv4(header: &mut [u8], total: usize, id: u16) {
    put(header, 2, total as u16);
    put(header, 4, id);
    put(header, 10, 0);
    let sum = Sum::default().add(header).finish();
    put(header, 10, sum);
}

fn finish_tcp(segment: &mut [u8], seq: u32, [is_first, is_last]: [bool; 2], pseudo: Sum) {
    if let Some(field) = segment.get_mut(4..8) {
        field.copy_from_slice(&seq.to_be_bytes());
    }
    if let Some(flags) = segment.get_mut(13) {
        let cleared = [(is_last, FIN_PSH), (is_first, CWR)];
        for (_, flag) in cleared.iter().filter(|(stays, _)| !stays) {
            *flags &= !flag;
        }
    }
    put(segment, tcp::CHECKSUM, 0);
    let sum = pseudo.add(segment).finish();
    put(segment, tcp::CHECKSUM, sum);
}

fn finish_udp(segment: &mut [u8], pseudo: Sum) {
    put(segment, 4, segment.len() as u16);
    put(segment, udp::CHECKSUM, 0);
    let sum = pseudo.add(segment).finish();
    put(segment, udp::CHECKSUM, never_0(sum));
}

/// The sum of a pseudo header (RFC 9293 3.1, RFC 8200 8.1) but for its length.
pub(super) fn addresses(headers: &[u8], layout: Layout) -> Option<Sum> {
    let ip = headers.get(layout.network()..)?;
    let addresses = match layout.is_ipv6 {
        false => ip.get(12..ipv4::MIN_LEN)?,
        true => ip.get(8..ipv6::LEN)?,
    };
    let protocol = match layout.is_tcp {
        true => tcp::PROTOCOL,
        false => udp::PROTOCOL,
    };
    let sum = Sum::default().add(addresses);
    Some(sum.add_number(u32::from(protocol)))
}

pub(super) fn word(bytes: &[u8], at: usize) -> Option<u16> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*word))
}

pub(super) fn put(bytes: &mut [u8], at: usize, word: u16) {
    if let Some(field) = bytes.get_mut(at..at + 2) {
        field.copy_from_slice(&word.to_be_bytes());
    }
}

//! Frames of one TCP flow into a super-segment: the way back of [`SuperFrame::split`].
//!
//! Linux: `tcp_gro_receive()`, `inet_gro_receive()`, `ipv6_gro_receive()`, and their `_complete()`. DEVIATION: packets
//! with the same IPv4 identification are not joined, because the header of a TAP device cannot say so; urgent pointers
//! must be equal, too. Frames with a CAQM tag are not joined: a frame has room for one hint, and theirs would have to be
//! added. So what was joined and is split again is what it was. Left out: UDP, which the kernel joins for
//! sockets that ask for it.

use super::layout::Layout;
use super::split::{addresses, put, word};
use super::{Cut, SuperFrame, Work};
use crate::checksum::Sum;
use crate::{ipv4, ipv6, tcp};

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;
/// FIN, SYN, RST, PSH, URG: nothing comes behind them.
const ENDS: u8 = 0x2f;
/// The second word of an IPv4 header, all but "don't fragment".
const FRAGMENT: u16 = 0xbfff;
/// An IP packet must have fewer bytes (Linux: `GRO_LEGACY_MAX_SIZE`).
const MAX_PACKET: usize = 65_536;

/// A super-segment that grows, frame by frame.
#[derive(Debug)]
pub struct Joiner {
    frame: SuperFrame,
    /// None: the first frame goes alone.
    flow: Option<Flow>,
    /// Frames that it holds.
    count: u16,
    /// The last one has come: with FIN or PSH, or shorter than the others.
    has_last: bool,
}

/// What the next frame must fit to.
#[derive(Clone, Copy, Debug)]
struct Flow {
    layout: Layout,
    /// Bytes of payload of the first frame.
    size: u16,
}

impl Joiner {
    /// Begins with this frame. It can be any; when nothing joins, it comes out as it was.
    pub fn new(first: SuperFrame) -> Self {
        let flow = match first.work {
            Work::Nothing => Flow::of(&first.bytes),
            _ => None,
        };
        Self {
            frame: first,
            flow,
            count: 1,
            has_last: false,
        }
    }

    /// Whether another frame might join.
    pub fn is_open(&self) -> bool {
        self.flow.is_some() && !self.has_last
    }

    /// Joins the next frame; false: it does not fit, and begins another.
    pub fn push(&mut self, next: &SuperFrame) -> bool {
        let Some(flow) = self.flow.filter(|_| !self.has_last) else {
            return false;
        };
        let joined = &mut self.frame.bytes;
        if next.work != Work::Nothing || !flow.fits(joined, &next.bytes, self.count) {
            return false;
        }
        if self.count == 1 && !flow.is_right(joined) {
            self.flow = None;
            return false;
        }
        let Some((headers, payload)) = next.bytes.split_at_checked(flow.layout.payload()) else {
            return false;
        };
        joined.extend_from_slice(payload);
        self.count += 1;
        let at = flow.layout.transport() + 13;
        let flags = headers.get(at).copied().unwrap_or(0);
        if let Some(of_all) = joined.get_mut(at) {
            *of_all |= flags & (FIN | PSH);
        }
        self.has_last = flags & ENDS != 0 || payload.len() < usize::from(flow.size);
        true
    }

    /// The frame: a super-segment when others joined the first.
    pub fn finish(mut self) -> SuperFrame {
        if let Some(flow) = self.flow.filter(|_| self.count > 1) {
            flow.finish(&mut self.frame);
        }
        self.frame
    }
}

impl Flow {
    /// Lengths, checksums and the work that is left.
    fn finish(&self, frame: &mut SuperFrame) {
        let layout = self.layout;
        let bytes = &mut frame.bytes;
        let total = bytes.len() - layout.network();
        let len = (bytes.len() - layout.transport()) as u32;
        let pseudo = addresses(bytes, layout).map(|sum| sum.add_number(len).folded());
        let at = layout.transport() + 13;
        let ecn = bytes.get(at).is_some_and(|flags| flags & CWR != 0);
        put(
            bytes,
            layout.transport() + tcp::CHECKSUM,
            pseudo.unwrap_or(0),
        );
        let Some(ip) = bytes.get_mut(layout.network()..) else {
            return;
        };
        match layout.is_ipv6 {
            true => put(ip, 4, (total - ipv6::LEN) as u16),
            false => {
                put(ip, 2, total as u16);
                put(ip, 10, 0);
                let header = ip.get(..ipv4::MIN_LEN).unwrap_or_default();
                let sum = Sum::default().add(header).finish();
                put(ip, 10, sum);
            }
        }
        frame.work = Work::Cut(Cut {
            layout,
            size: self.size,
            is_partial: true,
            ecn,
        });
    }

    /// That of the first frame; none: it cannot be one of several.
    fn of(frame: &[u8]) -> Option<Self> {
        let layout = Layout::of(frame).filter(|layout| layout.is_tcp && !layout.is_caqm)?;
        let (ip, total) = (layout.network(), frame.len() - layout.network());
        let is_whole = match layout.is_ipv6 {
            true => usize::from(word(frame, ip + 4)?) + ipv6::LEN == total,
            false => {
                let is_plain = frame.get(ip) == Some(&0x45) && word(frame, ip + 6)? & FRAGMENT == 0;
                is_plain && usize::from(word(frame, ip + 2)?) == total
            }
        };
        let flags = frame.get(layout.transport() + 13)?;
        let size = u16::try_from(frame.len() - layout.payload()).ok()?;
        (is_whole && flags & ENDS == 0 && size > 0).then_some(Self { layout, size })
    }

    /// Whether a frame continues the `count` ones that are joined: all but what segmentation changes is equal, the
    /// numbers go on, and its checksums are right.
    fn fits(&self, joined: &[u8], next: &[u8], count: u16) -> bool {
        let at = self.layout.payload();
        let (Some(first), Some(headers)) = (joined.get(..at), next.get(..at)) else {
            return false;
        };
        let len = next.len() - at;
        let is_sized = len > 0 && len <= usize::from(self.size);
        let total = joined.len() - self.layout.network() + len;
        is_sized
            && total < MAX_PACKET
            && self.is_same(first, headers) == Some(true)
            && self.goes_on(first, headers, joined.len() - at, count) == Some(true)
            && self.is_right(next)
    }

    /// Whether headers are equal but for lengths, numbers, checksums, and the flags that only one segment has.
    fn is_same(&self, first: &[u8], next: &[u8]) -> Option<bool> {
        let (ip, tcp) = (self.layout.network(), self.layout.transport());
        let is_equal = |from: usize, to: usize| Some(first.get(from..to)? == next.get(from..to)?);
        let is_same_packet = match self.layout.is_ipv6 {
            true => is_equal(0, ip + 4)? && is_equal(ip + 6, tcp)?,
            false => is_equal(0, ip + 2)? && is_equal(ip + 6, ip + 10)? && is_equal(ip + 12, tcp)?,
        };
        let differ = first.get(tcp + 13)? ^ next.get(tcp + 13)?;
        let is_same_segment = is_equal(tcp, tcp + 4)?
            && is_equal(tcp + 8, tcp + 13)?
            && is_equal(tcp + 14, tcp + tcp::CHECKSUM)?
            && is_equal(tcp + 18, first.len())?;
        let flags_fit = differ & !(CWR | FIN | PSH) == 0 && next.get(tcp + 13)? & CWR == 0;
        Some(is_same_packet && is_same_segment && flags_fit)
    }

    /// Whether the sequence number and the identification are the next ones, and the length is that of the frame.
    fn goes_on(&self, first: &[u8], next: &[u8], payload: usize, count: u16) -> Option<bool> {
        let (ip, tcp) = (self.layout.network(), self.layout.transport());
        let seq = |of: &[u8]| Some(u32::from_be_bytes(*of.get(tcp + 4..)?.first_chunk()?));
        let is_next = seq(first)?.wrapping_add(payload as u32) == seq(next)?;
        let id_goes_on =
            self.layout.is_ipv6 || word(first, ip + 4)?.wrapping_add(count) == word(next, ip + 4)?;
        Some(is_next && id_goes_on)
    }

    /// Whether a frame's lengths and checksums are right: joining would heal damage.
    fn is_right(&self, frame: &[u8]) -> bool {
        let (ip, tcp) = (self.layout.network(), self.layout.transport());
        let (Some(packet), Some(segment)) = (frame.get(ip..), frame.get(tcp..)) else {
            return false;
        };
        let is_packet = match self.layout.is_ipv6 {
            true => word(packet, 4) == u16::try_from(packet.len() - ipv6::LEN).ok(),
            false => {
                let header = packet.get(..ipv4::MIN_LEN).unwrap_or_default();
                word(packet, 2) == u16::try_from(packet.len()).ok()
                    && Sum::default().add(header).folded() == 0xffff
            }
        };
        let sum = addresses(frame, self.layout).map(|sum| sum.add_number(segment.len() as u32));
        is_packet && sum.is_some_and(|sum| sum.add(segment).folded() == 0xffff)
    }
}

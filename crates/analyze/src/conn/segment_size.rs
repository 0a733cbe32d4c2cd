//! The payload of full segments on a path that carries less than both MSS options allow.
//!
//! A router reported the smaller MTU by ICMP, the sender probed for it (`net.ipv4.tcp_mtu_probing`,
//! RFC 4821), or the sender's own interface has it. A segment without PSH has more data behind it,
//! so the sender made it as long as it could. Several of equal length in a row, shorter than the
//! options allow, are therefore full.

use tcplab_wire::{TcpFlags, TcpPacket};

use super::dir::Dir;

/// So many segments without PSH in a row, of one length.
const ENOUGH: u8 = 3;
/// What each host takes (an MSS of 536, RFC 9293 3.7.1) with time stamps: shorter ones are cut by something else.
const LEAST: u32 = 524;

/// What one sender's packets tell of its full segments, bytes of payload.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SegmentSize {
    /// Payload of full ones; 0 while only the options bound it.
    found: u16,
    /// The same, until longer ones came: it comes back with the next one.
    before: u16,
    /// Length of the last one without PSH, and how many in a row had it.
    last: u16,
    same: u8,
}

impl SegmentSize {
    /// Payload of full segments below the options' bound, if there is one.
    pub(crate) fn found(self) -> Option<u32> {
        (self.found > 0).then_some(self.found.into())
    }

    /// A packet carries `payload`; the options allow `most`.
    fn sent(&mut self, payload: u32, pushed: bool, most: u32) {
        // Several in one: their length is not seen.
        if payload > most && !payload.is_multiple_of(most) {
            return;
        }
        if payload > self.found.into() && self.found > 0 {
            (self.before, self.found) = (self.found, 0);
        }
        if pushed || payload >= most || payload < LEAST {
            self.same = if payload >= most { 0 } else { self.same };
            return;
        }
        let length = payload as u16;
        self.same = match length == self.last {
            true => self.same.saturating_add(1),
            false => 1,
        };
        self.last = length;
        if self.same >= ENOUGH || length == self.before {
            self.found = length;
        }
    }

    /// A router named the MTU of its next link: so much payload fits.
    fn told(&mut self, payload: u32, most: u32) {
        if payload < most {
            self.found = payload as u16;
        }
    }
}

impl Dir {
    /// Payload of a full segment by the options of both sides, independent of the path's MTU.
    pub(crate) fn mss_bound(&self, peer_mss: Option<u16>) -> Option<u32> {
        peer_mss.map(|m| u32::from(m).saturating_sub(self.option_bytes()).max(1))
    }

    /// Payload of its full segments, where it is below that bound.
    pub(crate) fn found_size(&self) -> Option<u32> {
        self.seldom()?.size.found()
    }

    /// Learns from a packet of this side with data, towards a peer with this MSS and window. A window of less than two full
    /// segments may be what cut it short.
    pub(super) fn learn_size(&mut self, p: &TcpPacket, peer_mss: Option<u16>, window: u32) {
        let Some(most) = self.mss_bound(peer_mss).filter(|most| window >= 2 * most) else {
            return;
        };
        let pushed = p.flags.has(TcpFlags::PSH);
        let says_nothing = pushed || p.payload_len >= most;
        if !says_nothing || self.seldom().is_some() {
            self.seldom_mut().size.sent(p.payload_len, pushed, most);
        }
    }

    /// A router reported `mtu` for a packet of this side; `ip` is the length of an IP header.
    pub(super) fn learn_mtu(&mut self, mtu: u32, ip: u32, peer_mss: Option<u16>) {
        let payload = mtu.saturating_sub(ip + 20 + self.option_bytes());
        if let Some(most) = self.mss_bound(peer_mss).filter(|_| payload > 0) {
            self.seldom_mut().size.told(payload, most);
        }
    }

    /// Options of each segment with data.
    fn option_bytes(&self) -> u32 {
        if self.timestamps { 12 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 1448;

    fn after(segments: &[(u32, bool)]) -> Option<u32> {
        let mut size = SegmentSize::default();
        let sent = |(payload, pushed): &(u32, bool)| size.sent(*payload, *pushed, MOST);
        segments.iter().for_each(sent);
        size.found()
    }

    #[test]
    fn some_of_one_length_that_were_not_pushed_are_full() {
        assert_eq!(after(&[(1348, false); 2]), None);
        assert_eq!(after(&[(1348, false); 3]), Some(1348));
        // Ends of writes between them say nothing, and a program's writes are pushed.
        let with_ends = [(1348, false), (200, true), (1348, false), (1348, false)];
        assert_eq!(after(&with_ends), Some(1348));
        assert_eq!(after(&[(1000, true); 9]), None);
    }

    #[test]
    fn longer_segment_ends_the_size_and_the_old_length_restores_it() {
        let found = [(1012, false), (1012, false), (1012, false)];
        let and = |more: &[(u32, bool)]| after(&[&found[..], more].concat());
        assert_eq!(and(&[(1400, true)]), None);
        assert_eq!(and(&[(MOST, false)]), None);
        assert_eq!(and(&[(1230, false), (1012, false)]), Some(1012));
        assert_eq!(and(&[(3036, false)]), Some(1012));
    }

    #[test]
    fn a_router_says_it_at_once() {
        let mut size = SegmentSize::default();
        size.told(1348, MOST);
        assert_eq!(size.found(), Some(1348));
        let mut other = SegmentSize::default();
        other.told(8948, MOST);
        assert_eq!(other.found(), None);
    }
}

//! Generic receive offload: the host joins packets before its TCP sees them.
//!
//! Linux `tcp_gro_receive()`, `skb_gro_receive()`, `dev_gro_receive()`. One poll of the card joins
//! packets that continue each other with the same header; here a poll is one instant on one
//! direction of a link. Captures still show the packets of the wire. A pure ACK, a packet with
//! another flag and one that fits nowhere are not joined.
//!
//! Left out:
//!
//! - packets that the host only forwards
//! - the limit of eight flows in one bucket of the card's table
//! - the hash that orders flows at the end of a poll (here: the order in which they began)
//! - the identification of IP

use tcplab_tcp::{Caqm, Segment};
use tcplab_wire::{CaqmUnits, TcpFlags};

/// Bytes of the largest packet that may come about, its headers included (`GRO_MAX_SIZE`).
const MOST: u32 = 65536;
/// Bytes of an IPv4 header.
const IP: u32 = 20;
/// Flags with which a packet is handed on at once, together with what it continued.
const ENDS: u16 = TcpFlags::URG | TcpFlags::PSH | TcpFlags::RST | TcpFlags::SYN | TcpFlags::FIN;
/// Flags in which a packet may differ from what it continues.
const MAY_DIFFER: u16 = TcpFlags::CWR | TcpFlags::FIN | TcpFlags::PSH;

/// A segment that may grow.
#[derive(Clone, Copy, Debug)]
struct Held {
    whole: Segment,
    /// Time to live of its packets.
    ttl: u8,
    /// Payload of its first packet, which no later one exceeds.
    mss: u32,
}

/// What is held back within one poll, at most one segment of each flow.
#[derive(Debug, Default)]
pub(crate) struct Gro {
    held: Vec<Held>,
    /// What the host makes of CAQM's hints.
    units: CaqmUnits,
}

impl Gro {
    /// Of a host that reads CAQM's hints in these units.
    pub(crate) fn new(units: CaqmUnits) -> Self {
        Self {
            held: Vec::new(),
            units,
        }
    }

    /// A packet comes. What goes up now, in its order: what was held of its flow, then the packet itself.
    pub(crate) fn receive(&mut self, segment: &Segment, ttl: u8) -> [Option<Segment>; 2] {
        let is_of = |h: &Held| (h.whole.src, h.whole.dst) == (segment.src, segment.dst);
        let Some(place) = self.held.iter().position(is_of) else {
            return [None, self.begin(segment, ttl)];
        };
        let held = &mut self.held[place];
        if !held.takes(segment, ttl) {
            let before = self.held.remove(place).whole;
            return [Some(before), self.begin(segment, ttl)];
        }
        held.add(segment, &self.units);
        let is_last = segment.len < held.mss || segment.flags.0 & ENDS != 0;
        [is_last.then(|| self.held.remove(place).whole), None]
    }

    /// The poll is over: the next of what was held.
    pub(crate) fn next(&mut self) -> Option<Segment> {
        (!self.held.is_empty()).then(|| self.held.remove(0).whole)
    }

    /// Holds a packet as the first of its flow, or gives it back.
    fn begin(&mut self, segment: &Segment, ttl: u8) -> Option<Segment> {
        if segment.len == 0 || segment.flags.0 & ENDS != 0 {
            return Some(*segment);
        }
        self.held.push(Held {
            whole: *segment,
            ttl,
            mss: segment.len,
        });
        None
    }
}

impl Held {
    /// Whether this packet continues it.
    fn takes(&self, segment: &Segment, ttl: u8) -> bool {
        let (a, b) = (&self.whole, segment);
        a.seq + a.len == b.seq
            && a.ack == b.ack
            && (a.window, a.urgent, a.tos) == (b.window, b.urgent, b.tos)
            && a.options == b.options
            && b.flags.0 & TcpFlags::CWR == 0
            && (a.flags.0 ^ b.flags.0) & !MAY_DIFFER == 0
            && (1..=self.mss).contains(&b.len)
            && self.ttl == ttl
            && IP + a.header_len() + a.len + b.len < MOST
    }

    fn add(&mut self, segment: &Segment, units: &CaqmUnits) {
        let whole = &mut self.whole;
        // The tags may differ: what they grant is added up.
        if (whole.caqm, segment.caqm) != (Caqm::Plain, Caqm::Plain) {
            let both = whole.caqm.bytes(units) + segment.caqm.bytes(units);
            whole.caqm = Caqm::Joined(both.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
        }
        whole.len += segment.len;
        whole.gso_size = self.mss as u16;
        whole.flags = TcpFlags(whole.flags.0 | segment.flags.0 & (TcpFlags::FIN | TcpFlags::PSH));
    }
}

#[cfg(test)]
mod tests {
    use tcplab_base::Seq;
    use tcplab_tcp::Addr;

    use super::*;

    const MSS: u32 = 1000;

    /// Data of a flow that begins at this byte.
    fn data(port: u16, at: u32, len: u32, flags: u16) -> Segment {
        Segment {
            src: Addr { host: 0, port },
            dst: Addr { host: 1, port: 80 },
            seq: Seq(at),
            len,
            flags: TcpFlags(TcpFlags::ACK | flags),
            ..Segment::default()
        }
    }

    /// What goes up of a poll that finds these: port, first byte, length, and payload of each packet.
    fn poll(packets: &[Segment]) -> Vec<(u16, u32, u32, u16)> {
        let mut gro = Gro::default();
        let mut up: Vec<Segment> = Vec::new();
        for packet in packets {
            up.extend(gro.receive(packet, 64).into_iter().flatten());
        }
        up.extend(std::iter::from_fn(|| gro.next()));
        up.iter()
            .map(|s| (s.src.port, s.seq.0, s.len, s.gso_size))
            .collect()
    }

    #[test]
    fn packets_that_follow_each_other_become_one() {
        let train: Vec<Segment> = (0..3).map(|n| data(7, n * MSS, MSS, 0)).collect();
        assert_eq!(poll(&train), [(7, 0, 3000, 1000)]);
        assert_eq!(poll(&train[..1]), [(7, 0, 1000, 0)], "one stays as it is");
        // A short one is the last, and so is one with PSH.
        let short = [train[0], data(7, 1000, 10, 0), data(7, 1010, 10, 0)];
        assert_eq!(poll(&short), [(7, 0, 1010, 1000), (7, 1010, 10, 0)]);
        let pushed = [train[0], data(7, 1000, MSS, TcpFlags::PSH), train[2]];
        assert_eq!(poll(&pushed), [(7, 0, 2000, 1000), (7, 2000, 1000, 0)]);
        // One that is longer begins anew.
        let longer = [data(7, 0, 10, 0), data(7, 10, MSS, 0)];
        assert_eq!(poll(&longer), [(7, 0, 10, 0), (7, 10, 1000, 0)]);
    }

    #[test]
    fn another_header_or_a_hole_ends_a_train() {
        let first = data(7, 0, MSS, 0);
        let next = data(7, MSS, MSS, 0);
        let unlike = [
            Segment {
                ack: Seq(1),
                ..next
            },
            Segment { window: 1, ..next },
            Segment {
                tos: Segment::CE,
                ..next
            },
            Segment {
                seq: Seq(1001),
                ..next
            },
            data(7, MSS, MSS, TcpFlags::CWR),
        ];
        for second in unlike {
            assert_eq!(poll(&[first, second]).len(), 2, "{second:?}");
        }
        let ack = data(7, MSS, 0, 0);
        assert_eq!(poll(&[first, ack]), [(7, 0, 1000, 0), (7, 1000, 0, 0)]);
    }

    #[test]
    fn interleaved_flows_join_and_no_packet_exceeds_65535() {
        let mixed: Vec<Segment> = (0..3)
            .flat_map(|n| [7, 8].map(|port| data(port, n * MSS, MSS, 0)))
            .collect();
        assert_eq!(poll(&mixed), [(7, 0, 3000, 1000), (8, 0, 3000, 1000)]);
        let many: Vec<Segment> = (0..70).map(|n| data(7, n * MSS, MSS, 0)).collect();
        assert_eq!(poll(&many), [(7, 0, 65_000, 1000), (7, 65_000, 5000, 1000)]);
    }
}

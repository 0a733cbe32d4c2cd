//! Two captures of the same connections, taken at both ends: the same packets are found in both,
//! the clocks are compared, and each ACK is shown as its sender and as its receiver saw it.
//!
//! Packets are matched by what no router changes: addresses, ports, sequence and ACK number,
//! flags, payload length, time stamp option (not in a SYN); the IP identification tells equal ones apart.
//! Addresses that a NAT changed, and data that offloads joined or split, do not match.

mod changed;
mod clock;
mod matching;
mod report;

use tcplab_base::Instant;
use tcplab_wire::{Endpoint, TcpFlags, TcpPacket};

pub use changed::{Changed, Offer};
pub use clock::Clock;
pub use report::{Ack, End, OneWay, Packets, Pair, SCHEMA, Stream};

use crate::trace::{AckRow, StreamTrace};

/// What of a packet is the same at both ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key {
    src: Endpoint,
    dst: Endpoint,
    seq: u32,
    ack: u32,
    flags: u16,
    len: u32,
    stamps: Option<(u32, u32)>,
}

/// One packet of a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    key: Key,
    ip_id: Option<u16>,
    number: u64,
    time: Instant,
    /// The ECN field of IP.
    ecn: u8,
}

/// Verdicts of the analyser on one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    number: u64,
    stream: u32,
    from_client: bool,
    ack: Option<AckRow>,
}

/// One of the two captures: its packets, and what the analyser says of them. About 150 bytes for
/// each packet.
#[derive(Debug, Default)]
pub struct Capture {
    packets: Vec<Packet>,
    syns: Vec<changed::Syn>,
    verdicts: Vec<Verdict>,
    without_time: u64,
    /// Most packets that are kept.
    most: Option<usize>,
    left_out: u64,
}

impl Capture {
    /// A capture of which the first `most` packets are compared.
    pub fn new(most: Option<usize>) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// Takes a packet, in the order of the file. One without time stamp cannot be compared.
    pub fn packet(&mut self, number: u64, time: Option<Instant>, p: &TcpPacket) {
        let Some(time) = time else {
            self.without_time += 1;
            return;
        };
        if self.most.is_some_and(|most| self.packets.len() >= most) {
            self.left_out += 1;
            return;
        }
        self.syns.extend(changed::Syn::of(number, p));
        // Time stamps and ECN of a SYN may be taken out on the way.
        let opens = p.flags.has(TcpFlags::SYN);
        let kept = if opens {
            !(TcpFlags::ECE | TcpFlags::CWR)
        } else {
            !0
        };
        self.packets.push(Packet {
            key: Key {
                src: p.src,
                dst: p.dst,
                seq: p.seq.0,
                ack: p.ack.0,
                flags: p.flags.0 & kept,
                len: p.payload_len,
                stamps: p.options.timestamps.filter(|_| !opens),
            },
            ip_id: p.ip_id,
            number,
            time,
            ecn: p.ecn,
        });
    }

    /// Takes the verdicts on the packets of a stream.
    pub fn trace(&mut self, trace: &StreamTrace) {
        self.verdicts.extend(trace.rows.iter().map(|r| Verdict {
            number: r.number,
            stream: trace.stream,
            from_client: r.from_client,
            ack: r.acked,
        }));
    }

    /// Whether both hold the same packets at the same times: no two places see them so.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        let mut both = self.packets.iter().zip(&other.packets);
        !self.packets.is_empty()
            && self.packets.len() == other.packets.len()
            && both.all(|(a, b)| (a.key, a.time) == (b.key, b.time))
    }

    /// The verdict on a packet; [`compare`] has sorted them.
    fn verdict(&self, number: u64) -> Option<&Verdict> {
        let at = self.verdicts.binary_search_by_key(&number, |v| v.number);
        self.verdicts.get(at.ok()?)
    }
}

/// Compares two captures.
pub fn compare(mut a: Capture, mut b: Capture) -> Pair {
    for capture in [&mut a, &mut b] {
        capture.verdicts.sort_unstable_by_key(|v| v.number);
    }
    let matched = matching::join(&mut a.packets, &mut b.packets);
    let sides = clock::sides(&a, &matched.pairs);
    let clock = Clock::estimate(&a, &matched.pairs, &sides);
    report::build(&a, &b, &matched, clock, &sides)
}

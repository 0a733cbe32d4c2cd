//! Two captures of the same connections, taken at both ends: the same packets are found in both,
//! the clocks are compared, and each ACK is shown as its sender and as its receiver saw it.
//!
//! Packets are matched by fields that no router changes: addresses, ports, sequence and ACK number, flags, payload
//! length, time stamp option. The option does not count in a SYN, nor if headers were cut. The IP identification
//! tells equal packets apart, and copies of one packet. Addresses that a NAT changed do not match. Data that
//! offloads joined or split is told from what was lost, but has no times.

mod changed;
mod clock;
mod matching;
mod report;
mod resegmented;

use tcplab_base::Instant;
use tcplab_wire::{Endpoint, Standing, TcpFlags, TcpPacket};

pub use changed::{Changed, Offer};
pub use clock::Clock;
pub use report::{Ack, Defects, End, OneWay, Packets, Pair, SCHEMA, Stream};

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
    /// The window field, which no router changes.
    window: u16,
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
    defects: Defects,
    /// Most packets that are kept.
    most: Option<usize>,
    /// The first and the last time of a frame, up to the first packet that was left out.
    span: Option<(Instant, Instant)>,
}

impl Capture {
    /// A capture of which the first `most` packets are compared.
    pub fn new(most: Option<usize>) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// Takes the time of a frame that is no TCP packet, in the order of the file: the capture ran then.
    pub fn frame(&mut self, time: Option<Instant>) {
        if self.defects.left_out == 0
            && let Some(time) = time
        {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
    }

    /// Takes a frame that was cut where TCP's header should tell the packet.
    pub fn cut(&mut self, time: Option<Instant>) {
        self.defects.unreadable += 1;
        self.frame(time);
    }

    /// Takes a packet, in the order of the file. One without time stamp cannot be compared; one that an ICMP error
    /// quotes was not sent.
    pub fn packet(&mut self, number: u64, time: Option<Instant>, p: &TcpPacket) {
        if p.standing == Standing::Quoted {
            return self.frame(time);
        }
        let Some(time) = time else {
            self.defects.without_time += 1;
            return;
        };
        if self.most.is_some_and(|most| self.packets.len() >= most) {
            self.defects.left_out += 1;
            return;
        }
        self.frame(Some(time));
        self.defects.headers_cut += u64::from(p.header_truncated);
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
            window: p.window,
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
    // A header that was cut lacks its time stamps in one capture, not in the other.
    let cut = a.defects.headers_cut + b.defects.headers_cut > 0;
    for capture in [&mut a, &mut b] {
        capture.verdicts.sort_unstable_by_key(|v| v.number);
        for packet in capture.packets.iter_mut().filter(|_| cut) {
            packet.key.stamps = None;
        }
    }
    let matched = matching::join(&mut a.packets, &mut b.packets);
    let sides = clock::sides(&a, &matched.pairs);
    let clock = Clock::estimate(&a, &matched.pairs, &sides);
    report::build(&a, &b, &matched, clock, &sides)
}

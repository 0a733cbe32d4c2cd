//! The packets of a capture, connection by connection, as far as a replay needs them.

use std::collections::BTreeMap;

use tcplab_base::{Duration, Instant, Seq};
use tcplab_wire::{CaqmInfo, Endpoint, Standing, TcpFlags, TcpOptions, TcpPacket};

/// Packets kept of one capture: bounds memory.
const MOST_PACKETS: usize = 2_000_000;

/// No retransmission follows its original so soon.
const COPY_WITHIN: Duration = Duration::from_micros(500);

/// One packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// Frame number in the file.
    pub(super) number: u64,
    pub(super) time: Instant,
    /// 0: the client sent it, 1: the server.
    pub(super) from: usize,
    pub(super) seq: Seq,
    pub(super) ack: Seq,
    pub(super) flags: TcpFlags,
    pub(super) window: u16,
    pub(super) urgent: u16,
    pub(super) len: u32,
    pub(super) options: TcpOptions,
    pub(super) ecn: u8,
    /// Identification of its IPv4 header.
    pub(super) ip_id: Option<u16>,
    /// Its TCP header was cut.
    pub(super) header_truncated: bool,
    /// Its CAQM tag.
    pub(super) caqm: Option<CaqmInfo>,
}

impl Packet {
    /// The sequence number after it.
    pub(super) fn end(&self) -> Seq {
        let syn = u32::from(self.flags.has(TcpFlags::SYN));
        let fin = u32::from(self.flags.has(TcpFlags::FIN));
        self.seq + (self.len + syn + fin)
    }

    /// The other one is the same packet, captured again. A sender gives what it sends again another identification;
    /// without one, data that comes again at once was not sent again.
    pub(super) fn is_copied_by(&self, later: &Self) -> bool {
        let bytes = |p: &Self| (p.from, p.seq, p.ack, p.flags, p.window, p.len, p.ip_id);
        let marked = self.ip_id.is_some_and(|id| id != 0);
        let at_once = self.len > 0 && later.time.since(self.time) < COPY_WITHIN;
        bytes(self) == bytes(later) && self.options == later.options && (marked || at_once)
    }
}

/// One connection.
#[derive(Debug)]
pub(super) struct Stream {
    /// Client and server; who sent the first packet, where there is no SYN.
    pub(super) ends: [Endpoint; 2],
    pub(super) packets: Vec<Packet>,
}

/// Takes packets and sorts them by connection.
#[derive(Debug, Default)]
pub struct Gather {
    open: BTreeMap<(Endpoint, Endpoint), usize>,
    pub(super) streams: Vec<Stream>,
    packets: usize,
    left_out: u64,
}

impl Gather {
    /// Takes a packet: its frame number, its time stamp, its fields. Packets without a time stamp, with damaged
    /// lengths, or quoted by ICMP are passed over.
    pub fn packet(&mut self, number: u64, time: Option<Instant>, p: &TcpPacket) {
        let (Some(time), Standing::Whole) = (time, p.standing) else {
            return;
        };
        if self.packets == MOST_PACKETS {
            self.left_out += 1;
            return;
        }
        self.packets += 1;
        let key = (p.src.min(p.dst), p.src.max(p.dst));
        let opens = p.flags.has(TcpFlags::SYN) && !p.flags.has(TcpFlags::ACK);
        let known = self.open.get(&key).copied();
        let index = match known {
            Some(index) if !opens || self.is_repeat(index, p) => index,
            _ => {
                // An answer that was captured without its SYN: the other side has begun.
                let answers = p.flags.has(TcpFlags::SYN) && p.flags.has(TcpFlags::ACK);
                let ends = if answers {
                    [p.dst, p.src]
                } else {
                    [p.src, p.dst]
                };
                self.streams.push(Stream {
                    ends,
                    packets: Vec::new(),
                });
                self.open.insert(key, self.streams.len() - 1);
                self.streams.len() - 1
            }
        };
        let Some(stream) = self.streams.get_mut(index) else {
            return;
        };
        stream.packets.push(Packet {
            number,
            time,
            from: usize::from(p.src != stream.ends[0]),
            seq: p.seq,
            ack: p.ack,
            flags: p.flags,
            window: p.window,
            urgent: p.urgent,
            len: p.payload_len,
            options: p.options,
            ecn: p.ecn,
            ip_id: p.ip_id,
            header_truncated: p.header_truncated,
            caqm: p.encap.caqm,
        });
    }

    /// Connections so far.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Packets that were not kept, because there were too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether a SYN repeats this connection's.
    fn is_repeat(&self, index: usize, p: &TcpPacket) -> bool {
        let first = self.streams.get(index).and_then(|s| s.packets.first());
        first.is_none_or(|first| first.flags.has(TcpFlags::SYN) && first.seq == p.seq)
    }
}

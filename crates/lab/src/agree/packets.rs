//! What the hosts of a run sent, from the captures that it left: the packets that two stacks are
//! compared by.
//!
//! Numbers that a stack draws by chance are made relative: sequence numbers to the first of their
//! direction, time stamps to the first of their direction, connections to the order in which they
//! appear, times to the run's first packet.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use tcplab_capture::{Body, Reader};
use tcplab_plan::Point;
use tcplab_plan::network::{capture_files, host_address};
use tcplab_plan::point::Ip;
use tcplab_wire::{Config, Endpoint, Parsed, TcpFlags, TcpPacket, parse_frame};

use crate::error::LabError;

/// A packet as its sender's capture has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Index of the host that sent it.
    pub host: usize,
    /// Connection, in the order of their first packets.
    pub flow: usize,
    /// Time after the run's first packet.
    pub time_ns: i64,
    /// Flags, as in the header.
    pub flags: u16,
    /// Relative sequence number; 0 is the SYN's.
    pub seq: i64,
    /// Relative acknowledgement number; none without ACK.
    pub ack: Option<i64>,
    /// Bytes of payload.
    pub len: u32,
    /// The window field, not scaled.
    pub window: u16,
    /// The urgent pointer.
    pub urgent: u16,
    /// Option MSS.
    pub mss: Option<u16>,
    /// Option window scale.
    pub wscale: Option<u8>,
    /// Option SACK permitted.
    pub sack_permitted: bool,
    /// SACK blocks, relative to the peer's first number.
    pub sack: Vec<(i64, i64)>,
    /// Relative time stamp.
    pub tsval: Option<i64>,
    /// Relative time stamp echo; none also for the 0 of a SYN.
    pub tsecr: Option<i64>,
    /// ECN bits of the IP header.
    pub ecn: u8,
    /// Length of the TCP header.
    pub header_len: u8,
}

impl Packet {
    /// Whether these flags are set.
    pub fn has(&self, bits: u16) -> bool {
        TcpFlags(self.flags).has(bits)
    }
}

/// What one direction of a connection counts from.
#[derive(Clone, Copy, Default)]
struct Base {
    seq: Option<u32>,
    ts: Option<u32>,
}

/// Both ends of a connection, the one of the lower address first.
type Ends = (Endpoint, Endpoint);

/// What all hosts sent, in the order of time.
///
/// # Errors
/// A capture that is not there or damaged.
pub fn sent(point: &Point, folder: &Path) -> Result<Vec<Packet>, LabError> {
    let mut raw: Vec<(i64, usize, TcpPacket)> = Vec::new();
    for (host, _, file) in capture_files(point) {
        read(&folder.join(file), (point.ip, host), &mut raw)?;
    }
    // Stable: what one host sent at one time keeps its order.
    raw.sort_by_key(|(time, ..)| *time);
    Ok(relative(&raw))
}

fn read(
    path: &Path,
    (ip, host): (Ip, usize),
    out: &mut Vec<(i64, usize, TcpPacket)>,
) -> Result<(), LabError> {
    let file = File::open(path).map_err(LabError::at(path))?;
    let damaged = |e| LabError::Wrong(format!("{}: {e}", path.display()));
    let mut reader = Reader::new(file).map_err(damaged)?;
    let own = host_address(ip, host);
    while let Some(record) = reader.next().map_err(damaged)? {
        let (
            Body::Frame {
                link,
                data,
                orig_len,
            },
            Some(time),
        ) = (record.body, record.time)
        else {
            continue;
        };
        if let Parsed::Tcp(packet) = parse_frame(link, data, orig_len, &Config::default())
            && packet.src.ip == own
        {
            out.push((time.as_nanos(), host, packet));
        }
    }
    Ok(())
}

fn relative(raw: &[(i64, usize, TcpPacket)]) -> Vec<Packet> {
    let start = raw.first().map_or(0, |(time, ..)| *time);
    let mut flows: BTreeMap<String, usize> = BTreeMap::new();
    let mut bases: BTreeMap<(usize, usize), Base> = BTreeMap::new();
    let mut packets = Vec::with_capacity(raw.len());
    let mut flow_of = |p: &TcpPacket| {
        let next = flows.len();
        *flows.entry(key((p.src, p.dst))).or_insert(next)
    };
    // Before all else: what both count from, also where the order of packets of one time is open.
    for (_, host, p) in raw {
        let own = bases.entry((flow_of(p), *host)).or_default();
        own.seq.get_or_insert(p.seq.0);
        if let Some((value, _)) = p.options.timestamps {
            own.ts.get_or_insert(value);
        }
    }
    for (time, host, p) in raw {
        let flow = flow_of(p);
        let own = *bases.entry((flow, *host)).or_default();
        let others = bases.range((flow, 0)..(flow + 1, 0));
        let mut peers = others.filter(|((_, h), _)| h != host).map(|(_, b)| *b);
        let peer = peers.next().unwrap_or_default();
        packets.push(packet(*time - start, *host, flow, p, own, peer));
    }
    packets
}

fn key(ends: Ends) -> String {
    let mut ends = [format!("{:?}", ends.0), format!("{:?}", ends.1)];
    ends.sort();
    ends.concat()
}

fn packet(time_ns: i64, host: usize, flow: usize, p: &TcpPacket, own: Base, peer: Base) -> Packet {
    let distance = |value: u32, base: Option<u32>| {
        i64::from(value.wrapping_sub(base.unwrap_or(value)).cast_signed())
    };
    let echo = |value: u32| (value != 0).then(|| distance(value, peer.ts));
    let sack = p.options.sack.as_slice().iter();
    Packet {
        host,
        flow,
        time_ns,
        flags: p.flags.0,
        seq: distance(p.seq.0, own.seq),
        ack: (p.flags.has(TcpFlags::ACK)).then(|| distance(p.ack.0, peer.seq)),
        len: p.payload_len,
        window: p.window,
        urgent: p.urgent,
        mss: p.options.mss,
        wscale: p.options.window_scale,
        sack_permitted: p.options.sack_permitted,
        sack: sack
            .map(|(l, r)| (distance(l.0, peer.seq), distance(r.0, peer.seq)))
            .collect(),
        tsval: (p.options.timestamps).map(|(value, _)| distance(value, own.ts)),
        tsecr: p.options.timestamps.and_then(|(_, e)| echo(e)),
        ecn: p.ecn,
        header_len: p.header_len,
    }
}

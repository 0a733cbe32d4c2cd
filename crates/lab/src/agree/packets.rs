//! What the hosts of a run sent, from the captures that it left: the packets that two stacks are
//! compared by.
//!
//! Numbers that a stack draws by chance are made relative: sequence numbers to the first of their
//! direction, time stamps to the first of their direction, times to the run's first packet.
//! Connections are numbered by who opened them, to whom, and when: two hosts that begin at the same
//! moment may have either order.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use tcplab_capture::{Body, Reader};
use tcplab_plan::Point;
use tcplab_plan::network::{BOOT_DATE_NS, capture_files, host_address, loopback_address};
use tcplab_wire::{Endpoint, NotTcp, Parsed, Standing, TcpFlags, TcpPacket, parse_frame};

use crate::error::LabError;
use crate::packets::config;

/// Packets of a run at most; two runs of so many take a quarter of a gigabyte.
const MOST: usize = 1_000_000;

/// A packet as its sender's capture has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Index of the host that sent it.
    pub host: usize,
    /// Number of its connection.
    pub flow: usize,
    /// Sent by the end that did not begin the connection.
    pub is_answer: bool,
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
    /// Where it stands.
    pub place: Place,
}

/// A frame of a run's captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of the capture, in the order of [`capture_files`].
    pub file: usize,
    /// Number of the frame in it, from 1.
    pub frame: u64,
}

impl Packet {
    /// Whether these flags are set.
    pub fn has(&self, bits: u16) -> bool {
        TcpFlags(self.flags).has(bits)
    }
}

/// What all hosts of a run sent, and their clocks.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// The packets in the order of time.
    pub packets: Vec<Packet>,
    /// Time from the hosts' boot to the first packet.
    pub since_boot_ns: i64,
    /// Length of each host's tick.
    pub ticks_ns: Vec<i64>,
    /// Its connections.
    pub flows: usize,
}

impl Sent {
    /// Reads the captures of a point in virtual time. `hz` has each host's timer frequency.
    ///
    /// # Errors
    /// A capture that is not there or damaged, that ends within headers, or has too many packets.
    pub fn read(point: &Point, folder: &Path, hz: &[u32]) -> Result<Self, LabError> {
        let mut reading = Reading::default();
        for (number, (host, _, file)) in capture_files(point).into_iter().enumerate() {
            reading.capture(point, host, (number, &folder.join(file)))?;
        }
        let flows = reading.flows.len();
        let (packets, first_ns) = reading.relative();
        let tick = |hz: &u32| 1_000_000_000 / i64::from((*hz).max(1));
        Ok(Self {
            packets,
            since_boot_ns: first_ns - BOOT_DATE_NS,
            ticks_ns: hz.iter().map(tick).collect(),
            flows,
        })
    }
}

/// What one direction of a connection counts from.
#[derive(Clone, Copy, Default)]
struct Base {
    seq: Option<i64>,
    ts: Option<i64>,
}

/// A connection, as far as it was read.
struct Flow {
    /// Its first packet so far: when, from which host, to whom, and whether from the higher end.
    first: (i64, usize, Endpoint, bool),
    /// What the lower and the higher end count from.
    bases: [Base; 2],
}

/// The packets of captures with the numbers that they have there, and whether the higher end sent them.
#[derive(Default)]
struct Reading {
    numbers: BTreeMap<[Endpoint; 2], usize>,
    flows: Vec<Flow>,
    packets: Vec<(Packet, bool)>,
}

impl Reading {
    fn capture(
        &mut self,
        point: &Point,
        host: usize,
        (file, path): (usize, &Path),
    ) -> Result<(), LabError> {
        let name = path.file_name().unwrap_or_default().display();
        let damaged = |e| LabError::Wrong(format!("{name}: {e}"));
        let opened = File::open(path).map_err(LabError::at(path))?;
        let mut reader = Reader::new(opened).map_err(damaged)?;
        let own = [host_address(point.ip, host), loopback_address(point.ip)];
        let config = config(point, host);
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
            let is_cut = data.len() < orig_len as usize;
            match tcp(parse_frame(link, data, orig_len, &config), is_cut) {
                Found::Tcp(packet) if own.contains(&packet.src.ip) => {
                    let place = Place {
                        file,
                        frame: record.number,
                    };
                    self.packet(time.as_nanos(), host, &packet, place);
                }
                Found::Tcp(_) | Found::Other => {}
                Found::Cut => {
                    return Err(LabError::Wrong(format!(
                        "{name}: run.snap = {} cuts off TCP headers; 128 keeps all of them",
                        point.snap_bytes
                    )));
                }
            }
            if self.packets.len() > MOST {
                return Err(LabError::Wrong(format!("more than {MOST} TCP packets")));
            }
        }
        Ok(())
    }

    fn packet(&mut self, time_ns: i64, host: usize, p: &TcpPacket, place: Place) {
        let is_higher = p.src > p.dst;
        let ends = if is_higher {
            [p.dst, p.src]
        } else {
            [p.src, p.dst]
        };
        let first = (time_ns, host, p.dst, is_higher);
        let flow = *self.numbers.entry(ends).or_insert(self.flows.len());
        match self.flows.get_mut(flow) {
            Some(flow) if time_ns < flow.first.0 => flow.first = first,
            Some(_) => {}
            None => self.flows.push(Flow {
                first,
                bases: Default::default(),
            }),
        }
        self.packets
            .push((absolute(time_ns, host, flow, p, place), is_higher));
    }

    /// The packets in the order of time with relative numbers, and the time of the first.
    fn relative(mut self) -> (Vec<Packet>, i64) {
        // Stable: what one host sent at one time keeps its order.
        self.packets.sort_by_key(|(packet, _)| packet.time_ns);
        let start = self.packets.first().map_or(0, |(first, _)| first.time_ns);
        // Before all else: what both count from, also where the order of packets of one time is open.
        for (p, is_higher) in &self.packets {
            let own = &mut self.flows[p.flow].bases[usize::from(*is_higher)];
            if !is_bare_reset(p) {
                own.seq.get_or_insert(p.seq);
            }
            own.ts = own.ts.or(p.tsval);
        }
        let numbers = numbers(&self.flows);
        let flows = &self.flows;
        let relative = |(mut p, is_higher): (Packet, bool)| {
            let flow = &flows[p.flow];
            let own = flow.bases[usize::from(is_higher)];
            let peer = flow.bases[usize::from(!is_higher)];
            p.is_answer = is_higher != flow.first.3;
            p.time_ns -= start;
            p.flow = numbers[p.flow];
            count_from(&mut p, own, peer);
            p
        };
        (self.packets.into_iter().map(relative).collect(), start)
    }
}

/// What a frame is to the comparison.
enum Found {
    Tcp(TcpPacket),
    /// Nothing that TCP sent now.
    Other,
    /// The capture ends before the end of the headers.
    Cut,
}

fn tcp(parsed: Parsed, is_cut: bool) -> Found {
    match parsed {
        Parsed::Tcp(p) if p.standing == Standing::Quoted => Found::Other,
        Parsed::Tcp(p) if p.header_truncated && is_cut => Found::Cut,
        Parsed::Tcp(p) => Found::Tcp(p),
        Parsed::NotTcp(NotTcp::Truncated | NotTcp::TcpStub) if is_cut => Found::Cut,
        Parsed::NotTcp(_) => Found::Other,
    }
}

/// The number of each connection: by its first packet's host and destination, then by time.
fn numbers(flows: &[Flow]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..flows.len()).collect();
    order.sort_by_key(|at| {
        let (time, host, to, _) = flows[*at].first;
        (host, to, time)
    });
    let mut numbers = vec![0; flows.len()];
    for (number, at) in order.into_iter().enumerate() {
        numbers[at] = number;
    }
    numbers
}

/// With the numbers of the header.
fn absolute(time_ns: i64, host: usize, flow: usize, p: &TcpPacket, place: Place) -> Packet {
    let sack = p.options.sack.as_slice().iter();
    let stamps = p.options.timestamps;
    Packet {
        host,
        flow,
        is_answer: false,
        time_ns,
        flags: p.flags.0,
        seq: i64::from(p.seq.0),
        ack: (p.flags.has(TcpFlags::ACK)).then(|| i64::from(p.ack.0)),
        len: p.payload_len,
        window: p.window,
        urgent: p.urgent,
        mss: p.options.mss,
        wscale: p.options.window_scale,
        sack_permitted: p.options.sack_permitted,
        sack: sack
            .map(|(l, r)| (i64::from(l.0), i64::from(r.0)))
            .collect(),
        tsval: stamps.map(|(value, _)| i64::from(value)),
        tsecr: stamps.and_then(|(_, echo)| (echo != 0).then(|| i64::from(echo))),
        ecn: p.ecn,
        header_len: p.header_len,
        place,
    }
}

/// Makes numbers relative to the first number of their direction. Where the direction shows no earlier one, a number is its own base.
fn count_from(p: &mut Packet, own: Base, peer: Base) {
    if !is_bare_reset(p) {
        count(&mut p.seq, own.seq);
    }
    p.ack.iter_mut().for_each(|ack| count(ack, peer.seq));
    for (left, right) in &mut p.sack {
        count(left, peer.seq);
        count(right, peer.seq);
    }
    p.tsval.iter_mut().for_each(|value| count(value, own.ts));
    p.tsecr.iter_mut().for_each(|value| count(value, peer.ts));
}

/// A reset that answers a segment without ACK has the number 0 (RFC 9293 3.10.7.1).
fn is_bare_reset(p: &Packet) -> bool {
    p.has(TcpFlags::RST) && p.seq == 0
}

/// Counts a number from a base, modulo 2^32 as TCP's numbers go: a number before the base becomes negative.
fn count(value: &mut i64, base: Option<i64>) {
    *value = i64::from((*value - base.unwrap_or(*value)) as i32);
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn flow(time_ns: i64, host: usize, port: u16) -> Flow {
        let ip = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 9));
        Flow {
            first: (time_ns, host, Endpoint { ip, port }, false),
            bases: Default::default(),
        }
    }

    #[test]
    fn a_connection_keeps_its_number_whichever_host_begins_first() {
        let one = [flow(0, 0, 80), flow(0, 1, 80), flow(9, 0, 80)];
        let other = [flow(0, 1, 80), flow(200, 0, 80), flow(900, 0, 80)];
        assert_eq!(numbers(&one), [0, 2, 1]);
        assert_eq!(numbers(&other), [2, 0, 1]);
    }

    #[test]
    fn numbers_count_across_the_wrap() {
        let distance = |value: u32, base: u32| {
            let mut value = i64::from(value);
            count(&mut value, Some(i64::from(base)));
            value
        };
        assert_eq!(distance(5, u32::MAX - 10), 16);
        assert_eq!(distance(u32::MAX - 10, 5), -16);
        assert_eq!(distance(7, 7), 0);
    }
}

//! The analyser over N packets: from a program of bytes, and from a whole file.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tcplab_analyze::report::{Direction, Rtt, Stream};
use tcplab_analyze::trace::Rows;
use tcplab_analyze::{Analyzer, Options, Output, Parser};
use tcplab_base::{Duration, Instant, Seq};
use tcplab_capture::Reader;
use tcplab_wire::{
    CaqmInfo, CaqmUnits, Config, Encap, Endpoint, Parsed, Standing, TcpFlags, TcpOptions, TcpPacket,
};

/// Bytes of one step of a program.
const STEP: usize = 10;
/// Flows of a program.
const FLOWS: usize = 8;

/// A program: two bytes of options, then ten for each packet. A step of mostly zeros is a calm packet
/// (next in sequence, all ACKed, 100 us later), so that mutants come deep into a connection.
pub fn analyser(data: &[u8]) {
    let [setup, limit, program @ ..] = data else {
        return;
    };
    let options = Options {
        rows: rows(setup & 1 != 0),
        max_rows: None,
        max_streams: (limit % 4 == 1).then_some(1 + usize::from(limit >> 4)),
        hash_seed: 1,
        caqm: CaqmUnits::default(),
    };
    let mut world = World::default();
    let packets: Vec<_> = program
        .chunks_exact(STEP)
        .map(|step| world.packet(step))
        .collect();
    // Now and then: the key of the hash never shows. Writing down all that is said costs more than saying it.
    let compare = setup & 0x0e == 0;
    let first = run(options, &packets, compare);
    if compare {
        let other = Options {
            hash_seed: u64::MAX / 3,
            ..options
        };
        assert_eq!(first, run(other, &packets, true), "the hash key shows");
    }
}

/// All rows, or none.
fn rows(all: bool) -> Rows {
    if all { Rows::ALL } else { Rows::NONE }
}

fn run(options: Options, packets: &[(Option<Instant>, TcpPacket)], listen: bool) -> String {
    let mut check = Check::new(options, listen);
    for (time, packet) in packets {
        check.analyzer.packet(check.fed + 1, *time, packet);
        check.fed += 1;
        check.tcp += 1;
        check.drain();
    }
    check.finish()
}

/// A whole file: reader, parser, analyser, as the command joins them.
pub fn whole(data: &[u8]) {
    let Ok(mut reader) = Reader::new(data) else {
        return;
    };
    let options = Options {
        rows: rows(data.len().is_multiple_of(2)),
        max_rows: None,
        max_streams: data.len().is_multiple_of(3).then_some(2),
        hash_seed: 7,
        caqm: CaqmUnits::default(),
    };
    let mut check = Check::new(options, false);
    let mut parser = Parser::new(Config::default());
    while let Ok(Some(record)) = reader.next() {
        check.fed += 1;
        let parsed = parser.record(&record);
        let is_stub = matches!(parsed, Parsed::NotTcp(_)) && parsed.is_tcp();
        check.tcp += u64::from(parsed.is_tcp());
        check.stubs += u64::from(is_stub);
        check.analyzer.feed(record.number, record.time, &parser);
        check.drain();
    }
    check.finish();
}

/// An analyser, what went in, and what came out.
struct Check {
    analyzer: Analyzer,
    fed: u64,
    tcp: u64,
    /// TCP packets that belong to no stream.
    stubs: u64,
    streams: Vec<u32>,
    packets_out: u64,
    trace: bool,
    /// Everything that was said, when somebody listens.
    said: Option<String>,
}

impl Check {
    fn new(options: Options, listen: bool) -> Self {
        Self {
            analyzer: Analyzer::new(options),
            fed: 0,
            tcp: 0,
            stubs: 0,
            streams: Vec::new(),
            packets_out: 0,
            trace: options.rows != Rows::NONE,
            said: listen.then(String::new),
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.analyzer.poll() {
            if let Some(said) = &mut self.said {
                said.push_str(&format!("{output:?}\n"));
            }
            match output {
                Output::Stream(stream) => self.stream(&stream),
                Output::Finding(f) => {
                    assert!(self.streams.contains(&f.stream), "a finding of no stream");
                    // What a capture lacks shows in no packet.
                    assert!(
                        !f.packets.is_empty() || f.id.name() == "capture_artefacts",
                        "{f:?}"
                    );
                    assert!(f.packets.len() <= 16);
                    assert!(f.packets.iter().all(|n| (1..=self.fed).contains(n)));
                    assert!((0.0..=1.0).contains(&f.confidence.unwrap_or(1.0)));
                    assert!(!f.title.is_empty() && !f.cause.is_empty());
                }
                Output::Trace(trace) => {
                    assert!(self.trace, "nobody asked for it");
                    assert!(self.streams.contains(&trace.stream));
                    assert!(
                        trace
                            .rows
                            .iter()
                            .all(|r| (1..=self.fed).contains(&r.number))
                    );
                }
            }
        }
    }

    fn stream(&mut self, s: &Stream) {
        assert!(!self.streams.contains(&s.stream), "a stream comes once");
        self.streams.push(s.stream);
        assert_eq!(
            s.budget_us.total(),
            s.duration_us,
            "the parts sum to the whole"
        );
        for r in &s.requests {
            assert_eq!(
                r.budget_us.total(),
                r.duration_us,
                "a request's parts sum up"
            );
        }
        for d in [&s.client_to_server, &s.server_to_client] {
            direction(d);
            self.packets_out += d.packets + d.copies;
        }
    }

    /// Ends the analysis, checks the sums, gives all that was said.
    fn finish(mut self) -> String {
        self.analyzer.finish();
        self.drain();
        assert!(self.analyzer.poll().is_none());
        let totals = self.analyzer.totals();
        assert_eq!((totals.packets, totals.tcp_packets), (self.fed, self.tcp));
        assert_eq!(totals.tcp_streams, self.streams.len() as u64);
        assert_eq!(
            self.packets_out + totals.late_packets + self.stubs,
            self.tcp,
            "each packet belongs to one stream"
        );
        let mut said = self.said.unwrap_or_default();
        said.push_str(&format!("{totals:?}"));
        said
    }
}

fn direction(d: &Direction) {
    let r = &d.retransmissions;
    assert_eq!(r.total, r.fast + r.rto + r.tlp + r.other, "{r:?}");
    assert!(r.spurious <= r.total && r.unneeded <= r.total, "{r:?}");
    assert!(d.data_segments <= d.packets && r.total <= d.packets);
    assert!(d.unique_bytes.is_none_or(|n| n <= d.data_bytes));
    let a = &d.acks_sent;
    assert_eq!(
        a.total,
        a.immediate + a.second_segment + a.delayed + a.piggybacked + a.other,
        "{a:?}"
    );
    assert!(a.total <= d.packets);
    assert_eq!(a.first_delayed_segment.is_some(), a.delayed > 0, "{a:?}");
    for s in [a.immediate_us, a.delayed_us] {
        assert!(s.min <= s.p50 && s.p50 <= s.max, "{s:?}");
    }
    for rtt in d.rtt_ts_us.iter().chain([&d.rtt_us]) {
        let Rtt {
            min, p50, p95, max, ..
        } = *rtt;
        assert!(min <= p50 && p50 <= p95 && p95 <= max, "{rtt:?}");
    }
}

/// The flows of a program: where each direction stands.
#[derive(Default)]
struct World {
    now: i64,
    next: [[u32; 2]; FLOWS],
    clock: u32,
}

impl World {
    fn packet(&mut self, step: &[u8]) -> (Option<Instant>, TcpPacket) {
        let [who, flags, seq, ack, len, dt, window, kind, o1, o2] =
            <[u8; STEP]>::try_from(step).unwrap_or_default();
        let flow = usize::from(who >> 1) % FLOWS;
        let from = usize::from(who & 1);
        let payload_len = length(len);
        let begin = shifted(self.next[flow][from], seq);
        let packet = TcpPacket {
            src: endpoint(flow, from),
            dst: endpoint(flow, 1 - from),
            seq: Seq(begin),
            ack: Seq(shifted(self.next[flow][1 - from], ack)),
            flags: TcpFlags(u16::from(if kind & 0x80 == 0 {
                flags & 0x1a | 0x10
            } else {
                flags
            })),
            window: u16::from_be_bytes([window, window]),
            urgent: 0,
            payload_len,
            header_len: 32,
            options: self.options(begin, kind, o1, o2),
            ecn: kind >> 5 & 3,
            ttl: 64,
            ip_id: flow.is_multiple_of(2).then_some(u16::from(o1)),
            header_truncated: kind == 0xff,
            standing: standing(kind, o2),
            encap: Encap {
                caqm: (window >= 0xc0).then_some(CaqmInfo(u16::from_be_bytes([o1, o2]))),
                ..Encap::default()
            },
        };
        if packet.seq_end().after(Seq(self.next[flow][from])) {
            self.next[flow][from] = packet.seq_end().0;
        }
        (self.time(dt), packet)
    }

    fn time(&mut self, dt: u8) -> Option<Instant> {
        let step = match dt {
            0..=0x3f => Duration::from_micros(100),
            0x40..=0x7f => Duration::from_millis(i64::from(dt & 0x3f)),
            0x80..=0xbf => Duration::from_micros(1 << (dt & 31)),
            0xc0..=0xef => Duration::from_millis(-i64::from(dt & 15)),
            0xf0..=0xfb => return None,
            0xfc => Duration::from_nanos(i64::MAX),
            0xfd => Duration::from_nanos(i64::MIN),
            _ => Duration::ZERO,
        };
        self.now = self.now.saturating_add(step.as_nanos());
        self.clock = self.clock.wrapping_add(1);
        Some(Instant::from_nanos(self.now))
    }

    fn options(&self, begin: u32, kind: u8, o1: u8, o2: u8) -> TcpOptions {
        let mut options = TcpOptions {
            mss: (kind & 1 != 0).then(|| u16::from_be_bytes([o1, o2])),
            window_scale: (kind & 2 != 0).then_some(o1 % 15),
            sack_permitted: kind & 1 != 0,
            timestamps: (kind & 4 == 0).then(|| {
                let echo = self.clock.wrapping_sub(u32::from(o1 >> 4));
                (self.clock, echo)
            }),
            malformed: kind & 0x1f == 0x1f,
            ..TcpOptions::default()
        };
        if kind & 8 != 0 {
            for (i, byte) in [o1, o2].into_iter().enumerate() {
                let left = shifted(begin, byte).wrapping_add(1000 * i as u32);
                options
                    .sack
                    .push(Seq(left), Seq(left.wrapping_add(length(byte))));
            }
        }
        options
    }
}

fn standing(kind: u8, o2: u8) -> Standing {
    match (kind, o2) {
        (0xfb, 0..=63) => Standing::BadOffset,
        (0xfb, 64..=127) => Standing::ShortSegment,
        (0xfb, 128..=191) => Standing::FirstFragment,
        (0xfb, _) => Standing::Quoted,
        _ => Standing::Whole,
    }
}

fn endpoint(flow: usize, side: usize) -> Endpoint {
    let ip = if flow.is_multiple_of(4) {
        IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, side as u16))
    } else {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, side as u8))
    };
    // The last flow talks to itself: both ends are one address and port.
    let port = if flow == FLOWS - 1 {
        7
    } else {
        40_000 + side as u16
    };
    let ip = if flow == FLOWS - 1 {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    } else {
        ip
    };
    Endpoint {
        ip,
        port: port + flow as u16,
    }
}

/// A sequence number near `next`: mostly itself, else before, after, or far away.
fn shifted(next: u32, byte: u8) -> u32 {
    match byte {
        0..=0x9f => next,
        0xa0..=0xbf => next.wrapping_sub(u32::from(byte & 31) * 500),
        0xc0..=0xdf => next.wrapping_add(u32::from(byte & 31) * 500),
        0xe0..=0xef => next.wrapping_sub(u32::from(byte & 15) + 1),
        _ => next.wrapping_add(1 << ((byte & 15) + 16)),
    }
}

/// A payload length: mostly full segments, nothing, or a small write; rarely a hostile one.
fn length(byte: u8) -> u32 {
    match byte {
        0..=0x5f => 1000,
        0x60..=0x9f => 0,
        0xa0..=0xdf => u32::from(byte & 0x3f) * 50,
        0xe0..=0xfb => u32::from(byte & 31) * 1448,
        0xfc => 65_535,
        0xfd => 1 << 30,
        0xfe => u32::MAX - 2,
        _ => 1,
    }
}

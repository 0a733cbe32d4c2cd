//! Memory: a capture cannot make the analyser hold more than a bound, and dropped data is counted.

use std::net::{IpAddr, Ipv4Addr};

use tcplab_analyze::findings::Need;
use tcplab_analyze::report::{Stream, Totals};
use tcplab_analyze::trace::{Rows, StreamTrace};
use tcplab_analyze::{Analyzer, Options, Output};
use tcplab_base::{Instant, Seq};
use tcplab_wire::{Encap, Endpoint, Standing, TcpFlags, TcpOptions, TcpPacket};

const SYN: u16 = TcpFlags::SYN;
const ACK: u16 = TcpFlags::ACK;

/// Between client `n` and the server, from the client or to it.
fn packet(n: u32, to_server: bool, flags: u16, seq: u32, payload_len: u32) -> TcpPacket {
    let client = Endpoint {
        ip: IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + n)),
        port: 40_000,
    };
    let server = Endpoint {
        ip: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        port: 80,
    };
    let (src, dst) = if to_server {
        (client, server)
    } else {
        (server, client)
    };
    TcpPacket {
        src,
        dst,
        seq: Seq(seq),
        ack: Seq(1_001),
        flags: TcpFlags(flags),
        window: 1000,
        urgent: 0,
        payload_len,
        header_len: 20,
        options: TcpOptions::default(),
        ecn: 0,
        ttl: 64,
        ip_id: None,
        header_truncated: false,
        standing: Standing::Whole,
        encap: Encap::default(),
    }
}

/// An analyser and what it handed out, before its end and in all.
struct Watch {
    analyzer: Analyzer,
    number: u64,
    /// What the clock runs ahead of the packets' numbers, seconds.
    ahead: i64,
    streams: Vec<Stream>,
    traces: Vec<StreamTrace>,
}

impl Watch {
    fn new(options: Options) -> Self {
        Self {
            analyzer: Analyzer::new(options),
            number: 0,
            ahead: 0,
            streams: Vec::new(),
            traces: Vec::new(),
        }
    }

    fn feed(&mut self, packet: &TcpPacket) {
        self.number += 1;
        let now = Instant::from_nanos(self.ahead * 1_000_000_000 + self.number as i64 * 1_000);
        self.analyzer.packet(self.number, Some(now), packet);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.analyzer.poll() {
            match output {
                Output::Stream(s) => self.streams.push(*s),
                Output::Trace(t) => self.traces.push(*t),
                Output::Finding(_) => {}
            }
        }
    }

    /// Streams that came before the end, all of them, and the counts.
    fn end(mut self) -> (usize, Vec<Stream>, Vec<StreamTrace>, Totals) {
        let early = self.streams.len();
        self.analyzer.finish();
        self.drain();
        let totals = self.analyzer.totals().clone();
        (early, self.streams, self.traces, totals)
    }
}

fn limited(max_streams: usize) -> Options {
    Options {
        max_streams: Some(max_streams),
        ..Options::default()
    }
}

#[test]
fn syn_flood_is_kept_in_part_and_harms_no_other_stream() {
    const FLOOD: u32 = 50_000;
    const OPEN: u32 = 500;
    let mut watch = Watch::new(limited(16_384));
    for n in 0..OPEN {
        watch.feed(&packet(n, true, SYN, 1_000, 0));
        watch.feed(&packet(n, false, SYN | ACK, 1_000, 0));
    }
    for n in 0..FLOOD {
        watch.feed(&packet(OPEN + n, true, SYN, 1_000, 0));
    }
    for n in 0..OPEN {
        watch.feed(&packet(n, true, ACK, 1_001, 100));
    }
    let (early, streams, _, totals) = watch.end();
    // An eighth may have barely begun, for a while twice as many.
    assert!(early as u32 >= FLOOD - 2 * 16_384 / 8 - 2, "{early}");
    assert_eq!(totals.evicted_streams, early as u64);
    assert_eq!(totals.late_packets, 0);
    assert_eq!(streams.len() as u32, OPEN + FLOOD, "each is reported once");
    let data = streams.iter().map(|s| s.client_to_server.data_segments);
    assert_eq!(
        data.sum::<u64>(),
        u64::from(OPEN),
        "none of the open ones was touched"
    );
}

#[test]
fn nothing_goes_without_a_limit_or_below_it() {
    for options in [Options::default(), limited(1_000_000)] {
        let mut watch = Watch::new(options);
        for n in 0..60_000 {
            watch.feed(&packet(n, true, SYN, 1_000, 0));
        }
        let (early, streams, _, totals) = watch.end();
        assert_eq!((early, streams.len()), (0, 60_000));
        assert_eq!((totals.evicted_streams, totals.forgotten_streams), (0, 0));
    }
}

#[test]
fn connections_with_much_in_flight_count_as_many() {
    const SEGMENTS: u32 = 30_000;
    let mut watch = Watch::new(limited(1_000));
    for n in 0..20 {
        watch.feed(&packet(n, true, SYN, 1_000, 0));
        watch.feed(&packet(n, false, SYN | ACK, 1_000, 0));
    }
    for i in 0..SEGMENTS {
        for n in 0..20 {
            watch.feed(&packet(n, true, ACK, 1_001 + 100 * i, 100));
        }
    }
    let (early, streams, _, totals) = watch.end();
    assert!(early > 0, "600,000 segments in flight stay in memory");
    assert_eq!(totals.evicted_streams, early as u64);
    let seen: u64 = streams
        .iter()
        .map(|s| s.client_to_server.packets + s.server_to_client.packets)
        .sum();
    assert_eq!(seen + totals.late_packets, totals.tcp_packets);
}

#[test]
fn forgotten_ended_connections_are_reported() {
    let mut watch = Watch::new(limited(16_384));
    for n in 0..60_000 {
        watch.feed(&packet(n, true, SYN, 1_000, 0));
        watch.feed(&packet(n, false, TcpFlags::RST | ACK, 0, 0));
    }
    let before = watch.analyzer.totals().tcp_streams;
    // Late packets: of a connection of lately, and of one that nobody knows any more.
    watch.feed(&packet(45_000, true, ACK, 1_001, 0));
    assert_eq!(watch.analyzer.totals().tcp_streams, before);
    watch.feed(&packet(5, true, ACK, 1_001, 0));
    assert_eq!(watch.analyzer.totals().tcp_streams, before + 1);
    let totals = watch.end().3;
    assert!(
        totals.forgotten_streams > 30_000,
        "{}",
        totals.forgotten_streams
    );
    assert_eq!(totals.late_packets, 1);
}

#[test]
fn rows_are_bounded_over_all_streams_and_the_rest_is_counted() {
    let rows = |rows, max_rows| Options {
        rows,
        max_rows: Some(max_rows),
        ..Options::default()
    };
    let feed = |options| {
        let mut watch = Watch::new(options);
        for n in 0..10 {
            watch.feed(&packet(n, true, SYN, 1_000, 0));
            watch.feed(&packet(n, false, SYN | ACK, 1_000, 0));
        }
        for i in 0..50 {
            for n in 0..10 {
                watch.feed(&packet(n, true, ACK, 1_001 + 100 * i, 100));
                let mut ack = packet(n, false, ACK, 1_001, 0);
                ack.ack = Seq(1_101 + 100 * i);
                watch.feed(&ack);
            }
        }
        watch.end()
    };
    // The first of each stream, for charts: no gap, and the number of packets is known.
    let first = Rows {
        first: 30,
        marked: false,
    };
    let (_, _, traces, totals) = feed(rows(first, 200));
    let held: usize = traces.iter().map(|t| t.rows.len()).sum();
    assert_eq!((held, totals.rows_left_out), (200, 0));
    assert!(
        traces
            .iter()
            .all(|t| t.whole == t.rows.len() && t.packets == 102)
    );
    // What something was found out about: the 500 ACKs of new data.
    let marked = Rows {
        first: 0,
        marked: true,
    };
    let (_, _, traces, totals) = feed(rows(marked, 400));
    let held: usize = traces.iter().map(|t| t.rows.len()).sum();
    assert_eq!((held, totals.rows_left_out), (400, 100));
    assert!(
        traces
            .iter()
            .flat_map(|t| &t.rows)
            .all(|r| r.acked.is_some())
    );
    let (_, _, traces, totals) = feed(rows(Rows::ALL, 2_000));
    let held: u64 = traces.iter().map(|t| t.rows.len() as u64).sum();
    assert_eq!((held, totals.rows_left_out), (totals.tcp_packets, 0));
}

#[test]
fn stream_that_is_reported_early_may_be_answered_later() {
    for (limit, lacks) in [(1, true), (10, false)] {
        let mut watch = Watch::new(limited(limit));
        watch.feed(&packet(0, true, SYN, 1_000, 0));
        watch.feed(&TcpPacket {
            ack: Seq(1_001),
            ..packet(0, false, SYN | ACK, 1_000, 0)
        });
        watch.feed(&packet(0, true, ACK, 1_001, 100));
        watch.feed(&TcpPacket {
            ack: Seq(1_101),
            ..packet(0, false, ACK, 1_001, 0)
        });
        watch.ahead = 8;
        let alive = TcpPacket {
            ack: Seq(1_001),
            ..packet(0, true, ACK, 1_100, 0)
        };
        watch.feed(&alive);
        watch.feed(&packet(1, true, SYN, 1_000, 0));
        let (_, streams, _, totals) = watch.end();
        assert_eq!(totals.evicted_streams, u64::from(lacks));
        let asked = streams.iter().find(|s| s.client.starts_with("10.0.0.0:"));
        let not_checked = &asked.expect("the first stream").not_checked;
        let later = not_checked.iter().filter(|l| l.lacks == Need::LaterPackets);
        let ids: Vec<_> = later
            .flat_map(|l| &l.findings)
            .map(|id| id.name())
            .collect();
        assert_eq!(ids == ["no_answer"], lacks, "{not_checked:?}");
    }
}

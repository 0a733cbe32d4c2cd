//! Packets that the capture has twice, up to some milliseconds apart: they change no finding and no figure.

mod common;

use common::{Answer, answer, frames, root};
use tcplab_analyze::report::Stream;
use tcplab_analyze::{Analyzer, Options};
use tcplab_base::{Duration, Instant};
use tcplab_wire::{Parsed, TcpPacket};

/// A shipped capture; each packet comes again after the time that `apart` gives for its number.
fn doubled(name: &str, apart: impl Fn(usize) -> Option<i64>) -> Answer {
    doubled_some(name, |_| (), |n, _| apart(n))
}

/// The same, of packets that `change` has changed, and of those that `apart` wants.
fn doubled_some(
    name: &str,
    change: impl Fn(&mut TcpPacket),
    apart: impl Fn(usize, &TcpPacket) -> Option<i64>,
) -> Answer {
    let mut all: Vec<(Instant, TcpPacket)> = Vec::new();
    frames(
        &root().join("tests/captures").join(name),
        |_, time, parse| {
            if let (Parsed::Tcp(mut p), Some(time)) = (parse(usize::MAX).parsed, time) {
                change(&mut p);
                all.push((time, p));
            }
        },
    );
    let copies: Vec<_> = (0..)
        .zip(&all)
        .filter_map(|(n, (time, p))| Some((*time + Duration::from_micros(apart(n, p)?), *p)))
        .collect();
    all.extend(copies);
    all.sort_by_key(|(time, _)| *time);
    let mut analyzer = Analyzer::new(Options::default());
    for (number, (time, p)) in (1..).zip(&all) {
        analyzer.packet(number, Some(*time), p);
    }
    answer(analyzer)
}

fn figures(s: &Stream) -> impl PartialEq + std::fmt::Debug {
    [&s.client_to_server, &s.server_to_client].map(|d| {
        let (r, a) = (d.retransmissions, &d.acks_sent);
        let acks = [a.total, a.immediate, a.delayed, a.second_segment];
        (
            d.data_segments,
            d.data_bytes,
            r.total,
            r.rto,
            d.dsacks,
            acks,
        )
    })
}

const CAPTURES: [&str; 12] = [
    "accept-queue.b.pcap",
    "bulk-clean.a.pcap",
    "bulk-loss.a.pcap",
    "bulk-rto.b.pcap",
    "mss-1220.a.pcap",
    "no-answer.a.pcap",
    "reordering.b.pcap",
    "request-response-clean.a.pcap",
    "slow-writes-6.1.56.a.pcap",
    "spurious-rto.a.pcap",
    "spurious-rto.b.pcap",
    "write-write-read.a.pcap",
];

#[test]
fn copies_are_in_no_figure_and_no_finding() {
    for name in CAPTURES {
        let once = doubled(name, |_| None);
        for us in [1, 60, 400, 3_000] {
            let twice = doubled(name, |_| Some(us));
            let mut ids = twice.ids();
            ids.retain(|id| *id != "capture_artefacts");
            assert_eq!(ids, once.ids(), "{name}: {us} us");
            for (a, b) in once.streams.iter().zip(&twice.streams) {
                let what = format!("{name}: {us} us, stream {}", a.stream);
                assert_eq!(figures(a), figures(b), "{what}");
                // An ACK may pass twice before the first copy shows what to expect.
                let packets = |s: &Stream| s.client_to_server.packets + s.server_to_client.packets;
                assert!(packets(b) <= packets(a) + 1, "{what}");
            }
        }
    }
}

#[test]
fn some_packets_that_come_twice_cause_no_finding() {
    for name in CAPTURES {
        let once = doubled(name, |_| None);
        // Bursts of copies, closer and further behind.
        let twice = doubled(name, |n| {
            (n / 20 % 3 == 0).then_some(20 + (n * 37 % 380) as i64)
        });
        let mut ids = twice.ids();
        ids.retain(|id| *id != "capture_artefacts");
        assert_eq!(ids, once.ids(), "{name}");
    }
}

#[test]
fn copies_of_one_direction_hide_nothing_of_the_other() {
    // Without identifications a retransmission looks like its original.
    let plain = |p: &mut TcpPacket| p.ip_id = None;
    for name in ["bulk-loss.a.pcap", "bulk-loss.b.pcap"] {
        let once = doubled_some(name, plain, |_, _| None);
        let acks = |_: usize, p: &TcpPacket| (p.payload_len == 0).then_some(60);
        let twice = doubled_some(name, plain, acks);
        let again = |a: &Answer| {
            let s = &a.streams[0];
            [&s.client_to_server, &s.server_to_client].map(|d| d.retransmissions.total)
        };
        assert_eq!(again(&once), again(&twice), "{name}");
        let mut ids = twice.ids();
        ids.retain(|id| *id != "capture_artefacts");
        assert_eq!(ids, once.ids(), "{name}");
    }
}

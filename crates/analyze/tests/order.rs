//! Files whose records are not in the order of time: no finding follows from the order, and the report says so.

mod common;

use common::{Answer, answer, frames, root};
use tcplab_analyze::findings::Need;
use tcplab_analyze::{Analyzer, Options};
use tcplab_base::{Duration, Instant, Seq};
use tcplab_wire::{Parsed, TcpFlags, TcpPacket};

type Packet = (Option<Instant>, TcpPacket);

fn packets(name: &str) -> Vec<Packet> {
    let mut all = Vec::new();
    frames(
        &root().join("tests/captures").join(name),
        |_, time, parse| {
            if let Parsed::Tcp(p) = parse(usize::MAX).parsed {
                all.push((time, p));
            }
        },
    );
    all
}

fn read(packets: &[Packet]) -> Answer {
    let mut analyzer = Analyzer::new(Options::default());
    for (number, (time, p)) in (1..).zip(packets) {
        analyzer.packet(number, *time, p);
    }
    answer(analyzer)
}

/// How many findings need the order, which the capture lacks.
fn unordered(answer: &Answer) -> usize {
    let all = answer.totals.not_checked.iter();
    all.filter(|n| n.lacks == Need::Order).count()
}

const CAPTURES: [&str; 8] = [
    "bulk-clean.a.pcap",
    "bulk-loss.b.pcap",
    "peer-gone.a.pcap",
    "request-response-clean.a.pcap",
    "small-window.a.pcap",
    "syn-retries.a.pcap",
    "write-write-read.a.pcap",
    "zero-window.b.pcap",
];

#[test]
fn findings_are_not_checked_where_the_order_is_lost() {
    for name in CAPTURES {
        let right = packets(name);
        let n = right.len();
        // Files joined in the wrong order, a ring that wrapped, a shuffle.
        let (mut joined, mut ring) = (right.clone(), right.clone());
        joined.rotate_left(n / 2);
        ring.rotate_left(n / 4 * 3);
        let step = (7..)
            .step_by(4)
            .find(|s| !n.is_multiple_of(*s))
            .expect("a number");
        let shuffled: Vec<Packet> = (0..n).map(|i| right[i * step % n]).collect();
        for wrong in [joined, ring, shuffled] {
            let answer = read(&wrong);
            let said = answer.ids();
            let is_free = |id: &&str| ["capture_artefacts", "small_mss"].contains(id);
            assert!(said.iter().all(is_free), "{name}: {said:?}");
            assert!(unordered(&answer) > 35, "{name}");
        }
        assert_eq!(unordered(&read(&right)), 0, "{name}");
    }
}

#[test]
fn a_record_that_is_a_little_late_hides_only_reordering() {
    // A short stream as well.
    let mut short = packets("no-answer.a.pcap");
    let n = short.len();
    short.swap(n - 1, n - 2);
    let apart = |w: &[Packet]| w[0].0.zip(w[1].0).map(|(a, b)| b.since(a));
    short[n - 1].0 = short[n - 2].0.map(|t| t - Duration::from_micros(30));
    assert!(apart(&short[n - 2..]) < Some(Duration::ZERO));
    assert_eq!(unordered(&read(&short)), 1);
    let mut late = packets("bulk-clean.b.pcap");
    let before = read(&late);
    let near = |w: &[Packet]| w[0].0 < w[1].0 && w[0].1.src != w[1].1.src;
    let at = late.windows(2).skip(100).position(near).expect("two");
    late.swap(at + 100, at + 101);
    let answer = read(&late);
    assert_eq!(unordered(&answer), 1);
    let of_file = |ids: Vec<&'static str>| -> Vec<_> {
        let mut ids = ids;
        ids.retain(|id| *id != "capture_artefacts");
        ids
    };
    assert_eq!(of_file(answer.ids()), of_file(before.ids()));
}

#[test]
fn data_that_the_file_has_behind_its_fin_was_not_lost() {
    let mut late = packets("quickack-5.10.46.a.pcap");
    let fin = late
        .iter()
        .position(|(_, p)| p.flags.has(TcpFlags::FIN))
        .expect("a FIN");
    let data = late[fin - 1];
    assert!(data.1.payload_len > 0 && data.1.src == late[fin].1.src);
    late.swap(fin - 1, fin);
    let answer = read(&late);
    assert_eq!(answer.ids(), ["capture_artefacts", "quickack_exhausted"]);
}

#[test]
fn stamps_that_are_a_blur_apart_or_one_in_many_records_hide_no_findings() {
    let right = packets("bulk-loss.a.pcap");
    // Some stamps are 15 us early: the file has the packets as they passed.
    let mut blurred = right.clone();
    for (time, _) in blurred.iter_mut().skip(5).step_by(3) {
        *time = time.map(|t| t - Duration::from_micros(15));
    }
    assert!(unordered(&read(&blurred)) <= 1);
    // The next connection of the same ports begins in the clock's blur.
    let mut reused = right.clone();
    let over = right.last().and_then(|(time, _)| *time).expect("a time");
    let first = right[0].0.expect("a time");
    let blur = Duration::from_micros(10);
    reused.extend(right.iter().map(|(time, p)| {
        let later = time.map(|t| over - blur + t.since(first));
        let mut p = *p;
        let moved = |seq: Seq| seq + 1_000_000_000;
        (p.seq, p.ack) = (moved(p.seq), moved(p.ack));
        (later, p)
    }));
    let answer = read(&reused);
    assert!(unordered(&answer) <= 1, "{:?}", answer.totals.not_checked);
}

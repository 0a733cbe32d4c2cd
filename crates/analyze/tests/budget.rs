//! Where the time went: the parts sum to the whole on every capture, and the known captures and hand-made conversations
//! have their class.

mod common;

use common::{Answer, analyze, analyze_script, analyze_some, root};
use tcplab_analyze::Options;
use tcplab_analyze::budget::Class;
use tcplab_analyze::report::Stream;
use tcplab_analyze::trace::Rows;
use tcplab_wire::TcpFlags;

fn shipped(name: &str) -> Answer {
    let options = Options {
        rows: Rows::ALL,
        ..Options::default()
    };
    analyze(&root().join("tests/captures").join(name), options)
}

/// Share of a class in a stream's time, without idle time and the handshake.
fn share(s: &Stream, class: Class) -> f64 {
    let left_out = [Class::Idle, Class::Handshake, Class::Closing];
    let less: u64 = left_out.iter().map(|c| s.budget_us.of(*c)).sum();
    s.budget_us.of(class) as f64 / (s.budget_us.total() - less) as f64
}

#[test]
fn spans_are_the_time_without_a_gap() {
    let folder = root().join("tests/captures");
    for file in std::fs::read_dir(folder).expect("captures") {
        let name = file.expect("a file").file_name();
        let name = name.to_str().expect("a name");
        if name.ends_with(".pcap") {
            let answer = shipped(name);
            for (s, trace) in answer.streams.iter().zip(&answer.traces) {
                common::spans_add_up(s, trace);
            }
        }
    }
}

#[test]
fn the_capture_has_the_sum_of_its_streams() {
    let answer = shipped("write-write-read.a.pcap");
    let s = &answer.streams[0];
    assert_eq!(answer.totals.budget_us, s.budget_us);
    let asked: u64 = s.requests.iter().map(|r| r.duration_us).sum();
    assert_eq!(s.requests.len(), 12);
    let waited = answer.totals.waited_us;
    assert_eq!(waited.total(), asked + s.budget_us.of(Class::Handshake));
    assert_eq!(waited.of(Class::ClientThinks), 0);
    assert!(waited.of(Class::DelayedAck) * 10 > waited.total() * 8);
}

#[test]
fn known_captures_have_their_class() {
    use Class::*;
    let table: [(&str, Class, f64); 12] = [
        ("black-hole-mtu.b.pcap", Rto, 0.95),
        ("bulk-rto.b.pcap", Rto, 0.8),
        ("bulk-clean.a.pcap", Path, 0.5),
        ("quickack-6.1.176.a.pcap", Sender, 0.95),
        ("quickack-rtt50-hz1000.b.pcap", Sender, 0.95),
        ("request-held.a.pcap", ClientThinks, 0.9),
        ("request-held.b.pcap", ClientThinks, 0.9),
        ("write-write-read.a.pcap", DelayedAck, 0.35),
        ("write-write-read.b.pcap", DelayedAck, 0.35),
        ("spurious-rto.b.pcap", Spurious, 0.5),
        ("zero-window.a.pcap", ZeroWindow, 0.85),
        ("zero-window.b.pcap", ZeroWindow, 0.85),
    ];
    for (name, class, least) in table {
        let answer = shipped(name);
        let got = share(&answer.streams[0], class);
        assert!(
            got >= least,
            "{name}: {class:?} {got:.2}, {:?}",
            answer.streams[0].budget_us
        );
    }
}

#[test]
fn a_window_without_its_scale_is_not_full() {
    let file = root().join("tests/captures/bulk-clean.a.pcap");
    let cut = analyze_some(&file, Options::default(), |p| !p.flags.has(TcpFlags::SYN));
    let s = &cut.streams[0];
    assert!(s.server_to_client.window_unscaled || s.client_to_server.window_unscaled);
    assert_eq!(s.budget_us.of(Class::ReceiveWindow), 0, "{:?}", s.budget_us);
}

#[test]
fn a_slow_server_is_told_from_the_path() {
    let s = &analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460",
        "20 < S. 500 101 0 60000 mss=1460",
        "20 > . 101 501 0 60000",
        "120 > P. 101 501 100 60000",
        "180 < P. 501 201 700 60000",
        "180.1 > . 201 1201 0 60000",
        "400 > F. 201 1201 0 60000",
        "420 < F. 1201 202 0 60000",
        "420 > . 202 1202 0 60000",
    ])
    .streams[0];
    let of = |class| s.budget_us.of(class);
    assert_eq!(of(Class::Handshake), 20_000);
    assert_eq!(of(Class::ClientThinks), 100_000);
    assert_eq!(of(Class::Path), 20_000);
    assert_eq!(of(Class::ServerThinks), 40_000);
    assert_eq!(of(Class::Idle), 220_000);
    assert_eq!(of(Class::Closing), 20_000);
    let r = &s.requests[0];
    assert_eq!((r.packet, r.start_us, r.duration_us), (4, 120_000, 60_000));
    assert_eq!((r.request_bytes, r.response_bytes), (100, 700));
    assert_eq!(r.budget_us.of(Class::ServerThinks), 40_000);
}

#[test]
fn answer_lost_before_the_capture_is_an_answer() {
    // The IP identification of the server counts one packet that never came.
    let s = &analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460 sackok id=1",
        "30 < S. 500 101 0 60000 mss=1460 sackok id=1",
        "30 > . 101 501 0 60000 id=2",
        "30.1 > P. 101 501 100 60000 id=3",
        "60.1 < P. 501 201 700 60000 id=2",
        "60.2 > . 201 1201 0 60000 id=4",
        "160 > P. 201 1201 100 60000 id=5",
        "450 < P. 1201 301 700 60000 id=4",
        "450.1 > . 301 1901 0 60000 id=6",
    ])
    .streams[0];
    assert_eq!(s.requests.len(), 2, "{:?}", s.requests);
    let repair = s.budget_us.of(Class::Tlp) + s.budget_us.of(Class::Rto);
    assert!(repair >= 250_000, "{:?}", s.budget_us);
    assert_eq!(s.budget_us.of(Class::Sender), 0);
}

#[test]
fn a_probe_into_a_full_window_costs_nothing_of_its_own() {
    let with = |window: u32| {
        let lines = [
            "0 > S 100 0 0 60000 mss=1460 sackok ws=0".to_owned(),
            format!("20 < S. 500 101 0 {window} mss=1460 sackok ws=0"),
            "20 > . 101 501 0 60000".to_owned(),
            "20.1 > . 101 501 1460 60000".to_owned(),
            "20.2 > . 1561 501 1460 60000".to_owned(),
            "70 > . 1561 501 1460 60000".to_owned(),
            format!("80 < . 501 3021 0 {window}"),
            format!("90 < . 501 3021 0 {window} sack=1561-3021"),
            "90.1 > . 3021 501 1460 60000".to_owned(),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let budget = analyze_script(&lines).streams[0].budget_us;
        (budget.of(Class::ReceiveWindow), budget.of(Class::Spurious))
    };
    let (window, spurious) = with(2_920);
    assert!(window >= 50_000 && spurious == 0, "{window} {spurious}");
    let (window, spurious) = with(60_000);
    assert!(window == 0 && spurious >= 50_000, "{window} {spurious}");
}

#[test]
fn a_slow_sender_of_single_segments_sends_no_probes() {
    let mut lines = vec![
        "0 > S 100 0 0 60000 mss=1460 sackok".to_owned(),
        "2 < S. 500 101 0 60000 mss=1460 sackok".to_owned(),
        "2 > . 101 501 0 60000".to_owned(),
    ];
    // Every other segment is acknowledged by the next one's ACK: a probe timer would wait 200 ms for that.
    for n in 0..100 {
        let (ms, seq) = (10.0 + 12.0 * f64::from(n), 101 + 1460 * n);
        lines.push(format!("{ms} > . {seq} 501 1460 60000"));
        if n % 2 == 1 {
            lines.push(format!("{} < . 501 {} 0 60000", ms + 2.0, seq + 1460));
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let budget = analyze_script(&lines).streams[0].budget_us;
    assert_eq!(budget.of(Class::Tlp), 0, "{budget:?}");
    assert!(budget.of(Class::Sender) > 1_000_000, "{budget:?}");
}

#[test]
fn one_side_alone_tells_nothing_of_its_time() {
    let lines = [
        "0 < S 500 0 0 60000 mss=1460",
        "40 < . 501 101 0 60000",
        "50 < P. 501 101 200 60000",
        "3000 < R. 701 5101 0 0",
    ];
    for kept in [3, 4] {
        let answer = analyze_script(&lines[..kept]);
        let stream = &answer.streams[0];
        assert_eq!(stream.budget_us.of(Class::Unknown), stream.duration_us);
        assert!(stream.requests.is_empty());
    }
    // An unanswered SYN: all of its time belongs to the handshake.
    let alone = analyze_script(&[lines[0], "1000 < S 500 0 0 60000 mss=1460"]);
    let stream = &alone.streams[0];
    assert_eq!(stream.budget_us.of(Class::Handshake), stream.duration_us);
}

#[test]
fn data_in_flight_behind_a_fin_is_not_the_close() {
    // A queue of 200 ms holds the last flight; the receiver holds no ACK.
    let s = &analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460",
        "20 < S. 500 101 0 60000 mss=1460",
        "20 > . 101 501 0 60000",
        "20 > P. 101 501 100 60000",
        "40 < . 501 201 1460 60000",
        "40 < . 1961 201 1460 60000",
        "40 < FP. 3421 201 1460 60000",
        "140 > . 201 1961 0 60000",
        "240 > . 201 4882 0 60000",
        "340 > F. 201 4882 0 60000",
        "360 < . 4882 202 0 60000",
    ])
    .streams[0];
    let of = |class| s.budget_us.of(class);
    assert_eq!(of(Class::Path), 20_000 + 200_000, "{:?}", s.budget_us);
    assert_eq!(of(Class::Closing), 120_000, "{:?}", s.budget_us);
    assert_eq!(s.requests[0].duration_us, 220_000);
}

#[test]
fn queued_request_is_not_at_the_server_yet() {
    // The ACK comes 500 ms after the request, the answer 100 ms after that.
    let opened = [
        "0 > S 100 0 0 60000 mss=1460",
        "20 < S. 500 101 0 60000 mss=1460",
        "20 > . 101 501 0 60000",
    ];
    let with = |rest: &[&str]| {
        let lines = [&opened[..], rest].concat();
        analyze_script(&lines).streams[0].budget_us
    };
    let queue = with(&[
        "20 > . 101 501 1460 60000",
        "20 > P. 1561 501 1460 60000",
        "520 < . 501 3021 0 60000",
        "620 < P. 501 3021 700 60000",
    ]);
    assert_eq!(queue.of(Class::Path), 500_000, "{queue:?}");
    assert_eq!(queue.of(Class::ServerThinks), 100_000, "{queue:?}");
    // The answer itself brings the ACK, so the server had the request for no longer than it may hold an ACK.
    let answer = |at: &str| {
        let answer = format!("{at} < P. 501 1561 700 60000");
        let budget = with(&["20 > P. 101 501 1460 60000", &answer]);
        (budget.of(Class::Path), budget.of(Class::ServerThinks))
    };
    assert_eq!(answer("620"), (380_000, 220_000));
    assert_eq!(answer("200"), (20_000, 160_000));
}

/// After a wide flight a lone segment is lost and sent again; `next` new segments follow its ACK, and more follow theirs.
fn lone_segment_repaired(next: u32) -> Answer {
    let mut lines = vec![
        "0 > S 100 0 0 60000 mss=1000 sackok".to_owned(),
        "100 < S. 500 101 0 60000 mss=1000 sackok".to_owned(),
        "100 > . 101 501 0 60000".to_owned(),
    ];
    let mut seq = 101;
    let mut flight = |at: u32, segments: u32, lines: &mut Vec<String>| {
        for _ in 0..segments {
            lines.push(format!("{at} > . {seq} 501 1000 60000"));
            seq += 1000;
        }
        seq
    };
    let wide = flight(101, 8, &mut lines);
    lines.push(format!("201 < . 501 {wide} 0 60000"));
    let lone = flight(301, 1, &mut lines);
    lines.push(format!("701 > . {wide} 501 1000 60000"));
    lines.push(format!("801 < . 501 {lone} 0 60000"));
    let after = flight(801, next, &mut lines);
    lines.push(format!("901 < . 501 {after} 0 60000"));
    let all = flight(901, 2 * next, &mut lines);
    lines.push(format!("1001 < . 501 {all} 0 60000"));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    analyze_script(&lines)
}

#[test]
fn window_after_a_lone_repair_tells_a_timeout_from_a_probe() {
    for (next, tlp, rto) in [(2, 0, 1), (8, 1, 0), (1, 1, 0)] {
        let answer = lone_segment_repaired(next);
        let s = &answer.streams[0];
        let sent = &s.client_to_server.retransmissions;
        assert_eq!((sent.tlp, sent.rto), (tlp, rto), "{next}");
        let of_timer = share(s, Class::Rto);
        let of_probe = share(s, Class::Tlp);
        assert_eq!(of_probe > 0.3, tlp == 1, "{next}: {of_probe}");
        assert_eq!(of_timer > 0.3, rto == 1, "{next}: {of_timer}");
    }
}

#[test]
fn a_gap_of_the_capture_is_no_timer_and_no_program() {
    use std::cell::Cell;
    for (name, from, to) in [
        ("write-write-read.b.pcap", 26, 52),
        ("write-write-read.a.pcap", 26, 52),
        ("quickack-6.1.176.a.pcap", 42, 84),
        ("request-held.b.pcap", 33, 66),
    ] {
        let file = root().join("tests/captures").join(name);
        let n = Cell::new(0);
        let keep = |_: &tcplab_wire::TcpPacket| {
            n.set(n.get() + 1);
            !(from..=to).contains(&n.get())
        };
        let cut = analyze_some(&file, Options::default(), keep);
        let s = &cut.streams[0];
        common::adds_up(s);
        let time = s.budget_us;
        assert_eq!(s.client_to_server.retransmissions.total, 0, "{name}");
        assert_eq!(
            time.of(Class::Rto) + time.of(Class::Tlp),
            0,
            "{name}: {time:?}"
        );
        assert!(time.of(Class::Unknown) > 500_000, "{name}: {time:?}");
    }
}

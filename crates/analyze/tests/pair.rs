//! What two captures of one connection show together: changes on the way between them.

mod common;

use tcplab_analyze::pair::{Capture, End, Offer, Pair, Stream, compare};
use tcplab_analyze::trace::Rows;
use tcplab_analyze::{Analyzer, Options, Output};
use tcplab_wire::TcpPacket;

/// A capture of these lines.
fn capture(lines: &[String]) -> Capture {
    capture_of(lines, |_| {})
}

/// A capture of these lines, with packets changed.
fn capture_of(lines: &[String], change: impl Fn(&mut TcpPacket)) -> Capture {
    let mut analyzer = Analyzer::new(Options {
        rows: Rows::ALL,
        ..Options::default()
    });
    let mut capture = Capture::new(None);
    for (number, line) in (1..).zip(lines) {
        let (time, _, mut packet) = common::script::parse(line);
        change(&mut packet);
        capture.packet(number, Some(time), &packet);
        analyzer.packet(number, Some(time), &packet);
    }
    analyzer.finish();
    while let Some(output) = analyzer.poll() {
        if let Output::Trace(trace) = output {
            capture.trace(&trace);
        }
    }
    capture
}

/// A download at the client (0) or at the server (1), 20 ms apart; the SYN-ACK and the data as they leave and as they
/// arrive.
fn download(here: usize, answer: [&str; 2], data: [&str; 2]) -> Vec<String> {
    let near = here == 1;
    let shift = |ms: f64, from_client: bool| match (from_client, near) {
        (true, true) => ms + 20.0,
        (false, false) => ms + 20.0,
        _ => ms,
    };
    let mut lines = vec![
        format!(
            "{} > S 100 0 0 60000 mss=1460 sackok ts=1000,0 ws=7",
            shift(0.0, true)
        ),
        format!(
            "{} < S. 500 101 0 60000 {}",
            shift(20.0, false),
            answer[here]
        ),
        format!("{} > . 101 501 0 60000", shift(40.0, true)),
    ];
    for i in 0..20_u32 {
        let ms = 60.0 + f64::from(i) * 50.0;
        lines.push(format!(
            "{} < . {} 101 1000 60000 {}",
            shift(ms, false),
            501 + 1000 * i,
            data[here]
        ));
        lines.push(format!(
            "{} > . 101 {} 0 60000",
            shift(ms + 20.0, true),
            1501 + 1000 * i
        ));
    }
    lines
}

/// Both ends of a download of which all arrives.
fn both(answer: [&str; 2], data: [&str; 2]) -> Stream {
    let at = |here| download(here, answer, data);
    let pair = compare(capture(&at(0)), capture(&at(1)));
    assert_eq!(pair.packets.only_a + pair.packets.only_b, 0);
    let [stream] = &pair.streams[..] else {
        panic!("{:?}", pair.streams);
    };
    stream.clone()
}

#[test]
fn lost_options_are_listed_with_their_packets() {
    let full = "mss=1460 sackok ts=7000,1000 ws=7";
    let cut = both(["mss=1380", full], ["", ""]);
    let changed: Vec<_> = cut
        .changed
        .iter()
        .map(|c| (c.offer, c.in_a, c.in_b))
        .collect();
    let want = [
        (Offer::Mss, Some(1380), Some(1460)),
        (Offer::WindowScale, None, Some(7)),
        (Offer::Sack, None, Some(1)),
        (Offer::TimeStamps, None, Some(1)),
    ];
    assert_eq!(changed, want);
    assert!(
        cut.changed
            .iter()
            .all(|c| !c.from_client && (c.packet_a, c.packet_b) == (2, 2))
    );
    assert_eq!(both([full, full], ["", ""]).changed, []);
}

#[test]
fn ecn_marks_that_do_not_arrive_are_counted() {
    let answer = ["mss=1460"; 2];
    let cleared = both(answer, ["", "ecn=2"]);
    assert_eq!(cleared.server_to_client.ecn_cleared, 20);
    assert_eq!(cleared.client_to_server.ecn_cleared, 0);
    assert_eq!(
        both(answer, ["ecn=3", "ecn=2"])
            .server_to_client
            .ecn_cleared,
        0
    );
}

#[test]
fn windows_that_a_device_made_smaller_are_counted() {
    let clamp = |p: &mut TcpPacket| {
        if p.src.port != 80 {
            p.window = p.window.min(20_000);
        }
    };
    let pair = compare(capture(&plain(0)), capture_of(&plain(1), clamp));
    let changed = [only(&pair).client_to_server, only(&pair).server_to_client];
    let changed = changed.map(|way| (way.matched - way.window_changed, way.window_changed > 0));
    assert_eq!((changed[0], changed[1].1), ((0, true), false));
}

/// The same download without options in the data.
fn plain(here: usize) -> Vec<String> {
    download(here, ["mss=1460"; 2], [""; 2])
}

fn only(pair: &Pair) -> &Stream {
    let [stream] = &pair.streams[..] else {
        panic!("{:?}", pair.streams);
    };
    stream
}

#[test]
fn cut_headers_match_without_time_stamps() {
    let stamped = |here| download(here, ["mss=1460 ts=7000,1000"; 2], ["ts=7001,1001"; 2]);
    let cut = |p: &mut TcpPacket| {
        p.header_truncated = true;
        p.options.timestamps = None;
    };
    let pair = compare(capture(&stamped(0)), capture_of(&stamped(1), cut));
    assert_eq!(pair.packets.matched, pair.packets.a);
    assert_eq!(pair.packets.defects_b.headers_cut, pair.packets.b);
    assert_eq!(only(&pair).server_to_client.only_at_sender, Some(0));
}

#[test]
fn frames_cut_before_the_header_hide_losses() {
    let mut a = plain(0);
    a.remove(9);
    let mut cut = capture(&a);
    cut.cut(None);
    let pair = compare(cut, capture(&plain(1)));
    assert_eq!(pair.packets.defects_a.unreadable, 1);
    assert_eq!(only(&pair).server_to_client.only_at_sender, None);
    assert_eq!(only(&pair).client_to_server.only_at_sender, Some(0));
    let pair = compare(capture(&a), capture(&plain(1)));
    assert_eq!(only(&pair).server_to_client.only_at_sender, Some(1));
}

#[test]
fn packets_from_before_or_after_the_other_capture_are_not_lost() {
    // The client's capture begins with the tenth packet and lacks one in the middle.
    let mut a = plain(0);
    a.remove(21);
    let pair = compare(capture(&a[9..]), capture(&plain(1)));
    let down = only(&pair).server_to_client;
    assert_eq!((down.only_at_sender, down.outside_at_sender), (Some(1), 4));
    let up = only(&pair).client_to_server;
    let there = (up.only_at_receiver, up.outside_at_receiver);
    assert_eq!((up.only_at_sender, there), (Some(0), (Some(0), 5)));
    // A frame of anything else shows that it ran.
    let mut ran = capture(&a[9..]);
    ran.frame(Some(common::script::parse(&a[0]).0));
    let pair = compare(ran, capture(&plain(1)));
    let down = only(&pair).server_to_client;
    assert_eq!((down.only_at_sender, down.outside_at_sender), (Some(5), 0));
    // It ends before the last answer arrives.
    let pair = compare(capture(&plain(0)[..41]), capture(&plain(1)));
    let down = only(&pair).server_to_client;
    assert_eq!((down.only_at_sender, down.outside_at_sender), (Some(0), 1));
}

#[test]
fn one_direction_tells_neither_losses_nor_times() {
    let client: Vec<String> = plain(1).into_iter().filter(|l| l.contains('>')).collect();
    let pair = compare(capture(&plain(0)), capture(&client));
    assert_eq!((pair.clock.steady, pair.clock.offset_ns), (None, None));
    let stream = only(&pair);
    assert_eq!((stream.client_side, stream.acks.len()), (None, 0));
    for way in [stream.client_to_server, stream.server_to_client] {
        assert_eq!((way.only_at_sender, way.only_at_receiver), (None, None));
        assert!(way.one_way_us.is_none(), "{way:?}");
    }
    assert_eq!(stream.client_to_server.matched, 22);
}

#[test]
fn a_clock_that_was_set_leaves_no_times_one_way() {
    // The server's clock is set by 5 s.
    let lines = |time: fn(f64) -> f64| {
        let change = |line: String| {
            let (ms, rest) = line.split_once(' ').unwrap();
            format!("{} {rest}", time(ms.parse().unwrap()))
        };
        plain(1).into_iter().map(change).collect::<Vec<_>>()
    };
    let stepped = lines(|ms| if ms > 500.0 { ms + 5_000.0 } else { ms });
    let pair = compare(capture(&plain(0)), capture(&stepped));
    assert_eq!((pair.clock.steady, pair.clock.path_ns), (Some(false), None));
    let stream = only(&pair);
    assert_eq!(stream.client_side, Some(End::A));
    assert!(stream.server_to_client.one_way_us.is_none());
    assert!(!stream.acks.is_empty());
    assert!(stream.acks.iter().all(|a| a.one_way_us.is_none()));
    let still = compare(capture(&plain(0)), capture(&lines(|_| 1.0)));
    assert_eq!(still.clock.steady, None);
    assert_eq!(only(&still).client_side, None);
}

#[test]
fn what_was_sent_twice_and_came_once_is_lost_once() {
    // Without identifications: the server sends one segment again, after `later` milliseconds.
    let lost = |later: f64| {
        let mut b = plain(1);
        let again = format!(
            "{} {}",
            160.0 + later,
            b[7].split_once(' ').expect("a time").1
        );
        b.insert(if later < 1.0 { 8 } else { 30 }, again);
        let pair = compare(capture(&plain(0)), capture(&b));
        assert_eq!(pair.packets.ambiguous, 2);
        only(&pair).server_to_client.only_at_sender
    };
    assert_eq!(lost(400.0), Some(1));
    // The capture may have it twice.
    assert_eq!(lost(0.01), None);
}

//! What two captures of one connection show together that one cannot: what was changed between them.

mod common;

use tcplab_analyze::pair::{Capture, Offer, Stream, compare};
use tcplab_analyze::trace::Rows;
use tcplab_analyze::{Analyzer, Options, Output};

/// A capture of these lines.
fn capture(lines: &[String]) -> Capture {
    let mut analyzer = Analyzer::new(Options {
        rows: Rows::ALL,
        ..Options::default()
    });
    let mut capture = Capture::new(None);
    for (number, line) in (1..).zip(lines) {
        let (time, _, packet) = common::script::parse(line);
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

/// A download, at the client and at the server, 20 ms apart; the SYN-ACK and the data as they leave and as they arrive.
fn both(answer: [&str; 2], data: [&str; 2]) -> Stream {
    let at = |here: usize| {
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
    };
    let pair = compare(capture(&at(0)), capture(&at(1)));
    assert_eq!(pair.packets.only_a + pair.packets.only_b, 0);
    let [stream] = &pair.streams[..] else {
        panic!("{:?}", pair.streams);
    };
    stream.clone()
}

#[test]
fn options_that_do_not_arrive_are_listed_with_their_packets() {
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

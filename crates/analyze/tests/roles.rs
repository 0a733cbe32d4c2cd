//! Who is the client of a connection without a handshake.

mod common;

use common::{Answer, adds_up, answer, script, spans_add_up};
use tcplab_analyze::budget::Class;
use tcplab_analyze::trace::Rows;
use tcplab_analyze::{Analyzer, Options};

/// The left side asks from port `left`, the right side answers from `right`: 5 requests of 100 bytes, each `pause` ms after
/// the answer (1000 bytes) to the one before, which takes `think` ms.
fn talk(left: u16, right: u16, pause: f64, think: f64) -> Answer {
    let mut analyzer = Analyzer::new(Options {
        rows: Rows::ALL,
        ..Options::default()
    });
    let (mut now, mut number) = (0.0, 0);
    let mut say = |line: String| {
        let (time, _, mut packet) = script::parse(&line);
        for end in [&mut packet.src, &mut packet.dst] {
            end.port = if end.port == 2000 { left } else { right };
        }
        number += 1;
        analyzer.packet(number, Some(time), &packet);
    };
    for i in 0..5 {
        let (asked, told) = (101 + i * 100, 501 + i * 1000);
        say(format!("{now} > P. {asked} {told} 100 60000"));
        now += 10.0;
        say(format!("{now} < . {told} {} 0 60000", asked + 100));
        now += think;
        say(format!("{now} < P. {told} {} 1000 60000", asked + 100));
        now += 0.1;
        say(format!("{now} > . {} {} 0 60000", asked + 100, told + 1000));
        now += pause;
    }
    answer(analyzer)
}

fn client(answer: &Answer) -> &str {
    let [stream] = &answer.streams[..] else {
        panic!("one stream");
    };
    adds_up(stream);
    spans_add_up(stream, &answer.traces[0]);
    stream.client.rsplit_once(':').expect("an address").1
}

#[test]
fn ports_of_different_kinds_tell() {
    assert_eq!(client(&talk(40_000, 5001, 3_000.0, 1.0)), "40000");
    assert_eq!(client(&talk(2_000, 443, 3_000.0, 1.0)), "2000");
    // Even against the pauses.
    assert_eq!(client(&talk(443, 40_000, 3_000.0, 1.0)), "40000");
}

#[test]
fn asking_side_is_the_client_if_ports_do_not_tell() {
    for (left, right) in [(50_001, 50_002), (1_050, 6_346), (6_346, 1_050)] {
        let answer = talk(left, right, 3_000.0, 1.0);
        assert_eq!(client(&answer), left.to_string());
        let time = &answer.streams[0].budget_us;
        assert!(time.of(Class::ClientThinks) > 11_000_000, "{time:?}");
        assert!(time.of(Class::ServerThinks) < 100_000, "{time:?}");
        assert!(!answer.ids().contains(&"slow_server"), "{:?}", answer.ids());
    }
}

#[test]
fn a_slow_server_is_not_taken_for_a_client() {
    // Answers take 200 ms, the next request follows at once: by the pauses alone the server would be the client.
    let ids = talk(50_002, 443, 0.1, 200.0).ids();
    assert!(ids.contains(&"slow_server"), "{ids:?}");
    let unknown = talk(50_001, 50_002, 0.1, 200.0);
    assert!(!unknown.ids().contains(&"slow_client"));
    // The higher port is only a guess, so nothing is said of a slow server, and that is told.
    let unknown = talk(50_002, 50_001, 0.1, 200.0);
    assert!(!unknown.ids().contains(&"slow_server"));
    let lacks = &unknown.streams[0].not_checked;
    let named = |l: &tcplab_analyze::findings::Lacks| {
        l.findings.iter().any(|id| id.name() == "slow_server")
    };
    assert!(lacks.iter().any(named), "{lacks:?}");
}

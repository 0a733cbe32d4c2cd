//! Captures without usable times: what goes by times is unknown, and the report says so.

mod common;

use common::{Answer, answer, script};
use tcplab_analyze::findings::Need;
use tcplab_analyze::report::{AcksSent, Stream, Vantage};
use tcplab_analyze::{Analyzer, Options};
use tcplab_base::Instant;

/// A client writes twice for each request; the server holds its ACKs 40 ms.
fn talk() -> Vec<String> {
    let mut lines = vec![
        "0 > S 0 0 0 64240 mss=1460 sackok".to_owned(),
        "2 < S. 0 1 0 65160 mss=1460 sackok".to_owned(),
        "2 > . 1 1 0 64240".to_owned(),
    ];
    let (mut ms, mut sent) = (3, 1);
    for n in 0..30 {
        let got = 1 + n * 100;
        let mut say = |ms: u32, rest: String| lines.push(format!("{ms} {rest}"));
        say(ms, format!("> P. {sent} {got} 100 64240"));
        say(ms + 42, format!("< . {got} {} 0 65160", sent + 100));
        say(ms + 42, format!("> P. {} {got} 100 64240", sent + 100));
        say(ms + 44, format!("< P. {got} {} 100 65160", sent + 200));
        say(ms + 44, format!("> . {} {} 0 64240", sent + 200, got + 100));
        (ms, sent) = (ms + 50, sent + 200);
    }
    lines
}

/// The conversation, with the times that `stamp` makes of the right ones.
fn read(stamp: impl Fn(u64, Instant) -> Option<Instant>) -> Answer {
    let mut analyzer = Analyzer::new(Options::default());
    for (number, line) in (1..).zip(talk()) {
        let (time, _, packet) = script::parse(&line);
        analyzer.packet(number, stamp(number, time), &packet);
    }
    answer(analyzer)
}

fn lacks_times(a: &Answer) -> bool {
    let of = |id: &str| {
        let mut all = a.totals.not_checked.iter();
        all.any(|n| n.finding.name() == id && n.lacks == Need::PacketTimes)
    };
    ["delack_nagle", "rto_stall", "slow_server"]
        .iter()
        .all(|id| of(id))
}

fn has_no_ack_times(s: &Stream) {
    for d in [&s.client_to_server, &s.server_to_client] {
        let AcksSent {
            immediate,
            second_segment,
            delayed,
            ..
        } = d.acks_sent;
        assert_eq!((immediate, second_segment, delayed), (0, 0, 0));
        assert_eq!((d.rtt_us.samples, d.goodput_bps), (0, 0));
    }
    let h = s.handshake.expect("a handshake");
    assert_eq!((h.server_rtt_us, h.client_rtt_us), (None, None));
    assert!(s.round_trip.is_none() && s.requests.is_empty());
    assert_eq!(s.vantage, Vantage::Unknown);
    common::adds_up(s);
}

#[test]
fn with_its_times_the_conversation_has_late_acks() {
    let a = read(|_, time| Some(time));
    assert!(a.ids().contains(&"delack_nagle"), "{:?}", a.ids());
    assert!(a.streams[0].server_to_client.acks_sent.delayed > 20);
}

#[test]
fn without_times_no_timed_finding_is_checked() {
    let a = read(|_, _| None);
    assert!(lacks_times(&a), "{:?}", a.totals.not_checked);
    assert_eq!(a.ids(), [""; 0]);
    assert_eq!(a.totals.time_ns, None);
    assert_eq!(a.streams[0].server_to_client.acks_sent.other, 30);
    has_no_ack_times(&a.streams[0]);
}

#[test]
fn some_records_without_a_time_are_enough() {
    let a = read(|number, time| (number % 10 != 0).then_some(time));
    assert!(lacks_times(&a), "{:?}", a.totals.not_checked);
    has_no_ack_times(&a.streams[0]);
}

#[test]
fn stamps_in_whole_seconds_are_no_times() {
    let second = |at: Instant| at.as_nanos() / 1_000_000_000;
    let whole = |_, at| Some(Instant::from_nanos(second(at) * 1_000_000_000));
    let still = |_, _| Some(Instant::from_nanos(7));
    for a in [read(whole), read(still)] {
        assert!(lacks_times(&a), "{:?}", a.totals.not_checked);
        assert_eq!(a.ids(), [""; 0]);
        has_no_ack_times(&a.streams[0]);
    }
}

#[test]
fn what_is_sent_again_without_times_is_no_copy() {
    let mut analyzer = Analyzer::new(Options::default());
    let lines = [
        "0 > S 0 0 0 64240 mss=1460 sackok",
        "2 < S. 0 1 0 65160 mss=1460 sackok",
        "2 > . 1 1 0 64240 id=7",
        "3 > P. 1 1 100 64240 id=8",
        "303 > P. 1 1 100 64240 id=9",
        "305 < . 1 101 0 65160",
    ];
    for (number, line) in (1..).zip(lines) {
        let (_, _, packet) = script::parse(line);
        analyzer.packet(number, None, &packet);
    }
    let answer = answer(analyzer);
    let sent = &answer.streams[0].client_to_server;
    assert_eq!((sent.packets, sent.retransmissions.total), (4, 1));
}

//! Packets that a timer sent, and packets that came just as late for another cause. Short conversations built
//! by hand.

mod common;

use common::{Answer, analyze_script};
use tcplab_analyze::report::{AcksSent, Retransmissions};

fn run(lines: &[String]) -> Answer {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    analyze_script(&lines)
}

/// A handshake with these options, over a path of 20 ms; the second line passes the capture at `synack` milliseconds.
fn handshake(options: &str, synack: f64) -> Vec<String> {
    vec![
        format!("0 > S 100 0 0 60000 mss=1460 {options}"),
        format!("{synack} < S. 500 101 0 60000 mss=1460 {options}"),
        "20 > . 101 501 0 60000".to_owned(),
    ]
}

fn acks_of_server(begin: &[String], rest: &[&str]) -> AcksSent {
    let rest = rest.iter().map(|&line| line.to_owned());
    let lines: Vec<String> = begin.iter().cloned().chain(rest).collect();
    let mut answer = run(&lines);
    answer.streams.remove(0).server_to_client.acks_sent
}

#[test]
fn ack_triggered_beyond_a_hole_is_no_timer_ack() {
    // The first segment waits for the timer when the third comes: the duplicate ACK of that one covers it as well.
    let at_receiver = |sack: &str| {
        let duplicate = format!("58 < . 501 1101 0 60000 {sack}");
        [
            "30 > . 101 501 1000 60000",
            "58 > . 2101 501 1000 60000",
            &duplicate,
            "80 > . 1101 501 1000 60000",
            "80 < . 501 3101 0 60000",
            "100 > . 3101 501 1000 60000",
            "140 < . 501 4101 0 60000",
        ]
        .map(str::to_owned)
    };
    for (options, sack) in [("sackok", "sack=2101-3101"), ("", "")] {
        let lines = at_receiver(sack);
        let acks = acks_of_server(
            &handshake(options, 0.1),
            &lines.each_ref().map(String::as_str),
        );
        assert_eq!((acks.delayed, acks.total), (1, 3), "{options}: {acks:?}");
    }
    // The same at the sender, which sees no hole.
    for (options, sack) in [("sackok", "sack=2101-3101"), ("", "")] {
        let duplicate = format!("78 < . 501 1101 0 60000 {sack}");
        let lines = [
            "30 > . 101 501 1000 60000",
            "54 > . 1101 501 1000 60000",
            "58 > . 2101 501 1000 60000",
            &duplicate,
            "78 > . 1101 501 1000 60000",
            "98 < . 501 3101 0 60000",
            "200 > . 3101 501 1000 60000",
            "260 < . 501 4101 0 60000",
        ];
        let acks = acks_of_server(&handshake(options, 20.0), &lines);
        assert_eq!((acks.delayed, acks.total), (1, 3), "{options}: {acks:?}");
    }
}

/// At a sender without SACK, 300 ms from its receiver: two segments are lost, and `told` duplicate ACKs come, the last at
/// 920 ms. The first lost one is sent again at `again` milliseconds.
fn without_sack(told: u32, again: u32) -> Retransmissions {
    let mut lines = vec![
        "0 > S 100 0 0 60000 mss=1460 ts=1000,0".to_owned(),
        "300 < S. 500 101 0 60000 mss=1460 ts=7000,1000".to_owned(),
        "300 > . 101 501 0 60000 ts=1300,7000".to_owned(),
        "310 > P. 101 501 1000 60000 ts=1310,7000".to_owned(),
        "610 < . 501 1101 0 60000 ts=7310,1310".to_owned(),
    ];
    for i in 0..=told {
        let seq = 1101 + 1000 * i;
        lines.push(format!("620 > . {seq} 501 1000 60000 ts=1620,7310"));
    }
    for _ in 0..told {
        lines.push("920 < . 501 1101 0 60000 ts=7620,1310".to_owned());
    }
    lines.push(format!(
        "{again} > . 1101 501 1000 60000 ts={},7310",
        1000 + again
    ));
    lines.push(format!(
        "{} < . 501 {} 0 60000 ts=8000,1620",
        again + 300,
        2101 + 1000 * told
    ));
    run(&lines)
        .streams
        .remove(0)
        .client_to_server
        .retransmissions
}

#[test]
fn prompt_repair_after_duplicate_acks_is_no_timeout_at_any_rtt() {
    let r = without_sack(3, 920);
    assert_eq!((r.fast, r.rto), (1, 0), "{r:?}");
    // One duplicate ACK asks for nothing; the timer has run since the last data.
    let r = without_sack(1, 1122);
    assert_eq!((r.fast, r.rto), (0, 1), "{r:?}");
}

/// At the receiver of a stream, 300 ms from the sender: the SYN was sent again, so that no handshake tells the round
/// trip. One segment is lost, and comes again one round trip after the SACK.
fn after_a_repeated_syn(stamps: bool) -> Retransmissions {
    let ts = |val: u32, echo: u32| match stamps {
        true => format!(" ts={val},{echo}"),
        false => String::new(),
    };
    let syn = "S 100 0 0 60000 mss=1460 sackok";
    let mut lines = vec![
        format!("0 > {syn}{}", ts(1000, 0)),
        format!("1000 > {syn}{}", ts(2000, 0)),
        format!(
            "1300 < S. 500 101 0 60000 mss=1460 sackok{}",
            ts(7000, 2000)
        ),
        format!("1300 > . 101 501 0 60000{}", ts(2300, 7000)),
    ];
    // A packet passes 150 ms after it left; its sender heard of what the receiver sent 300 ms before it passes.
    let stamp = |at: u32| ts(5850 + at - 150, 1000 + at - 300);
    let first = 1700;
    for i in 0..20 {
        let (at, seq) = (first + 37 * i, 501 + 1000 * i);
        let (data, ack) = (stamp(at), ts(1000 + at, 5700 + at));
        lines.push(format!("{at} < P. {seq} 101 1000 60000{data}"));
        lines.push(format!("{at} > . 101 {} 0 60000{ack}", seq + 1000));
    }
    let (told, hole) = (first + 37 * 21, 501 + 1000 * 20);
    let (data, ack) = (stamp(told), ts(1000 + told, 5700 + told));
    let [beyond, end] = [hole + 1000, hole + 2000];
    lines.push(format!("{told} < P. {beyond} 101 1000 60000{data}"));
    lines.push(format!(
        "{told} > . 101 {hole} 0 60000 sack={beyond}-{end}{ack}"
    ));
    let again = told + 301;
    lines.push(format!(
        "{again} < P. {hole} 101 1000 60000{}",
        stamp(again)
    ));
    lines.push(format!(
        "{again} > . 101 {end} 0 60000{}",
        ts(1000 + again, 5700 + again)
    ));
    run(&lines)
        .streams
        .remove(0)
        .server_to_client
        .retransmissions
}

#[test]
fn one_round_trip_that_no_handshake_tells_is_no_timeout() {
    for stamps in [true, false] {
        let r = after_a_repeated_syn(stamps);
        assert_eq!((r.fast, r.rto), (1, 0), "{stamps}: {r:?}");
    }
}

/// SYN-ACKs that were sent again, as the handshake says and as the sender's retransmissions say.
fn synacks_again(lines: &[&str]) -> (u32, u64) {
    let stream = analyze_script(lines).streams.remove(0);
    let again = stream.handshake.expect("a SYN").synack_retransmissions;
    (again, stream.server_to_client.retransmissions.total)
}

#[test]
fn syn_ack_to_a_repeated_syn_is_no_timer_copy() {
    let lines = |ts: [&str; 6]| {
        [
            format!("0 > S 100 0 0 60000 mss=1460 {}", ts[0]),
            format!("0.01 < S. 500 101 0 60000 mss=1460 {}", ts[1]),
            format!("1015.7 < S. 500 101 0 60000 mss=1460 {}", ts[2]),
            format!("1020.7 > S 100 0 0 60000 mss=1460 {}", ts[3]),
            format!("1020.7 < S. 500 101 0 60000 mss=1460 {}", ts[4]),
            format!("1030.7 > . 101 501 0 60000 {}", ts[5]),
        ]
    };
    let stamps = [
        "ts=1000,0",
        "ts=7000,1000",
        "ts=8015,1000",
        "ts=2015,0",
        "ts=8020,1000",
        "ts=2025,8020",
    ];
    for ts in [stamps, [""; 6]] {
        let lines = lines(ts);
        let lines = lines.each_ref().map(String::as_str);
        assert_eq!(synacks_again(&lines), (2, 2), "{ts:?}");
    }
    // A mirror of two ports shows each packet twice.
    for ts in [stamps, [""; 6]] {
        let [syn, synack, .., ack] = lines(ts);
        let later = |line: &str, ms: f64| {
            let (_, rest) = line.split_once(' ').expect("a time");
            format!("{ms} {rest}")
        };
        let (syn_copy, synack_copy) = (later(&syn, 0.5), later(&synack, 0.51));
        let ack = later(&ack, 10.0);
        let lines = [&syn, &synack, &syn_copy, &synack_copy, &ack];
        assert_eq!(synacks_again(&lines.map(String::as_str)), (0, 0), "{ts:?}");
    }
}

/// What is said of SYNs that were sent again, in one word for each finding.
fn syn_retries(lines: &[&str]) -> Vec<(String, String)> {
    let answer = analyze_script(lines);
    let found = answer
        .findings
        .iter()
        .filter(|f| f.id.name() == "syn_retries");
    found.map(|f| (f.title.clone(), f.cause.clone())).collect()
}

#[test]
fn a_round_trip_longer_than_the_first_timer_loses_no_syn() {
    // At the client, 1.3 s from the server. Both SYNs are answered, and the server's timer fires, too.
    let late = [
        "0 > S 100 0 0 60000 mss=1460 ts=1000,0",
        "1000 > S 100 0 0 60000 mss=1460 ts=2000,0",
        "1300 < S. 500 101 0 60000 mss=1460 ts=7000,1000",
        "1300.1 > . 101 501 0 60000 ts=2300,7000",
        "1300.2 > P. 101 501 200 60000 ts=2300,7000",
        "2300 < S. 500 101 0 60000 mss=1460 ts=8000,1000",
        "2300.1 > . 301 501 0 60000 ts=3300,7000",
        "2600.2 < . 501 301 0 60000 ts=8300,2300",
    ];
    let [(title, cause)] = &syn_retries(&late)[..] else {
        panic!("one finding");
    };
    assert!(
        title.ends_with("was answered after 1.30 s, later than its timer waits"),
        "{title}"
    );
    assert!(cause.contains("nothing was lost"), "{cause}");
    // The same times on a path of 0.3 s: the first SYN was lost.
    let mut lost = late.to_vec();
    lost.truncate(5);
    lost[2] = "1300 < S. 500 101 0 60000 mss=1460 ts=7000,2000";
    lost.push("1600.2 < . 501 301 0 60000 ts=7300,2300");
    let [(title, cause)] = &syn_retries(&lost)[..] else {
        panic!("one finding");
    };
    assert!(title.starts_with("it took 2 tries"), "{title}");
    assert!(
        cause.starts_with("The SYN or its answer was lost, or the listener"),
        "{cause}"
    );
    // An answer that names the first SYN shows that it came.
    lost[2] = late[2];
    let named = syn_retries(&lost);
    assert!(
        named[0]
            .1
            .starts_with("The answer to the first SYN was lost or late"),
        "{named:?}"
    );
    // Nothing tells how long the path is.
    lost.truncate(4);
    let lost: Vec<String> = lost
        .iter()
        .map(|l| l.split(" ts=").next().unwrap_or(l).to_owned())
        .collect();
    let lost: Vec<&str> = lost.iter().map(String::as_str).collect();
    let unknown = syn_retries(&lost);
    assert!(
        unknown[0]
            .1
            .contains("or the round trip is longer than 1 s"),
        "{unknown:?}"
    );
}

/// At a sender, 40 ms from its receiver: one pushed segment each 300 ms. ACK number `i` comes `late(i)` milliseconds later,
/// and left `held(i)` milliseconds after the data came.
fn acks(late: fn(u32) -> u32, held: fn(u32) -> u32, stamps: bool) -> Answer {
    let stamp = |val: u32, echo: u32| match stamps {
        true => format!(" ts={val},{echo}"),
        false => String::new(),
    };
    let mut lines = vec![
        format!("0 > S 100 0 0 60000 mss=1460{}", stamp(1000, 0)),
        format!("40 < S. 500 101 0 60000 mss=1460{}", stamp(7020, 1000)),
        format!("40 > . 101 501 0 60000{}", stamp(1040, 7020)),
    ];
    for i in 0..12 {
        let (at, seq) = (100 + 300 * i, 101 + 1448 * i);
        lines.push(format!(
            "{at} > P. {seq} 501 1448 60000{}",
            stamp(1000 + at, 7020)
        ));
        let left = stamp(7000 + at + 20 + held(i), 1000 + at);
        let came = at + 40 + late(i);
        lines.push(format!("{came} < . 501 {} 0 60000{left}", seq + 1448));
    }
    run(&lines)
}

#[test]
fn an_ack_that_left_at_once_and_was_late_on_its_way_was_not_delayed() {
    let counts = |answer: Answer| {
        let a = &answer.streams[0].server_to_client.acks_sent;
        (a.immediate, a.delayed)
    };
    let jitter = |i: u32| i % 4 * 25;
    assert_eq!(counts(acks(jitter, |_| 0, true)), (12, 0));
    // The same arrivals, by ACKs that left late; and without time stamps nothing tells.
    assert_eq!(counts(acks(jitter, jitter, true)), (3, 9));
    assert_eq!(counts(acks(jitter, |_| 0, false)), (3, 9));
}

#[test]
fn without_time_stamps_late_acks_may_have_been_late_on_their_way() {
    let nagle = |late: fn(u32) -> u32| {
        let mut lines = vec![
            "0 > S 100 0 0 60000 mss=1460".to_owned(),
            "40 < S. 500 101 0 60000 mss=1460".to_owned(),
            "40 > . 101 501 0 60000".to_owned(),
        ];
        let mut at = 100;
        for i in 0..12 {
            let seq = 101 + 200 * i;
            lines.push(format!("{at} > P. {seq} 501 100 60000"));
            at += 40 + late(i);
            lines.push(format!("{at} < . 501 {} 0 60000", seq + 100));
            lines.push(format!("{at} > P. {} 501 100 60000", seq + 100));
            at += 40;
            lines.push(format!("{at} < . 501 {} 0 60000", seq + 200));
        }
        let answer = run(&lines);
        let found = answer
            .findings
            .into_iter()
            .find(|f| f.id.name() == "delack_nagle");
        found.expect("late ACKs let data go")
    };
    let hedged = "look the same.";
    let jitter = nagle(|i| 25 + i % 5 * 20);
    assert!(
        jitter.cause.ends_with(hedged) && jitter.confidence.is_none(),
        "{}",
        jitter.cause
    );
    // As long as Linux's timer.
    let timer = nagle(|i| 40 + i % 3);
    assert!(!timer.cause.ends_with(hedged) && timer.confidence.is_some());
}

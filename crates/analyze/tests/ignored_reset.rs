//! RSTs that did not end their connection (RFC 5961 3.2), and those that did.

mod common;

use common::{Answer, analyze_script};
use tcplab_analyze::report::State;

const ID: &str = "reset_ignored";

/// A connection in which the server sends; then as given.
fn after(lines: &[&str]) -> Answer {
    let begin = [
        "0 > S 100 0 0 60000 mss=1460 ttl=64",
        "40 < S. 500 101 0 60000 mss=1460 ttl=52",
        "40.1 > . 101 501 0 60000 ttl=64",
        "50 > P. 101 501 300 60000 ttl=64",
        "90 < . 501 401 0 60000 ttl=52",
        "95 < . 501 401 1000 60000 ttl=52",
        "95.1 > . 401 1501 0 60000 ttl=64",
    ];
    let all: Vec<&str> = begin.iter().chain(lines).copied().collect();
    analyze_script(&all)
}

/// The server goes on and both ends close.
const GOES_ON: [&str; 5] = [
    "260 < P. 1501 401 1000 60000 ttl=52",
    "260.1 > . 401 2501 0 60000 ttl=64",
    "300 < F. 2501 401 0 60000 ttl=52",
    "300.1 > F. 401 2502 0 60000 ttl=64",
    "340 < . 2502 402 0 60000 ttl=52",
];

fn with(rst: &[&str], rest: &[&str]) -> Answer {
    after(&[rst, rest].concat())
}

#[test]
fn a_rst_far_from_the_window_ends_nothing() {
    for (number, said) in [
        (5_001_501_u32, "5000000 bytes ahead"),
        (501_u32.wrapping_sub(5_000_000), "5001000 bytes behind"),
    ] {
        let rst = format!("200 < R {number} 0 0 0 ttl=52");
        let answer = with(&[&rst], &GOES_ON);
        assert_eq!(answer.ids(), [ID]);
        assert_eq!(answer.streams[0].state, State::Complete);
        let f = &answer.findings[0];
        assert!(f.cause.contains(said), "{}", f.cause);
        assert!(!f.cause.contains("challenge ACK"), "{}", f.cause);
        assert_eq!(f.packets, [8, 10]);
        // Nothing shows that it was ignored.
        let end = with(&[&rst], &[]);
        assert_eq!(end.ids(), ["reset"]);
        assert_eq!(end.streams[0].state, State::Reset);
    }
}

#[test]
fn a_rst_in_the_window_is_answered_by_a_challenge_ack() {
    let rst = [
        "200 < R 1801 0 0 0 ttl=52",
        "200.1 > . 401 1501 0 60000 ttl=64",
    ];
    let answer = with(&rst, &GOES_ON);
    assert_eq!(answer.ids(), [ID]);
    let f = &answer.findings[0];
    assert!(f.cause.contains("300 bytes ahead"), "{}", f.cause);
    assert!(f.cause.contains("challenge ACK"), "{}", f.cause);
    assert_eq!(f.packets, [8, 9, 11]);
    // The RST may have overtaken that data: a RST takes a number only when all before it was sent.
    let overtaken = [
        "200 < R 2501 0 0 0 ttl=52",
        "201 < P. 1501 401 1000 60000 ttl=52",
        "201.1 > . 401 2501 0 60000 ttl=64",
    ];
    assert_eq!(after(&overtaken).ids(), ["reset"]);
}

#[test]
fn a_later_rst_counts() {
    let rest = [
        GOES_ON[0],
        GOES_ON[1],
        "300 < R. 2501 401 0 0 ttl=52",
        "320 < R. 2501 401 0 0 ttl=52",
    ];
    let answer = with(&["200 < R 5001501 0 0 0 ttl=52"], &rest);
    assert_eq!(answer.ids(), ["reset", ID]);
    assert_eq!(answer.streams[0].state, State::Reset);
    // Several that were ignored.
    let many = [
        "200 < R 5001501 0 0 0 ttl=52",
        "201 < R 6001501 0 0 0 ttl=52",
    ];
    let answer = with(&many, &GOES_ON);
    assert_eq!(answer.ids(), [ID]);
    assert!(answer.findings[0].title.contains("ignored 2 RSTs"));
}

/// A RST in the name of the client, who only ACKs; the capture is at the server.
fn at_the_server(rst: u32, rest: &[&str]) -> Answer {
    let rst = format!("200.5 > R {rst} 0 0 0 ttl=64");
    let begin = [
        "0 > S 100 0 0 60000 mss=1460 ttl=64",
        "0.1 < S. 500 101 0 60000 mss=1460 ttl=52",
        "40 > . 101 501 0 60000 ttl=64",
        "50 > P. 101 501 300 60000 ttl=64",
        "50.1 < . 501 401 1000 60000 ttl=52",
        "50.2 < . 1501 401 1000 60000 ttl=52",
        "90 > . 401 2501 0 60000 ttl=64",
        "200 < . 2501 401 1000 60000 ttl=52",
        "200.1 < . 3501 401 1000 60000 ttl=52",
        "200.2 < . 4501 401 1000 60000 ttl=52",
        "200.3 < . 5501 401 1000 60000 ttl=52",
        &rst,
    ];
    let all: Vec<&str> = begin.iter().chain(rest).copied().collect();
    analyze_script(&all)
}

/// The client's ACKs.
const ACKS: [&str; 4] = [
    "240 > . 401 3501 0 60000 ttl=64",
    "241 > . 401 4501 0 60000 ttl=64",
    "242 > . 401 5501 0 60000 ttl=64",
    "243 > . 401 6501 0 60000 ttl=64",
];

#[test]
fn a_server_that_sends_on_has_ignored_it() {
    let rest = [
        "200.6 < . 6501 401 0 60000 ttl=52",
        ACKS[0],
        "240.1 < . 6501 401 1000 60000 ttl=52",
        ACKS[3],
        "280 > . 401 7501 0 60000 ttl=64",
        "280.1 < . 7501 401 1000 60000 ttl=52",
        "320 > . 401 8501 0 60000 ttl=64",
    ];
    let answer = at_the_server(701, &rest);
    assert_eq!(answer.ids(), [ID]);
    assert_eq!(answer.streams[0].state, State::Open);
    let f = &answer.findings[0];
    assert!(f.cause.contains("300 bytes ahead"), "{}", f.cause);
    assert!(f.cause.contains("challenge ACK"), "{}", f.cause);
    // The last ACKs of the client do not come.
    assert_eq!(at_the_server(701, &rest[..3]).ids(), ["reset"]);
    // Its RST says that the connection was gone: the data was on its way.
    let gone = [&rest[1..6], &["320 < R 7501 0 0 0 ttl=52"]].concat();
    assert_ne!(at_the_server(401, &gone).ids(), [ID]);
    assert_eq!(at_the_server(401, &gone).streams[0].state, State::Reset);
}

#[test]
fn still_acking_end_did_not_send_the_rst() {
    let answered: Vec<String> = ACKS
        .iter()
        .zip([3501, 4501, 5501, 6501])
        .flat_map(|(ack, n)| {
            let ms = &ack[..3];
            [ack.to_string(), format!("{ms}.1 < R {n} 0 0 0 ttl=52")]
        })
        .collect();
    let lines: Vec<&str> = answered.iter().map(String::as_str).collect();
    let answer = at_the_server(401, &lines);
    assert_eq!(answer.ids(), ["reset_by_middlebox"]);
    assert_eq!(answer.streams[0].state, State::Reset);
    let f = &answer.findings[0];
    assert!(f.cause.contains("ACKed more data after it"), "{}", f.cause);
    // Two ACKs may have been overtaken.
    assert_eq!(at_the_server(401, &ACKS[..2]).ids(), ["reset"]);
}

#[test]
fn half_of_a_connection_does_not_tell_whether_a_rst_counted() {
    let half = |number: u32| {
        let rst = format!("200 < R {number} 0 0 0 ttl=52");
        analyze_script(&[
            "40 < S. 500 101 0 60000 mss=1460 ttl=52",
            "95 < . 501 401 1000 60000 ttl=52",
            &rst,
            "260 < . 1501 401 1000 60000 ttl=52",
            "320 < . 2501 401 1000 60000 ttl=52",
        ])
    };
    let answer = half(5_001_501);
    let said = |id| answer.ids().contains(&id);
    assert!(!said("reset") && !said("reset_by_middlebox") && !said(ID));
    assert_ne!(answer.streams[0].state, State::Reset);
    let lacks = answer.totals.not_checked.iter();
    let not_checked: Vec<&str> = lacks.map(|n| n.finding.name()).collect();
    for id in ["reset", "reset_by_middlebox", ID] {
        assert!(not_checked.contains(&id), "{id}: {not_checked:?}");
    }
    // The next number: an end that had sent it would not go on.
    let exact = half(1501);
    assert!(exact.ids().contains(&"reset_by_middlebox"));
    assert_eq!(exact.streams[0].state, State::Reset);
}

#[test]
fn a_rst_before_the_handshake_is_done_may_end_nothing() {
    let done = [
        "40 < S. 500 101 0 60000 mss=1460",
        "40.1 > . 101 501 0 60000",
        "50 > P. 101 501 300 60000",
        "90 < . 501 401 0 60000",
        "95 < P. 501 401 200 60000",
        "96 > F. 401 701 0 60000",
        "140 < F. 701 402 0 60000",
        "141 > . 402 702 0 60000",
    ];
    let begin = |rst| ["0 > S 100 0 0 60000 mss=1460", rst];
    // The client drops one that does not ACK its SYN (RFC 9293 3.10.7.3).
    let forged = begin("10 < R. 0 5000 0 0");
    let answer = analyze_script(&[&forged[..], &done].concat());
    assert_eq!(answer.ids(), [""; 0]);
    assert_eq!(answer.streams[0].state, State::Complete);
    let refused = begin("10 < R. 0 101 0 0");
    let answer = analyze_script(&refused);
    assert_eq!(answer.ids(), ["refused"]);
    assert_eq!(answer.streams[0].state, State::Refused);
}

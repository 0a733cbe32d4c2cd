//! Single causes as short conversations, built by hand: what must be found, and what must not.

mod common;

use common::{Answer, analyze_script};

/// A handshake with a path of 100 ms between the capture (at the client) and the server.
const HANDSHAKE: [&str; 3] = [
    "0 > S 100 0 0 60000 mss=1460 sackok",
    "100 < S. 500 101 0 60000 mss=1460 sackok",
    "100 > . 101 501 0 60000",
];

fn after_handshake(lines: &[&str]) -> Answer {
    let all: Vec<&str> = HANDSHAKE.iter().chain(lines).copied().collect();
    analyze_script(&all)
}

#[test]
fn an_ack_up_to_the_end_of_a_hole_shows_that_the_capture_missed_a_packet() {
    // 1101-2101 is not there, and its ACK ends where the next one begins.
    let hole = [
        "101 > . 101 501 1000 60000",
        "103 > . 2101 501 1000 60000",
        "201 < . 501 1101 0 60000",
        "202 < . 501 2101 0 60000",
        "203 < . 501 3101 0 60000",
    ];
    assert_eq!(after_handshake(&hole).ids(), ["capture_artefacts"]);
    let mut whole = hole.to_vec();
    whole.insert(1, "102 > . 1101 501 1000 60000");
    assert_eq!(after_handshake(&whole).ids(), [""; 0]);
}

#[test]
fn data_that_the_capture_wrote_after_its_ack_was_not_missed() {
    let swapped = [
        "101 > . 101 501 1000 60000",
        "103 > . 2101 501 1000 60000",
        "201 < . 501 1101 0 60000",
        "202 < . 501 2101 0 60000",
        "202 > . 1101 501 1000 60000",
        "203 < . 501 3101 0 60000",
    ];
    assert_eq!(after_handshake(&swapped).ids(), [""; 0]);
    // A second later it is a retransmission, and the first one is still missing.
    let mut again = swapped.to_vec();
    again.swap(4, 5);
    again[5] = "1202 > . 1101 501 1000 60000";
    let answer = after_handshake(&again);
    assert_eq!(answer.streams[0].client_to_server.retransmissions.total, 1);
    assert!(answer.ids().contains(&"capture_artefacts"));
}

#[test]
fn a_window_probe_with_one_byte_was_not_missed() {
    let probed = [
        "101 > P. 101 501 1000 60000",
        "201 < . 501 1101 0 0",
        "501 > . 1101 501 1 60000",
        "601 < . 501 1101 0 0",
        "1201 > . 1101 501 1 60000",
        "1301 < . 501 1102 0 60000",
        "1301 > P. 1102 501 1000 60000",
        "1401 < . 501 2102 0 60000",
    ];
    assert_eq!(after_handshake(&probed).ids(), ["zero_window_stall"]);
}

#[test]
fn a_long_burst_before_the_first_ack_was_not_missed() {
    // The flight keeps 64 segments until an ACK is seen; the capture begins in the middle.
    let mut lines: Vec<String> = (0..100)
        .map(|i| format!("{i} > . {} 501 1000 60000", 1000 * i))
        .collect();
    lines.extend((1..=100).map(|i| format!("{} < . 501 {} 0 60000", 200 + i, 1000 * i)));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(analyze_script(&lines).ids(), [""; 0]);
}

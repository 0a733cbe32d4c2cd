//! Single causes as short conversations built by hand: findings that must be reported, and findings that must not.

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
fn ack_to_the_end_of_a_hole_shows_a_packet_missed_by_the_capture() {
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
fn data_captured_after_its_ack_was_not_missed() {
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

#[test]
fn ack_of_an_older_connection_does_not_count() {
    // RFC 5961 4: the server still has the old one and says so; the RST ends that.
    let answer = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460",
        "20 < . 7000 900000 0 60000",
        "20 > R 900000 0 0 0",
        "3000 > S 100 0 0 60000 mss=1460",
        "3020 < S. 500 101 0 60000 mss=1460",
        "3020 > . 101 501 0 60000",
        "3021 > P. 101 501 200 60000",
        "3041 < . 501 301 0 60000",
    ]);
    assert_eq!(answer.ids(), ["time_wait_reuse"]);
    let [stream] = &answer.streams[..] else {
        panic!("one stream");
    };
    assert_eq!(stream.client_to_server.retransmissions.total, 1);
    assert_eq!(stream.server_to_client.retransmissions.total, 0);
}

#[test]
fn wait_for_an_older_connection_needs_a_repeated_syn() {
    let answer = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460",
        "20 < . 7000 900000 0 60000",
        "20 > R 900000 0 0 0",
    ]);
    assert_eq!(answer.ids(), [""; 0]);
}

#[test]
fn syns_that_cross_are_answered_and_not_repeated() {
    let crossed = [
        "0 > S 100 0 0 60000 mss=1460",
        "8 < S 500 0 0 60000 mss=1460",
        "8.1 > S. 100 501 0 60000 mss=1460",
        "28 < S. 500 101 0 60000 mss=1460",
        "28.1 > P. 101 501 200 60000",
        "48 < . 501 301 0 60000",
    ];
    let answer = analyze_script(&crossed);
    assert!(!answer.ids().contains(&"syn_retries"), "{:?}", answer.ids());
    let h = answer.streams[0].handshake.expect("a handshake");
    assert_eq!((h.syn_retransmissions, h.synack_retransmissions), (0, 0));
    assert_eq!(h.server_rtt_us, Some(28_000));
    // A SYN-ACK that comes again is one that was sent again.
    let twice = [
        &crossed[..3],
        &[
            "1010 > S. 100 501 0 60000 mss=1460",
            "1028 < S. 500 101 0 60000 mss=1460",
            "1028.1 > P. 101 501 200 60000",
            "1048 < . 501 301 0 60000",
        ],
    ]
    .concat();
    assert!(analyze_script(&twice).ids().contains(&"syn_retries"));
}

#[test]
fn syn_sooner_than_any_timer_is_a_copy() {
    let twice = |ms: &str| {
        let again = format!("{ms} > S 100 0 0 60000 mss=1460");
        analyze_script(&[
            "0 > S 100 0 0 60000 mss=1460",
            &again,
            "1020 < S. 500 101 0 60000 mss=1460",
        ])
    };
    assert_eq!(twice("1000").ids(), ["syn_retries"]);
    let copied = twice("3");
    assert!(!copied.ids().contains(&"syn_retries"), "{:?}", copied.ids());
    // A file that holds its packets twice: time goes back.
    let back = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460",
        "40 < S. 500 101 0 60000 mss=1460",
        "40 > . 101 501 0 60000",
        "2000 > P. 101 501 200 60000",
        "0 > S 100 0 0 60000 mss=1460",
    ]);
    assert!(!back.ids().contains(&"syn_retries"), "{:?}", back.ids());
}

#[test]
fn time_stamps_refused_by_the_peer_cost_no_payload() {
    let sent = |answer: &str| {
        let answer = format!("40 < S. 500 101 0 60000 mss=1440{answer}");
        let with = if answer.contains("ts=") {
            " ts=2,7"
        } else {
            ""
        };
        let data = format!("41 > . 101 501 1440 60000{with}");
        let answer = analyze_script(&["0 > S 100 0 0 60000 mss=1460 ts=1,0", &answer, &data]);
        answer.ids().contains(&"capture_artefacts")
    };
    assert!(!sent(""));
    assert!(sent(" ts=7,1"));
}

#[test]
fn keep_alive_answered_by_a_dsack_is_no_duplicate() {
    // The capture holds the client's packets twice, too.
    let answer = after_handshake(&[
        "101 > P. 101 501 200 60000 id=5",
        "101.02 > P. 101 501 200 60000 id=5",
        "201 < . 501 301 0 60000",
        "45000 > . 300 501 1 60000 id=6",
        "45000.02 > . 300 501 1 60000 id=6",
        "45100 < . 501 301 0 60000 sack=300-301",
    ]);
    assert!(!answer.ids().contains(&"duplication"), "{:?}", answer.ids());
}

/// A FIN that is sent again and again, then `last`.
fn fin_again(last: &str) -> Answer {
    after_handshake(&[
        "101 > F. 101 501 0 60000",
        "401 > F. 101 501 0 60000",
        "1001 > F. 101 501 0 60000",
        "2201 > F. 101 501 0 60000",
        "4601 > F. 101 501 0 60000",
        last,
    ])
}

#[test]
fn a_rst_that_answers_shows_that_packets_arrive() {
    let has = |answer: Answer| answer.ids().contains(&"black_hole");
    assert!(has(fin_again("9401 > F. 101 501 0 60000")));
    assert!(!has(fin_again("4701 < R 501 0 0 0")));
    // A program that gives up sends one as well, without having heard anything.
    assert!(has(fin_again("4701 < R. 501 101 0 0")));
}

#[test]
fn a_fin_whose_payload_was_acked_was_not_lost() {
    let again = |ack: &str| {
        let answer = after_handshake(&[
            "101 > F. 101 501 100 60000",
            &format!("201 < . 501 {ack} 0 60000"),
            "501 > F. 201 501 0 60000",
            "601 < F. 501 202 0 60000",
            "602 > . 202 502 0 60000",
        ]);
        let retransmissions = &answer.streams[0].client_to_server.retransmissions;
        (retransmissions.rto, answer.ids().contains(&"rto_stall"))
    };
    assert_eq!(again("201"), (0, false), "its end does not close yet");
}

/// Small writes that arrive, then full segments (1460) of which none does: sent, and sent again
/// after 300 and 900 ms.
const LARGE_VANISH: [&str; 8] = [
    "101 > P. 101 501 500 60000",
    "201 < . 501 601 0 60000",
    "202 > . 601 501 1460 60000",
    "202 > . 2061 501 1460 60000",
    "502 > . 601 501 1460 60000",
    "600 < P. 501 601 200 60000",
    "600 > . 3521 701 0 60000",
    "1402 > . 601 501 1460 60000",
];

#[test]
fn two_timeouts_are_a_black_hole_when_only_full_segments_vanish() {
    let answer = after_handshake(&LARGE_VANISH);
    let hole = answer.findings.iter().find(|f| f.id.name() == "black_hole");
    let hole = hole.expect("a black hole");
    assert!(
        hole.title.starts_with("nothing large from"),
        "{}",
        hole.title
    );
    assert!(hole.cause.contains("1460 bytes"), "{}", hole.cause);
}

#[test]
fn two_timeouts_are_no_black_hole_when_a_full_segment_had_arrived() {
    let mut lines = LARGE_VANISH.to_vec();
    lines[0] = "101 > P. 101 501 1460 60000";
    lines[1] = "201 < . 501 1561 0 60000";
    let later: Vec<String> = lines[2..]
        .iter()
        .map(|l| {
            l.replace(" 601 ", " 1561 ")
                .replace(" 2061 ", " 3021 ")
                .replace(" 3521 ", " 4481 ")
        })
        .collect();
    lines.truncate(2);
    lines.extend(later.iter().map(String::as_str));
    assert!(!after_handshake(&lines).ids().contains(&"black_hole"));
    // A third timeout makes it one, but not because of its size.
    lines.push("3202 > . 1561 501 1460 60000");
    let answer = after_handshake(&lines);
    let hole = answer.findings.iter().find(|f| f.id.name() == "black_hole");
    let hole = hole.expect("a black hole");
    assert!(
        hole.title.contains("gets no ACK any more"),
        "{}",
        hole.title
    );
}

#[test]
fn two_timeouts_of_one_lost_segment_are_no_black_hole() {
    let mut lines = LARGE_VANISH.to_vec();
    lines.remove(3);
    assert!(!after_handshake(&lines).ids().contains(&"black_hole"));
}

/// The server's data passes a capture at the client, without time stamps and IP identification;
/// 1501-2501 is not where it belongs. The answer to a duplicate ACK takes 100 ms.
const HOLE: [&str; 9] = [
    "200 < . 501 101 1000 60000",
    "200 > . 101 1501 0 60000",
    "202 < . 2501 101 1000 60000",
    "202 > . 101 1501 0 60000 sack=2501-3501",
    "203 < . 3501 101 1000 60000",
    "203 > . 101 1501 0 60000 sack=2501-4501",
    "204 < . 4501 101 1000 60000",
    "204 > . 101 1501 0 60000 sack=2501-5501",
    "205 < . 5501 101 1000 60000",
];

#[test]
fn packet_before_any_possible_repair_is_late() {
    let mut lines = HOLE.to_vec();
    lines.extend([
        "260 < . 1501 101 1000 60000",
        "260 > . 101 6501 0 60000",
        "306 < . 1501 101 1000 60000",
        "306 > . 101 6501 0 60000 sack=1501-2501",
        "370 < . 6501 101 1000 60000",
        "370 > . 101 7501 0 60000",
    ]);
    let answer = after_handshake(&lines);
    let both = ["reordering", "spurious_retransmission_reordering"];
    assert_eq!(answer.ids(), both);
    let again = &answer.streams[0].server_to_client.retransmissions;
    assert_eq!((again.total, again.fast, again.spurious), (1, 1, 1));
}

#[test]
fn packet_a_round_trip_after_the_hole_was_sent_again() {
    let mut lines = HOLE.to_vec();
    lines.extend(["306 < . 1501 101 1000 60000", "306 > . 101 6501 0 60000"]);
    let answer = after_handshake(&lines);
    assert_eq!(answer.ids(), ["loss"]);
    let again = &answer.streams[0].server_to_client.retransmissions;
    assert_eq!((again.total, again.fast, again.spurious), (1, 1, 0));
}

#[test]
fn between_the_hosts_the_time_runs_from_the_duplicate_ack() {
    // 20 ms to the server and back, 80 ms to the client and back: the duplicate ACKs pass the
    // capture 80 ms after the data, the late segment 5 ms after them.
    let lines = [
        "0 > S 100 0 0 60000 mss=1460 sackok",
        "20 < S. 500 101 0 60000 mss=1460 sackok",
        "100 > . 101 501 0 60000",
        "120 < . 501 101 1000 60000",
        "122 < . 2501 101 1000 60000",
        "123 < . 3501 101 1000 60000",
        "124 < . 4501 101 1000 60000",
        "200 > . 101 1501 0 60000",
        "202 > . 101 1501 0 60000 sack=2501-3501",
        "203 > . 101 1501 0 60000 sack=2501-4501",
        "204 > . 101 1501 0 60000 sack=2501-5501",
        "207 < . 1501 101 1000 60000",
        "287 > . 101 5501 0 60000",
    ];
    let answer = analyze_script(&lines);
    assert_eq!(answer.streams[0].server_to_client.retransmissions.total, 0);
    let mut asked = lines.to_vec();
    asked[11] = "222 < . 1501 101 1000 60000";
    let answer = analyze_script(&asked);
    assert_eq!(answer.streams[0].server_to_client.retransmissions.total, 1);
}

#[test]
fn the_echo_of_an_earlier_segment_does_not_make_a_probe_spurious() {
    // The last segment is lost, the one before it waits for the timer of the receiver; the probe
    // comes first, and the ACK of both echoes the earlier time stamp (RFC 7323 4.3).
    let answer = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460 sackok ts=1000,0",
        "2 < S. 500 101 0 60000 mss=1460 sackok ts=9000,1000",
        "2 > . 101 501 0 60000 ts=1002,9000",
        "3 > . 101 501 1000 60000 ts=1003,9000",
        "3 > P. 1101 501 1000 60000 ts=1003,9000",
        "20 > P. 1101 501 1000 60000 ts=1020,9000",
        "22 < . 501 2101 0 60000 ts=9020,1003",
    ]);
    assert_eq!(answer.ids(), ["tail_loss"]);
    let again = &answer.streams[0].client_to_server.retransmissions;
    assert_eq!((again.tlp, again.spurious), (1, 0));
}

#[test]
fn timeout_after_a_sacked_probe_is_a_timeout() {
    // Two last segments are lost and the probe repeats the second. Its SACK alone lets no sender
    // repeat the first (RFC 6675), which waits for the timer.
    let answer = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460 sackok",
        "80 < S. 500 101 0 60000 mss=1460 sackok",
        "80 > . 101 501 0 60000",
        "81 > . 101 501 1460 60000",
        "81 > . 1561 501 1460 60000",
        "81 > P. 3021 501 400 60000",
        "161 < . 501 1561 0 60000",
        "325 > P. 3021 501 400 60000",
        "405 < . 501 1561 0 60000 sack=3021-3421",
        "613 > . 1561 501 1460 60000",
        "693 < . 501 3421 0 60000",
    ]);
    assert_eq!(answer.ids(), ["rto_stall", "tail_loss"]);
    let again = &answer.streams[0].client_to_server.retransmissions;
    assert_eq!((again.tlp, again.rto), (1, 1));
}

#[test]
fn a_timeout_after_a_probe_is_judged_by_its_own_echo() {
    let lines = [
        "0 > S 100 0 0 60000 mss=1460 sackok ts=1000,0",
        "50 < S. 500 101 0 60000 mss=1460 sackok ts=9000,1000",
        "50 > . 101 501 0 60000 ts=1050,9000",
        "51 > P. 101 501 16 60000 ts=1051,9000",
        "51 > P. 117 501 16 60000 ts=1051,9000",
        "150 > P. 117 501 16 60000 ts=1150,9000",
        "400 > P. 101 501 16 60000 ts=1400,9000",
        "450 < . 501 133 0 60000 ts=9400,1051",
    ];
    assert_eq!(analyze_script(&lines).ids(), ["spurious_rto"]);
    let mut lost = lines;
    lost[7] = "450 < . 501 133 0 60000 ts=9400,1400";
    assert_eq!(analyze_script(&lost).ids(), ["rto_stall", "tail_loss"]);
}

#[test]
fn ack_of_a_fin_is_no_timer_ack() {
    let near = [
        "0 > S 100 0 0 60000 mss=1460 sackok",
        "0 < S. 500 101 0 60000 mss=1460 sackok",
        "0 > . 101 501 0 60000",
        "100 > P. 101 501 1000 60000",
    ];
    let classes = |rest: &[&str]| {
        let all: Vec<&str> = near.iter().chain(rest).copied().collect();
        let acks = analyze_script(&all).streams[0]
            .server_to_client
            .acks_sent
            .clone();
        (acks.delayed, acks.other)
    };
    assert_eq!(classes(&["140 < . 501 1101 0 60000"]), (1, 0));
    // The data waited for 30 ms; then the FIN came and all was ACKed.
    let ended = ["130 > F. 1101 501 0 60000", "130 < . 501 1102 0 60000"];
    assert_eq!(classes(&ended), (0, 1));
    // The FIN waited, too: the timer sent the ACK.
    let waited = ["120 > F. 1101 501 0 60000", "140 < . 501 1102 0 60000"];
    assert_eq!(classes(&waited), (1, 0));
}

#[test]
fn options_of_syns_that_cross_are_agreed() {
    let syn = "mss=1460 sackok ws=7 ts";
    let lines = [
        format!("0 > S 100 0 0 60000 {syn}=1,0"),
        format!("8 < S 500 0 0 60000 {syn}=1,0"),
        format!("8.1 > S. 100 501 0 60000 {syn}=9,1"),
        format!("28 < S. 500 101 0 60000 {syn}=21,1"),
        "28.1 > P. 101 501 200 512 ts=29,21".to_owned(),
        "48 < . 501 301 0 512 ts=41,29".to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let answer = analyze_script(&lines);
    assert_eq!(answer.ids(), [""; 0]);
    let s = &answer.streams[0];
    assert_eq!(s.server_to_client.window_scale, Some(7));
    assert!(s.server_to_client.sack_permitted && !s.server_to_client.window_unscaled);
    assert_eq!(s.server_to_client.window_bytes, Some((512 << 7, 512 << 7)));
}

#[test]
fn a_syn_behind_its_answer_in_the_file_was_sent_once() {
    let answer = analyze_script(&[
        "2 < S. 500 101 0 60000 mss=1460",
        "0 > S 100 0 0 60000 mss=1460",
        "2.1 > . 101 501 0 60000",
        "3 > P. 101 501 200 60000",
        "5 < . 501 301 0 60000",
    ]);
    assert!(!answer.ids().contains(&"syn_retries"), "{:?}", answer.ids());
    let s = &answer.streams[0];
    common::adds_up(s);
    assert_eq!(s.client_to_server.retransmissions.total, 0);
    assert_eq!(s.handshake.expect("a handshake").server_rtt_us, Some(2_000));
    assert_eq!(s.duration_us, 5_000);
}

/// A capture at the receiver: a lost segment, its repair, then `more`.
fn repaired_at_the_receiver(more: &[&str]) -> Answer {
    let lines = [
        "0 > S 100 0 0 60000 mss=1460 sackok ts=1000,0 id=1",
        "0.1 < S. 500 101 0 60000 mss=1460 sackok ts=9000,1000 id=1",
        "20 > . 101 501 0 60000 ts=1020,9000 id=2",
        "30 > . 101 501 1000 60000 ts=1030,9000 id=3",
        "30.1 < . 501 1101 0 60000 ts=9030,1030 id=2",
        "31 > . 2101 501 1000 60000 ts=1031,9000 id=5",
        "31.1 < . 501 1101 0 60000 ts=9031,1030 sack=2101-3101 id=3",
        "31.2 > . 3101 501 1000 60000 ts=1031,9000 id=6",
        "31.3 < . 501 1101 0 60000 ts=9031,1030 sack=2101-4101 id=4",
        "31.4 > . 4101 501 1000 60000 ts=1031,9000 id=7",
        "31.5 < . 501 1101 0 60000 ts=9031,1030 sack=2101-5101 id=5",
        "52 > . 1101 501 1000 60000 ts=1052,9031 id=8",
        "52.1 < . 501 5101 0 60000 ts=9052,1052 id=6",
    ];
    analyze_script(&[&lines[..], more].concat())
}

#[test]
fn a_dsack_answers_the_second_copy_and_not_the_repair() {
    let id = "spurious_retransmission_reordering";
    let spurious = |a: &Answer| a.streams[0].client_to_server.retransmissions.spurious;
    // The network doubled the repair.
    let a = repaired_at_the_receiver(&[
        "53 > . 1101 501 1000 60000 ts=1052,9031 id=8",
        "53.1 < . 501 5101 0 60000 ts=9053,1052 sack=1101-2101 id=7",
    ]);
    assert_eq!(spurious(&a), 0);
    assert!(!a.ids().contains(&id), "{:?}", a.ids());
    // The ACK was lost, and the timer repeated the repair.
    let a = repaired_at_the_receiver(&[
        "320 > . 1101 501 1000 60000 ts=1320,9031 id=9",
        "320.1 < . 501 5101 0 60000 ts=9320,1320 sack=1101-2101 id=7",
    ]);
    assert_eq!(spurious(&a), 1);
    assert!(!a.ids().contains(&id), "{:?}", a.ids());
}

/// A client whose last 400 bytes are lost and sent again after a silence.
fn last_one_lost(rtt: u32) -> Answer {
    let at = |ms: u32| rtt + ms;
    let lines = [
        "0 > S 100 0 0 60000 mss=1460 sackok".to_owned(),
        format!("{rtt} < S. 500 101 0 60000 mss=1460 sackok"),
        format!("{rtt} > . 101 501 0 60000"),
        format!("{} > P. 101 501 400 60000", at(1)),
        format!("{} < . 501 501 0 60000", at(1) + rtt),
        format!("{} > P. 501 501 400 60000", at(300)),
        // Lost.
        format!("{} > P. 501 501 400 60000", at(510) + 2 * rtt),
        format!("{} < . 501 901 0 60000", at(510) + 3 * rtt),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    analyze_script(&lines)
}

#[test]
fn a_lower_minimum_rto_is_a_remedy_only_on_a_short_path() {
    let remedies = |rtt: u32| {
        let answer = last_one_lost(rtt);
        assert_eq!(answer.ids(), ["tail_loss"]);
        answer.findings[0].remedy.join("\n")
    };
    let [near, far] = [remedies(20), remedies(120)];
    // Above the receiver's delayed-ACK timer: Linux adds the round trip.
    for part in [
        "`ip route replace 192.0.2.2/32 [via GATEWAY] dev DEVICE rto_min 60ms` (`ip route get 192.0.2.2` names both)",
        "tcp_rto_min_us=60000",
        "The silence of 250 ms then becomes about 110 ms.",
    ] {
        assert!(near.contains(part), "{part}: {near}");
    }
    assert!(!far.contains("rto_min"), "{far}");
    assert!(!near.contains("pace") && !near.contains("fq"), "{near}");
}

#[test]
fn the_remedies_of_a_lost_end_ask_only_for_what_can_help() {
    let told = |answer: &Answer| {
        (
            answer.findings[0].cause.clone(),
            answer.findings[0].remedy.join("\n"),
        )
    };
    // One segment in flight: the probe is no sooner than the timeout, and SACK has nothing to report.
    let (cause, lone) = told(&last_one_lost(20));
    assert!(
        cause.contains("probe and timeout were due together"),
        "{cause}"
    );
    assert!(
        lone.contains("`net.ipv4.tcp_early_retrans` makes no difference"),
        "{lone}"
    );
    assert!(
        lone.contains("nstat -az TcpExtTCPLossProbes TcpExtTCPTimeouts"),
        "{lone}"
    );
    assert!(
        !lone.contains("tcp_sack") && !lone.contains("sysctl net.ipv4.tcp_early_retrans"),
        "{lone}"
    );
    // The capture is the sender's, and has what was lost.
    assert!(
        lone.contains("after the qdisc of 192.0.2.1 (the capture there has them)"),
        "{lone}"
    );
    // Two in flight, both lost, SACK agreed: a probe of the last one tells of the first.
    let two = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460 sackok",
        "20 < S. 500 101 0 60000 mss=1460 sackok",
        "20 > . 101 501 0 60000",
        "21 > P. 101 501 400 60000",
        "41 < . 501 501 0 60000",
        "300 > . 501 501 1460 60000",
        "300 > P. 1961 501 1460 60000",
        "350 > P. 1961 501 1460 60000",
        "370 < . 501 501 0 60000 sack=1961-3421",
        "370 > . 501 501 1460 60000",
        "390 < . 501 3421 0 60000",
    ]);
    let (cause, several) = told(&two);
    assert!(cause.contains("no later than the timeout"), "{cause}");
    assert!(
        several.contains("`sysctl -w net.ipv4.tcp_early_retrans=3`"),
        "{several}"
    );
    assert!(!several.contains("tcp_sack"), "{several}");
}

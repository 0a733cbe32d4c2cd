//! Who waited for what, where a pause, a lost packet or a cut capture makes it look like something else. Short
//! conversations built by hand, at the client of a path of 100 ms unless a test says otherwise.

mod common;

use common::{Answer, analyze_script};

const SYNS: [&str; 3] = [
    "0 > S 100 0 0 60000 mss=1460 sackok",
    "100 < S. 500 101 0 60000 mss=1460 sackok",
    "100 > . 101 501 0 60000",
];
/// The same at the server.
const AT_SERVER: [&str; 3] = [
    "0 > S 100 0 0 60000 mss=1460 sackok",
    "0.1 < S. 500 101 0 60000 mss=1460 sackok",
    "100 > . 101 501 0 60000",
];

fn run(begin: &[&str], rest: &[impl AsRef<str>]) -> Answer {
    let rest = rest.iter().map(AsRef::as_ref);
    let all: Vec<&str> = begin.iter().copied().chain(rest).collect();
    analyze_script(&all)
}

fn has(answer: &Answer, id: &str) -> bool {
    answer.ids().contains(&id)
}

/// What a finding needs that the capture lacks.
fn lacks(answer: &Answer, id: &str) -> Option<String> {
    let all = &answer.totals.not_checked;
    let n = all.iter().find(|n| n.finding.name() == id)?;
    Some(format!("{:?}", n.lacks))
}

/// A request, and an answer in two pieces with so many milliseconds between them; the client speaks again after `then`.
fn in_pieces(gap: f64, then: f64) -> Vec<String> {
    let (second, next) = (211.0 + gap, 211.2 + gap + then);
    vec![
        "110 > P. 101 501 200 60000".to_owned(),
        "210 < P. 501 301 700 60000 id=7".to_owned(),
        "210.1 > . 301 1201 0 60000".to_owned(),
        format!("{second} < P. 1201 301 700 60000 id=8"),
        format!("{} > . 301 1901 0 60000", second + 0.1),
        format!("{next} > P. 301 1901 200 60000"),
    ]
}

#[test]
fn server_stops_in_the_middle_of_its_answer() {
    let answer = run(&SYNS, &in_pieces(400.0, 0.0));
    assert_eq!(answer.ids(), ["slow_server"]);
    let said = &answer.findings[0].title;
    let want = "192.0.2.2 paused for 401 ms in the middle of its answer: the program, not TCP";
    assert_eq!(said, want);
    // Nobody waited for the second one: it may be a message of its own.
    assert!(!has(&run(&SYNS, &in_pieces(400.0, 900.0)), "slow_server"));
    // A packet is missing before the second one: a timer may have sent it.
    let lost = in_pieces(400.0, 0.0).join("\n").replace("id=8", "id=9");
    let lost: Vec<&str> = lost.lines().collect();
    assert!(!has(&run(&SYNS, &lost), "slow_server"));
    // It waited for the ACK.
    let mut waited = in_pieces(400.0, 0.0);
    waited[2] = "610 > . 301 1201 0 60000".to_owned();
    assert!(!has(&run(&SYNS, &waited), "slow_server"));
}

#[test]
fn a_late_answer_of_two_segments_is_no_retransmission() {
    let late = |lines: &[&str]| run(&SYNS, lines);
    let request = ["110 > P. 101 501 200 60000", "210 < . 501 301 0 60000"];
    // No IP identification tells whether an answer was lost, but a timer sends one segment at a time.
    let two = late(
        &[
            &request[..],
            &[
                "700 < . 501 301 1460 60000",
                "700.1 < P. 1961 301 500 60000",
            ],
        ]
        .concat(),
    );
    assert!(has(&two, "slow_server"), "{:?}", two.ids());
    let one = late(&[&request[..], &["700 < P. 501 301 500 60000"]].concat());
    assert!(!has(&one, "slow_server"));
    assert_eq!(lacks(&one, "slow_server").as_deref(), Some("AtSender"));
}

#[test]
fn a_request_that_the_capture_missed_is_no_wait() {
    // The second half of the request came just before the answer; its ACK tells.
    let lines = [
        "110 > P. 101 501 200 60000",
        "150 < . 501 301 0 60000",
        "400 < . 501 401 0 60000",
        "400.1 < P. 501 401 700 60000",
        "500 > . 401 1201 0 60000",
    ];
    let answer = run(&AT_SERVER, &lines);
    assert!(!has(&answer, "slow_server"), "{:?}", answer.ids());
    assert_eq!(
        lacks(&answer, "slow_server").as_deref(),
        Some("EveryPacket")
    );
}

/// Rounds of full segments from the server, at the client; the segments are numbered from `id`.
fn rounds(
    lines: &mut Vec<String>,
    (mut seq, mut now, mut id): (u32, f64, u32),
    lengths: &[u32],
) -> (u32, f64, u32) {
    for &segments in lengths {
        for i in 0..segments {
            let at = now + f64::from(i) * 0.02;
            lines.push(format!("{at} < . {seq} 301 1460 60000 id={id}"));
            seq += 1460;
            lines.push(format!("{} > . 301 {seq} 0 60000", at + 0.01));
            id += 1;
        }
        now += 100.0;
    }
    (seq, now, id)
}

#[test]
fn a_flight_after_a_timeout_is_no_restart_after_idle() {
    let with = |id_skips: u32, first: u32, lost: bool| {
        let mut lines = vec!["110 > P. 101 501 200 60000".to_owned()];
        let (seq, now, id) = rounds(&mut lines, (501, 210.0, 1), &[4, 8, 16, 30]);
        let ask = now + 900.0;
        lines.push(format!("{ask} > P. 301 {seq} 200 60000"));
        if lost {
            lines.push(format!("{} > P. 301 {seq} 200 60000", ask + 400.0));
        }
        let begin = (seq, ask + 700.0, id + id_skips);
        let (end, at, _) = rounds(&mut lines, begin, &[first, 2 * first, 4 * first, first]);
        lines.push(format!("{at} < F. {end} 501 0 60000"));
        run(&SYNS, &lines)
    };
    assert!(has(&with(0, 10, false), "window_after_idle"));
    // Segments of the answer were lost before the capture, or the request was.
    assert!(!has(&with(10, 10, false), "window_after_idle"), "lost");
    assert!(!has(&with(0, 10, true), "window_after_idle"), "asked again");
    // No window after idle time is one segment; that of a timeout is.
    assert!(!has(&with(0, 1, false), "window_after_idle"), "one segment");
}

#[test]
fn a_timeout_seen_behind_the_loss_is_not_spurious() {
    let mut lines = vec!["110 > P. 101 501 200 60000 ts=1,1".to_owned()];
    let stamp = |line: &str, ms: u32| format!("{line} ts={ms},1");
    for i in 0..6 {
        let (seq, at) = (501 + 1448 * i, 210 + i);
        lines.push(stamp(
            &format!("{at} < . {seq} 301 1448 60000 id={}", i + 1),
            at,
        ));
        lines.push(stamp(
            &format!("{at}.01 > . 301 {} 0 60000", seq + 1448),
            at,
        ));
    }
    // Six segments are lost before the capture; the timer repeats the first, and new data goes on behind the hole.
    let hole = 501 + 1448 * 6;
    lines.push(stamp(&format!("700 < . {hole} 301 1448 60000 id=13"), 700));
    lines.push(stamp(
        &format!("700.01 > . 301 {} 0 60000", hole + 1448),
        700,
    ));
    for i in 0..2 {
        let seq = hole + 1448 * (6 + i);
        lines.push(stamp(
            &format!("80{i} < . {seq} 301 1448 60000 id={}", 14 + i),
            800 + i,
        ));
        lines.push(stamp(
            &format!("80{i} > . 301 {} 0 60000", hole + 1448),
            800 + i,
        ));
    }
    let answer = run(&SYNS, &lines);
    assert!(has(&answer, "rto_stall"), "{:?}", answer.ids());
    assert!(!has(&answer, "spurious_rto"));
}

#[test]
fn a_rst_long_after_the_handshake_is_no_refusal() {
    // The capture missed the SYN-ACK.
    let lines = [
        "100 > . 101 501 0 60000",
        "110 > P. 101 501 200 60000",
        "210 < R. 501 301 0 0",
    ];
    let answer = run(&SYNS[..1], &lines);
    assert_eq!(answer.ids(), ["reset"]);
    let refused = run(&SYNS[..1], &["100 < R. 0 101 0 0"]);
    assert_eq!(refused.ids(), ["refused"]);
}

#[test]
fn half_of_a_connection_does_not_tell_how_it_ended() {
    let client = ["110 > P. 101 501 200 60000", "210 > . 301 1201 0 60000"];
    let open = run(&[SYNS[0], SYNS[2]], &client);
    for id in ["reset", "reset_by_middlebox"] {
        assert_eq!(lacks(&open, id).as_deref(), Some("BothDirections"), "{id}");
    }
    let closed = run(
        &[SYNS[0], SYNS[2]],
        &[&client[..], &["300 > F. 301 1201 0 60000"]].concat(),
    );
    assert_eq!(lacks(&closed, "reset"), None);
    // A SYN alone, or the RST alone.
    for line in [SYNS[0], "100 < R. 0 101 0 0"] {
        let answer = analyze_script(&[line]);
        assert_eq!(
            lacks(&answer, "refused").as_deref(),
            Some("BothDirections"),
            "{line}"
        );
    }
}

#[test]
fn late_acks_of_a_reader_whose_window_was_closed() {
    // Two segments that are ACKed at once, and then single ones that are ACKed after 40 ms, each followed at once by the
    // next: a late ACK, or a window that opens.
    let stream = |window: u32, closed: bool| {
        let mut lines = vec![format!("110 > P. 101 501 200 {window}")];
        let (mut seq, mut at) = (501, 210.0);
        for i in 0..12 {
            lines.push(format!("{at} < . {seq} 301 1460 60000"));
            seq += 1460;
            if i < 6 {
                lines.push(format!("{} < . {seq} 301 1460 60000", at + 0.1));
                seq += 1460;
            }
            at += if i < 6 { 0.2 } else { 40.0 };
            lines.push(format!("{at} > . 301 {seq} 0 {window}"));
            at += 100.0;
        }
        if closed {
            lines.push(format!("{} > . 301 {seq} 0 0", at + 50.0));
            lines.push(format!("{} > . 301 {seq} 0 {window}", at + 99.0));
        }
        lines
    };
    let scaled = [
        "0 > S 100 0 0 60000 mss=1460 ws=7",
        "100 < S. 500 101 0 60000 mss=1460 ws=7",
        SYNS[2],
    ];
    assert!(has(
        &run(&scaled, &stream(500, true)),
        "delack_request_response"
    ));
    assert!(has(
        &run(&[], &stream(500, false)),
        "delack_request_response"
    ));
    let unknown = run(&[], &stream(500, true));
    assert!(!has(&unknown, "delack_request_response"));
    assert!(lacks(&unknown, "delack_request_response").is_some());
    // With the smallest scale that there can be, two segments fill this window.
    assert!(!has(
        &run(&[], &stream(1500, false)),
        "delack_request_response"
    ));
}

#[test]
fn a_queue_that_cannot_have_stood_is_not_left_open() {
    // At the receiver and without time stamps nobody sees a queue before the capture.
    let bulk = |len: u32, window: u32, answers: bool| {
        let mut lines = Vec::new();
        for i in 0..40 {
            let (seq, at) = (501 + len * i, 200 + 20 * i);
            lines.push(format!(
                "{at} < . {seq} {} {len} 60000",
                101 + if answers { i } else { 0 }
            ));
            let said = if answers { 1 } else { 0 };
            lines.push(format!(
                "{at}.1 > P. {} {} {said} {window}",
                101 + i * said,
                seq + len
            ));
        }
        let done = format!("100 > . 101 501 0 {window}");
        run(&[SYNS[0], SYNS[1], &done], &lines)
    };
    assert_eq!(
        lacks(&bulk(1460, 60_000, false), "bufferbloat").as_deref(),
        Some("TimeStamps")
    );
    // Never a full segment; a window that holds little; data of the peer that was ACKed in time.
    assert_eq!(lacks(&bulk(400, 60_000, false), "bufferbloat"), None);
    assert_eq!(lacks(&bulk(1460, 3_000, false), "bufferbloat"), None);
    assert_eq!(lacks(&bulk(1460, 60_000, true), "bufferbloat"), None);
}

#[test]
fn a_request_without_an_answer() {
    let asked = ["110 > P. 101 501 200 60000", "210 < . 501 301 0 60000"];
    let with = |rest: &[&str]| run(&SYNS, &[&asked[..], rest].concat());
    let given_up = with(&["30110 > F. 301 501 0 60000", "30210 < F. 501 302 0 60000"]);
    assert_eq!(given_up.ids(), ["no_answer"]);
    let said = "192.0.2.2 never answered the last message of 192.0.2.1: it was silent for 29.9 s until the connection was closed";
    assert_eq!(given_up.findings[0].title, said);
    assert_eq!(given_up.findings[0].packets, [4]);
    // The last packet is a keep-alive: the connection is still open.
    let open = with(&["9110 > . 300 501 0 60000", "9210 < . 501 301 0 60000"]);
    assert!(open.findings[0].title.ends_with("silent for 9 s or more"));
    // It closes at once, it got its answer, or its message never arrived.
    for rest in [
        &["300 > F. 301 501 0 60000", "400 < F. 501 302 0 60000"][..],
        &["400 < P. 501 301 90 60000", "9000 > F. 301 591 0 60000"],
    ] {
        assert!(!has(&with(rest), "no_answer"), "{rest:?}");
    }
    // It came at once after the server's data: perhaps that was the question.
    let receipt = with(&[
        "310 < P. 501 301 700 60000",
        "310.1 > P. 301 1201 50 60000",
        "410 < . 1201 351 0 60000",
        "9110 > F. 351 1201 0 60000",
    ]);
    assert!(!has(&receipt, "no_answer"));
    // So did each before, and three of them had their answers: it asks as they did. A server that spoke first may have asked.
    let habit = |greets: bool, answers: u32| {
        let mut lines = vec!["105 < P. 501 101 50 60000".to_owned()];
        lines.truncate(usize::from(greets));
        let mut seqs = (101, if greets { 551 } else { 501 });
        for i in 0..=answers {
            let (ask, at) = (seqs, 110 + 100 * i);
            lines.push(format!("{at} > P. {} {} 200 60000", ask.0, ask.1));
            seqs = (ask.0 + 200, ask.1 + u32::from(i < answers) * 700);
            let flags = if i < answers { "P." } else { "." };
            let len = seqs.1 - ask.1;
            let back = at + 100;
            lines.push(format!("{back} < {flags} {} {} {len} 60000", ask.1, seqs.0));
        }
        lines.push(format!("9110 > F. {} {} 0 60000", seqs.0, seqs.1));
        has(&run(&SYNS, &lines), "no_answer")
    };
    let asks = [(false, 2), (false, 3), (true, 4), (true, 5)];
    assert_eq!(
        asks.map(|(greets, answers)| habit(greets, answers)),
        [false, true, false, true]
    );
    let lost = run(&SYNS, &[asked[0], "30110 > F. 301 501 0 60000"]);
    assert!(!has(&lost, "no_answer"));
    // Messages at a pace of its own that nothing ever answered are no requests.
    let pace = with(&[
        "1110 > P. 301 501 200 60000",
        "1210 < . 501 501 0 60000",
        "9110 > F. 501 501 0 60000",
    ]);
    assert!(!has(&pace, "no_answer"));
    // The same without its beginning: a feed of 20 s, and 3 s of silence.
    let mut feed = Vec::new();
    for i in 0..20 {
        let (at, seq) = (1000 * i, 301 + 200 * i);
        feed.push(format!("{at} > P. {seq} 501 200 60000"));
        feed.push(format!("{at}.9 < . 501 {} 0 60000", seq + 200));
    }
    feed.push("22000 > F. 4301 501 0 60000".to_owned());
    assert!(!has(&run(&[], &feed), "no_answer"));
}

#[test]
fn a_client_that_closes_while_it_waits_waits_for_its_answer() {
    let lines = [
        "110 > P. 101 501 200 60000",
        "210 < . 501 301 0 60000 id=6",
        "3110 > F. 301 501 0 60000",
        "3210 < . 501 302 0 60000 id=7",
        "5110 < P. 501 302 2000 60000 id=8",
    ];
    let answer = run(&SYNS, &lines);
    let said = &answer
        .findings
        .iter()
        .find(|f| f.id.name() == "slow_server");
    let said = &said.expect("slow_server").title;
    assert!(said.contains("took 4.90 s to answer"), "{said}");
    let server = answer.streams[0]
        .budget_us
        .of(tcplab_analyze::budget::Class::ServerThinks);
    assert!(server >= 4_800_000, "{server}");
}

#[test]
fn data_ends_with_its_ack_and_not_with_a_late_close() {
    let answer = run(
        &SYNS,
        &[
            "110 > P. 101 501 200 60000",
            "210 < P. 501 301 700 60000",
            "210.1 > . 301 1201 0 60000",
            "10000 > F. 301 1201 0 60000",
            "10100 < F. 1201 302 0 60000",
            "10100.1 > . 302 1202 0 60000",
        ],
    );
    let stream = &answer.streams[0];
    let us = |times: Option<(i64, i64)>| times.map(|(first, last)| (last - first) / 1000);
    let both = [
        stream.client_to_server.data_ns,
        stream.server_to_client.data_ns,
    ]
    .map(us);
    assert_eq!(both, [Some(100_000), Some(100)]);
}

//! Captures that miss the beginning of connections: which findings are known, and which are reported as
//! unknown.

mod common;

use common::{Answer, analyze_script};
use tcplab_analyze::findings::Need;
use tcplab_analyze::report::{Direction, RoundTripFrom, Vantage};

fn script(lines: &[String]) -> Answer {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    analyze_script(&lines)
}

/// A client that sends its next small segment when the ACK of the one before comes, 50 ms later.
fn one_at_a_time(rounds: u32) -> Vec<String> {
    let round = |i: u32| {
        let (ms, seq) = (50 * i, 101 + 200 * i);
        [
            format!("{ms} > P. {seq} 501 200 500"),
            format!("{} < . 501 {} 0 500", ms + 50, seq + 200),
        ]
    };
    (0..rounds).flat_map(round).collect()
}

fn unchecked(answer: &Answer, finding: &str) -> Option<Need> {
    let all = &answer.totals.not_checked;
    let n = all.iter().find(|n| n.finding.name() == finding)?;
    Some(n.lacks)
}

#[test]
fn wait_the_path_may_explain_is_neither_late_nor_prompt() {
    let answer = script(&one_at_a_time(8));
    assert_eq!(answer.ids(), [""; 0]);
    let acks = &answer.streams[0].server_to_client.acks_sent;
    assert_eq!((acks.unclear, acks.immediate, acks.delayed), (8, 0, 0));
    assert_eq!(acks.unclear_us.map(|w| w.p50), Some(50_000));
    assert!(acks.modes.is_empty() && acks.path_us.is_none());
    assert_eq!(unchecked(&answer, "delack_nagle"), Some(Need::RoundTrip));
    assert_eq!(unchecked(&answer, "delack_request_response"), None);
    assert!(answer.streams[0].round_trip.is_none());
    assert_eq!(answer.streams[0].vantage, Vantage::Unknown);
}

#[test]
fn one_prompt_answer_shows_that_a_timer_caused_the_waits() {
    let mut lines = one_at_a_time(8);
    lines.extend([
        "400 > P. 1701 501 200 500".to_owned(),
        "402 < P. 501 1901 100 500".to_owned(),
        "402 > . 1901 601 0 500".to_owned(),
    ]);
    let answer = script(&lines);
    assert_eq!(answer.ids(), ["delack_nagle"]);
    let acks = &answer.streams[0].server_to_client.acks_sent;
    assert_eq!((acks.unclear, acks.delayed), (0, 8));
    assert_eq!(acks.path_us, Some(2_000));
}

#[test]
fn answers_that_leave_out_what_followed_show_a_long_path() {
    // 50 ms to the server and back; the next segment follows each one after 1 ms, and each is ACKed alone.
    let mut lines = Vec::new();
    for i in 0..6 {
        let seq = 101 + 200 * i;
        lines.push((i, format!("> P. {seq} 501 200 500")));
        lines.push((50 + i, format!("< . 501 {} 0 500", seq + 200)));
    }
    lines.sort();
    let lines: Vec<String> = lines.iter().map(|(ms, l)| format!("{ms} {l}")).collect();
    let answer = script(&lines);
    let acks = &answer.streams[0].server_to_client.acks_sent;
    assert_eq!((acks.unclear, acks.immediate), (0, 6), "{acks:?}");
    assert_eq!(acks.path_us, Some(50_000));
    assert!(
        answer
            .totals
            .not_checked
            .iter()
            .all(|n| n.lacks == Need::Handshake)
    );
}

#[test]
fn a_timers_step_shows_that_the_soonest_answers_were_prompt() {
    // Nobody left anything out; half of the ACKs come 40 ms after the soonest.
    let mut lines = Vec::new();
    for i in 0..12 {
        let (ms, seq) = (200 * i, 101 + 200 * i);
        let wait = if i < 6 { 60 } else { 101 };
        lines.push(format!("{ms} > P. {seq} 501 200 500"));
        lines.push(format!("{} < . 501 {} 0 500", ms + wait, seq + 200));
    }
    let acks = &script(&lines).streams[0].server_to_client.acks_sent;
    assert_eq!(
        (acks.unclear, acks.immediate, acks.delayed),
        (0, 6, 6),
        "{acks:?}"
    );
}

#[test]
fn windows_without_their_scale_are_lower_bounds() {
    let mut lines: Vec<String> = (0..5)
        .map(|i| format!("0 > . {} 501 1000 500", 101 + 1000 * i))
        .collect();
    lines.insert(0, "0 < . 501 101 0 500".to_owned());
    lines.push("10 < . 501 5101 0 500".to_owned());
    let answer = script(&lines);
    let windows = |d: &Direction| (d.window_bytes, d.window_unscaled, d.window_scale_at_least);
    let stream = &answer.streams[0];
    // 5,000 bytes in flight do not fit into a window of 500 or of 500 << 3.
    assert_eq!(
        windows(&stream.server_to_client),
        (Some((500, 500)), true, Some(4))
    );
    assert_eq!(
        windows(&stream.client_to_server),
        (Some((500, 500)), true, None)
    );
    let greeted = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460",
        "10 < S. 500 101 0 60000 mss=1460 ws=7",
        "10 > . 101 501 0 60000",
    ]);
    assert!(
        !greeted.streams[0].server_to_client.window_unscaled,
        "the client does not scale"
    );
}

/// The server sends segments, is silent for 700 ms, and goes on; `id` is the identification of what comes then.
fn silence(id: u32, stamps: bool) -> Answer {
    let ts = |n: u32| {
        if stamps {
            format!("ts={n},7")
        } else {
            String::new()
        }
    };
    let mut lines = vec!["0 > . 101 501 0 60000".to_owned()];
    for i in 0..5 {
        lines.push(format!(
            "{i} < . {} 101 1000 60000 id={} {}",
            501 + 1000 * i,
            40 + i,
            ts(100 + i)
        ));
        lines.push(format!("{i} > . 101 {} 0 60000", 1501 + 1000 * i));
    }
    lines.push(format!("704 < . 5501 101 1000 60000 id={id} {}", ts(804)));
    lines.push("704 > . 101 6501 0 60000".to_owned());
    lines.push(format!(
        "704 < . 6501 101 1000 60000 id={} {}",
        id + 1,
        ts(804)
    ));
    lines.push("705 > . 101 7501 0 60000".to_owned());
    script(&lines)
}

#[test]
fn a_gap_in_the_identification_tells_a_timeout_from_a_pause() {
    let answer = silence(48, true);
    assert_eq!(answer.ids(), ["rto_stall"]);
    assert_eq!(answer.streams[0].server_to_client.retransmissions.rto, 1);
    assert_eq!(
        silence(45, true).ids(),
        [""; 0],
        "nothing was sent in between"
    );
    assert_eq!(
        silence(48, false).ids(),
        [""; 0],
        "the numbers may count for other connections, too"
    );
    assert_eq!(
        silence(60, true).ids(),
        [""; 0],
        "no flight of this sender had so many segments"
    );
    // One packet is missing: a tail loss probe.
    let again = &silence(46, true).streams[0]
        .server_to_client
        .retransmissions;
    assert_eq!((again.tlp, again.rto), (1, 0));
}

#[test]
fn the_round_trip_is_the_handshakes_wherever_the_capture_was_taken() {
    let answer = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460",
        "20 < S. 500 101 0 60000 mss=1460",
        "100 > . 101 501 0 60000",
        "120 < . 501 101 1000 60000",
        "200 > . 101 1501 0 60000",
    ]);
    let stream = &answer.streams[0];
    let whole = stream.round_trip.expect("a round trip");
    assert_eq!(
        (whole.us.p50, whole.from),
        (100_000, RoundTripFrom::Handshake)
    );
    // The server's data: 80 ms beyond the capture, 20 ms before it. The client has sent none.
    let server = stream
        .server_to_client
        .round_trip
        .expect("its data was ACKed");
    assert_eq!(
        (server.us.p50, server.us.samples, server.from),
        (100_000, 1, RoundTripFrom::Acks)
    );
    assert!(stream.client_to_server.round_trip.is_none());
}

#[test]
fn waits_of_a_timer_or_a_program_are_no_round_trip() {
    let answer = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460",
        "10 < S. 500 101 0 60000 mss=1460",
        "10 > . 101 501 0 60000",
        "20 > P. 101 501 100 60000",
        "30 < . 501 201 0 60000",
        "100 > P. 201 501 100 60000",
        "150 < . 501 301 0 60000",
        "200 > P. 301 501 100 60000",
        "250 < . 501 401 0 60000",
        "300 > P. 401 501 100 60000",
        "900 < P. 501 501 100 60000",
        "900 > . 501 601 0 60000",
    ]);
    let sent = &answer.streams[0].client_to_server;
    assert_eq!((sent.rtt_us.samples, sent.rtt_us.p50), (4, 50_000));
    let own = sent.round_trip.expect("one ACK came at once").us;
    assert_eq!((own.samples, own.p50), (1, 10_000));
}

#[test]
fn data_in_flight_at_capture_start_is_not_missed() {
    let answer = analyze_script(&[
        "0 > . 5101 501 1000 60000",
        "1 < . 501 2101 0 60000",
        "2 > . 6101 501 1000 60000",
        "3 < . 501 4101 0 60000",
        "50 < . 501 6101 0 60000",
        "52 < . 501 7101 0 60000",
    ]);
    assert_eq!(answer.ids(), [""; 0]);
    assert_eq!(
        answer.streams[0].client_to_server.max_in_flight_bytes,
        Some(5_000)
    );
}

#[test]
fn without_the_other_direction_nothing_tells_what_was_in_flight() {
    let answer = analyze_script(&[
        "0 > . 1101 501 1000 60000",
        "1 > . 2101 501 1000 60000",
        "40 > . 3101 501 1000 60000",
        "300 > . 1101 501 1000 60000",
    ]);
    let d = &answer.streams[0].client_to_server;
    assert_eq!(d.data_bytes, 4_000);
    assert_eq!(
        (d.unique_bytes, d.max_in_flight_bytes, d.goodput_bps),
        (None, None, 0)
    );
}

/// A download over 80 ms at the client: 20 segments each round trip, each ACKed at once. `pause` ms lie between them.
fn download(pause: u32) -> Answer {
    let mut lines = Vec::new();
    for i in 0..200_u32 {
        let (ms, seq) = (i * pause, 501 + 1000 * i);
        // The ACK that passed 80 ms before this segment was the newest that its sender had.
        let echo = 9000 + ms.saturating_sub(80) / pause * pause;
        lines.push(format!(
            "{ms} < . {seq} 101 1000 60000 ts={},{echo}",
            100 + ms
        ));
        lines.push(format!(
            "{ms} > . 101 {} 0 60000 ts={},{}",
            seq + 1000,
            9000 + ms,
            100 + ms
        ));
    }
    script(&lines)
}

#[test]
fn the_echo_of_acks_tells_the_round_trip_of_a_download() {
    let answer = download(4);
    let stream = &answer.streams[0];
    let whole = stream.round_trip.expect("the server echoes at once");
    assert_eq!(
        (whole.us.p50, whole.from),
        (80_000, RoundTripFrom::TimeStamps)
    );
    assert_eq!(stream.vantage, Vantage::Client);
    assert_eq!(
        stream.server_to_client.rtt_us.p50, 0,
        "the wait at the client is another figure"
    );
    // A server that writes each 100 ms echoes late: that is no round trip.
    assert!(download(100).streams[0].round_trip.is_none());
}

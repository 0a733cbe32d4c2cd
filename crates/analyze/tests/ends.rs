//! The causes at the two ends, as short conversations built by hand: what must be found, and what is nearly so and must
//! not. The capture is at the client of a path of 100 ms unless a test says otherwise.

mod common;

use std::net::{IpAddr, Ipv4Addr};

use common::{Answer, analyze_script, answer, script};
use tcplab_analyze::findings::Lacks;
use tcplab_analyze::{Analyzer, Options};

const CLIENT: [&str; 3] = [
    "0 > S 100 0 0 60000 mss=1460 sackok",
    "100 < S. 500 101 0 60000 mss=1460 sackok",
    "100 > . 101 501 0 60000",
];
const SERVER: [&str; 3] = [
    "0 > S 100 0 0 60000 mss=1460 sackok",
    "0.1 < S. 500 101 0 60000 mss=1460 sackok",
    "100 > . 101 501 0 60000",
];

fn run(handshake: &[&str], lines: &[String]) -> Answer {
    let all: Vec<&str> = handshake
        .iter()
        .copied()
        .chain(lines.iter().map(String::as_str))
        .collect();
    analyze_script(&all)
}

fn has(answer: &Answer, id: &str) -> bool {
    answer.ids().contains(&id)
}

fn title<'a>(answer: &'a Answer, id: &str) -> &'a str {
    let found = answer.findings.iter().find(|f| f.id.name() == id);
    found.map_or("", |f| f.title.as_str())
}

/// `n` requests of 200 bytes, each answered with 500 bytes `think` ms after it arrived; `ack` says when the server ACKs
/// the request by itself. At the client.
fn requests(n: u32, think: impl Fn(u32) -> f64, ack: Option<f64>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut now = 110.0;
    for i in 0..n {
        let (c, s) = (101 + i * 200, 501 + i * 500);
        lines.push(format!("{now} > P. {c} {s} 200 60000 id={}", i + 1));
        if let Some(ack) = ack {
            lines.push(format!(
                "{} < . {s} {} 0 60000 id={}",
                now + 100.0 + ack,
                c + 200,
                2 * i + 1
            ));
        }
        now += 100.0 + think(i);
        lines.push(format!(
            "{now} < P. {s} {} 500 60000 id={}",
            c + 200,
            2 * i + 2
        ));
        now += 0.2;
    }
    lines
}

#[test]
fn thinking_server_is_told_with_its_time() {
    let answer = run(&CLIENT, &requests(3, |_| 300.0, Some(0.1)));
    assert_eq!(answer.ids(), ["slow_server"]);
    let said = title(&answer, "slow_server");
    let want = "192.0.2.2 takes 300 ms to answer: the program, not TCP";
    assert!(said.starts_with(want), "{said}");
    // One answer is enough when the ACK of the request came long before it.
    let once = run(&CLIENT, &requests(1, |_| 1500.0, Some(0.1)));
    assert!(
        title(&once, "slow_server").contains("took 1.50 s to answer"),
        "{:?}",
        once.ids()
    );
}

#[test]
fn a_host_that_talks_to_itself_sees_both_ends() {
    let lines = [
        "0 > S 100 0 0 60000 mss=1460 sackok",
        "1000 > S 100 0 0 60000 mss=1460 sackok",
        "1000.02 < S. 500 101 0 60000 mss=1460 sackok",
        "1000.04 > . 101 501 0 60000",
        "1010 > P. 101 501 1 60000",
        "1220 > P. 101 501 1 60000",
        "1220.03 < . 501 102 0 60000",
        "1221 < P. 501 102 1 60000",
        "1221.02 > . 102 502 0 60000",
    ];
    let mut analyzer = Analyzer::new(Options::default());
    for (number, line) in (1..).zip(lines) {
        let (time, _, mut packet) = script::parse(line);
        packet.src.ip = IpAddr::V4(Ipv4Addr::LOCALHOST);
        packet.dst.ip = packet.src.ip;
        analyzer.packet(number, Some(time), &packet);
    }
    assert_eq!(answer(analyzer).ids(), ["accept_queue_overflow"]);
}

/// Six answers of two segments at the server: the last, small one leaves `pause` ms after the first was ACKed.
fn in_two(pause: f64) -> Answer {
    let mut lines = Vec::new();
    let mut now = 200.0;
    for i in 0..6 {
        let (c, s) = (101 + i * 200, 501 + i * 1960);
        lines.push(format!("{now} > P. {c} {s} 200 60000"));
        lines.push(format!("{} < . {s} {} 1460 60000", now + 1.0, c + 200));
        lines.push(format!(
            "{} > . {} {} 0 60000",
            now + 101.0,
            c + 200,
            s + 1460
        ));
        now += 101.0 + pause;
        lines.push(format!("{now} < P. {} {} 500 60000", s + 1460, c + 200));
        lines.push(format!(
            "{} > . {} {} 0 60000",
            now + 100.0,
            c + 200,
            s + 1960
        ));
        now += 101.0;
    }
    run(&SERVER, &lines)
}

#[test]
fn pause_as_long_as_a_corks_timer_names_it() {
    let [corked, slow] = [230.0, 900.0].map(in_two);
    assert!(
        title(&corked, "slow_server").contains("the program, or TCP_CORK"),
        "{:?}",
        corked.ids()
    );
    assert!(
        title(&slow, "slow_server").contains("the program, not TCP"),
        "{:?}",
        slow.ids()
    );
    let remedy = |answer: &Answer| answer.findings[0].remedy.join(" ");
    assert!(remedy(&corked).contains("MSG_MORE") && !remedy(&corked).contains("Leave TCP alone"));
    assert!(remedy(&slow).contains("Leave TCP alone"));
}

#[test]
fn answers_that_are_all_late_alike_need_no_ack() {
    assert!(has(
        &run(&CLIENT, &requests(8, |_| 40.0, None)),
        "slow_server"
    ));
    // Too few of them: the path may have changed.
    assert!(!has(
        &run(&CLIENT, &requests(3, |_| 40.0, None)),
        "slow_server"
    ));
    // A path with jitter answers now sooner, now later.
    assert!(!has(
        &run(&CLIENT, &requests(8, |i| f64::from(i % 4) * 20.0, None)),
        "slow_server"
    ));
    // An answer that is fast compared with the path is no problem.
    assert!(!has(
        &run(&CLIENT, &requests(8, |_| 15.0, Some(0.1))),
        "slow_server"
    ));
}

#[test]
fn repeated_answer_is_no_slow_server() {
    // The request was ACKed at once, the answer comes 300 ms later, and its IP identification tells that one is missing.
    let mut lines = requests(1, |_| 300.0, Some(0.1));
    lines[2] = lines[2].replace("id=2", "id=3");
    assert!(!has(&run(&CLIENT, &lines), "slow_server"));
    // The request itself was sent again.
    let mut lines = requests(1, |_| 1500.0, None);
    lines.insert(1, "411 > P. 101 501 200 60000".to_owned());
    assert!(!has(&run(&CLIENT, &lines), "slow_server"));
}

#[test]
fn pausing_client_is_told_if_it_takes_the_time() {
    let conversation = |pause: f64| -> Vec<String> {
        let mut lines = Vec::new();
        let mut now = 110.0;
        for i in 0..12 {
            let (c, s) = (101 + i * 200, 501 + i * 500);
            lines.push(format!("{now} > P. {c} {s} 200 60000"));
            now += 0.2;
            lines.push(format!("{now} < P. {s} {} 500 60000", c + 200));
            lines.push(format!(
                "{} > . {} {} 0 60000",
                now + 100.1,
                c + 200,
                s + 500
            ));
            now += 100.0 + pause;
        }
        lines
    };
    assert_eq!(run(&SERVER, &conversation(200.0)).ids(), ["slow_client"]);
    assert_eq!(run(&SERVER, &conversation(5.0)).ids(), [""; 0]);
    // A person, or a timer.
    assert_eq!(run(&SERVER, &conversation(900.0)).ids(), [""; 0]);
}

/// Rounds of full segments from the client, one each 100 ms, of these lengths. At the client (the sender).
fn rounds(lengths: &[u32], window: u32) -> Vec<String> {
    let (mut lines, mut seq, mut now) = (Vec::new(), 101, 101.0);
    for &segments in lengths {
        for i in 0..segments {
            lines.push(format!(
                "{} > . {} 501 1460 60000",
                now + f64::from(i) * 0.01,
                seq + i * 1460
            ));
        }
        now += 100.0;
        for i in 0..segments {
            let ack = seq + (i + 1) * 1460;
            lines.push(format!(
                "{} < . 501 {ack} 0 {window}",
                now + f64::from(i) * 0.01 - 0.005
            ));
        }
        seq += segments * 1460;
    }
    lines.sort_by(|a, b| {
        let time = |l: &String| {
            l.split(' ')
                .next()
                .and_then(|t| t.parse::<f64>().ok())
                .unwrap_or(0.0)
        };
        time(a).total_cmp(&time(b))
    });
    lines
}

#[test]
fn window_filled_every_round_trip_is_too_small() {
    let answer = run(&CLIENT, &rounds(&[10; 12], 14_600));
    assert_eq!(
        answer.ids(),
        ["receive_window_limited", "window_scaling_off"]
    );
    let said = title(&answer, "receive_window_limited");
    assert!(
        said.starts_with("192.0.2.2 accepts at most 14.6 kB per round trip of 1"),
        "{said}"
    );
    assert_eq!(
        run(&CLIENT, &rounds(&[10; 6], 14_600)).ids(),
        [""; 0],
        "six rounds are not enough"
    );
    // Both offer scaling: only the window is too small.
    let scaled = [
        "0 > S 100 0 0 60000 mss=1460 ws=0",
        "100 < S. 500 101 0 60000 mss=1460 ws=0",
        CLIENT[2],
    ];
    assert_eq!(
        run(&scaled, &rounds(&[10; 12], 14_600)).ids(),
        ["receive_window_limited"]
    );
}

/// Two ACKs of each round are delayed by 40 ms, not the same ones, so no two rounds are alike.
#[test]
fn a_window_that_late_acks_spread_is_too_small_as_well() {
    let scaled = [
        "0 > S 100 0 0 60000 mss=1460 ws=0",
        "100 < S. 500 101 0 60000 mss=1460 ws=0",
        CLIENT[2],
    ];
    let spread = |window: u32, queue: f64| {
        let mut lines = Vec::new();
        let in_flight = (window / 1460) as usize;
        let mut acked = vec![101.0; in_flight];
        for i in 0..120_usize {
            let sent = acked[i];
            let seq = 101 + i as u32 * 1460;
            lines.push((sent, format!("> . {seq} 501 1460 60000")));
            let late = if i % 4 == i / 9 % 4 { 40.0 } else { 0.0 };
            let at: f64 = (sent + 100.0 + queue + late).max(acked[acked.len() - 1]);
            lines.push((at, format!("< . 501 {} 0 {window}", seq + 1460)));
            acked.push(at + 0.01);
        }
        lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        let lines: Vec<String> = lines.iter().map(|(at, l)| format!("{at} {l}")).collect();
        run(&scaled, &lines)
    };
    assert_eq!(spread(5 * 1460, 0.0).ids(), ["receive_window_limited"]);
    // A queue of the path: its rate is the limit, not the window.
    assert!(!has(&spread(5 * 1460, 150.0), "receive_window_limited"));
}

#[test]
fn a_window_that_unread_data_keep_small_is_the_programs() {
    let syns = [
        "0 > S 100 0 0 60000 mss=1460 ws=0",
        "100 < S. 500 101 0 60000 mss=1460 ws=0",
        CLIENT[2],
    ];
    // Each segment is ACKed after 100 ms; the window has room for another one 30 ms later: the program's pace.
    let reads = |largest: u32, window: u32| {
        let mut lines = vec![
            (101.0, "> . 101 501 1460 60000".to_owned()),
            (201.0, format!("< . 501 1561 0 {largest}")),
        ];
        for i in 1..200_u32 {
            let at = 201.0 + f64::from(i) * 30.0;
            lines.push((at, format!("> . {} 501 1460 60000", 101 + i * 1460)));
            lines.push((
                at + 100.0,
                format!("< . 501 {} 0 {window}", 1561 + i * 1460),
            ));
        }
        lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        let lines: Vec<String> = lines.iter().map(|(at, l)| format!("{at} {l}")).collect();
        run(&syns, &lines)
    };
    let said =
        "the program on 192.0.2.2 reads slowly: 192.0.2.1 waits for room in its receive buffer";
    let answer = reads(60_000, 5_840);
    assert_eq!(title(&answer, "receive_window_limited"), said);
    // It was never larger: that is a small buffer.
    let small = reads(5_840, 5_840);
    assert_ne!(title(&small, "receive_window_limited"), said);
    // Between: the packets do not tell, and the program is not said to be fast.
    let half = rounds(&[10; 12], 14_600);
    let mut larger = half.clone();
    larger.insert(10, "150 < . 501 101 0 24000".to_owned());
    let cause = |lines: &[String]| {
        let answer = run(&syns, lines);
        let found = answer
            .findings
            .into_iter()
            .find(|f| f.id.name() == "receive_window_limited");
        found.expect("a full window").cause
    };
    assert!(
        cause(&half).contains("the program reads fast enough"),
        "{}",
        cause(&half)
    );
    assert!(
        cause(&larger).contains("or the program reads slowly"),
        "{}",
        cause(&larger)
    );
}

#[test]
fn a_level_far_below_the_window_is_the_senders_own() {
    let level = run(&CLIENT, &rounds(&[10; 20], 60_000));
    assert_eq!(level.ids(), ["send_buffer_limited"]);
    let cause = &level.findings[0].cause;
    assert!(
        cause.contains("A program that writes as much at times of its own"),
        "{cause}"
    );
    // A congestion window grows.
    let grows: Vec<u32> = (0..20).map(|i| 4 + i / 2).collect();
    assert_eq!(run(&CLIENT, &rounds(&grows, 60_000)).ids(), [""; 0]);
    // Once something was lost a congestion window may stay as it is for long.
    let mut lost = rounds(&[10; 20], 60_000);
    let again = lost[0].replacen("101 ", "150 ", 1);
    lost.insert(10, again);
    assert!(!has(&run(&CLIENT, &lost), "send_buffer_limited"));
}

#[test]
fn blocks_at_times_of_their_own_are_no_round_trips() {
    // At the receiver, 100 ms from the sender: ten segments each `every` milliseconds, which echo the newest ACK or not.
    let blocks = |every: u32, stamps: Option<bool>| {
        let stamp = |val: u32, echo: u32| match stamps {
            Some(_) => format!(" ts={val},{echo}"),
            None => String::new(),
        };
        let mut lines = vec![
            format!("0 > S 100 0 0 60000 mss=1460 sackok{}", stamp(1000, 0)),
            format!(
                "0.01 < S. 500 101 0 60000 mss=1460 sackok{}",
                stamp(7000, 1000)
            ),
            format!("100 > . 101 501 0 60000{}", stamp(1100, 7000)),
        ];
        let mut seq = 101;
        for i in 0..25 {
            let at = 100 + every * i;
            // The newest ACK came a block before, or what the sender had heard is older.
            let heard = if stamps == Some(true) { 1 } else { 2 };
            let echo = 7000 + (at.saturating_sub(every * heard)).max(100);
            for _ in 0..10 {
                let stamps = stamp(1000 + at, echo);
                lines.push(format!("{at} > . {seq} 501 1460 60000{stamps}"));
                seq += 1460;
            }
            let stamps = stamp(7000 + at, 1000 + at);
            lines.push(format!("{at}.01 < . 501 {seq} 0 60000{stamps}"));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        has(&analyze_script(&lines), "send_buffer_limited")
    };
    assert!(blocks(100, None) && blocks(100, Some(true)));
    // Sooner than an answer can come, or it does not know of the ACK.
    assert!(!blocks(92, None) && !blocks(100, Some(false)));
}

#[test]
fn a_short_transfer_in_slow_start() {
    let answer = run(&CLIENT, &rounds(&[4, 8, 16, 10], 60_000));
    assert_eq!(answer.ids(), ["slow_start"]);
    let said = title(&answer, "slow_start");
    assert!(
        said.starts_with("192.0.2.1 needed 4 round trips for 55.5 kB, because TCP starts slowly"),
        "{said}"
    );
    assert_eq!(run(&CLIENT, &rounds(&[4, 8], 60_000)).ids(), [""; 0]);
}

#[test]
fn a_window_that_was_reset_while_idle() {
    let after = |pause: f64, second: &[u32]| {
        let mut lines = rounds(&[4, 8, 16, 30], 60_000);
        let first = 101 + 58 * 1460;
        for l in rounds(second, 60_000) {
            let mut words: Vec<String> = l.split(' ').map(str::to_owned).collect();
            let at: f64 = words[0].parse().expect("a time");
            let at_seq = if words[1] == ">" { 3 } else { 4 };
            let seq: u32 = words[at_seq].parse().expect("a number");
            words[at_seq] = (seq + first - 101).to_string();
            words[0] = (at + 400.0 + pause).to_string();
            lines.push(words.join(" "));
        }
        run(&CLIENT, &lines)
    };
    let answer = after(2_000.0, &[10, 20, 28]);
    assert!(has(&answer, "window_after_idle"), "{:?}", answer.ids());
    // It went on where it had been, or it had not been idle, or had no more to send.
    assert!(!has(&after(2_000.0, &[30, 28]), "window_after_idle"));
    assert!(!has(&after(50.0, &[10, 20, 28]), "window_after_idle"));
    assert!(!has(&after(2_000.0, &[10]), "window_after_idle"));
}

#[test]
fn a_listener_that_does_not_take_the_connection() {
    let lines = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    // At the server: the SYN-ACK comes again although the client had answered it.
    let deaf = [
        "101 > P. 101 501 200 60000",
        "310 > P. 101 501 200 60000",
        "720 > P. 101 501 200 60000",
        "1001 < S. 500 101 0 60000 mss=1460 sackok",
        "1101 > . 301 501 0 60000",
        "1540 > P. 101 501 200 60000",
        "1540.1 < . 501 301 0 60000",
        "1541 < P. 501 301 500 60000",
        "1641 > . 301 1001 0 60000",
    ];
    let answer = run(&SERVER, &lines(&deaf));
    assert_eq!(answer.ids(), ["accept_queue_overflow"]);
    assert!(
        title(&answer, "accept_queue_overflow")
            .contains("waiting: its queue of new connections was full")
    );
    // At the client one repeated SYN-ACK may be the loss of the ACK.
    let client: Vec<String> = lines(&deaf[..5]);
    assert!(!has(&run(&CLIENT, &client), "accept_queue_overflow"));
    // With SYN cookies, the server repeats no SYN-ACK.
    let cookies: Vec<String> = lines(&[&deaf[..3], &deaf[5..]].concat());
    assert_eq!(run(&SERVER, &cookies).ids(), ["accept_queue_overflow"]);
    // An ordinary loss after the server has spoken is a loss.
    let later = [
        "101 > P. 101 501 200 60000",
        "101.1 < . 501 301 0 60000",
        "110 < P. 501 301 500 60000",
        "420 < P. 501 301 500 60000",
        "520 > . 301 1001 0 60000",
    ];
    let answer = run(&SERVER, &lines(&later));
    assert!(
        !has(&answer, "accept_queue_overflow") && has(&answer, "tail_loss"),
        "{:?}",
        answer.ids()
    );
}

#[test]
fn a_listener_that_waits_for_data_is_no_full_queue() {
    // TCP_DEFER_ACCEPT: the SYN-ACK comes again when no data has come for so long.
    let lines = [
        "31000 < S. 500 101 0 60000 mss=1460 sackok",
        "31100 > . 101 501 0 60000",
        "60000 > R. 101 501 0 0",
    ];
    let answer = run(&SERVER, &lines.map(str::to_owned));
    assert_eq!(answer.ids(), [""; 0]);
    let [stream] = &answer.streams[..] else {
        panic!("one stream");
    };
    let said = |l: &Lacks| {
        l.findings
            .iter()
            .any(|id| id.name() == "accept_queue_overflow")
    };
    assert!(
        stream.not_checked.iter().any(said),
        "{:?}",
        stream.not_checked
    );
}

#[test]
fn a_handshake_that_was_repeated_does_not_tell_the_place() {
    // In the middle of the path; the client's ACK comes after its second SYN.
    let lines = [
        "0 > S 100 0 0 60000 mss=1460",
        "10 < S. 500 101 0 60000 mss=1460",
        "2000 > S 100 0 0 60000 mss=1460",
        "2001 > . 101 501 2 60000",
        "2001 > P. 101 501 521 60000",
        "2010 < S. 500 101 0 60000 mss=1460",
        "2012 < . 501 622 0 60000",
        "2013 < P. 501 622 1000 60000",
        "2015 > . 622 1501 0 60000",
    ];
    let answer = analyze_script(&lines);
    assert!(!has(&answer, "accept_queue_overflow"), "{:?}", answer.ids());
}

#[test]
fn acks_of_a_proxy_do_not_tell_the_path_to_the_server() {
    // The SYN-ACK takes 56 ms, the ACKs of a NAT that ends the connection here 0.1 ms.
    let said = |think: f64| {
        let answer = [
            "0 > S 100 0 0 60000 mss=1460".to_owned(),
            "56 < S. 500 101 0 60000 mss=1460".to_owned(),
            "56.1 > . 101 501 0 60000".to_owned(),
            "57 > P. 101 501 200 60000".to_owned(),
            "57.1 < . 501 301 0 60000".to_owned(),
            format!("{} < P. 501 301 500 60000", 57.1 + think),
        ];
        let all: Vec<&str> = answer.iter().map(String::as_str).collect();
        analyze_script(&all)
    };
    let path = said(57.0);
    assert_eq!(path.ids(), [""; 0]);
    assert!(!path.streams[0].not_checked.is_empty());
    let slow = said(140.0);
    assert!(
        title(&slow, "slow_server").contains("took 84."),
        "{}",
        title(&slow, "slow_server")
    );
}

#[test]
fn syns_that_the_servers_end_ignores() {
    let opened = |synack: &str| {
        let lines = [
            "0 > S 100 0 0 60000 mss=1460 sackok",
            "1000 > S 100 0 0 60000 mss=1460 sackok",
            synack,
            "1100 > . 101 501 0 60000",
            "1101 > P. 101 501 200 60000",
            "1101.1 < P. 501 301 200 60000",
            "1201 > . 301 701 0 60000",
        ];
        analyze_script(&lines)
    };
    let here = opened("1000.1 < S. 500 101 0 60000 mss=1460 sackok");
    assert_eq!(here.ids(), ["accept_queue_overflow"]);
    // A capture at the client: the SYN may have been lost.
    assert_eq!(
        opened("1099.9 < S. 500 101 0 60000 mss=1460 sackok").ids(),
        ["syn_retries"]
    );
}

/// A connection of 192.0.2.1's port that ends after 200 ms, and from `ms` the same port again, with `tries` SYNs.
fn port_comes_back(ms: u32, tries: u32) -> Answer {
    let mut lines: Vec<String> = CLIENT.map(String::from).to_vec();
    lines.push("110 > F. 101 501 0 60000".into());
    lines.push("200 < F. 501 102 0 60000".into());
    lines.push("200 > . 102 502 0 60000".into());
    for n in 0..tries {
        lines.push(format!("{} > S 90000 0 0 60000 mss=1460", ms + 1000 * n));
    }
    lines.push(format!(
        "{} < S. 7000 90001 0 60000 mss=1460",
        ms + 1000 * tries
    ));
    lines.push(format!("{} > . 90001 7001 0 60000", ms + 1000 * tries));
    run(&[], &lines)
}

#[test]
fn ports_that_come_back_while_somebody_may_remember_them() {
    let cause = |answer: &Answer| {
        assert_eq!(answer.ids(), ["syn_retries"]);
        answer.findings[0].cause.clone()
    };
    let soon = port_comes_back(12_200, 2);
    let says = cause(&soon);
    assert!(says.contains("ended only 12 s before"), "{says}");
    assert!(soon.findings[0].remedy[0].contains("ip_local_port_range"));
    let late = cause(&port_comes_back(180_000, 2));
    assert!(!late.contains("remember"), "{late}");
    // Nobody waited.
    assert!(port_comes_back(12_200, 1).ids().is_empty());
}

#[test]
fn a_refused_connection() {
    let answer = analyze_script(&["0 > S 100 0 0 60000 mss=1460", "20 < R. 0 101 0 0"]);
    assert_eq!(answer.ids(), ["refused"]);
    assert_eq!(
        title(&answer, "refused"),
        "192.0.2.2:80 refused the connection of 192.0.2.1"
    );
    // It tried again, and was refused again: it got its answers.
    let twice = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460",
        "20 < R. 0 101 0 0",
        "520 > S 100 0 0 60000 mss=1460",
        "540 < R. 0 101 0 0",
    ]);
    assert_eq!(twice.ids(), ["refused"]);
    // Its timer tried again: the RST was lost behind the capture. Windows tries 500 ms after the RST that it had.
    let unheard = |ms: u32| {
        let again = format!("{ms} > S 100 0 0 60000 mss=1460");
        analyze_script(&[
            "0 > S 100 0 0 60000 mss=1460",
            "20 < R. 0 101 0 0",
            &again,
            "1540 < R. 0 101 0 0",
        ])
        .ids()
    };
    assert_eq!(unheard(1000), ["refused", "syn_retries"]);
    assert_eq!(unheard(600), ["refused"]);
    // The client gave up.
    let own = analyze_script(&["0 > S 100 0 0 60000 mss=1460", "20 > R 101 0 0 0"]);
    assert!(!has(&own, "refused"));
}

#[test]
fn a_peer_that_is_gone() {
    let probes = |n: u32, more: &[&str]| -> Answer {
        let mut lines = requests(1, |_| 1.0, None);
        lines.push("212 > . 301 1001 0 60000".to_owned());
        lines.extend((0..n).map(|i| format!("{} > . 300 1001 0 60000", 5_000 + i * 1_000)));
        lines.extend(more.iter().map(|l| (*l).to_owned()));
        run(&CLIENT, &lines)
    };
    let answer = probes(5, &["10000 > R. 301 1001 0 0"]);
    assert_eq!(answer.ids(), ["keepalive_death"]);
    assert!(title(&answer, "keepalive_death").contains("answered none of 5 keep-alives"));
    assert_eq!(probes(2, &[]).ids(), [""; 0], "two may be lost");
    let copies = ["5003 > . 300 1001 0 60000", "5006 > . 300 1001 0 60000"];
    assert_eq!(
        probes(1, &copies).ids(),
        [""; 0],
        "old ACKs, milliseconds apart"
    );
    assert_eq!(
        probes(5, &["9100 < . 1001 301 0 60000"]).ids(),
        [""; 0],
        "it lives"
    );
}

#[test]
fn vanished_peer_of_a_client_without_data() {
    let mut lines = vec![
        "110 < P. 501 101 500 60000".to_owned(),
        "110.1 > . 101 1001 0 60000".to_owned(),
    ];
    lines.extend((0..4).map(|i| format!("{} > . 100 1001 0 60000", 5_000 + i * 1_000)));
    assert_eq!(run(&CLIENT, &lines).ids(), ["keepalive_death"]);
}

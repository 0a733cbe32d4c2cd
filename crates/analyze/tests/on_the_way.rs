//! What the way did to packets, as short conversations built by hand: ACKs that were lost or thinned out, copies, options that
//! were taken out; and the clock of the capture.

mod common;

use common::bulk::{Bulk, not_checked, title};
use common::{Answer, adds_up, analyze_script};
use tcplab_analyze::findings::Need;

/// Options of both SYNs.
const SACK: &str = "mss=1460 sackok";

/// 120 segments of 1460 bytes, ACKed one by one by packets with these IP identifications, as far as they come.
fn acked_with(id: impl Fn(u32) -> Option<u32>) -> Answer {
    let mut bulk = Bulk::new(SACK);
    for i in 0..120 {
        let at = 50.0 + f64::from(i) * 5.0;
        bulk.say(at, &format!("> . {} 501 1460 60000", bulk.seq));
        bulk.seq += 1460;
        if let Some(id) = id(i) {
            bulk.say(at + 40.0, &format!("< . 501 {} 0 60000 id={id}", bulk.seq));
        }
    }
    bulk.analyze()
}

#[test]
fn missing_identifications_are_lost_acks() {
    // One of ten or so, now and then two.
    let lost = |i: u32| i % 11 == 7 || i % 23 == 4;
    let answer = acked_with(|i| (!lost(i)).then_some(1000 + i));
    assert_eq!(answer.ids(), ["ack_loss"]);
    assert!(
        title(&answer, "ack_loss").starts_with("at least 1"),
        "{}",
        title(&answer, "ack_loss")
    );
    assert_eq!(acked_with(|i| Some(1000 + i)).ids(), [""; 0]);
    // A counter that other connections share, or numbers by chance, tell nothing.
    assert_eq!(acked_with(|i| Some(1000 + 3 * i)).ids(), [""; 0]);
    assert_eq!(acked_with(|i| Some(1000 + 2 * i)).ids(), [""; 0]);
    assert_eq!(acked_with(|i| Some(1 + i * 7919 % 65_000)).ids(), [""; 0]);
}

#[test]
fn capture_that_leaves_out_acks_is_no_ack_loss() {
    // Without time stamps each tenth ACK may be what the capture leaves out.
    let answer = acked_with(|i| (i % 10 != 3).then_some(1000 + i));
    assert_eq!(answer.ids(), [""; 0]);
    assert!(not_checked(&answer).contains(&"ack_loss"));
    // With them the sender echoes what the capture does not show.
    let with = |sees: bool| {
        let mut bulk = Bulk::new(SACK);
        bulk.stamped();
        for i in 0..120_u32 {
            let at = 50.0 + f64::from(i) * 5.0;
            let kept = i % 11 != 7 && i % 23 != 4;
            let heard = (0..i.saturating_sub(8))
                .rev()
                .find(|n| sees || (n % 11 != 7 && n % 23 != 4));
            let echo = 7000 + 5 * heard.unwrap_or(0);
            bulk.say(
                at,
                &format!("> . {} 501 1448 60000 ts={},{echo}", bulk.seq, 1000 + 5 * i),
            );
            bulk.seq += 1448;
            let ack = format!(
                "< . 501 {} 0 60000 id={} ts={},{}",
                bulk.seq,
                1000 + i,
                7000 + 5 * i,
                1000 + 5 * i
            );
            if kept {
                bulk.say(at + 40.0, &ack);
            }
        }
        bulk.analyze()
    };
    assert_eq!(with(false).ids(), ["ack_loss"]);
    let missed = with(true);
    assert_eq!(missed.ids(), [""; 0]);
    assert!(not_checked(&missed).contains(&"ack_thinning"));
}

/// ACKs of which only some come, each after the time that `gap` says for the numbers before it.
fn thinned(gap: impl Fn(u32) -> f64) -> Answer {
    let mut bulk = Bulk::new(SACK);
    let (mut at, mut id) = (90.0, 1000);
    for i in 0..200_u32 {
        bulk.say(
            50.0 + f64::from(i),
            &format!("> . {} 501 1460 60000", 101 + 1460 * i),
        );
    }
    for step in [1, 3, 1, 2, 5, 1, 2].iter().cycle().take(80) {
        at += gap(*step);
        id += step;
        let acked = 101 + 1460 * (id - 1000);
        bulk.say(at, &format!("< . 501 {acked} 0 60000 id={id}"));
    }
    bulk.analyze()
}

#[test]
fn acks_removed_by_a_filter_leave_no_gap() {
    let filtered = thinned(|_| 2.2);
    assert_eq!(filtered.ids(), ["ack_thinning"]);
    assert!(
        title(&filtered, "ack_thinning").contains("(53.3 %), one of 2.1 comes through"),
        "{}",
        title(&filtered, "ack_thinning")
    );
    assert_eq!(thinned(f64::from).ids(), ["ack_loss"]);
}

#[test]
fn segments_that_come_twice_a_moment_later_are_no_retransmissions() {
    // At the receiver: two segments later the one before comes again, with its own number and time stamp, and DSACK says so.
    let with = |id: u32, ts: u32| {
        let mut lines = vec![
            "0 < S 500 0 0 60000 mss=1460 sackok ts=1000,0".to_owned(),
            "0 > S. 100 501 0 60000 mss=1460 sackok ts=7000,1000".to_owned(),
            "40 < . 501 101 0 60000 id=99 ts=1040,7000".to_owned(),
        ];
        for i in 0..40_u32 {
            let (seq, end) = (501 + 1448 * i, 501 + 1448 * (i + 1));
            let at = 50.0 + f64::from(i);
            lines.push(format!(
                "{at} < . {seq} 101 1448 60000 id={} ts={},7000",
                100 + i,
                1050 + i
            ));
            lines.push(format!(
                "{at} > . 101 {end} 0 60000 ts={},{}",
                7050 + i,
                1050 + i
            ));
            if i % 10 == 9 {
                let first = seq - 1448 * 2;
                let (id, ts) = ((100 + i).wrapping_sub(id), (1050 + i).wrapping_sub(ts));
                lines.push(format!(
                    "{} < . {first} 101 1448 60000 id={id} ts={ts},7000",
                    at + 0.3
                ));
                let block = format!("sack={first}-{}", first + 1448);
                lines.push(format!(
                    "{} > . 101 {end} 0 60000 ts={},{} {block}",
                    at + 0.3,
                    7050 + i,
                    1050 + i
                ));
            }
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        analyze_script(&lines)
    };
    let doubled = with(2, 2);
    assert_eq!(doubled.ids(), ["duplication"]);
    let again: Vec<u64> = doubled
        .streams
        .iter()
        .map(|s| {
            s.server_to_client.retransmissions.total + s.client_to_server.retransmissions.total
        })
        .collect();
    assert_eq!(again, [0]);
    // A copy with its own identification and time stamp was sent again.
    let wrapped = 0_u32.wrapping_sub(1);
    assert!(!with(wrapped, wrapped).ids().contains(&"duplication"));
}

/// Requests and answers each 22 ms, at the client; from the 20th packet on the clock is moved by `step` milliseconds, and the
/// time stamps of the server by `server`. `lone`: only the 20th packet.
fn stepped(step: f64, server: f64, lone: bool) -> Answer {
    let mut lines = vec![
        (0.0, format!("> S 100 0 0 60000 {SACK} ts=1000,0")),
        (20.0, format!("< S. 500 101 0 60000 {SACK} ts=7020,1000")),
        (20.0, "> . 101 501 0 60000 ts=1020,7020".to_owned()),
    ];
    for i in 0..30_u32 {
        let at = 50.0 + 22.0 * f64::from(i);
        let (seq, ack) = (101 + 100 * i, 501 + 500 * i);
        let ms = |base: f64, at: f64| (base + at) as u32;
        lines.push((
            at,
            format!(
                "> P. {seq} {ack} 100 60000 ts={},{}",
                ms(1000.0, at),
                ms(7000.0, at - 2.0)
            ),
        ));
        let late = if i >= 10 { server } else { 0.0 };
        lines.push((
            at + 20.0,
            format!(
                "< P. {ack} {} 500 60000 ts={},{}",
                seq + 100,
                ms(7000.0 + late, at + 20.0),
                ms(1000.0, at)
            ),
        ));
    }
    let moved = |n: usize| n == 20 || (n > 20 && !lone);
    let lines: Vec<String> = (0..)
        .zip(&lines)
        .map(|(n, (at, line))| format!("{} {line}", at + if moved(n) { step } else { 0.0 }))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    analyze_script(&lines)
}

#[test]
fn clock_set_during_the_capture_is_no_wait() {
    let steady = stepped(0.0, 0.0, false);
    assert_eq!(steady.ids(), [""; 0]);
    let length = steady.streams[0].duration_us;
    // Ahead: an hour that did not pass is in no class, and what goes by times is not checked.
    let ahead = stepped(3_600_000.0, 0.0, false);
    assert_eq!(ahead.ids(), ["capture_clock_step"]);
    assert!(
        title(&ahead, "capture_clock_step").contains("ahead by 1 h 00 min at packet 21"),
        "{}",
        title(&ahead, "capture_clock_step")
    );
    assert!(not_checked(&ahead).contains(&"slow_server"));
    let stream = &ahead.streams[0];
    assert!(
        stream.duration_us.abs_diff(length) < 1_000,
        "{} of {length}",
        stream.duration_us
    );
    adds_up(stream);
    // Back: the times are moved, and all is looked for.
    let back = stepped(-30_000.0, 0.0, false);
    assert_eq!(back.ids(), ["capture_clock_step"]);
    assert_eq!(not_checked(&back), not_checked(&steady));
    assert!(back.streams[0].duration_us.abs_diff(length) < 50_000);
    adds_up(&back.streams[0]);
    // One packet in the wrong place of the file is no step.
    let lone = stepped(-300.0, 0.0, true);
    assert_eq!(lone.ids(), ["capture_artefacts"]);
    assert!(lone.streams[0].duration_us.abs_diff(length) < 1_000);
    // Nor is one at the end of the capture, which nothing follows.
    let last = analyze_script(&[
        "0 > S 100 0 0 60000 mss=1460",
        "20 < S. 500 101 0 60000 mss=1460",
        "20 > . 101 501 0 60000",
        "50 > P. 101 501 100 60000",
        "-9000 > P. 201 501 100 60000",
    ]);
    assert_eq!(last.ids(), ["capture_artefacts"]);
    // A server that took as long: its own time stamps say so.
    let slow = stepped(3_000.0, 3_000.0, false);
    assert!(!slow.ids().contains(&"capture_clock_step"));
}

#[test]
fn option_removed_on_the_way_shows_in_later_packets() {
    let with = |syn: &str, answer: &str, client: &str, server: &str| {
        let mut bulk = Bulk::new(SACK);
        bulk.lines[0].1 += syn;
        bulk.lines[1].1 += answer;
        bulk.lines[2].1 += client;
        for i in 0..40_u32 {
            let at = 50.0 + f64::from(i) * 5.0;
            bulk.say(at, &format!("> . {} 501 1448 60000{client}", bulk.seq));
            bulk.seq += 1448;
            bulk.say(at + 40.0, &format!("< . 501 {} 0 60000{server}", bulk.seq));
        }
        bulk.analyze()
    };
    let stamp = [" ts=1000,0", " ts=7000,1000"];
    let before = with(stamp[0], "", "", stamp[1]);
    assert_eq!(before.ids(), ["option_not_agreed"]);
    assert!(title(&before, "option_not_agreed").contains("took time stamps out of the SYN-ACK"));
    let behind = with(stamp[0], stamp[1], "", stamp[1]);
    assert!(title(&behind, "option_not_agreed").contains("took time stamps out of the SYN-ACK"));
    let refused = with(stamp[0], "", "", "");
    assert!(title(&refused, "option_not_agreed").contains("offered time stamps"));
    let agreed = with(stamp[0], stamp[1], " ts=1100,7000", stamp[1]);
    assert_eq!(agreed.ids(), [""; 0]);
}

#[test]
fn scaled_windows_without_the_option_show_its_removal() {
    let with = |window: u32| {
        let mut bulk = Bulk::new(SACK);
        bulk.lines[0].1 += " ws=7";
        for i in 0..40_u32 {
            let at = 50.0 + f64::from(i) * 5.0;
            bulk.say(at, &format!("> . {} 501 400 60000", bulk.seq));
            bulk.seq += 400;
            bulk.say(at + 40.0, &format!("< . 501 {} 0 {window}", bulk.seq));
        }
        bulk.analyze()
    };
    let removed = with(60_000 >> 7);
    let words = title(&removed, "option_not_agreed");
    assert!(
        words.contains("took window scale out of the SYN-ACK"),
        "{words}"
    );
    assert!(title(&with(60_000), "option_not_agreed").contains("offered window scale"));
}

#[test]
fn missing_ecn_bits_were_cleared_on_the_way() {
    // At the receiver.
    let with = |syn: &str, answer: &str, ecn: u8| {
        let mut lines = vec![
            format!("0 < {syn} 500 0 0 60000 {SACK}"),
            format!("0 > {answer} 100 501 0 60000 {SACK}"),
            "40 < . 501 101 0 60000".to_owned(),
        ];
        for i in 0..40_u32 {
            let at = 50.0 + f64::from(i);
            lines.push(format!(
                "{at} < . {} 101 1460 60000 ecn={ecn}",
                501 + 1460 * i
            ));
            lines.push(format!("{at} > . 101 {} 0 60000", 501 + 1460 * (i + 1)));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        analyze_script(&lines)
    };
    assert_eq!(with("SEW", "S.E", 2).ids(), [""; 0]);
    assert!(title(&with("SEW", "S.E", 0), "option_not_agreed").contains("clears the ECN bits"));
    assert!(title(&with("SEW", "S.", 0), "option_not_agreed").contains("offered ECN"));
    assert_eq!(with("S", "S.", 0).ids(), [""; 0]);
}

#[test]
fn option_missing_in_the_answer_is_told_if_it_matters() {
    let with = |answer: &str, segments| {
        let mut bulk = Bulk::new(SACK);
        bulk.lines[1].1 = format!("< S. 500 101 0 60000 {answer}");
        bulk.lines[0].1 += " ws=7";
        bulk.send(50.0, segments, 5.0, |_| 40.0);
        bulk.analyze()
    };
    let both = with("mss=1460", 40);
    assert_eq!(both.ids(), ["option_not_agreed"]);
    assert!(title(&both, "option_not_agreed").contains("offered window scale and SACK,"));
    assert_eq!(with("mss=1460 sackok ws=7", 40).ids(), [""; 0]);
    assert_eq!(with("mss=1460", 5).ids(), [""; 0]);
}

#[test]
fn one_record_out_of_order_lacks_no_packet() {
    let mut bulk = Bulk::new(SACK);
    bulk.send(100.0, 40, 5.0, |_| 40.0);
    bulk.lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lines: Vec<String> = bulk
        .lines
        .iter()
        .map(|(ms, l)| format!("{ms} {l}"))
        .collect();
    let lacks = |lines: &[String]| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let all = analyze_script(&lines).totals.not_checked;
        let reordering = all.into_iter().find(|n| n.finding.name() == "reordering");
        reordering.map(|n| n.lacks)
    };
    assert_eq!(lacks(&lines), None);
    lines.swap(30, 31);
    assert_eq!(lacks(&lines), Some(Need::Order));
}

#[test]
fn a_clock_that_jumps_within_a_bulk_transfer_is_no_stall() {
    // At the sender, 40 ms from the receiver, whose packets are ACKs only: a segment each 10 ms.
    let moved_from = |packet: usize| {
        let mut lines = vec![
            (0, "> S 100 0 0 60000 mss=1460 ts=1000,0".to_owned()),
            (40, "< S. 500 101 0 60000 mss=1460 ts=7000,1000".to_owned()),
            (40, "> . 101 501 0 60000 ts=1040,7000".to_owned()),
        ];
        for i in 0..200_u32 {
            let (at, seq) = (50 + 10 * i, 101 + 1448 * i);
            let (sent, left) = (1000 + at, 7000 + at);
            lines.push((at, format!("> . {seq} 501 1448 60000 ts={sent},7000")));
            lines.push((
                at + 40,
                format!("< . 501 {} 0 60000 ts={left},{sent}", seq + 1448),
            ));
        }
        lines.sort_by_key(|l| l.0);
        let moved = |n: usize| if n < packet { 0 } else { 300_000 };
        let lines: Vec<String> = (0..)
            .zip(&lines)
            .map(|(n, (at, l))| format!("{} {l}", at + moved(n)))
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        analyze_script(&lines)
    };
    for packet in [40, 100, 300] {
        let answer = moved_from(packet);
        assert_eq!(
            answer.ids(),
            ["capture_clock_step"],
            "at {packet}: {:?}",
            answer.findings
        );
        assert!(answer.streams[0].duration_us < 3_000_000, "at {packet}");
    }
    assert_eq!(moved_from(1000).ids(), [""; 0]);
}

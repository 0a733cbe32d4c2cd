//! Causes on the path, as short conversations built by hand: losses and their kind, queues, reordering, duplicates, RSTs,
//! and timeouts that were not needed, each beside a conversation that looks like it and is not.

mod common;

use common::bulk::{Bulk, title};
use common::{Answer, analyze_script};
use tcplab_analyze::budget::Class;

/// Options of both SYNs.
const SACK: &str = "mss=1460 sackok";
const BARE: &str = "mss=1460";

#[test]
fn a_queue_that_stands_is_bufferbloat() {
    let mut bulk = Bulk::new(SACK);
    bulk.send(50.0, 300, 10.0, |i| {
        if i < 20 {
            40.0
        } else {
            40.0 + f64::from(i.min(60) - 20) * 8.0
        }
    });
    let answer = bulk.analyze();
    assert_eq!(answer.ids(), ["bufferbloat"]);
    assert!(
        title(&answer, "bufferbloat").contains("from 40.0 ms to 360 ms"),
        "{answer_title}",
        answer_title = title(&answer, "bufferbloat")
    );
    // Half of that is a buffer of one round trip; spikes of the same height are no standing queue.
    let mut short = Bulk::new(SACK);
    short.send(50.0, 300, 10.0, |i| 40.0 + f64::from(i.min(60)));
    assert_eq!(short.analyze().ids(), [""; 0]);
    let mut spikes = Bulk::new(SACK);
    spikes.send(50.0, 300, 10.0, |i| if i % 50 == 40 { 400.0 } else { 40.0 });
    assert!(!spikes.analyze().ids().contains(&"bufferbloat"));
}

/// A capture at the receiver: 400 segments, one each 10 ms, which arrive `wait` late, with time stamps of `tick` ms.
/// Each is ACKed at once. The sender hears of the ACK 20 ms and `wait` before it sends the segment that echoes it.
fn received(wait: impl Fn(f64) -> f64, tick: f64) -> Answer {
    let stamp = |ms: f64| 1000 + (ms / tick) as u32;
    let mut lines = vec![
        (
            0.0,
            "> S 100 0 0 60000 mss=1460 sackok ts=1000,0".to_owned(),
        ),
        (
            0.01,
            "< S. 500 101 0 60000 mss=1460 sackok ts=7000,1000".to_owned(),
        ),
        (20.0, "> . 101 501 0 60000 ts=1020,7000".to_owned()),
    ];
    for i in 0..400 {
        let sent = 30.0 + f64::from(i) * 10.0;
        let at = sent + wait(sent);
        let heard = (sent - 20.0 - wait(sent - 20.0)).max(0.0) as u32;
        let (seq, end) = (101 + 1448 * i, 101 + 1448 * (i + 1));
        let ts = stamp(sent);
        lines.push((
            at,
            format!("> . {seq} 501 1448 60000 ts={ts},{}", 7000 + heard),
        ));
        let told = 7000 + at as u32;
        lines.push((at + 0.01, format!("< . 501 {end} 0 60000 ts={told},{ts}")));
    }
    let bulk = Bulk { lines, seq: 0 };
    bulk.analyze()
}

#[test]
fn time_stamps_behind_a_queue_show_it_and_a_slow_clock_does_not() {
    let fills = |ms: f64| (ms - 500.0).clamp(0.0, 1500.0) / 5.0;
    let answer = received(fills, 1.0);
    assert_eq!(answer.ids(), ["bufferbloat"]);
    assert!(
        title(&answer, "bufferbloat").contains("from 20.0 ms to 3"),
        "{}",
        title(&answer, "bufferbloat")
    );
    assert_eq!(received(|_| 0.0, 1.0).ids(), [""; 0]);
    assert_eq!(received(|_| 0.0, 1.1).ids(), [""; 0]);
}

#[test]
fn held_acks_in_a_burst_are_no_queue() {
    // The way back stands still again and again: each 300 ms all ACKs come together.
    let held = |ms: f64| ((ms + 40.0) / 300.0).ceil() * 300.0 - ms;
    let mut bulk = Bulk::new(SACK);
    bulk.send(50.0, 20, 10.0, |_| 40.0);
    bulk.send(300.0, 300, 10.0, |i| {
        held(300.0 + f64::from(i) * 10.0) + f64::from(i) * 0.001
    });
    assert!(!bulk.analyze().ids().contains(&"bufferbloat"));
}

#[test]
fn acked_data_shows_reordering_only_with_a_late_packet() {
    // At the receiver, without SACK: needless repeats after a real loss, as NewReno sends them.
    let mut lines = vec![
        "0 < S 500 0 0 60000 mss=1460".to_owned(),
        "0 > S. 100 501 0 60000 mss=1460".to_owned(),
        "40 < . 501 101 0 60000".to_owned(),
    ];
    for i in 0..6 {
        lines.push(format!(
            "50 < . {} 101 1000 60000 id={}",
            501 + 1000 * i,
            10 + i
        ));
        lines.push(format!("50 > . 101 {} 0 60000", 1501 + 1000 * i));
    }
    for i in 2..5 {
        lines.push(format!(
            "92 < . {} 101 1000 60000 id={}",
            501 + 1000 * i,
            20 + i
        ));
        lines.push("92 > . 101 6501 0 60000".to_owned());
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let ids = analyze_script(&lines).ids();
    assert!(
        !ids.contains(&"spurious_retransmission_reordering") && !ids.contains(&"loss"),
        "{ids:?}"
    );
}

#[test]
fn losses_at_a_full_queue_are_told_from_losses_by_chance() {
    // The wait rises from 40 to 80 ms, then some of what follows is lost.
    let with = |waits: [f64; 4]| {
        let mut bulk = Bulk::new(SACK);
        let mut ms = 50.0;
        for wait in waits {
            ms = bulk.send(ms, 40, 2.0, |i| 40.0 + f64::from(i)) + 100.0;
            ms = bulk.send(ms, 8, 1.0, |_| wait) + wait;
            ms = bulk.lose(ms, 1, wait) + 50.0;
        }
        bulk.analyze()
    };
    assert_eq!(with([78.0; 4]).ids(), ["congestion_loss"]);
    assert_eq!(with([40.0; 4]).ids(), ["random_loss"]);
    assert_eq!(with([60.0; 4]).ids(), ["loss"]);
    assert_eq!(with([40.0, 78.0, 60.0, 60.0]).ids(), ["loss"]);
}

#[test]
fn acks_before_a_pause_do_not_show_the_queue_of_a_later_burst() {
    let with = |pause: f64| {
        let mut bulk = Bulk::new(SACK);
        let mut ms = 50.0;
        for _ in 0..4 {
            ms = bulk.send(ms, 40, 2.0, |i| 40.0 + f64::from(i)) + 100.0;
            ms = bulk.send(ms, 8, 1.0, |_| 40.0) + 40.0 + pause;
            ms = bulk.lose(ms, 1, 40.0) + 50.0;
        }
        bulk.analyze()
    };
    assert_eq!(with(0.0).ids(), ["random_loss"]);
    assert_eq!(with(300.0).ids(), ["loss"]);
}

#[test]
fn an_ack_of_the_original_tells_how_long_it_waited() {
    // Small messages, one at a time. The timer sends each again before its ACK comes, which echoes the first or the second.
    let with = |original: bool| {
        let mut bulk = Bulk::new(SACK);
        bulk.stamped();
        let (mut ms, mut seq) = (100.0, 101);
        let waits = [40.0; 20]
            .into_iter()
            .chain([280.0, 480.0, 640.0, 760.0, 820.0, 860.0, 840.0, 800.0]);
        for wait in waits {
            let stamp = |at: f64| 1000 + at as u32;
            let data = |at: f64| format!("> P. {seq} 501 200 60000 ts={},7040", stamp(at));
            bulk.say(ms, &data(ms));
            let again = ms + wait - 10.0;
            if wait > 40.0 {
                bulk.say(again, &data(again));
            }
            seq += 200;
            let end = ms + wait;
            let echo = if original || wait <= 40.0 { ms } else { again };
            let ack = format!(
                "< . 501 {seq} 0 60000 ts={},{}",
                7000 + end as u32,
                stamp(echo)
            );
            bulk.say(end, &ack);
            ms = end + 20.0;
        }
        bulk.analyze()
    };
    let answer = with(true);
    let said = "from 40.0 ms to 860 ms";
    assert!(title(&answer, "bufferbloat").contains(said), "{said}");
    assert!(!with(false).ids().contains(&"bufferbloat"));
}

#[test]
fn handshake_with_a_lost_ack_does_not_show_the_path() {
    // At the receiver, 20 ms away. All but the last of the first segments are lost; timers send them again.
    let with = |first: &str| {
        let mut lines = vec![
            "0 > S 100 0 0 60000 mss=1460 sackok".to_owned(),
            "0.01 < S. 500 101 0 60000 mss=1460 sackok".to_owned(),
        ];
        if !first.is_empty() {
            lines.push(first.to_owned());
        }
        lines.push("90 > . 4481 501 1460 60000".to_owned());
        lines.push("90 < . 501 101 0 60000 sack=4481-5941".to_owned());
        for (at, seq) in [(110, 101), (130, 1561), (130, 3021)] {
            lines.push(format!("{at} > . {seq} 501 1460 60000"));
        }
        lines.push("131 < . 501 5941 0 60000".to_owned());
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        analyze_script(&lines).ids().contains(&"reordering")
    };
    assert!(!with("") && !with("20 > . 101 501 0 60000"));
    // On a path of 80 ms, they would have come too soon.
    assert!(with("80 > . 101 501 0 60000"));
}

/// Losses by chance on a path without a queue, so often.
fn repairs(many: u32) -> Answer {
    let mut c = Bulk::new(SACK);
    let mut at = c.send(100.0, 20, 10.0, |_| 40.0);
    for _ in 0..many {
        at = c.lose(at + 100.0, 1, 40.0);
    }
    c.send(at + 100.0, 20, 10.0, |_| 40.0);
    c.analyze()
}

#[test]
fn every_repair_counts_however_many_a_report_lists() {
    let repair = |answer: &Answer| {
        let side = &answer.streams[0].client_to_server;
        let budget = &answer.streams[0].budget_us;
        let listed = side.episodes.len() as u64;
        let title = title(answer, "loss").to_owned();
        let us = budget.of(Class::FastRecovery);
        (listed, side.episodes_not_listed, us, title)
    };
    let (listed, rest, us, _) = repair(&repairs(100));
    assert_eq!((listed, rest), (100, 0));
    let each = us / 100;
    let (listed, rest, us, title) = repair(&repairs(1_000));
    assert_eq!((listed, rest), (256, 744));
    assert!(title.starts_with("1000 segments"), "{title}");
    assert_eq!(us / 1_000, each);
}

#[test]
fn one_loss_does_not_tell_its_kind() {
    let mut bulk = Bulk::new(SACK);
    let ms = bulk.send(50.0, 40, 2.0, |i| 40.0 + f64::from(i)) + 100.0;
    bulk.lose(ms, 1, 79.0);
    let answer = bulk.analyze();
    assert_eq!(answer.ids(), ["loss"]);
    assert!(title(&answer, "loss").starts_with("1 segment from"));
}

#[test]
fn loss_share_counts_segments_on_the_wire() {
    // A card cuts what the capture shows as super-segments of ten: 2 of 1,008 segments are lost, not 2 of 108.
    let mut bulk = Bulk::new(SACK);
    for i in 0..100 {
        let at = 50.0 + 2.0 * f64::from(i);
        bulk.say(at, &format!("> . {} 501 14600 60000", bulk.seq));
        bulk.seq += 14_600;
        bulk.say(at + 40.0, &format!("< . 501 {} 0 60000", bulk.seq));
    }
    bulk.lose(400.0, 2, 40.0);
    let answer = bulk.analyze();
    let told = title(&answer, "loss");
    assert!(told.contains("(0.20 %)"), "{told}");
}

#[test]
fn self_closing_hole_at_the_sender_is_reordering() {
    let lines = |again: &str| {
        let mut bulk = Bulk::new(SACK);
        for i in 0..4 {
            bulk.say(50.0, &format!("> . {} 501 1000 60000", 101 + 1000 * i));
        }
        bulk.say(90.0, "< . 501 1101 0 60000");
        bulk.say(90.5, "< . 501 1101 0 60000 sack=2101-3101");
        bulk.say(90.6, "< . 501 1101 0 60000 sack=2101-4101");
        if !again.is_empty() {
            bulk.say(91.0, again);
        }
        bulk.say(132.0, "< . 501 4101 0 60000");
        bulk.analyze()
    };
    let answer = lines("");
    assert_eq!(answer.ids(), ["reordering"]);
    assert!(title(&answer, "reordering").contains("2 segments or 41.5 ms"));
    assert_eq!(lines("> . 1101 501 1000 60000").ids(), ["loss"]);
}

#[test]
fn ack_about_the_next_hole_is_no_reordering() {
    let mut bulk = Bulk::new(SACK);
    for i in 0..4 {
        bulk.say(50.0, &format!("> . {} 501 1000 60000", 101 + 1000 * i));
    }
    // One ACK takes the first segment and tells of the third.
    bulk.say(90.0, "< . 501 1101 0 60000 sack=2101-3101");
    bulk.say(90.6, "< . 501 1101 0 60000 sack=2101-4101");
    bulk.say(91.0, "> . 1101 501 1000 60000");
    bulk.say(132.0, "< . 501 4101 0 60000");
    assert_eq!(bulk.analyze().ids(), ["loss"]);
}

#[test]
fn dsack_for_what_was_sent_once_is_duplication() {
    let sent = |again: bool| {
        let mut bulk = Bulk::new(SACK);
        bulk.say(50.0, "> . 101 501 1000 60000");
        bulk.say(50.0, "> . 1101 501 1000 60000");
        if again {
            bulk.say(80.0, "> . 1101 501 1000 60000");
        }
        bulk.say(90.0, "< . 501 2101 0 60000");
        bulk.say(90.5, "< . 501 2101 0 60000 sack=1101-2101");
        bulk.analyze()
    };
    assert_eq!(sent(false).ids(), ["duplication"]);
    assert!(!sent(true).ids().contains(&"duplication"));
    // A keep-alive is answered like that, too.
    let mut alive = Bulk::new(SACK);
    alive.say(50.0, "> . 101 501 1000 60000");
    alive.say(90.0, "< . 501 1101 0 60000");
    alive.say(9000.0, "> . 1100 501 1 60000");
    alive.say(9040.0, "< . 501 1101 0 60000 sack=1100-1101");
    assert_eq!(alive.analyze().ids(), [""; 0]);
}

#[test]
fn acks_of_data_sent_once_show_an_unneeded_timeout() {
    // No SACK, no time stamps: eight segments, a silence, the first one again.
    let with = |acks: &[(f64, u32)]| {
        let mut bulk = Bulk::new(BARE);
        for i in 0..8 {
            bulk.say(50.0, &format!("> . {} 501 1000 60000", 101 + 1000 * i));
        }
        bulk.say(350.0, "> . 101 501 1000 60000");
        for (ms, ack) in acks {
            bulk.say(*ms, &format!("< . 501 {ack} 0 60000"));
        }
        bulk.analyze()
    };
    // The originals come late, each second one is ACKed.
    let late = with(&[(380.0, 2101), (381.0, 4101), (382.0, 6101), (383.0, 8101)]);
    assert_eq!(late.ids(), ["spurious_rto"]);
    assert!(
        title(&late, "spurious_rto").contains("an ACK took 333 ms instead of 40.0 ms"),
        "{}",
        title(&late, "spurious_rto")
    );
    // Only the first one was lost: its ACK covers all that the receiver had kept.
    let lost = with(&[(390.0, 8101)]).ids();
    assert!(lost.contains(&"rto_stall") && !lost.contains(&"spurious_rto"));
}

#[test]
fn a_duplicate_ack_answers_a_request_that_had_arrived() {
    let with = |twice: bool| {
        let mut bulk = Bulk::new(BARE);
        bulk.say(50.0, "> P. 101 501 300 60000");
        bulk.say(300.0, "> P. 101 501 300 60000");
        bulk.say(345.0, "< . 501 401 0 60000");
        if twice {
            bulk.say(346.0, "< . 501 401 0 60000");
        }
        bulk.analyze()
    };
    assert_eq!(with(true).ids(), ["spurious_rto"]);
    assert!(with(false).ids().contains(&"rto_stall"));
}

#[test]
fn data_acked_before_its_repeat_was_not_lost() {
    // At the receiver: the ACK passes, 300 ms later the data comes again.
    let answer = analyze_script(&[
        "0 < S 500 0 0 60000 mss=1460",
        "0 > S. 100 501 0 60000 mss=1460",
        "40 < . 501 101 0 60000",
        "50 < P. 501 101 1000 60000",
        "50 > . 101 1501 0 60000",
        "350 < P. 501 101 1000 60000",
        "350 > . 101 1501 0 60000",
    ]);
    assert_eq!(answer.ids(), ["spurious_rto"]);
    let [stream] = &answer.streams[..] else {
        panic!("one stream");
    };
    let sent = [&stream.client_to_server, &stream.server_to_client];
    let unneeded: Vec<u64> = sent.iter().map(|d| d.retransmissions.unneeded).collect();
    assert!(unneeded.contains(&1));
}

#[test]
fn short_link_outage_is_no_full_queue() {
    let with = |holes: bool| {
        let mut bulk = Bulk::new(SACK);
        let ms = bulk.send(50.0, 40, 2.0, |i| 40.0 + f64::from(i));
        let first = bulk.seq;
        for i in 0..12 {
            bulk.say(ms, &format!("> . {} 501 1460 60000", first + 1460 * i));
        }
        let again: Vec<u32> = (0..12)
            .filter(|i| if holes { i % 2 == 0 } else { *i < 6 })
            .collect();
        bulk.say(
            ms + 80.0,
            &format!(
                "< . 501 {first} 0 60000 sack={}-{}",
                first + 1460 * 11,
                first + 1460 * 12
            ),
        );
        bulk.say(
            ms + 80.1,
            &format!(
                "< . 501 {first} 0 60000 sack={}-{}",
                first + 1460 * 9,
                first + 1460 * 10
            ),
        );
        for i in again {
            bulk.say(
                ms + 81.0,
                &format!("> . {} 501 1460 60000", first + 1460 * i),
            );
        }
        bulk.say(
            ms + 161.0,
            &format!("< . 501 {} 0 60000", first + 1460 * 12),
        );
        bulk.analyze()
    };
    assert_eq!(with(true).ids(), ["congestion_loss"]);
    assert_eq!(with(false).ids(), ["loss"]);
}

/// Six losses, each after so many segments at one a millisecond (an idle path of 40 ms); the first one takes `many`.
fn held(segments: impl Fn(u32) -> u32, many: u32, wait: f64) -> Answer {
    let mut bulk = Bulk::new(SACK);
    let mut ms = 50.0;
    for i in 0..6 {
        ms = bulk.send(ms, segments(i), 1.0, |n| if n > 10 { wait } else { 40.0 });
        let begin = ms;
        bulk.lose(begin, if i == 0 { many } else { 2 }, wait);
        ms = begin + 150.0;
    }
    bulk.analyze()
}

#[test]
fn a_policer_lets_one_rate_pass_between_its_drops() {
    let answer = held(|_| 300, 8, 40.0);
    assert_eq!(answer.ids(), ["policer"]);
    assert!(
        title(&answer, "policer").contains("held to about 7."),
        "{}",
        title(&answer, "policer")
    );
    // Losses by chance come at any time; a program that sends at one rate never loses many at once; a queue is seen.
    assert!(
        !held(|i| 100 + 150 * (i * 5 % 6), 8, 40.0)
            .ids()
            .contains(&"policer")
    );
    assert!(!held(|_| 300, 2, 40.0).ids().contains(&"policer"));
    assert!(!held(|_| 300, 8, 70.0).ids().contains(&"policer"));
}

/// At the sender: a flight each 300 ms, which grows by two segments while nothing is lost. `drops` tells of each segment,
/// by its time; the last one of a flight passes. Its ACKs come 40 ms after them, `wait` later from one to the next; then
/// what was lost is sent again.
fn flights(mut drops: impl FnMut(f64) -> bool, wait: f64) -> Answer {
    let (mut bulk, mut count) = (Bulk::new(SACK), 10);
    for round in 0..90 {
        let begin = 50.0 + f64::from(round) * 300.0;
        let mut lost = Vec::new();
        let mut done = begin;
        for n in 0..count {
            let (seq, end) = (bulk.seq, bulk.seq + 1460);
            let ms = begin + f64::from(n) * 0.1;
            bulk.say(ms, &format!("> . {seq} 501 1460 60000"));
            bulk.seq = end;
            if drops(ms) && n + 1 < count {
                lost.push(seq);
                continue;
            }
            done = ms + 40.0 + wait * f64::from(n);
            let line = match lost.first() {
                Some(first) => format!("< . 501 {first} 0 60000 sack={seq}-{end}"),
                None => format!("< . 501 {end} 0 60000"),
            };
            bulk.say(done, &line);
        }
        count = if lost.is_empty() { count + 2 } else { 12 };
        for seq in &lost {
            done += 1.0;
            while drops(done) {
                done += 5.0;
            }
            bulk.say(done, &format!("> . {seq} 501 1460 60000"));
        }
        if !lost.is_empty() {
            bulk.say(done + 40.0, &format!("< . 501 {} 0 60000", bulk.seq));
        }
    }
    bulk.analyze()
}

/// A bucket of 15 kB that fills with 20 kB in 300 ms.
fn bucket() -> impl FnMut(f64) -> bool {
    let (mut tokens, mut last) = (15_000.0, 0.0);
    move |ms: f64| {
        tokens = f64::min(15_000.0, tokens + (ms - last) * 20_000.0 / 300.0);
        last = ms;
        let gone = tokens < 1500.0;
        tokens -= if gone { 0.0 } else { 1500.0 };
        gone
    }
}

#[test]
fn a_token_bucket_explains_the_losses_of_a_policer() {
    let answer = flights(bucket(), 0.0);
    assert_eq!(answer.ids(), ["policer"]);
    let told = title(&answer, "policer");
    // It is 533 kbit/s; as the bucket is full again before most flights, higher rates explain the losses, too.
    assert!(told.contains("held to between 4"), "{told}");
    // A queue of that length and rate is seen: each segment takes 22 ms in it.
    let queue = flights(bucket(), 22.0);
    assert!(!queue.ids().contains(&"policer"), "{:?}", queue.ids());
    // Losses that come at any time fit no bucket.
    let mut n = 0;
    let chance = |_| {
        n += 1;
        n * n % 17 == 1
    };
    let chance = flights(chance, 0.0);
    assert!(!chance.ids().contains(&"policer"), "{:?}", chance.ids());
}

/// A connection with some data, and a RST of the server as given.
fn reset(lines: &[&str]) -> Answer {
    let begin = [
        "0 > S 100 0 0 60000 mss=1460 ttl=64",
        "40 < S. 500 101 0 60000 mss=1460 ttl=52",
        "40 > . 101 501 0 60000 ttl=64",
        "50 > P. 101 501 300 60000 ttl=64",
        "90 < . 501 401 0 60000 ttl=52",
        "95 < P. 501 401 200 60000 ttl=52",
        "95 > . 401 701 0 60000 ttl=64",
    ];
    let all: Vec<&str> = begin.iter().chain(lines).copied().collect();
    analyze_script(&all)
}

#[test]
fn a_rst_of_another_machine_is_told_from_one_of_the_end() {
    let answer = reset(&["200 < R. 701 401 0 0 ttl=61"]);
    assert_eq!(answer.ids(), ["reset_by_middlebox"]);
    assert!(
        answer.findings[0]
            .cause
            .contains("TTL 61, all other packets of 192.0.2.2 with 52")
    );
    assert_eq!(reset(&["200 < R. 701 401 0 0 ttl=52"]).ids(), ["reset"]);
    // The end goes on: it did not send the RST.
    let goes_on = [
        "200 < R. 701 401 0 0 ttl=52",
        "260 < P. 701 401 200 60000 ttl=52",
    ];
    assert_eq!(reset(&goes_on).ids(), ["reset_by_middlebox"]);
    // Its IP identification follows: the end made the RST itself.
    let own = [
        "199 < . 701 401 0 60000 ttl=52 id=8",
        "200 < R. 701 401 0 0 ttl=52 id=9",
        "260 < P. 701 401 200 60000 ttl=52 id=10",
    ];
    assert_eq!(reset(&own).ids(), [""; 0]);
    // The peer goes on with it: the RST did not reset anything.
    let ignored = [goes_on[0], goes_on[1], "261 > . 401 901 0 60000 ttl=64"];
    assert_eq!(reset(&ignored).ids(), ["reset_ignored"]);
    // What the RST has overtaken was sent before it.
    let overtaken = [
        "200 < R. 901 401 0 0 ttl=52",
        "201 < P. 701 401 200 60000 ttl=52",
    ];
    assert_eq!(reset(&overtaken).ids(), ["reset"]);
    // The way had changed before.
    let moved = [
        "99 < . 701 401 0 60000 ttl=50",
        "200 < R. 701 401 0 0 ttl=61",
    ];
    assert_eq!(reset(&moved).ids(), ["reset"]);
}

#[test]
fn bytes_that_the_rst_acknowledges_are_not_lost() {
    let said = |ack: u32| {
        let rst = format!("205 < R. 701 {ack} 0 0 ttl=52");
        reset(&["200 > P. 401 701 72 60000 ttl=64", &rst])
    };
    let title = |a: &Answer| a.findings[0].title.clone();
    assert!(
        title(&said(401)).contains("72 bytes"),
        "{}",
        title(&said(401))
    );
    let one_way = analyze_script(&[
        "0 > P. 101 501 300 60000",
        "50 > P. 401 501 300 60000",
        "90 > R. 701 501 0 0",
    ]);
    let reset = one_way.findings.iter().find(|f| f.id.name() == "reset");
    assert!(!reset.expect("a RST").title.contains("bytes"));
    assert!(
        !title(&said(473)).contains("bytes"),
        "{}",
        title(&said(473))
    );
}

#[test]
fn a_rst_after_the_close_is_no_finding() {
    let closed = [
        "200 > F. 401 701 0 60000 ttl=64",
        "240 < R. 701 402 0 0 ttl=52",
    ];
    assert_eq!(reset(&closed).ids(), [""; 0]);
}

#[test]
fn request_on_a_closed_connection_is_lost() {
    let reused = |ms: u32| {
        reset(&[
            "5000 < F. 701 401 0 60000 ttl=52",
            "5001 > . 401 702 0 60000 ttl=64",
            &format!("{} > P. 401 702 300 60000 ttl=64", 5001 + ms),
            &format!("{} < R 702 0 0 0 ttl=52", 5041 + ms),
        ])
    };
    let answer = reused(500);
    assert_eq!(answer.ids(), ["reset"]);
    assert!(
        title(&answer, "reset").ends_with("300 more bytes: they were lost"),
        "{}",
        title(&answer, "reset")
    );
    // The end of what it was saying: a close_notify of TLS.
    assert_eq!(reused(1).ids(), [""; 0]);
}

#[test]
fn rst_whose_ttl_differs_from_packets_around_it() {
    let answer = analyze_script(&[
        "0 > S 100 0 0 60000 ttl=64",
        "40 < S. 500 101 0 60000 ttl=52",
        "40.1 > . 101 501 0 60000 ttl=64",
        "41 > P. 101 501 300 60000 ttl=64",
        "60 < R 501 0 0 0 ttl=240",
        "81 < R 501 0 0 0 ttl=52",
    ]);
    assert_eq!(answer.ids(), ["reset_by_middlebox"]);
}

#[test]
fn a_reset_says_how_much_was_on_its_way() {
    let answer = reset(&[
        "100 > P. 401 701 500 60000 ttl=64",
        "140 < R 701 0 0 0 ttl=52",
    ]);
    assert!(
        title(&answer, "reset").contains("500 bytes"),
        "{}",
        title(&answer, "reset")
    );
}

//! Causes on the path, as short conversations built by hand: losses and their kind, queues, reordering, duplicates, RSTs,
//! and timeouts that were not needed, each beside a conversation that looks like it and is not.

mod common;

use common::{Answer, adds_up, analyze_script};

/// Options of both SYNs.
const SACK: &str = "mss=1460 sackok";
const BARE: &str = "mss=1460";

/// A bulk sender at the capture, 40 ms from its receiver, as lines of a script.
struct Bulk {
    lines: Vec<(f64, String)>,
    seq: u32,
}

impl Bulk {
    fn new(options: &str) -> Self {
        let lines = vec![
            (0.0, format!("> S 100 0 0 60000 {options}")),
            (40.0, format!("< S. 500 101 0 60000 {options}")),
            (40.0, "> . 101 501 0 60000".to_owned()),
        ];
        Self { lines, seq: 101 }
    }

    fn say(&mut self, ms: f64, line: &str) {
        self.lines.push((ms, line.to_owned()));
    }

    /// Its handshake has time stamps.
    fn stamped(&mut self) {
        for (line, stamps) in self
            .lines
            .iter_mut()
            .zip(["1000,0", "7000,1000", "1040,7000"])
        {
            line.1 += &format!(" ts={stamps}");
        }
    }

    /// Full segments from `ms` on, one each `gap` milliseconds, each ACKed after what `wait` says for it.
    fn send(&mut self, ms: f64, count: u32, gap: f64, wait: impl Fn(u32) -> f64) -> f64 {
        for i in 0..count {
            let at = ms + f64::from(i) * gap;
            self.say(at, &format!("> . {} 501 1460 60000", self.seq));
            self.seq += 1460;
            self.say(at + wait(i), &format!("< . 501 {} 0 60000", self.seq));
        }
        ms + f64::from(count) * gap
    }

    /// Of `count + 4` segments at `ms` the first `count` are lost and repaired; SACK tells after `wait` milliseconds.
    fn lose(&mut self, ms: f64, count: u32, wait: f64) -> f64 {
        let (first, high) = (self.seq, self.seq + 1460 * count);
        for i in 0..count + 4 {
            self.say(
                ms + f64::from(i) * 0.1,
                &format!("> . {} 501 1460 60000", self.seq),
            );
            self.seq += 1460;
        }
        for i in 1..=4 {
            let told = high + 1460 * i;
            self.say(
                ms + wait + f64::from(i),
                &format!("< . 501 {first} 0 60000 sack={high}-{told}"),
            );
        }
        let again = ms + wait + 5.0;
        for i in 0..count {
            self.say(again, &format!("> . {} 501 1460 60000", first + 1460 * i));
        }
        self.say(again + wait, &format!("< . 501 {} 0 60000", self.seq));
        again + wait + 1.0
    }

    fn analyze(mut self) -> Answer {
        self.lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        let lines: Vec<String> = self
            .lines
            .iter()
            .map(|(ms, line)| {
                let (direction, rest) = line.split_once(' ').expect("a direction");
                format!("{ms} {direction} {rest}")
            })
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        analyze_script(&lines)
    }
}

fn title<'a>(answer: &'a Answer, id: &str) -> &'a str {
    let found = answer.findings.iter().find(|f| f.id.name() == id);
    &found
        .unwrap_or_else(|| panic!("no {id}: {:?}", answer.ids()))
        .title
}

fn not_checked(answer: &Answer) -> Vec<&'static str> {
    let all = &answer.totals.not_checked;
    all.iter().map(|n| n.finding.name()).collect()
}

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
        title(&answer, "bufferbloat").contains("from 40.0 ms to 360.0 ms"),
        "{answer_title}",
        answer_title = title(&answer, "bufferbloat")
    );
    // Half of that is a buffer of one round trip, and a spike of the same height is none.
    let mut short = Bulk::new(SACK);
    short.send(50.0, 300, 10.0, |i| 40.0 + f64::from(i.min(60)));
    assert_eq!(short.analyze().ids(), [""; 0]);
    let mut spikes = Bulk::new(SACK);
    spikes.send(50.0, 300, 10.0, |i| if i % 50 == 40 { 400.0 } else { 40.0 });
    assert!(!spikes.analyze().ids().contains(&"bufferbloat"));
}

/// At the receiver: 400 segments, one each 10 ms, which arrive `wait` late and are stamped by a clock of `tick` ms; each
/// is ACKed at once, and the sender hears of it 20 ms and `wait` before it sends the next one that echoes it.
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
fn behind_the_queue_time_stamps_tell_of_it_and_a_slow_clock_does_not() {
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
fn acks_that_were_held_and_come_at_once_are_no_queue() {
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
fn what_was_acked_tells_of_reordering_only_where_something_came_late() {
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
fn one_loss_does_not_tell_its_kind() {
    let mut bulk = Bulk::new(SACK);
    let ms = bulk.send(50.0, 40, 2.0, |i| 40.0 + f64::from(i)) + 100.0;
    bulk.lose(ms, 1, 79.0);
    let answer = bulk.analyze();
    assert_eq!(answer.ids(), ["loss"]);
    assert!(title(&answer, "loss").starts_with("1 segment from"));
}

#[test]
fn a_hole_that_closes_by_itself_at_the_sender_is_reordering() {
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
fn an_ack_that_tells_of_the_next_hole_is_no_reordering() {
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
fn acks_of_what_was_sent_once_show_a_timeout_that_was_not_needed() {
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
        title(&late, "spurious_rto").contains("an ACK took 333.0 ms instead of 40.0 ms"),
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
fn what_was_acked_before_it_came_again_was_not_lost() {
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
fn numbers_that_are_missing_among_the_acks_are_lost_acks() {
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
fn a_capture_that_leaves_out_acks_is_no_loss_of_acks() {
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
fn acks_that_a_filter_took_out_of_a_line_left_no_place() {
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
    // With a number and a time stamp of its own it was sent again.
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
fn a_clock_that_is_set_while_it_captures_is_no_wait() {
    let steady = stepped(0.0, 0.0, false);
    assert_eq!(steady.ids(), [""; 0]);
    let length = steady.streams[0].duration_us;
    // Ahead: an hour that did not pass is in no class, and what goes by times is not checked.
    let ahead = stepped(3_600_000.0, 0.0, false);
    assert_eq!(ahead.ids(), ["capture_clock_step"]);
    assert!(
        title(&ahead, "capture_clock_step").contains("ahead by 3600.00 s at packet 21"),
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
    // A server that took as long: its own time stamps say so.
    let slow = stepped(3_000.0, 3_000.0, false);
    assert!(!slow.ids().contains(&"capture_clock_step"));
}

#[test]
fn an_option_that_was_taken_out_on_the_way_shows_in_later_packets() {
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
fn ecn_bits_that_do_not_arrive_were_cleared_on_the_way() {
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
fn an_option_that_the_answer_leaves_out_is_told_where_it_matters() {
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
fn a_link_that_goes_away_for_a_moment_is_no_full_queue() {
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
    // The end goes on: it knows nothing of the RST.
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
    assert_eq!(reset(&ignored).ids(), [""; 0]);
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

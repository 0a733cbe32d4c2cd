//! Packets that two causes would leave: the answer is "not checked" or unknown time, and where the packets tell after
//! all, the all-clear stays. Short conversations built by hand.

mod common;

use common::Answer;
use common::bulk::not_checked;
use common::talk::{Talk, time};
use tcplab_analyze::budget::Class;

/// A server 30 ms away writes 3420 bytes every 50 ms, then is silent for a second. The first segment afterwards comes
/// `next` milliseconds before the second one. `ids`: it counts its packets, without a gap.
fn silence(next: f64, ids: bool) -> Answer {
    let mut talk = Talk::at_client(30.0, "sackok");
    talk.say(31.0, "> P. 101 501 100 60000");
    let (mut seq, mut id) = (501, 1);
    let mut data = |talk: &mut Talk, ms: f64, len: u32| {
        let told = if ids {
            format!("id={id}")
        } else {
            String::new()
        };
        talk.say(ms, &format!("< P. {seq} 201 {len} 60000 {told}"));
        (seq, id) = (seq + len, id + 1);
        talk.say(ms + 0.01, &format!("> . 201 {seq} 0 60000"));
    };
    for ms in [61.0, 111.0, 161.0, 211.0] {
        for (i, len) in [(0.0, 1460), (0.2, 1460), (0.4, 500)] {
            data(&mut talk, ms + i, len);
        }
    }
    for (i, len) in [(0.0, 1460), (next, 1460), (next + 0.2, 500)] {
        data(&mut talk, 1211.0 + i, len);
    }
    talk.analyze()
}

#[test]
fn silence_before_a_lone_full_segment_may_be_a_timers() {
    let lone = silence(30.1, false);
    assert_eq!(not_checked(&lone), ["rto_stall", "tail_loss"]);
    assert_eq!(time(&lone, Class::Unknown), 999);
    // A timer sends one segment, and its next one after the ACK: here the program went on.
    let burst = silence(0.2, false);
    assert!(not_checked(&burst).is_empty());
    assert_eq!(time(&burst, Class::Unknown), 0);
    assert!(time(&burst, Class::Sender) >= 999);
    // Or its count of packets has no gap.
    let counted = silence(30.1, true);
    assert!(not_checked(&counted).is_empty());
    assert!(time(&counted, Class::Sender) >= 999);
}

/// At the receiver 20 ms away: full segments that come one each 10 ms, as over a slow link, or as from a small send buffer.
fn even(stamps: Option<u32>) -> Answer {
    let ts = |val: u32, echo: u32| stamps.map_or_else(String::new, |_| format!("ts={val},{echo}"));
    let mut talk = Talk::default();
    for (ms, line, [val, echo]) in [
        (0.0, "> S 100 0 0 60000 mss=1460", [1000, 0]),
        (0.1, "< S. 500 101 0 60000 mss=1460", [7000, 1000]),
        (20.0, "> . 101 501 0 60000", [1020, 7000]),
    ] {
        talk.say(ms, &format!("{line} {}", ts(val, echo)));
    }
    for (i, seq) in (0..200_u32).zip((101..).step_by(1460)) {
        let at = 20 + 10 * i;
        // It left this long after the ACK that it echoes came to the receiver.
        let round = stamps.unwrap_or(0);
        let (val, echo) = (1000 + at, 7000 + at.saturating_sub(round));
        let end = seq + 1460;
        talk.say(
            at.into(),
            &format!("> . {seq} 501 1460 60000 {}", ts(val, echo)),
        );
        let at = f64::from(at) + 0.01;
        talk.say(
            at,
            &format!("< . 501 {end} 0 60000 {}", ts(echo + round, val)),
        );
    }
    talk.analyze()
}

#[test]
fn even_arrivals_without_a_round_trip_tell_no_send_buffer() {
    let unknown = even(None);
    assert_eq!(time(&unknown, Class::Sender), 0);
    assert!(time(&unknown, Class::Unknown) > 1_800);
    // The round trip shows a queue, or that there is none.
    let queue = even(Some(300));
    assert_eq!(time(&queue, Class::Sender), 0);
    assert!(time(&queue, Class::Unknown) < 700);
    assert!(time(&even(Some(20)), Class::Sender) > 1_500);
}

/// A client 10 ms away asks twice; the ACK of the second request is there, or not; the answer comes after `think`
/// milliseconds.
fn slow(acked: bool, at_server: bool, think: f64) -> Answer {
    let mut talk = Talk::default();
    let (there, back) = if at_server { (0.0, 10.0) } else { (10.0, 0.0) };
    talk.say(0.0, "> S 100 0 0 60000 mss=1460");
    talk.say(there, "< S. 500 101 0 60000 mss=1460");
    talk.say(10.0, "> . 101 501 0 60000");
    talk.say(11.0, "> P. 101 501 200 60000");
    talk.say(11.2 + there, "< P. 501 301 900 60000");
    talk.say(11.2 + there + back, "> . 301 1401 0 60000");
    talk.say(50.0, "> P. 301 1401 200 60000");
    if acked {
        talk.say(90.0 + there, "< . 1401 501 0 60000");
    }
    talk.say(50.0 + there + think, "< P. 1401 501 900 60000");
    talk.say(50.0 + there + think + back, "> . 501 2301 0 60000");
    talk.analyze()
}

#[test]
fn answer_without_an_ack_before_it_is_not_a_slow_path() {
    let whole = slow(true, false, 1200.0);
    assert_eq!(whole.ids(), ["slow_server"]);
    let lacks = slow(false, false, 1200.0);
    assert_eq!(not_checked(&lacks), ["slow_server"]);
    assert_eq!(
        (
            time(&lacks, Class::Unknown),
            time(&lacks, Class::ServerThinks)
        ),
        (980, 220)
    );
    assert!(time(&lacks, Class::Path) < 40);
    // At the server there is no path to it.
    let here = slow(false, true, 1200.0);
    assert_eq!(here.ids(), ["slow_server"]);
    assert_eq!(time(&here, Class::ServerThinks), 1200);
    assert!(not_checked(&slow(false, false, 15.0)).is_empty());
}

/// At a bulk sender: eight segments, the first of which is SACKed around; its ACK comes `late` milliseconds after the news,
/// and the capture shows no repair.
fn hole(late: f64) -> Answer {
    let mut talk = Talk::at_client(30.0, "sackok");
    talk.say(31.0, "> . 101 501 1460 60000");
    talk.say(61.0, "< . 501 1561 0 60000");
    for i in 0..8 {
        talk.say(61.0, &format!("> . {} 501 1460 60000", 1561 + 1460 * i));
    }
    for i in 2..=8 {
        let (from, to) = (1561 + 1460, 1561 + 1460 * i);
        let line = format!("< . 501 1561 0 60000 sack={from}-{to}");
        talk.say(91.0 + f64::from(i) / 10.0, &line);
    }
    let line = format!("< . 501 {} 0 60000", 1561 + 1460 * 8);
    talk.say(91.2 + late, &line);
    talk.analyze()
}

#[test]
fn hole_that_takes_a_repair_is_no_reordering() {
    let late = hole(12.0);
    assert_eq!(late.ids(), ["reordering"]);
    assert!(!not_checked(&late).contains(&"loss"));
    let lost = hole(31.0);
    assert!(lost.ids().is_empty());
    for id in ["reordering", "loss", "random_loss"] {
        assert!(not_checked(&lost).contains(&id), "{id}");
    }
}

#[test]
fn needless_repair_that_comes_after_the_late_original_is_no_copy() {
    // Without identifications and time stamps, at the receiver 30 ms away.
    let mut talk = Talk::default();
    talk.say(0.0, "> S 100 0 0 60000 mss=1460 sackok");
    talk.say(0.1, "< S. 500 101 0 60000 mss=1460 sackok");
    talk.say(30.0, "> . 101 501 0 60000");
    let seq = |i: u32| 101 + 1460 * i;
    let say =
        |talk: &mut Talk, ms: f64, i: u32| talk.say(ms, &format!("> . {} 501 1460 60000", seq(i)));
    let at = |i: u32| 31.0 + 0.5 * f64::from(i);
    for i in 0..200 {
        if i == 100 {
            // It comes behind eight others; a round trip after the news its sender sends it again.
            say(&mut talk, at(108) + 0.1, i);
            say(&mut talk, at(103) + 30.2, i);
            let told = (101..=108).map(|j| (at(j), seq(j + 1)));
            for (ms, end) in told {
                talk.say(
                    ms + 0.01,
                    &format!("< . 501 {} 0 60000 sack={}-{end}", seq(100), seq(101)),
                );
            }
            talk.say(at(108) + 0.11, &format!("< . 501 {} 0 60000", seq(109)));
            let again = format!(
                "< . 501 {} 0 60000 sack={}-{}",
                seq(164),
                seq(100),
                seq(101)
            );
            talk.say(at(103) + 30.21, &again);
        } else {
            say(&mut talk, at(i), i);
            if !(100..=108).contains(&i) {
                talk.say(at(i) + 0.01, &format!("< . 501 {} 0 60000", seq(i + 1)));
            }
        }
    }
    let answer = talk.analyze();
    assert_eq!(answer.streams[0].client_to_server.retransmissions.total, 1);
    assert!(!answer.ids().contains(&"duplication"), "{:?}", answer.ids());
}

#[test]
fn captures_of_both_ends_in_one_file() {
    // Each packet passes twice, 20 ms apart, the server's FIN as well.
    let mut talk = Talk::default();
    let mut twice = |ms: f64, line: &str| {
        talk.say(ms, line);
        talk.say(ms + 20.03, line);
    };
    twice(0.0, "> S 100 0 0 60000 mss=1460 id=1");
    twice(20.1, "< S. 500 101 0 60000 mss=1460 id=501");
    twice(40.2, "> . 101 501 0 60000 id=2");
    for i in 0..20_u16 {
        let seq = 101 + 1460 * u32::from(i);
        let ms = 41.0 + 40.2 * f64::from(i);
        twice(ms, &format!("> . {seq} 501 1460 60000 id={}", 3 + i));
        let ack = format!("< . 501 {} 0 60000 id={}", seq + 1460, 502 + i);
        twice(ms + 20.1, &ack);
    }
    let end = 101 + 1460 * 20;
    twice(900.0, &format!("> F. {end} 501 0 60000 id=23"));
    twice(920.1, &format!("< F. 501 {} 0 60000 id=522", end + 1));
    twice(940.2, &format!("> . {} 502 0 60000 id=24", end + 1));
    let answer = talk.analyze();
    assert_eq!(answer.ids(), ["capture_artefacts"]);
    let s = &answer.streams[0];
    let sent = [&s.client_to_server, &s.server_to_client];
    assert_eq!(sent.map(|d| d.retransmissions.total), [0, 0]);
}

/// At the server, 20 ms from its client: the client repeats its request after 225 ms, needlessly, because the server's ACK
/// or, if `answered`, the answer was lost behind the capture.
fn repeated(answered: bool) -> Answer {
    let mut talk = Talk::default();
    talk.say(0.0, "> S 100 0 0 60000 mss=1460 sackok");
    talk.say(0.1, "< S. 500 101 0 60000 mss=1460 sackok");
    talk.say(20.0, "> . 101 501 0 60000");
    talk.say(21.0, "> P. 101 501 200 60000");
    let end = if answered { 1401 } else { 501 };
    talk.say(
        21.0,
        &match answered {
            true => "< P. 501 301 900 60000".to_owned(),
            false => "< . 501 301 0 60000".to_owned(),
        },
    );
    talk.say(246.0, "> P. 101 501 200 60000");
    talk.say(246.0, &format!("< . {end} 301 0 60000 sack=101-301"));
    let at = if answered { 248.0 } else { 1021.0 };
    talk.say(at, "< P. 501 301 900 60000");
    talk.say(at + 20.0, "> . 301 1401 0 60000");
    talk.analyze()
}

#[test]
fn needless_repeat_takes_no_time_of_a_loss_or_a_program() {
    let lost = repeated(true);
    assert_eq!(
        (time(&lost, Class::Spurious), time(&lost, Class::Tlp)),
        (0, 247)
    );
    let slow = repeated(false);
    assert_eq!(
        (
            time(&slow, Class::Spurious),
            time(&slow, Class::ServerThinks)
        ),
        (0, 1000)
    );
}

#[test]
fn original_that_comes_after_its_repair_is_not_sent_again() {
    // At the receiver, without time stamps: the identification tells which of the two left first.
    let mut talk = Talk::default();
    talk.say(0.0, "> S 100 0 0 60000 mss=1460 sackok id=1");
    talk.say(0.1, "< S. 500 101 0 60000 mss=1460 sackok");
    talk.say(30.0, "> . 101 501 0 60000 id=2");
    for i in 0..12_u32 {
        let (ms, seq) = (31.0 + f64::from(i), 101 + 1460 * i);
        let end = seq + 1460;
        let answer = match i {
            0..4 => format!("< . 501 {end} 0 60000"),
            4 => continue,
            _ => format!("< . 501 5941 0 60000 sack=7401-{end}"),
        };
        talk.say(ms, &format!("> . {seq} 501 1460 60000 id={}", 3 + i));
        talk.say(ms + 0.01, &answer);
    }
    talk.say(68.0, "> . 5941 501 1460 60000 id=15");
    talk.say(68.01, "< . 501 17621 0 60000");
    talk.say(70.0, "> . 5941 501 1460 60000 id=7");
    talk.say(70.01, "< . 501 17621 0 60000 sack=5941-7401");
    let answer = talk.analyze();
    let sent = &answer.streams[0].client_to_server.retransmissions;
    assert_eq!((sent.total, sent.spurious), (1, 1));
    assert!(!answer.ids().contains(&"duplication"), "{:?}", answer.ids());
}

//! As `undecided.rs`: what jitter, cut options and packets before the capture hide, and what they do not.

mod common;

use common::Answer;
use common::bulk::not_checked;
use common::talk::{Talk, time};
use tcplab_analyze::budget::Class;
use tcplab_wire::TcpOptions;

/// A transfer of growing flights with round trips of 100 ms, a pause, and growing flights again. The handshake took `ms`;
/// `cut`: the snap length left no TCP options.
fn after_a_pause(ms: f64, cut: bool) -> Answer {
    let mut talk = Talk::at_client(ms, "ts=1,1 sackok");
    let (mut seq, mut now) = (101, 110.0);
    for flight in [4, 8, 16, 30, 0, 10, 20, 28] {
        for i in 0..flight {
            let at = now + f64::from(i) / 50.0;
            talk.say(at, &format!("> . {seq} 501 1448 60000 ts=1,1"));
            seq += 1448;
            talk.say(at + 100.0, &format!("< . 501 {seq} 0 60000 ts=1,1"));
        }
        now += if flight == 0 { 2_000.0 } else { 100.1 };
    }
    talk.snapped(|p| cut.then(|| p.options = TcpOptions::default()).is_some())
}

#[test]
fn without_options_a_restart_after_idle_is_not_checked() {
    assert!(
        after_a_pause(100.0, false)
            .ids()
            .contains(&"window_after_idle")
    );
    let cut = after_a_pause(100.0, true);
    assert!(!cut.ids().contains(&"window_after_idle"));
    assert!(not_checked(&cut).contains(&"window_after_idle"));
}

#[test]
fn without_sack_blocks_reordering_is_not_checked() {
    let mut talk = Talk::at_client(30.0, "sackok");
    for i in 0..4 {
        talk.say(31.0, &format!("> . {} 501 1460 60000", 101 + 1460 * i));
    }
    for i in 2..=4 {
        let sack = format!("sack=1561-{}", 101 + 1460 * i);
        talk.say(61.0, &format!("< . 501 101 0 60000 ts=1,1 {sack}"));
    }
    talk.say(62.0, &format!("< . 501 {} 0 60000", 101 + 1460 * 4));
    let answer = talk.snapped(|p| {
        let cut = p.header_len > 32;
        if cut {
            (p.options.sack, p.header_len) = (TcpOptions::default().sack, 44);
        }
        cut
    });
    assert!(not_checked(&answer).contains(&"reordering"));
}

#[test]
fn jitter_hides_no_restart_after_idle() {
    // Each flight leaves at once: nothing on the way holds it up.
    assert!(
        after_a_pause(85.0, false)
            .ids()
            .contains(&"window_after_idle")
    );
}

#[test]
fn pause_of_a_client_is_no_path() {
    // The capture begins in the middle. The client waits for 10 ms before it writes twice, next to the capture.
    let mut talk = Talk::default();
    let (mut ask, mut answer) = (101, 501);
    for i in 0..20 {
        let ms = 60.0 * f64::from(i);
        talk.say(ms, &format!("> P. {ask} {answer} 50 60000"));
        talk.say(ms + 44.0, &format!("< . {answer} {} 0 60000", ask + 50));
        talk.say(ms + 44.0, &format!("> P. {} {answer} 50 60000", ask + 50));
        ask += 100;
        talk.say(ms + 48.0, &format!("< P. {answer} {ask} 80 60000"));
        answer += 80;
    }
    let mut rest = talk.0.split_off(3);
    let end = rest.len() as f64;
    rest.push((1200.0 + end, format!("> . {ask} {answer} 0 60000")));
    let answer = Talk(rest).analyze();
    assert!(answer.ids().contains(&"delack_nagle"), "{:?}", answer.ids());
    assert!(time(&answer, Class::DelayedAck) > 500);
    assert!(time(&answer, Class::ClientThinks) > 100);
}

/// At the server, 20 ms from its client, which writes twice for each request; the second part comes `trips` milliseconds
/// after the delayed ACK of the first.
fn written_twice(trips: &[f64]) -> Answer {
    let mut talk = Talk::default();
    talk.say(0.0, "> S 100 0 0 60000 mss=1460");
    talk.say(0.1, "< S. 500 101 0 60000 mss=1460");
    talk.say(20.0, "> . 101 501 0 60000");
    let (mut ask, mut answer) = (101, 501);
    for (i, trip) in (1..).zip(trips) {
        let ms = 200.0 * f64::from(i);
        talk.say(ms, &format!("> P. {ask} {answer} 50 60000"));
        talk.say(ms + 41.0, &format!("< . {answer} {} 0 60000", ask + 50));
        let second = ms + 41.0 + trip;
        talk.say(second, &format!("> P. {} {answer} 50 60000", ask + 50));
        ask += 100;
        talk.say(second + 0.1, &format!("< P. {answer} {ask} 80 60000"));
        answer += 80;
        let heard = second + 0.1 + trip.min(28.0);
        talk.say(heard, &format!("> . {ask} {answer} 0 60000"));
    }
    talk.analyze()
}

#[test]
fn messages_that_come_a_jittery_trip_after_late_acks_may_be_held() {
    assert_eq!(written_twice(&[20.0; 8]).ids(), ["delack_nagle"]);
    let jitter = written_twice(&[23.0, 26.0, 22.0, 28.0, 24.0, 25.0, 22.0, 27.0]);
    assert!(jitter.ids().is_empty());
    assert_eq!(not_checked(&jitter), ["delack_nagle"]);
    assert_eq!(time(&jitter, Class::Sender), 0);
    assert!(time(&jitter, Class::Unknown) > 400);
    // Much later the program wrote by itself.
    let own = written_twice(&[90.0; 8]);
    assert!(not_checked(&own).is_empty());
    assert!(time(&own, Class::Sender) > 900);
}

/// At a sender 20 ms from its receiver: 15 segments in each round trip, of `trips` milliseconds each.
fn flat(trips: &[f64], pause: f64) -> Answer {
    let mut talk = Talk::at_client(20.0, "");
    let (mut seq, mut now) = (101_u32, 21.0);
    for trip in trips {
        for i in 0..15 {
            let at = now + f64::from(i) / 100.0;
            talk.say(at, &format!("> . {seq} 501 1460 60000"));
            seq += 1460;
            talk.say(at + trip - pause, &format!("< . 501 {seq} 0 60000"));
        }
        now += trip;
    }
    talk.analyze()
}

#[test]
fn flights_of_one_size_with_jitter_may_be_the_send_buffers() {
    let even = flat(&[20.1; 40], 0.0);
    assert_eq!(even.ids(), ["send_buffer_limited"]);
    // The data follows the ACKs by a few milliseconds.
    let jitter = flat(&[26.0, 24.0, 28.0, 23.0].repeat(10), 5.0);
    assert!(jitter.ids().is_empty());
    assert!(not_checked(&jitter).contains(&"send_buffer_limited"));
    // A program that writes later than the ACKs come, and later than they vary, writes by its own clock.
    assert!(!not_checked(&flat(&[28.0; 40], 8.0)).contains(&"send_buffer_limited"));
    assert!(!not_checked(&flat(&[60.0; 40], 40.0)).contains(&"send_buffer_limited"));
}

#[test]
fn program_thinks_before_a_request_that_was_lost() {
    // At the server: the client waits for 5 s; its third request is lost before the capture, and comes 225 ms later.
    let mut talk = Talk::default();
    talk.say(0.0, "> S 100 0 0 60000 mss=1460 sackok ts=1000,0 id=1");
    talk.say(0.1, "< S. 500 101 0 60000 mss=1460 sackok ts=7000,1000");
    talk.say(20.0, "> . 101 501 0 60000 ts=1020,7000 id=2");
    let mut id = 3;
    for i in 0..6_u32 {
        let late = if i == 3 { 225 } else { 0 };
        id += u32::from(i == 3);
        let at = 30 + 5000 * i + late;
        let (ask, answer) = (101 + 200 * i, 501 + 900 * i);
        let ms = f64::from(at);
        let ask = format!(
            "> P. {ask} {answer} 200 60000 ts={},{} id={id}",
            1000 + at,
            6000 + at
        );
        talk.say(ms, &ask);
        let (end, next) = (301 + 200 * i, 1401 + 900 * i);
        talk.say(
            ms + 0.1,
            &format!(
                "< P. {answer} {end} 900 60000 ts={},{}",
                7000 + at,
                1000 + at
            ),
        );
        talk.say(
            ms + 20.0,
            &format!(
                "> . {end} {next} 0 60000 ts={},{} id={}",
                1020 + at,
                7000 + at,
                id + 1
            ),
        );
        id += 2;
    }
    let answer = talk.analyze();
    assert_eq!(answer.ids(), ["tail_loss"]);
    let repair = time(&answer, Class::Tlp);
    assert!((225..=335).contains(&repair), "{repair}");
    assert!(time(&answer, Class::ClientThinks) > 24_500);
}

#[test]
fn random_identifications_tell_of_no_loss() {
    let mut talk = Talk::at_client(20.0, "");
    talk.say(21.0, "> P. 101 501 50 60000");
    let ids = [9_000, 41_000, 3_000, 60_000, 22_000, 22_300, 50_000];
    let mut seq = 501;
    for (i, id) in (0..).zip(ids) {
        let ms = 41.0 + 400.0 * f64::from(i);
        talk.say(ms, &format!("< P. {seq} 151 100 60000 id={id}"));
        seq += 100;
        talk.say(ms + 0.01, &format!("> . 151 {seq} 0 60000"));
    }
    let answer = talk.analyze();
    assert_eq!(time(&answer, Class::Tlp) + time(&answer, Class::Rto), 0);
}

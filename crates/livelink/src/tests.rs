//! A way with a file in the place of a device.

use std::fs::{self, File};

use tcplab_base::{Duration, Instant};
use tcplab_plan::point::Direction;

use super::lane::Lane;
use super::port::{HEADER, LONGEST, Port};

/// A frame of no protocol, with this number in it.
fn frame(number: u8, length: usize) -> Vec<u8> {
    let mut frame = vec![number; length];
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

fn way(words: &str) -> Direction {
    Direction::parse("test", words).unwrap()
}

fn lane(settings: Direction) -> Lane {
    let mut lane = Lane::new(settings, 1500, 1, "test");
    lane.begin(Instant::default());
    lane
}

fn enter(lane: &mut Lane, now: Instant, header: [u8; HEADER], frame: &[u8], to: &Port) {
    let mut buffer = vec![0; LONGEST];
    buffer[..frame.len()].copy_from_slice(frame);
    lane.enter(now, &header, (&mut buffer, frame.len()), to)
        .unwrap();
    assert_eq!(buffer.len(), LONGEST, "it is used again");
}

#[test]
fn a_plain_way_hands_on_what_it_read() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let to = Port::Tap(File::create(file.path()).unwrap());
    let mut lane = lane(Direction::default());
    let header = [1, 1, 0, 0, 200, 5, 34, 0, 16, 0];
    enter(&mut lane, Instant::default(), header, &frame(7, 3000), &to);
    let expected = [&header[..], &frame(7, 3000)].concat();
    assert_eq!(fs::read(file.path()).unwrap(), expected);
    let look = lane.look(Instant::default(), 0);
    assert_eq!(
        (look.frames_in, look.frames_out, look.bytes_out),
        (1, 1, 3000)
    );
}

#[test]
fn frames_leave_in_order_at_their_time_and_settings_change_meanwhile() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let to = Port::Tap(File::create(file.path()).unwrap());
    let mut lane = lane(way("netem delay 10ms"));
    let at = |ms: i64| Instant::default() + Duration::from_millis(ms);
    for number in 1..=3 {
        enter(
            &mut lane,
            at(number.into()),
            [0; HEADER],
            &frame(number, 100),
            &to,
        );
    }
    let sent = || fs::metadata(file.path()).unwrap().len() / 110;
    lane.leave(at(10), &to).unwrap();
    assert_eq!((sent(), lane.next_time()), (0, Some(at(11))));
    lane.leave(at(12), &to).unwrap();
    assert_eq!(sent(), 2);
    // The lane is plain from now on, but waiting frames go first.
    lane.change(at(12), Direction::default()).unwrap();
    enter(&mut lane, at(12), [0; HEADER], &frame(4, 100), &to);
    lane.leave(at(20), &to).unwrap();
    let bytes = fs::read(file.path()).unwrap();
    let numbers: Vec<u8> = bytes.chunks(110).map(|one| one[HEADER]).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    let how = lane.change(at(30), way("cake bandwidth 1mbit")).unwrap();
    assert!(how.contains("new queue"), "{how}");
    let look = lane.look(at(30), 0);
    assert_eq!((look.frames_in, look.frames_out), (4, 4));
    assert_eq!(look.qdisc.unwrap().kind, "cake");
    assert_eq!(look.delay_max_ns, 17_000_000);
    assert_eq!(lane.look(at(30), 0).delay_max_ns, 0);
}

#[test]
fn invalid_header_is_counted_and_dropped() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let to = Port::Tap(File::create(file.path()).unwrap());
    let mut lane = lane(way("netem rate 1gbit"));
    for header in [
        [0, 99, 0, 0, 0, 5, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 255, 255, 255, 255],
        [1, 1, 0, 0, 0, 0, 34, 0, 16, 0],
    ] {
        enter(&mut lane, Instant::default(), header, &frame(1, 60), &to);
    }
    enter(&mut lane, Instant::default(), [0; HEADER], &[], &to);
    lane.leave(Instant::default(), &to).unwrap();
    let look = lane.look(Instant::default(), 0);
    assert_eq!((look.invalid, look.frames_in), (4, 0));
}

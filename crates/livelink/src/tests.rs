//! A way with a file in the place of a device.

use std::fs::{self, File};
use std::net::UdpSocket;
use std::{thread, time};

use nix::unistd::geteuid;
use tcplab_base::{Duration, Instant};
use tcplab_os::Stop;
use tcplab_os::clock::monotonic;
use tcplab_os::namespaces::{apart, enter_net};
use tcplab_plan::point::Direction;

use super::lane::Lane;
use super::port::{HEADER, LONGEST, Port};
use super::{Link, Settings};

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
    let look = lane.look(Instant::default(), 0, 0);
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
    let look = lane.look(at(30), 0, 0);
    assert_eq!((look.frames_in, look.frames_out), (4, 4));
    assert_eq!(look.qdisc.unwrap().kind, "cake");
    assert_eq!(look.delay_max_ns, 17_000_000);
    assert_eq!(lane.look(at(30), 0, 0).delay_max_ns, 0);
}

#[test]
fn listed_marks_and_frames_that_the_device_dropped_are_counted() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let to = Port::Tap(File::create(file.path()).unwrap());
    let mut lane = lane(way(
        "{ mark = [\"frame 1-2\"], drop = [\"data 9\"], delay = \"1ms\" }",
    ));
    // An IPv4 header with ECT(0) and one without, a TCP header behind each.
    for ecn in [2, 0] {
        let mut packet = vec![0; 54];
        packet[12..16].copy_from_slice(&[0x08, 0x00, 0x45, ecn]);
        packet[17] = 40;
        packet[23] = 6;
        packet[46] = 0x50;
        packet[47] = 0x10;
        enter(&mut lane, Instant::default(), [0; HEADER], &packet, &to);
    }
    let at = Instant::default() + Duration::from_millis(5);
    lane.leave(at, &to).unwrap();
    let look = lane.look(at, 0, 1);
    assert_eq!((look.marks, look.frames_out, look.refused), (1, 1, 1));
    let unreached = lane.unreached("a_to_b", at);
    assert!(unreached[0].contains("data 9"), "{unreached:?}");
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
    let look = lane.look(Instant::default(), 0, 0);
    assert_eq!((look.invalid, look.frames_in), (4, 0));
}

/// A socket at the end of a side.
fn socket(link: &Link, side: usize, port: u16) -> UdpSocket {
    let namespace = &link.opened[side].namespace;
    let made = apart(|| {
        enter_net(namespace).unwrap();
        UdpSocket::bind(("0.0.0.0", port)).unwrap()
    });
    made.unwrap()
}

#[test]
fn no_frame_leaves_before_its_delay() {
    if !geteuid().is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    let (delay, frames) = (Duration::from_millis(3), 20_000);
    let link = Link::open(Settings {
        ends: ["new:a", "new:b"].map(|end| end.parse().unwrap()),
        ways: [way("netem delay 3ms limit 100000"), Direction::default()],
        mtu: 1500,
        seed: 1,
        every: Duration::from_millis(1000),
        gap: Duration::from_millis(1),
        limit: None,
    })
    .unwrap();
    let (from, to) = (socket(&link, 0, 0), socket(&link, 1, 9000));
    let running = link.start(Stop::never()).unwrap();
    from.connect("10.77.0.2:9000").unwrap();
    let sends = thread::spawn(move || {
        for _ in 0..frames {
            from.send(&monotonic().as_nanos().to_ne_bytes()).unwrap();
            thread::sleep(time::Duration::from_micros(10));
        }
    });
    to.set_read_timeout(Some(time::Duration::from_secs(2)))
        .unwrap();
    let (mut number, mut least) = (0, Duration::from_millis(1_000_000));
    let mut sent = [0; 8];
    while let Ok(8) = to.recv(&mut sent) {
        let sent = Instant::from_nanos(i64::from_ne_bytes(sent));
        (number, least) = (number + 1, least.min(monotonic().since(sent)));
    }
    sends.join().unwrap();
    drop(running);
    assert!(number > frames / 2, "{number}");
    assert!(least >= delay, "{least:?}");
}

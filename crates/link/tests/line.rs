//! A qdisc in front of a wire.

use tcplab_base::Instant;
use tcplab_link::{Entered, Line};
use tcplab_plan::point::{Direction, Does, Event, Of};
use tcplab_qdisc::Settings;

const MS: i64 = 1_000_000;

fn at(ns: i64) -> Instant {
    Instant::from_nanos(ns)
}

fn line(words: &str, wire: Direction) -> Line<Vec<u8>> {
    let way = Direction {
        queue: Some(Settings::parse(words).expect(words)),
        ..wire
    };
    Line::new(&way, 1_500, 1, "link/0/a_to_b")
}

/// A frame of 1,250 bytes with a number.
fn frame(number: u8) -> Vec<u8> {
    vec![number; 1_250]
}

/// The times in ms and the numbers of all that comes out, asked for when the line says so.
fn drain(line: &mut Line<Vec<u8>>) -> Vec<(i64, u8)> {
    let mut out = Vec::new();
    while let Some(next) = line.next_time() {
        while let Some(frame) = line.poll(next) {
            out.push((frame.at.as_nanos() / MS, frame.frame[0]));
        }
    }
    out
}

fn send(line: &mut Line<Vec<u8>>, frames: u8) -> Vec<Entered> {
    (0..frames)
        .map(|n| line.enter(at(0), 1_250, Default::default, frame(n)))
        .collect()
}

#[test]
fn the_wire_takes_one_frame_when_the_one_before_has_left() {
    let wire = Direction {
        rate_bps: Some(10_000_000),
        delay_ns: 25 * MS,
        ..Direction::default()
    };
    let mut line = line("pfifo limit 2", wire);
    // One is on the wire, two wait.
    let entered = send(&mut line, 4);
    assert_eq!(entered[..3], [Entered::Accepted; 3]);
    assert_eq!(entered[3], Entered::QueueFull);
    assert_eq!(line.sample(at(0), Vec::len), [3, 3_750, 0, 3_750, 3_750]);
    assert_eq!(drain(&mut line), [(26, 0), (27, 1), (28, 2)]);
    let (count, qdisc) = (line.count(), line.qdisc().expect("a qdisc"));
    assert_eq!((count.frames, count.bytes, count.delivered), (4, 5_000, 3));
    assert_eq!((count.queue_drops, count.peak_pkts), (1, 2));
    assert_eq!((qdisc.packets, qdisc.drops, qdisc.qlen), (3, 1, 0));
}

#[test]
fn a_rate_that_does_not_divide_does_not_drift_behind_a_qdisc() {
    // 1250 bytes at 3 Mbit/s take 3,333,333 1/3 ns: 240 frames take exactly 800 ms.
    let wire = Direction {
        rate_bps: Some(3_000_000),
        ..Direction::default()
    };
    let mut line = line("pfifo limit 1000", wire);
    send(&mut line, 240);
    assert_eq!(drain(&mut line).last(), Some(&(800, 239)));
}

#[test]
fn a_shaper_sends_without_being_asked_in_time() {
    let mut shaped = line("cake bandwidth 10mbit besteffort", Direction::default());
    send(&mut shaped, 4);
    assert_eq!(drain(&mut shaped), [(0, 0), (1, 1), (2, 2), (3, 3)]);
    // A driver that comes late finds each frame with the time at which it left.
    let mut late = line("cake bandwidth 10mbit besteffort", Direction::default());
    send(&mut late, 4);
    let mut times = Vec::new();
    while let Some(frame) = late.poll(at(10 * MS)) {
        times.push(frame.at.as_nanos() / MS);
    }
    assert_eq!(times, [0, 1, 2, 3]);
}

#[test]
fn lost_frame_takes_its_time_on_the_wire() {
    let wire = Direction {
        rate_bps: Some(10_000_000),
        events: vec![Event {
            of: Of::Frame,
            first: 1,
            last: 2,
            does: Does::Drop,
        }],
        ..Direction::default()
    };
    let mut line = line("pfifo limit 10", wire);
    send(&mut line, 4);
    assert_eq!(drain(&mut line), [(3, 2), (4, 3)]);
}

#[test]
fn losses_are_those_of_the_wire_behind_the_qdisc() {
    let wire = Direction {
        events: vec![Event {
            of: Of::Frame,
            first: 2,
            last: 2,
            does: Does::Drop,
        }],
        ..Direction::default()
    };
    let mut line = line("cake bandwidth 10mbit besteffort", wire);
    send(&mut line, 3);
    assert_eq!(drain(&mut line), [(0, 0), (2, 2)]);
    assert_eq!(line.count().lost, 1);
    assert_eq!(line.qdisc().expect("a qdisc").packets, 3);
}

/// 1,250 bytes at 1 Gbit/s take 10 us; with 24 more 10.192 us. What waits is counted in the frames' own bytes.
#[test]
fn the_wire_may_need_more_than_a_frame() {
    let wire = Direction {
        rate_bps: Some(1_000_000_000),
        limit_pkts: 10,
        overhead: 24,
        ..Direction::default()
    };
    for words in [None, Some("pfifo limit 9"), Some("caqm qt 0")] {
        let mut line = match words {
            None => Line::new(&wire, 1_500, 1, "link/0/a_to_b"),
            Some(words) => line(words, wire.clone()),
        };
        send(&mut line, 3);
        assert_eq!(line.sample(at(0), Vec::len), [3, 3_750, 0, 3_750, 3_750]);
        assert_eq!(
            line.sample(at(10_191), Vec::len),
            [3, 3_750, 0, 3_750, 3_750]
        );
        let mut times = Vec::new();
        while let Some(next) = line.next_time() {
            while line.poll(next).is_some() {
                times.push(next.as_nanos());
            }
        }
        assert_eq!(times, [10_192, 20_384, 30_576], "{words:?}");
    }
}

/// DCTCP's step: what finds more than 65 packets before it is marked, to one packet, by the time that it waited at
/// 10 Gbit/s.
#[test]
fn codel_marks_in_a_step() {
    let wire = Direction {
        rate_bps: Some(10_000_000_000),
        overhead: 24,
        ..Direction::default()
    };
    let words = "codel limit 2000 target 1s interval 10s ecn ce_threshold 79us";
    let mut line = line(words, wire);
    let mut frame = vec![0; 1_514];
    frame[12] = 8;
    frame[14..16].copy_from_slice(&[0x45, 2]);
    for burst in 0..5 {
        let now = at(burst * MS);
        for _ in 0..200 {
            line.enter(now, 1_514, Default::default, frame.clone());
        }
        let mut marks = Vec::new();
        while let Some(next) = line.next_time() {
            while let Some(out) = line.poll(next) {
                marks.push(out.frame[15] & 3 == 3);
            }
        }
        let first = marks.iter().position(|is| *is).expect("a mark");
        assert!((64..=66).contains(&first), "{first}");
        assert!(marks[first..].iter().all(|is| *is), "no gap");
    }
}

/// 1,250 bytes at 1 Gbit/s take 10 us each: four of them from 0 on, then one at 100 us.
#[test]
fn a_queue_is_measured_by_time() {
    for (words, settle_us, right) in [
        (None, 0, [1_250, 0, 5_000, 5_000]),
        (Some("pfifo limit 9"), 0, [1_250, 0, 5_000, 5_000]),
        // 20 us of 1,250 bytes and 10 us of 2,500 in 90.
        (None, 20, [556, 0, 2_500, 2_500]),
        (Some("pfifo limit 9"), 20, [556, 0, 2_500, 2_500]),
    ] {
        let wire = Direction {
            rate_bps: Some(1_000_000_000),
            limit_pkts: 10,
            delay_ns: 7_000,
            queue_from_ns: Some(settle_us * 1_000),
            ..Direction::default()
        };
        let mut line = match words {
            None => Line::new(&wire, 1_500, 1, "link/0/a_to_b"),
            Some(words) => line(words, wire.clone()),
        };
        let start = at(1_000_000);
        line.begin(start);
        let after = |us: i64| at(1_000_000 + us * 1_000);
        assert_eq!(line.depth(after(0)), None);
        for n in 0..4 {
            line.enter(start, 1_250, Default::default, frame(n));
        }
        while line.next_time().is_some_and(|next| next <= after(100)) {
            while line.poll(line.next_time().unwrap()).is_some() {
                if line.next_time().is_none() {
                    break;
                }
            }
        }
        line.enter(after(100), 1_250, Default::default, frame(5));
        let count = line.depth(after(110)).expect("it is measured");
        assert_eq!(count.ns, (110 - settle_us as u64) * 1_000, "{words:?}");
        let is = [
            count.mean_bytes,
            count.p50_bytes,
            count.p99_bytes,
            count.max_bytes,
        ];
        assert_eq!(is, right, "{words:?} {settle_us}");
    }
}

/// Four frames between two samples are gone at both: the samples have the peak. A frame counts until it is out.
#[test]
fn samples_of_a_watched_line_have_the_extremes_between_them() {
    for words in [None, Some("pfifo limit 9")] {
        let wire = Direction {
            rate_bps: Some(1_000_000_000),
            limit_pkts: 10,
            ..Direction::default()
        };
        let make = || match words {
            None => Line::new(&wire, 1_500, 1, "link/0/a_to_b"),
            Some(words) => line(words, wire.clone()),
        };
        let mut line = make();
        line.watch();
        line.begin(at(0));
        assert_eq!(line.sample(at(1_000), Vec::len), [0; 5], "{words:?}");
        for n in 0..4 {
            line.enter(at(2_000), 1_250, Default::default, frame(n));
        }
        assert_eq!(line.sample(at(2_000), Vec::len)[1..], [5_000, 0, 0, 5_000]);
        while let Some(next) = line.next_time().filter(|next| *next <= at(27_000)) {
            while line.poll(next).is_some() {}
        }
        let half = line.sample(at(27_000), Vec::len);
        assert_eq!(half, [2, 2_500, 2_500, 2_500, 5_000], "{words:?}");
        drain(&mut line);
        let last = line.sample(at(60_000), Vec::len);
        assert_eq!(last, [0, 0, 5_000, 0, 2_500], "{words:?}");
        assert_eq!(line.depth(at(60_000)), None, "nobody asked for it");
        // Nobody watches this one: it knows the moment only.
        let mut line = make();
        line.enter(at(0), 1_250, Default::default, frame(0));
        drain(&mut line);
        assert_eq!(line.sample(at(60_000), Vec::len), [0, 0, 1_250, 0, 0]);
    }
}

#[test]
fn a_frame_counts_whole_until_its_last_bit_has_left() {
    // 1,250 bytes take 10 us; after 4 us 2,000 bytes have not left.
    let wire = Direction {
        rate_bps: Some(1_000_000_000),
        limit_pkts: 10,
        ..Direction::default()
    };
    let held = |is_whole: bool| {
        let mut line = Line::new(&wire, 1_500, 1, "link/0/a_to_b");
        if is_whole {
            line.count_whole();
        }
        for n in 0..2 {
            line.enter(at(0), 1_250, Default::default, frame(n));
        }
        line.holds(at(4_000), Vec::len)
    };
    assert_eq!(held(true), [2, 2_500, 0]);
    assert_eq!(held(false), [2, 2_000, 0]);
}

//! Other settings of a line while frames wait.

use proptest::prelude::*;
use tcplab_base::Instant;
use tcplab_link::{ChangeError, Changed, Kind, Line};
use tcplab_plan::point::{Direction, Does, Event, Faults, Of, Outage};
use tcplab_qdisc::Settings;

const MS: i64 = 1_000_000;
const STREAMS: (u64, &str) = (1, "link/0/a_to_b");

fn at(ns: i64) -> Instant {
    Instant::from_nanos(ns)
}

fn wire(rate_bps: u64, delay_ms: i64) -> Direction {
    Direction {
        rate_bps: (rate_bps > 0).then_some(rate_bps),
        delay_ns: delay_ms * MS,
        limit_pkts: 100,
        ..Direction::default()
    }
}

fn behind(words: &str, wire: Direction) -> Direction {
    Direction {
        queue: Some(Settings::parse(words).expect(words)),
        ..wire
    }
}

fn line(way: &Direction) -> Line<Vec<u8>> {
    Line::new(way, 1_500, STREAMS.0, STREAMS.1)
}

/// Frames of 1,250 bytes: 1 ms at 10 Mbit/s.
fn send(line: &mut Line<Vec<u8>>, now: i64, numbers: std::ops::Range<u8>) {
    for n in numbers {
        line.enter(at(now), 1_250, Default::default, vec![n; 1_250]);
    }
}

/// The times in us and the numbers of all that comes out.
fn drain(line: &mut Line<Vec<u8>>) -> Vec<(i64, u8)> {
    let mut out = Vec::new();
    while let Some(next) = line.next_time() {
        while let Some(frame) = line.poll(next) {
            out.push((frame.at.as_nanos() / 1_000, frame.frame[0]));
        }
    }
    out
}

fn change(line: &mut Line<Vec<u8>>, now: i64, way: &Direction) -> Changed {
    let changed = line.change(at(now), way, 1_500, STREAMS);
    changed.expect("changed")
}

#[test]
fn qdisc_keeps_its_packets_and_counters() {
    let slow = behind("cake bandwidth 10mbit besteffort", wire(0, 0));
    let fast = behind("cake bandwidth 100mbit besteffort", wire(0, 0));
    let mut line = line(&slow);
    send(&mut line, 0, 0..6);
    assert_eq!(change(&mut line, 2 * MS + 1, &slow), Changed::Kept);
    assert_eq!(change(&mut line, 2 * MS + 1, &fast), Changed::Settings);
    // What was sent has paid the old rate.
    let times = drain(&mut line);
    let numbers: Vec<u8> = times.iter().map(|(_, n)| *n).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    assert_eq!(times[2].0, 2_000);
    assert_eq!(times[3].0, 3_000);
    assert_eq!([times[4].0, times[5].0], [3_100, 3_200]);
    assert_eq!(line.qdisc().map(|q| q.packets), Some(6));
}

#[test]
fn another_kind_begins_anew() {
    let shaped = behind("cake bandwidth 10mbit besteffort", wire(0, 0));
    let plain = behind("pfifo limit 3", wire(0, 0));
    let mut line = line(&shaped);
    send(&mut line, 0, 0..6);
    let replaced = Changed::Replaced {
        pkts: 5,
        bytes: 5 * 1_250,
    };
    assert_eq!(change(&mut line, 0, &plain), replaced);
    assert_eq!(line.qdisc().map(|q| (q.packets, q.qlen)), Some((0, 0)));
    send(&mut line, MS, 6..8);
    assert_eq!(drain(&mut line), [(0, 0), (1_000, 6), (1_000, 7)]);
    let count = line.count();
    assert_eq!((count.frames, count.bytes), (8, 10_000));
    assert_eq!((count.delivered, count.queue_drops), (3, 5));
    assert_eq!(count.peak_pkts, 5);
    assert_eq!(line.qdisc().map(|q| (q.packets, q.drops)), Some((2, 0)));
    assert_eq!(line.qdiscs().map(|q| (q.packets, q.drops)), Some((3, 5)));
    // It is gone: what all of them counted is still there.
    change(&mut line, 2 * MS, &wire(0, 0));
    assert_eq!(line.qdisc(), None);
    assert_eq!(line.qdiscs().map(|q| (q.packets, q.drops)), Some((3, 5)));
}

/// Frames of one kind are fewer than all frames.
#[test]
fn a_listed_frame_that_did_not_come_is_told() {
    let event = |of, first, does| Event {
        of,
        first,
        last: first,
        does,
    };
    let way = Direction {
        events: vec![
            event(Of::Data, 2, Does::Drop),
            event(Of::Frame, 6, Does::Mark),
            event(Of::Data, 3, Does::Duplicate),
        ],
        ..wire(0, 0)
    };
    let mut line = line(&way);
    let kind = |data: bool| Kind {
        data,
        ect: true,
        ..Kind::default()
    };
    for n in 0..6 {
        line.enter(at(0), 1_250, || kind(n < 2), vec![n; 1_250]);
    }
    assert_eq!(
        line.unreached("link.a-b.a_to_b", at(MS)),
        ["link.a-b.a_to_b.duplicate: fewer frames passed, so `data 3` changed nothing"]
    );
    line.enter(at(0), 1_250, || kind(true), vec![6; 1_250]);
    assert!(line.unreached("link.a-b.a_to_b", at(MS)).is_empty());
}

/// As in a file: lists of one frame do not add up, ECN marks need ECN, and outages need frames.
#[test]
fn what_met_no_frame_that_it_could_change_is_told() {
    let event = |first, last, does| Event {
        of: Of::Data,
        first,
        last,
        does,
    };
    let outage = |from_ns, until_ns| Outage { from_ns, until_ns };
    let way = Direction {
        events: vec![
            event(2, 2, Does::Drop),
            event(2, 2, Does::Drop),
            event(2, 2, Does::Duplicate),
            event(3, 4, Does::Mark),
            event(4, 5, Does::Mark),
            event(2, 2, Does::DelayNs(MS)),
            event(1, 3, Does::DelayNs(MS)),
        ],
        outages: vec![outage(10, Some(20)), outage(30, None), outage(MS, None)],
        ..wire(0, 0)
    };
    let mut line = line(&way);
    line.begin(at(0));
    for n in 1..=5 {
        let kind = Kind {
            data: true,
            ect: n == 5,
            ..Kind::default()
        };
        line.enter(at(25), 1_250, || kind, vec![n; 1_250]);
    }
    assert_eq!(
        line.unreached("way", at(MS)),
        [
            "way.drop: this frame was lost anyway, so `data 2` changed nothing",
            "way.duplicate: this frame was lost, so `data 2` changed nothing",
            "way.mark: these frames were lost or not ECN-capable, so `data 3-4` changed nothing",
            "way.late: this frame was lost, so `data 2` changed nothing",
            "way.outage: no frame came between 0.00000001 s and 0.00000002 s, so this outage changed nothing",
            "way.outage: no frame came after 0.00000003 s, so this outage changed nothing",
        ]
    );
    line.enter(at(35), 1_250, Kind::default, vec![6; 1_250]);
    assert_eq!(line.unreached("way", at(MS)).len(), 5);
}

#[test]
fn refused_change_has_no_effect() {
    let before = behind("fq_codel flows 16", wire(1_000_000, 0));
    let mut line = line(&before);
    send(&mut line, 0, 0..3);
    let other = behind("fq_codel flows 32", wire(10_000_000, 0));
    let refused = line.change(at(0), &other, 1_500, STREAMS);
    assert_eq!(refused, Err(ChangeError::InUse("fq_codel")));
    assert_eq!(drain(&mut line), [(10_000, 0), (20_000, 1), (30_000, 2)]);
}

/// The wire's FIFO is a qdisc as well: another one in its place drops what waits, but not what is on its way out.
#[test]
fn a_qdisc_comes_and_goes() {
    let plain = wire(10_000_000, 0);
    let queued = behind("pfifo limit 10", plain.clone());
    let mut line = line(&plain);
    send(&mut line, 0, 0..3);
    let waited = Changed::Replaced {
        pkts: 2,
        bytes: 2_500,
    };
    assert_eq!(change(&mut line, 0, &queued), waited);
    assert_eq!(line.count().queue_drops, 2);
    send(&mut line, 0, 1..6);
    // At 3.5 ms the fourth frame is on the wire, two wait.
    let mut out = Vec::new();
    while let Some(frame) = line.poll(at(7 * MS / 2)) {
        out.push(frame.frame[0]);
    }
    assert_eq!(out, [0, 1, 2]);
    let dropped = Changed::Replaced {
        pkts: 2,
        bytes: 2_500,
    };
    assert_eq!(change(&mut line, 7 * MS / 2, &plain), dropped);
    send(&mut line, 7 * MS / 2, 6..7);
    assert_eq!(drain(&mut line), [(4_000, 3), (5_000, 6)]);
    let count = line.count();
    assert_eq!(
        (count.frames, count.delivered, count.queue_drops),
        (9, 5, 4)
    );
    assert_eq!(line.qdisc(), None);
}

#[test]
fn queued_frames_leave_at_the_new_rate() {
    let mut line = line(&wire(10_000_000, 20));
    send(&mut line, 0, 0..5);
    // The second frame is on its way out. A shorter delay is for what comes.
    assert_eq!(
        change(&mut line, 3 * MS / 2, &wire(100_000_000, 5)),
        Changed::Kept
    );
    send(&mut line, 3 * MS / 2, 5..6);
    let all = [
        (21_000, 0),
        (22_000, 1),
        (22_100, 2),
        (22_200, 3),
        (22_300, 4),
        (22_300, 5),
    ];
    assert_eq!(drain(&mut line), all);
    // Slower, and then without a rate.
    let mut line = self::line(&wire(10_000_000, 0));
    send(&mut line, 0, 0..4);
    change(&mut line, 0, &wire(1_000_000, 0));
    change(&mut line, 2 * MS, &wire(0, 0));
    assert_eq!(
        drain(&mut line),
        [(1_000, 0), (11_000, 1), (11_000, 2), (11_000, 3)]
    );
}

#[test]
fn frames_that_may_be_overtaken_move_too_and_events_go_on() {
    let event = |number: u64| Event {
        of: Of::Frame,
        first: number,
        last: number,
        does: Does::DelayNs(2 * MS),
    };
    let mut way = wire(10_000_000, 0);
    way.events = vec![event(2), event(5)];
    let mut line = line(&way);
    send(&mut line, 0, 0..4);
    way.rate_bps = Some(100_000_000);
    change(&mut line, MS / 2, &way);
    send(&mut line, MS / 2, 4..6);
    let all = [
        (1_000, 0),
        (1_200, 2),
        (1_300, 3),
        (1_500, 5),
        (3_100, 1),
        (3_400, 4),
    ];
    assert_eq!(drain(&mut line), all);
}

/// Queue at each of 20 samples, of a line of 10 Mbit/s that gets 8 frames and may change at 2.5 ms.
fn watched(first: &Direction, later: Option<&Direction>) -> Vec<[i64; 5]> {
    let mut line = line(first);
    line.begin(at(0));
    line.watch();
    send(&mut line, MS / 10, 0..8);
    let sample = |line: &mut Line<Vec<u8>>, n: i64| {
        while line.poll(at(n * MS / 2)).is_some() {}
        line.sample(at(n * MS / 2), Vec::len)
    };
    let mut all: Vec<_> = (1..=5).map(|n| sample(&mut line, n)).collect();
    if let Some(later) = later {
        change(&mut line, 5 * MS / 2, later);
    }
    all.extend((6..=20).map(|n| sample(&mut line, n)));
    all
}

#[test]
fn a_queue_is_watched_on_after_a_change() {
    let plain = wire(10_000_000, 0);
    let same = watched(&plain, Some(&plain));
    assert_eq!(same, watched(&plain, None));
    // 2.4 ms after the start, two frames are out; the third leaves at 3.1 ms.
    assert_eq!(same[5], [6, 7_500, 2_500, 7_500, 7_500]);
    assert_eq!(same[6], [5, 6_250, 3_750, 6_250, 7_500]);
    // A qdisc comes: five frames are dropped, one is on its way out.
    let queued = behind("codel", plain);
    let codel = watched(&wire(10_000_000, 0), Some(&queued));
    assert_eq!(codel[..5], same[..5]);
    assert_eq!(codel[5][..3], [1, 1_250, 2_500]);
    assert_eq!(codel[6], [0, 0, 3_750, 0, 1_250]);
    // A rate comes.
    let mut times = watched(&wire(0, 0), Some(&wire(10_000_000, 0)));
    assert_eq!(times.pop(), Some([0, 0, 10_000, 0, 0]));
}

/// Frames enter a line whose rate comes later: its queue is watched from then on.
#[test]
fn a_queue_that_comes_later_is_watched() {
    let mut line = line(&wire(0, 0));
    line.watch();
    line.begin(at(0));
    change(&mut line, MS, &wire(10_000_000, 0));
    send(&mut line, MS, 0..3);
    assert_eq!(
        line.sample(at(2 * MS), Vec::len),
        [2, 2_500, 1_250, 0, 3_750]
    );
    assert_eq!(
        line.sample(at(5 * MS / 2), Vec::len),
        [2, 2_500, 1_250, 2_500, 2_500]
    );
}

const WORDS: [&str; 9] = [
    "",
    "pfifo limit 3",
    "bfifo limit 4000",
    "cake bandwidth 1mbit",
    "cake unlimited",
    "tbf rate 1mbit burst 3000 limit 9000",
    "fq_codel limit 5",
    "netem delay 3ms",
    "red limit 20000 min 1000 max 3000 avpkt 500 burst 5",
];

proptest! {
    #[test]
    fn every_frame_is_accounted_for(
        steps in prop::collection::vec((0_i64..4 * MS, 0_usize..WORDS.len(), 0_u64..3, 0_i64..5, any::<bool>(), 0_u8..5), 1..25),
    ) {
        let mut line = line(&wire(5_000_000, 1));
        let (mut now, mut last, mut out) = (0, 0, 0);
        for (gap, words, rate, delay, faults, frames) in steps {
            now += gap;
            let mut way = wire(rate * 3_000_000, delay);
            if faults {
                way.loss_ppb = 100_000_000;
                way.faults = Faults { reorder_ppb: 300_000_000, reorder_ns: MS, ..Faults::default() };
            }
            let way = match WORDS[words] {
                "" => way,
                words => behind(words, way),
            };
            prop_assert!(line.change(at(now), &way, 1_500, STREAMS).is_ok());
            send(&mut line, now, 0..frames);
            while let Some(frame) = line.poll(at(now)) {
                prop_assert!(frame.at <= at(now));
                out += 1;
            }
            let count = line.count();
            prop_assert_eq!(count.delivered, out);
            last = last.max(count.frames);
            prop_assert_eq!(count.frames, last);
        }
        out += drain(&mut line).len() as u64;
        let count = line.count();
        prop_assert_eq!(count.delivered, out);
        prop_assert_eq!(count.frames, count.delivered + count.lost + count.queue_drops);
        prop_assert_eq!(count.bytes, 1_250 * count.frames);
    }
}

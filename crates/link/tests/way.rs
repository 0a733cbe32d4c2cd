//! A way of a link, frame by frame.

use tcplab_base::Instant;
use tcplab_link::{Entered, Kind, Way};
use tcplab_plan::point::{BurstLoss, Direction, Does, Event, Faults, Of, Outage, Spikes};

const MS: i64 = 1_000_000;

fn at(ns: i64) -> Instant {
    Instant::from_nanos(ns)
}

/// Pushes `n` frames of 1250 bytes in at time 0 and gives (time, number) of all that come out.
fn all_out(way: &mut Way<u32>, n: u32, kind: Kind) -> Vec<(i64, u32)> {
    for number in 1..=n {
        way.enter(at(0), 1250, || kind, number);
    }
    drain(way)
}

fn drain(way: &mut Way<u32>) -> Vec<(i64, u32)> {
    let mut out = Vec::new();
    while let Some(next) = way.next_time() {
        assert!(
            way.poll(at(next.as_nanos() - 1)).is_none(),
            "came before its time"
        );
        let frame = way.poll(next).expect("what is due comes");
        out.push((frame.at.as_nanos(), frame.frame));
    }
    out
}

fn data() -> Kind {
    Kind {
        data: true,
        ..Kind::default()
    }
}

fn listed(of: Of, first: u64, last: u64, does: Does) -> Direction {
    Direction {
        delay_ns: 10 * MS,
        events: vec![Event {
            of,
            first,
            last,
            does,
        }],
        ..Direction::default()
    }
}

#[test]
fn rate_then_delay() {
    // 1250 bytes at 10 Mbit/s take 1 ms.
    let way = Direction {
        rate_bps: Some(10_000_000),
        delay_ns: 25 * MS,
        limit_pkts: 3,
        ..Direction::default()
    };
    let mut way = Way::new(&way, 1, "link/0/a_to_b");
    assert_eq!(
        all_out(&mut way, 5, data()),
        [(26 * MS, 1), (27 * MS, 2), (28 * MS, 3)]
    );
    assert_eq!(way.count().queue_drops, 2);
    assert_eq!(way.count().peak_pkts, 3);
    assert_eq!(way.count().delivered, 3);
}

#[test]
fn a_sample_says_what_waits_and_what_came_out() {
    // 1250 bytes at 10 Mbit/s take 1 ms; the fourth finds no room.
    let way = Direction {
        rate_bps: Some(10_000_000),
        delay_ns: 10 * MS,
        limit_pkts: 3,
        ..listed(Of::Frame, 5, 5, Does::Duplicate)
    };
    let mut way = Way::new(&way, 1, "link/0/a_to_b");
    let sample = |way: &Way<u32>, ns| way.sample(at(ns), |_| 1250);
    assert_eq!(sample(&way, 0), [0, 0, 0]);
    for number in 1..=4 {
        way.enter(at(0), 1250, data, number);
    }
    assert_eq!(sample(&way, 0), [3, 3750, 0]);
    // Half of the second one is out.
    assert_eq!(sample(&way, 3 * MS / 2), [2, 1875, 0]);
    // What is due counts as out, polled or not.
    assert_eq!(sample(&way, 11 * MS), [0, 0, 1250]);
    way.poll(at(11 * MS));
    assert_eq!(sample(&way, 11 * MS), [0, 0, 1250]);
    assert_eq!(sample(&way, 13 * MS), [0, 0, 3750]);
    way.enter(at(20 * MS), 1250, data, 5);
    assert_eq!(sample(&way, 20 * MS), [2, 2500, 3750]);
    assert_eq!(sample(&way, 60 * MS), [0, 0, 6250]);
}

#[test]
fn a_rate_that_does_not_divide_does_not_drift() {
    // 1250 bytes at 3 Mbit/s take 3,333,333 1/3 ns: 300 frames take exactly one second.
    let way = Direction {
        rate_bps: Some(3_000_000),
        limit_pkts: 1000,
        ..Direction::default()
    };
    let mut way = Way::new(&way, 1, "link/0/a_to_b");
    assert_eq!(
        all_out(&mut way, 300, data()).last(),
        Some(&(1_000 * MS, 300))
    );
}

#[test]
fn listed_frames_are_lost_and_no_others() {
    let way = listed(Of::Data, 2, 3, Does::Drop);
    let mut way = Way::new(&way, 1, "l");
    assert_eq!(way.enter(at(0), 60, Kind::default, 99), Entered::Accepted);
    let out = all_out(&mut way, 5, data());
    let numbers: Vec<u32> = out.iter().map(|o| o.1).collect();
    assert_eq!(numbers, [99, 1, 4, 5]);
    assert_eq!(way.count().lost, 2);
}

#[test]
fn a_delayed_frame_is_overtaken_a_doubled_one_comes_twice() {
    let mut way = Way::new(&listed(Of::Frame, 1, 1, Does::DelayNs(5 * MS)), 1, "l");
    assert_eq!(all_out(&mut way, 2, data()), [(10 * MS, 2), (15 * MS, 1)]);
    let mut way = Way::new(&listed(Of::Frame, 2, 2, Does::Duplicate), 1, "l");
    let numbers: Vec<u32> = all_out(&mut way, 3, data()).iter().map(|o| o.1).collect();
    assert_eq!(numbers, [1, 2, 2, 3]);
}

#[test]
fn jitter_keeps_the_order_and_the_bounds() {
    let way = Direction {
        delay_ns: 10 * MS,
        jitter_ns: 2 * MS,
        ..Direction::default()
    };
    let mut way = Way::new(&way, 1, "l");
    let mut last = 0;
    for number in 0..1000 {
        let now = i64::from(number) * MS / 10;
        way.enter(at(now), 100, data, number);
    }
    for (n, (time, number)) in drain(&mut way).into_iter().enumerate() {
        assert_eq!(n as u32, number, "overtaken");
        assert!(time >= last);
        let travelled = time - i64::from(number) * MS / 10;
        assert!((8 * MS..=12 * MS).contains(&travelled), "{travelled}");
        last = time;
    }
}

#[test]
fn a_listed_loss_moves_no_draw() {
    let lossy = |events| Direction {
        loss_ppb: 200_000_000,
        events,
        ..Direction::default()
    };
    let drop_first = Event {
        of: Of::Frame,
        first: 1,
        last: 1,
        does: Does::Drop,
    };
    let plain = all_out(&mut Way::new(&lossy(vec![]), 3, "l"), 200, data());
    let listed = all_out(&mut Way::new(&lossy(vec![drop_first]), 3, "l"), 200, data());
    let without_first: Vec<_> = plain.iter().filter(|o| o.1 != 1).copied().collect();
    assert_eq!(listed, without_first);
    assert!((120..=190).contains(&plain.len()));
}

#[test]
fn kinds_of_real_frames() {
    assert_eq!(Kind::of_ethernet(&[]), Kind::default());
    assert_eq!(Kind::of_ethernet(&[0; 60]), Kind::default());
}

fn with(faults: Faults) -> Way<u32> {
    let way = Direction {
        delay_ns: 10 * MS,
        faults,
        ..Direction::default()
    };
    Way::new(&way, 1, "link/0/a_to_b")
}

#[test]
fn bursts_lose_frames_in_a_row() {
    // 1 % of frames begin a burst of 10 on average in which each is lost: about 9 % are lost.
    let mut way = with(Faults {
        burst_loss: Some(BurstLoss {
            good_to_bad_ppb: 10_000_000,
            bad_to_good_ppb: 100_000_000,
            loss_bad_ppb: 1_000_000_000,
            loss_good_ppb: 0,
        }),
        ..Faults::default()
    });
    let came: Vec<u32> = all_out(&mut way, 100_000, data())
        .into_iter()
        .map(|(_, n)| n)
        .collect();
    let lost = 100_000 - came.len() as i64;
    let gaps = came.windows(2).filter(|w| w[1] > w[0] + 1).count() as i64;
    assert!((lost - 9_090).abs() < 900, "{lost}");
    assert!((lost / gaps - 10).abs() <= 1, "{lost} in {gaps} bursts");
}

#[test]
fn chance_reorders_doubles_and_damages() {
    let mut way = with(Faults {
        reorder_ppb: 100_000_000,
        reorder_ns: 5 * MS,
        ..Faults::default()
    });
    let mut came = Vec::new();
    for n in 0..1000 {
        way.enter(at(i64::from(n) * MS), 100, data, n);
    }
    while let Some(next) = way.next_time() {
        came.push(way.poll(next).unwrap().frame);
    }
    let overtaken = came.windows(2).filter(|w| w[1] < w[0]).count();
    assert_eq!(came.len(), 1000);
    assert!((50..150).contains(&overtaken), "{overtaken}");

    let mut way = with(Faults {
        duplicate_ppb: 100_000_000,
        corrupt_ppb: 100_000_000,
        ..Faults::default()
    });
    for n in 0..1000 {
        way.enter(at(0), 100, data, n);
    }
    let mut damaged = 0;
    let mut all = 0;
    while let Some(next) = way.next_time() {
        all += 1;
        damaged += u32::from(way.poll(next).unwrap().corrupt);
    }
    assert!((1050..1150).contains(&all), "{all}");
    assert!((50..170).contains(&damaged), "{damaged}");
}

#[test]
fn a_late_frame_and_the_line_merge_by_time() {
    let mut way = Way::new(
        &listed(Of::Data, 2, 2, Does::DelayNs(3 * MS)),
        1,
        "link/0/a_to_b",
    );
    for n in 1..=5 {
        way.enter(at(i64::from(n) * MS), 100, data, n);
    }
    assert_eq!(
        drain(&mut way),
        [
            (11 * MS, 1),
            (13 * MS, 3),
            (14 * MS, 4),
            (15 * MS, 2),
            (15 * MS, 5)
        ]
    );
}

#[test]
fn a_limit_in_bytes_drops_what_goes_beyond() {
    let way = Direction {
        rate_bps: Some(10_000_000),
        limit_pkts: 1000,
        limit_bytes: Some(3000),
        ..Direction::default()
    };
    let mut way = Way::new(&way, 1, "l");
    assert_eq!(way.enter(at(0), 1250, data, 1), Entered::Accepted);
    assert_eq!(way.enter(at(0), 1250, data, 2), Entered::Accepted);
    assert_eq!(way.enter(at(0), 1250, data, 3), Entered::QueueFull);
    assert_eq!(way.enter(at(0), 500, data, 4), Entered::Accepted);
    // The first is out after 1 ms: there is room for one more.
    assert_eq!(way.enter(at(MS), 1250, data, 5), Entered::Accepted);
    assert_eq!(way.enter(at(MS), 1250, data, 6), Entered::QueueFull);
    assert_eq!(way.sample(at(MS), |_| 0)[..2], [3, 3000]);
    assert_eq!(way.count().queue_drops, 2);
}

#[test]
fn an_outage_loses_all_that_enters_in_it() {
    let outage = |from_ms, until_ms: Option<i64>| Outage {
        from_ns: from_ms * MS,
        until_ns: until_ms.map(|ms| ms * MS),
    };
    let way = Direction {
        outages: vec![outage(10, Some(20)), outage(50, None)],
        ..Direction::default()
    };
    let mut way = Way::new(&way, 1, "l");
    let entered = [9, 10, 19, 20, 49, 50, 5000].map(|ms| way.enter(at(ms * MS), 60, data, 0));
    use Entered::{Accepted, Lost};
    assert_eq!(
        entered,
        [Accepted, Lost, Lost, Accepted, Accepted, Lost, Lost]
    );
}

#[test]
fn outages_count_from_the_start_of_the_run() {
    let outage = |from_ms, until_ms: Option<i64>| Outage {
        from_ns: from_ms * MS,
        until_ns: until_ms.map(|ms| ms * MS),
    };
    let way = Direction {
        outages: vec![outage(10, Some(20)), outage(50, None)],
        ..Direction::default()
    };
    // A kernel's clock counts from elsewhere.
    let start = 1_700_000_000_000 * MS;
    let mut way = Way::new(&way, 1, "l");
    way.begin(at(start));
    let entered = [-5, 9, 10, 20, 49, 50].map(|ms| way.enter(at(start + ms * MS), 60, data, 0));
    use Entered::{Accepted, Lost};
    assert_eq!(
        entered,
        [Accepted, Accepted, Lost, Accepted, Accepted, Lost]
    );
}

#[test]
fn a_spike_stops_the_link_and_keeps_the_order() {
    let spikes = Spikes {
        chance_ppb: 100_000_000,
        median_ns: 250 * MS,
        sigma_ppm: 800_000,
    };
    let way = Direction {
        rate_bps: Some(10_000_000),
        limit_pkts: 10_000,
        faults: Faults {
            spikes: Some(spikes),
            ..Faults::default()
        },
        ..Direction::default()
    };
    let mut way = Way::new(&way, 1, "l");
    let out = all_out(&mut way, 10_000, data());
    assert!(
        out.iter().map(|o| o.1).eq(1..=10_000),
        "the order was changed"
    );
    let stalls: Vec<i64> = std::iter::once(out[0].0 - MS)
        .chain(out.windows(2).map(|two| two[1].0 - two[0].0 - MS))
        .filter(|stall| *stall > 0)
        .collect();
    // A tenth of them, within five sigma of 30.
    assert!(stalls.len().abs_diff(1000) < 150, "{}", stalls.len());
    let mut sorted = stalls.clone();
    sorted.sort_unstable();
    // The median of 1,000 has a standard error of 4 percent (1.25 sigma / sqrt(n)).
    let median = sorted[sorted.len() / 2];
    assert!((median - 250 * MS).abs() < 50 * MS, "{median}");
    let above = stalls.iter().filter(|s| **s > 556 * MS).count();
    // One sigma above the median: 15.9 percent.
    assert!(above.abs_diff(159) < 60, "{above}");
}

#[test]
fn exponential_jitter_has_its_mean_and_keeps_the_order() {
    let way = Direction {
        faults: Faults {
            exponential_jitter_ns: 5 * MS,
            ..Faults::default()
        },
        ..Direction::default()
    };
    let mut way = Way::new(&way, 1, "l");
    let mut sum = 0;
    for number in 0..10_000 {
        // Far apart, so that none waits for another.
        let now = number * 1_000 * MS;
        way.enter(at(now), 60, data, number as u32);
        let frame = way.poll(at(now + 999 * MS)).expect("it comes");
        sum += frame.at.as_nanos() - now;
    }
    assert!((sum / 10_000 - 5 * MS).abs() < MS / 4, "{}", sum / 10_000);
    let out = all_out(&mut way, 1000, data());
    assert!(out.iter().map(|o| o.1).eq(1..=1000));
}

#[test]
fn a_reordered_frame_is_late_by_a_time_of_the_range() {
    let mut way = with(Faults {
        reorder_ppb: 1_000_000_000,
        reorder_ns: 80 * MS,
        reorder_least_ns: 10 * MS,
        ..Faults::default()
    });
    let out = all_out(&mut way, 1000, data());
    let (least, most) = (out[0].0, out[999].0);
    assert!((20 * MS..21 * MS).contains(&least), "{least}");
    assert!(most <= 90 * MS && most > 89 * MS, "{most}");
}

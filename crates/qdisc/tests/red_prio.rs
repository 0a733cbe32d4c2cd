//! `red` and `prio`: values by the kernel's formulas.

mod common;

use common::{Plain, own, packet, qdisc, take_until, us};

/// The mean moves 1/8 of the way (Wlog is 3): with 15,000 bytes waiting, it passes 5,000 at the fourth packet that finds
/// them and 15,000 never; with more, above the maximum, all is dropped.
#[test]
fn below_the_minimum_nothing_is_dropped_above_the_maximum_all() {
    let words = "red limit 60000 min 5000 max 15000 avpkt 1000 burst 9";
    let mut red = qdisc(words);
    // The mean after n packets of 1,000 bytes, m += (waiting - m) / 8, as the kernel scales it.
    let (mut mean, mut waiting, mut n) = (0_u64, 0_u64, 0);
    let forced = loop {
        mean = if n == 0 {
            0
        } else {
            mean + waiting - (mean >> 3)
        };
        let before = red.stats().drops;
        let taken = red.enqueue(us(n), packet(0, 1_000, 1));
        n += 1;
        waiting += u64::from(taken) * 1_000;
        assert_eq!(red.stats().backlog, waiting);
        if mean < 5_000 << 3 {
            assert!(taken, "dropped at a mean of {}", mean >> 3);
        }
        if mean >= 15_000 << 3 {
            assert_eq!(red.stats().drops, before + 1);
            break n;
        }
        assert!(n < 200, "the mean never passed");
    };
    assert!(forced > 15 && own(&red, "early") >= 1);
    assert_eq!(red.stats().overlimits, red.stats().drops);
}

/// Half way between the thresholds the chance of a packet is half of `probability`, and marks lie evenly: between 1 and
/// 2 / chance packets apart, the mean at 1 / chance.
#[test]
fn marks_lie_evenly() {
    let mut red =
        qdisc("red limit 60000 min 5000 max 15000 avpkt 1000 burst 9 probability 0.1 ecn");
    let (mut seen, mut last, mut gaps) = (0, 0_i64, Vec::new());
    for n in 0..40_000_i64 {
        while red.stats().backlog < 10_000 {
            let ect = Plain {
                ect: true,
                ..packet(0, 1_000, 1)
            };
            assert!(red.enqueue(us(n * 10), ect));
            if own(&red, "marked") > seen {
                seen = own(&red, "marked");
                gaps.push(n - last);
                last = n;
            }
        }
        red.dequeue(us(n * 10 + 5));
    }
    // An arrival finds 9,000 bytes: the chance is 0.1 x 4,000 / 10,000, a uniform gap of up to 25 packets.
    let gaps = &gaps[2..];
    let mean = gaps.iter().sum::<i64>() as f64 / gaps.len() as f64;
    assert!(gaps.iter().all(|gap| (1..=26).contains(gap)), "{gaps:?}");
    // The mean of whole packets from a uniform number up to 25 is 13; five standard errors of 3,000 gaps are 0.7.
    assert!((mean - 13.0).abs() < 0.7, "{mean}");
    assert_eq!(own(&red, "early"), 0);
}

/// With `ecn`, what cannot be marked is dropped; with `nodrop` it is not; with `harddrop`, above the maximum, all is.
#[test]
fn what_cannot_be_marked() {
    let run = |words: &str, ect: bool| {
        let mut red = qdisc(&format!(
            "red limit 900000 min 5000 max 15000 avpkt 1000 burst 9 {words}"
        ));
        for n in 0..300 {
            let packet = Plain {
                ect,
                ..packet(0, 1_000, 1)
            };
            red.enqueue(us(n), packet);
        }
        (own(&red, "marked"), own(&red, "early"))
    };
    assert!(run("ecn", false).1 > 250);
    let (marked, early) = run("ecn nodrop", false);
    assert_eq!((marked, early), (0, 0));
    let (marked, early) = run("ecn", true);
    assert!(marked > 250 && early == 0);
    let (marked, early) = run("ecn harddrop", true);
    assert!(marked < 50 && early > 200);
}

/// After the queue was empty for long, the mean has been forgotten.
#[test]
fn an_idle_time_lowers_the_mean() {
    let mut red = qdisc("red limit 60000 min 5000 max 15000 avpkt 1000 burst 9 ecn nodrop");
    for n in 0..40 {
        red.enqueue(us(n), packet(0, 1_000, 1));
    }
    let over = red.stats().overlimits;
    assert!(over > 0);
    take_until(&mut red, us(100), us(100));
    red.enqueue(us(101), packet(0, 1_000, 1));
    assert_eq!(
        red.stats().overlimits,
        over + 1,
        "the mean is still above the maximum"
    );
    take_until(&mut red, us(102), us(102));
    for n in 0..5 {
        red.enqueue(us(5_000_000 + n), packet(0, 1_000, 1));
    }
    assert_eq!(red.stats().overlimits, over + 1);
}

/// Below the target zone the chance falls by a tenth each half second, above it rises by 1 % of certainty. The queue is the
/// same at the end of both runs, and so is the mean.
#[test]
fn an_adaptive_chance_follows_the_mean() {
    let marks = |bytes: u64| {
        let words =
            "red limit 60000 min 5000 max 15000 avpkt 1000 burst 9 ecn probability 0.1 adaptive";
        let mut red = qdisc(words);
        let mut last = 0;
        // 10 s with a queue of so many bytes, then 10,000 packets at one of 11,000 in the next half second.
        for n in 0..210_000_i64 {
            let level = if n < 200_000 { bytes } else { 11_000 };
            while red.stats().backlog < level {
                let ect = Plain {
                    ect: true,
                    ..packet(0, 1_000, 1)
                };
                red.enqueue(us(n * 50 + 1), ect);
            }
            if n == 200_000 {
                last = own(&red, "marked");
            }
            while red.stats().backlog >= level {
                red.dequeue(us(n * 50 + 25));
            }
        }
        own(&red, "marked") - last
    };
    // A packet finds 10,000 bytes, half way: gaps are uniform up to 2 / chance, rounded up. 20 steps down are 0.1 x 0.9^20
    // = 0.0122: gaps up to 164.5, 83 at the mean, 120 marks; five standard errors are 31. 20 steps of 1 % up are 0.3:
    // gaps up to 6.67, 3.85 at the mean, 2,597 marks; five standard errors are 127.
    let (low, high) = (marks(7_000), marks(14_000));
    assert!(low.abs_diff(120) < 31, "{low}");
    assert!(high.abs_diff(2_597) < 127, "{high}");
}

/// Type of service by forwarding: minimum delay is priority 6, band 0; maximum throughput 2, band 2; else band 1.
#[test]
fn bands_are_served_in_their_order() {
    let mut prio = qdisc("prio");
    for (id, dscp) in [(0, 0), (1, 2), (2, 4), (3, 0x2e), (4, 0), (5, 6)] {
        prio.enqueue(
            us(0),
            Plain {
                dscp,
                ..packet(id, 100, 1)
            },
        );
    }
    let out = take_until(&mut prio, us(1), us(1));
    let order: Vec<u32> = out.iter().map(|(packet, _)| packet.id).collect();
    assert_eq!(order, RIGHT);
}

/// 4 is minimum delay; 0x2e (EF) has its lowest bits 6, interactive bulk: priority 4, band 1, like 0 and 6.
const RIGHT: [u32; 6] = [2, 0, 3, 4, 5, 1];

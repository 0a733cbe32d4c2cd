//! `codel` and `fq_codel`: values by RFC 8289 and the kernel's units.

mod common;

use common::{Plain, own, packet, qdisc, take_until, us};
use tcplab_qdisc::Dequeued;

/// A queue that always stands 10 ms, with a packet taken each 100 us. Drops begin an interval after the delay first
/// passed the target (at the next packet). They lie interval / sqrt(n) apart, as exact as Newton's steps.
#[test]
fn a_standing_queue_is_dropped_from_by_the_control_law() {
    let mut codel = qdisc("codel limit 100000 target 5ms interval 100ms");
    let (mut n, mut seen, mut drops) = (0, 0, Vec::new());
    for tick in 0..15_000 {
        // As many packets are put in as were taken or dropped, so the queue stands at 100.
        while codel.stats().qlen < 100 {
            codel.enqueue(us(tick * 100), packet(n, 1_500, 1));
            n += 1;
        }
        codel.dequeue(us(tick * 100));
        if codel.stats().drops > seen {
            seen = codel.stats().drops;
            drops.push(tick * 100);
        }
    }
    // The first packet that waited 5 ms leaves at 5 ms; 100 ms later it is due.
    assert!((105_000..=105_300).contains(&drops[0]), "{drops:?}");
    // 1 / sqrt(n) by one step of Newton for each drop, from 1 on (after the first, it is 0.5).
    let mut inverse = 1.0;
    for (n, pair) in drops.windows(2).enumerate().take(40) {
        if n > 0 {
            inverse *= (3.0 - (n as f64 + 1.0) * inverse * inverse) / 2.0;
        }
        let law = 100_000.0 * inverse;
        let gap = (pair[1] - pair[0]) as f64;
        // A tick either way, and 16 bits of the root.
        assert!(
            (gap - law).abs() <= 100.0 + law * 0.001,
            "{n}: {gap} for {law}"
        );
    }
    assert!((inverse * 40_f64.sqrt() - 1.0).abs() < 0.01, "{inverse}");
}

/// Every sojourn below the target: nothing is dropped.
#[test]
fn a_short_queue_is_left_alone() {
    let mut codel = qdisc("codel");
    for n in 0..10_000 {
        codel.enqueue(us(n * 100), packet(0, 1_500, 1));
        codel.enqueue(us(n * 100), packet(0, 1_500, 1));
        take_until(&mut codel, us(n * 100 + 50), us(n * 100 + 50));
    }
    assert_eq!((codel.stats().drops, codel.stats().packets), (0, 20_000));
}

/// `ecn` marks in place of drops; `ce_threshold` marks all that waited longer.
#[test]
fn marks() {
    let run = |words: &str| {
        let mut codel = qdisc(words);
        for n in 0..3_000 {
            let packet = Plain {
                ect: true,
                ..packet(n, 1_500, 1)
            };
            codel.enqueue(us(0), packet);
        }
        let marked = (0..3_000_i64).filter(
            |n| matches!(codel.dequeue(us(n * 100)), Dequeued::Packet(packet) if packet.ce),
        );
        let marked = marked.count() as u64;
        (marked, codel)
    };
    let (marked, codel) = run("codel limit 5000 ecn");
    assert_eq!((own(&codel, "ecn_mark"), codel.stats().drops), (marked, 0));
    assert!(marked > 1);
    let (marked, codel) = run("codel limit 5000 target 10s ce_threshold 50ms");
    // Those that leave after 50 ms: from the 501st on, but for the unit of 1.024 us.
    assert_eq!(own(&codel, "ce_mark"), marked);
    assert!((2_498..=2_499).contains(&marked), "{marked}");
    let (_, codel) = run("codel limit 1000");
    // The rest is taken within an interval.
    let drops = (own(&codel, "drop_overlimit"), codel.stats().drops);
    assert_eq!(drops, (2_000, 2_000));
}

/// Flows of one packet pass the long queue of another; turns are a quantum long.
#[test]
fn new_flows_go_first_and_turns_are_a_quantum() {
    let mut fq = qdisc("fq_codel quantum 1514");
    for n in 0..20 {
        fq.enqueue(us(0), packet(n, 1_514, 1));
    }
    assert!(matches!(fq.dequeue(us(1)), Dequeued::Packet(packet) if packet.id == 0));
    for (id, flow) in [(100, 2), (101, 3)] {
        fq.enqueue(us(2), packet(id, 100, flow));
    }
    for (id, flow) in [(200, 4), (201, 4), (202, 4), (203, 4)] {
        fq.enqueue(us(2), packet(id, 757, flow));
    }
    let out = take_until(&mut fq, us(3), us(3));
    let order: Vec<u32> = out.iter().map(|(packet, _)| packet.id).collect();
    // The long queue's credit is spent: it is the last of the new ones and becomes an old one.
    assert_eq!(order[..4], [100, 101, 200, 201]);
    // Then the flows take turns: two short packets, one long.
    assert_eq!(order[4..8], [1, 202, 203, 2]);
    assert_eq!(own(&fq, "new_flow_count"), 4);
}

/// At the limit, half of the fattest queue goes from its head, 64 packets at most.
#[test]
fn the_fattest_queue_pays() {
    for (words, dropped, first) in [
        ("fq_codel limit 21", 10, 10),
        ("fq_codel limit 21 drop_batch 4", 4, 4),
    ] {
        let mut fq = qdisc(words);
        for n in 0..20 {
            fq.enqueue(us(0), packet(n, 1_000, 1));
        }
        assert!(fq.enqueue(us(0), packet(100, 100, 2)));
        assert!(
            fq.enqueue(us(0), packet(101, 100, 2)),
            "another one's queue pays"
        );
        assert_eq!(fq.stats().drops, dropped, "{words}");
        let out = take_until(&mut fq, us(1), us(1));
        assert_eq!(out[0].0.id, first, "{words}");
        let drops = ["drop_overlimit", "drop_overmemory"].map(|name| own(&fq, name));
        assert_eq!(drops, [dropped, 0]);
    }
    // 1,000 bytes take 256 + 2,048 of memory: four fit into 10,000, the fifth costs half of the queue.
    let mut fq = qdisc("fq_codel memory_limit 10000");
    let kept: Vec<bool> = (0..5)
        .map(|n| fq.enqueue(us(0), packet(n, 1_000, 1)))
        .collect();
    assert_eq!(kept, [true, true, true, true, false]);
    let counted = ["drop_overmemory", "memory_used"].map(|name| own(&fq, name));
    assert_eq!(counted, [3, 2 * 2_304]);
}

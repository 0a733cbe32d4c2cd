//! `fq`: turns, pacing and limits by hand.

mod common;

use common::{Plain, ids, own, packet, qdisc, take_until, us};

/// 1 byte a microsecond, a quantum of one packet: one each millisecond after the first burst. The timer fires 10 us late,
/// which the next gap makes up for.
#[test]
fn a_flow_keeps_to_its_rate() {
    let mut fq = qdisc("fq maxrate 8mbit quantum 1000 initial_quantum 2000");
    for n in 0..6 {
        fq.enqueue(us(0), packet(n, 1_000, 1));
    }
    let out = ids(&take_until(&mut fq, us(0), us(9_000)));
    let times: Vec<i64> = out.iter().map(|(_, at)| at / 1_000).collect();
    // The first leaves credit, the second takes it all and begins the pace.
    assert_eq!(times, [0, 0, 1_010, 2_010, 3_010, 4_010]);
    assert_eq!(own(&fq, "throttled"), 4);
}

/// Packets with a time of departure leave then, in the order of their times, and not before.
#[test]
fn a_packet_leaves_at_its_time() {
    let mut fq = qdisc("fq timer_slack 0");
    for (id, at) in [(0, 300), (1, 100), (2, 200), (3, 200)] {
        let timed = Plain {
            departure: Some(us(at)),
            ..packet(id, 1_000, 1)
        };
        assert!(fq.enqueue(us(0), timed));
    }
    let out = ids(&take_until(&mut fq, us(0), us(9_000)));
    let right = [(1, 100), (2, 200), (3, 200), (0, 300)];
    assert_eq!(out, right.map(|(id, at)| (id, at * 1_000)));
}

#[test]
fn beyond_the_horizon_packets_are_dropped_or_brought_back() {
    let late = Plain {
        departure: Some(us(5_000)),
        ..packet(0, 1_000, 1)
    };
    let mut fq = qdisc("fq horizon 1ms");
    assert!(!fq.enqueue(us(10), late));
    assert_eq!((own(&fq, "horizon_drops"), fq.stats().drops), (1, 1));
    let mut fq = qdisc("fq horizon 1ms horizon_cap timer_slack 0");
    assert!(fq.enqueue(us(10), late));
    assert_eq!(
        ids(&take_until(&mut fq, us(10), us(9_000))),
        [(0, 1_010_000)]
    );
    assert_eq!(own(&fq, "horizon_caps"), 1);
}

/// Two flows with a quantum of two packets: new flows may send their first quantum, then two each.
#[test]
fn flows_take_turns() {
    let mut fq = qdisc("fq quantum 2000 initial_quantum 3000");
    for n in 0..7 {
        fq.enqueue(us(0), packet(n, 1_000, 1));
        fq.enqueue(us(0), packet(100 + n, 1_000, 2));
    }
    let out = ids(&take_until(&mut fq, us(1), us(1)));
    let order: Vec<u32> = out.iter().map(|(id, _)| *id).collect();
    assert_eq!(
        order,
        [0, 1, 2, 100, 101, 102, 3, 4, 103, 104, 5, 6, 105, 106]
    );
}

#[test]
fn limits_hold_for_a_flow_and_for_all() {
    let mut fq = qdisc("fq limit 5 flow_limit 3");
    let taken: Vec<bool> = (0..4)
        .map(|n| fq.enqueue(us(0), packet(n, 100, 1)))
        .collect();
    assert_eq!(taken, [true, true, true, false]);
    let taken: Vec<bool> = (0..3)
        .map(|n| fq.enqueue(us(0), packet(n, 100, 2)))
        .collect();
    assert_eq!(taken, [true, true, false]);
    assert_eq!((own(&fq, "flows_plimit"), fq.stats().drops), (1, 2));
}

/// Flows that have been idle for 3 s are forgotten when there are many: twice the buckets.
#[test]
fn idle_flows_are_forgotten() {
    let mut fq = qdisc("fq buckets 2 orphan_mask 0xffff");
    for flow in 0..4 {
        fq.enqueue(us(0), packet(0, 100, flow));
    }
    take_until(&mut fq, us(1), us(1));
    // The last one is not found empty while nothing waits.
    assert_eq!((own(&fq, "flows"), own(&fq, "inactive")), (4, 3));
    fq.enqueue(us(2_000_000), packet(0, 100, 4));
    assert_eq!((own(&fq, "flows"), own(&fq, "gc")), (5, 0), "too early");
    fq.enqueue(us(4_000_000), packet(0, 100, 5));
    assert_eq!((own(&fq, "flows"), own(&fq, "gc")), (3, 3));
}

//! Qdiscs in the classes of `prio` and `tbf`.

mod common;

use common::{DEVICE, Plain, ids, own, packet, qdisc, settings, take_until, us};

#[test]
fn each_band_has_a_queue_of_its_own() {
    let mut prio = qdisc("prio child pfifo limit 2");
    for (id, dscp) in [(0, 0), (1, 0), (2, 0), (3, 4), (4, 4), (5, 4)] {
        let sent = Plain {
            dscp,
            ..packet(id, 100, 1)
        };
        // The third of each band finds it full.
        assert_eq!(prio.enqueue(us(0), sent), id % 3 < 2, "{id}");
    }
    let out = take_until(&mut prio, us(1), us(1));
    let order: Vec<u32> = ids(&out).into_iter().map(|(id, _)| id).collect();
    assert_eq!(order, [3, 4, 0, 1]);
    assert_eq!(prio.stats().drops, 2);
}

/// A band that is shaped holds up nobody below it.
#[test]
fn a_band_that_waits_lets_others_go() {
    let mut prio = qdisc("prio child cake bandwidth 8mbit besteffort");
    for (id, dscp) in [(0, 4), (1, 4), (2, 0), (3, 0)] {
        let sent = Plain {
            dscp,
            ..packet(id, 1_000, 1)
        };
        prio.enqueue(us(0), sent);
    }
    let out = take_until(&mut prio, us(0), us(5_000));
    let ms = 1_000_000;
    assert_eq!(ids(&out), [(0, 0), (2, 0), (1, ms), (3, ms)]);
}

/// 1,000 bytes take 1 ms at 8 Mbit/s behind a bucket of one packet; flows take turns.
#[test]
fn a_bucket_takes_from_its_child() {
    let mut tbf = qdisc("tbf rate 8mbit burst 1000 limit 1 child fq_codel quantum 1000");
    for (id, flow) in [(0, 1), (1, 1), (2, 1), (3, 2)] {
        assert!(tbf.enqueue(us(0), packet(id, 1_000, flow)));
    }
    assert_eq!(tbf.stats().qlen, 4);
    let out = take_until(&mut tbf, us(0), us(5_000));
    let ms = 1_000_000;
    assert_eq!(ids(&out), [(0, 0), (3, ms), (1, 2 * ms), (2, 3 * ms)]);
    let stats = tbf.stats();
    assert_eq!((stats.packets, stats.bytes, stats.qlen), (4, 4_000, 0));
}

/// What the bucket cannot pay for any longer is dropped; another kind of child is refused.
#[test]
fn other_settings() {
    let mut tbf = qdisc("tbf rate 8mbit burst 1000 limit 1 child codel");
    for id in 0..3 {
        tbf.enqueue(us(0), packet(id, 1_000, 1));
    }
    assert!(!tbf.change(
        &settings("tbf rate 8mbit burst 500 limit 1 child fq_codel"),
        DEVICE
    ));
    assert!(!tbf.change(&settings("tbf rate 8mbit burst 500 limit 1"), DEVICE));
    assert!(tbf.change(
        &settings("tbf rate 8mbit burst 500 limit 1 child codel"),
        DEVICE
    ));
    tbf.enqueue(us(0), packet(3, 400, 1));
    let out = take_until(&mut tbf, us(0), us(5_000));
    assert_eq!(ids(&out), [(3, 0)]);
    assert_eq!((tbf.stats().drops, tbf.stats().packets), (3, 1));
    let mut prio = qdisc("prio child codel");
    assert!(!prio.change(&settings("prio"), DEVICE));
    assert!(prio.change(&settings("prio child codel limit 7"), DEVICE));
}

/// What only its kind counts shows at the qdisc that it is a child of.
#[test]
fn a_childs_marks_count() {
    for words in [
        "codel ce_threshold 1us",
        "prio child codel ce_threshold 1us",
        "tbf rate 8gbit burst 10k limit 1 child codel ce_threshold 1us",
    ] {
        let mut qdisc = qdisc(words);
        for id in 0..3 {
            let sent = Plain {
                ect: true,
                ..packet(id, 1_000, 1)
            };
            assert!(qdisc.enqueue(us(0), sent));
        }
        assert_eq!(take_until(&mut qdisc, us(5_000), us(9_000)).len(), 3);
        assert_eq!(own(&qdisc, "ce_mark"), 3, "{words}");
    }
}

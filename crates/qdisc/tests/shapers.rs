//! `tbf` and `htb`: times by hand.

mod common;

use common::{ids, own, packet, qdisc, take_until, us};
use tcplab_qdisc::Dequeued;

/// 1 byte a microsecond and a bucket of 3,000: three packets at once, then one each millisecond.
#[test]
fn tbf_sends_a_burst_and_then_its_rate() {
    let mut tbf = qdisc("tbf rate 8mbit burst 3000 limit 100000");
    for n in 0..6 {
        assert!(tbf.enqueue(us(0), packet(n, 1_000, 1)));
    }
    let out = ids(&take_until(&mut tbf, us(0), us(9_000)));
    let ms = 1_000_000;
    assert_eq!(
        out,
        [(0, 0), (1, 0), (2, 0), (3, ms), (4, 2 * ms), (5, 3 * ms)]
    );
    assert_eq!(tbf.stats().overlimits, 3);
    // 2 ms later, the bucket holds 2,000 bytes again.
    for n in 0..3 {
        tbf.enqueue(us(5_000), packet(n, 1_000, 1));
    }
    let out = ids(&take_until(&mut tbf, us(5_000), us(9_000)));
    assert_eq!(out, [(0, 5 * ms), (1, 5 * ms), (2, 6 * ms)]);
    // Longer than the bucket; more than the limit.
    assert!(!tbf.enqueue(us(9_000), packet(0, 3_001, 1)));
    assert_eq!(tbf.stats().dropped_bytes, 3_001);
}

/// At twice the rate, the second bucket spreads the burst: 500 us for each packet while the first has tokens.
#[test]
fn tbf_has_a_peak_rate() {
    let mut tbf = qdisc("tbf rate 8mbit burst 3000 limit 100000 peakrate 16mbit mtu 1000");
    for n in 0..6 {
        tbf.enqueue(us(0), packet(n, 1_000, 1));
    }
    let out = ids(&take_until(&mut tbf, us(0), us(9_000)));
    let half = 500_000;
    let times: Vec<i64> = out.iter().map(|(_, at)| at / half).collect();
    // The first bucket has gained 1,500 bytes at 1.5 ms, and is empty after the sixth half millisecond.
    assert_eq!(times, [0, 1, 2, 3, 4, 6]);
}

/// 14 bytes more, in cells: 1,000 bytes are 22 cells of 53, 1,166 us.
#[test]
fn tbf_counts_cells() {
    let mut tbf = qdisc("tbf rate 8mbit burst 1000 limit 100000 overhead 14 linklayer atm");
    for n in 0..2 {
        tbf.enqueue(us(0), packet(n, 1_000, 1));
    }
    let out = ids(&take_until(&mut tbf, us(0), us(9_000)));
    assert_eq!(out, [(0, 0), (1, 1_166_000)]);
}

/// The bucket of tc's 1,600 bytes is 1,600 us. The class may send while it has any token: the debt of a packet is paid
/// before the next.
#[test]
fn htb_sends_while_it_has_tokens() {
    let mut htb = qdisc("htb rate 8mbit");
    for n in 0..5 {
        htb.enqueue(us(0), packet(n, 1_000, 1));
    }
    let out = ids(&take_until(&mut htb, us(0), us(9_000)));
    // 1,600, 600, -400: the third waits for 400 us, and each goes when its forerunner's debt is paid.
    let right = [(0, 0), (1, 0), (2, 400_000), (3, 1_400_000), (4, 2_400_000)];
    assert_eq!(out, right);
    assert_eq!(own(&htb, "lended"), 5);
    assert_eq!(htb.stats().overlimits, 4);
    // After the last one there are -1,000 us of tokens.
    htb.enqueue(us(2_400), packet(5, 1_000, 1));
    assert_eq!(htb.dequeue(us(2_400)), Dequeued::Wait(us(3_400)));
}

/// A ceiling below the rate holds; one above does nothing, for there is nobody to borrow from.
#[test]
fn htb_keeps_to_the_lower_of_rate_and_ceiling() {
    for (words, last) in [
        ("htb rate 16mbit ceil 8mbit burst 1 cburst 1", 4_000_000),
        ("htb rate 8mbit ceil 16mbit burst 1 cburst 1", 4_000_000),
        (
            "htb rate 8mbit ceil 8mbit burst 1 child fq_codel",
            4_000_000,
        ),
    ] {
        let mut htb = qdisc(words);
        for n in 0..5 {
            htb.enqueue(us(0), packet(n, 1_000, 1));
        }
        let out = ids(&take_until(&mut htb, us(0), us(9_000)));
        let at = out.last().unwrap().1;
        // A bucket of 1 us less.
        assert!(
            (last - 1_000..=last).contains(&at) && out.len() == 5,
            "{words}: {out:?}"
        );
    }
}

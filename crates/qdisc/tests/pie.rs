//! `pie`: values by RFC 8033 and the kernel's units.

mod common;

use common::{DEVICE, Plain, own, packet, qdisc, settings, us};
use tcplab_qdisc::{Dequeued, Qdisc};

const US: i64 = 1_000_000;

/// A line that takes a packet each millisecond from a queue that is kept this long, up to a time; what happens to each
/// packet that comes while it stands is given to `each`.
fn stand(
    pie: &mut Qdisc<Plain>,
    queue: u32,
    until_us: i64,
    mut each: impl FnMut(i64, &Qdisc<Plain>, bool),
) {
    for tick in 0..until_us / 1_000 {
        let now = us(tick * 1_000);
        // A chance of 1 would let nothing in.
        for _ in 0..10 * queue {
            if pie.stats().qlen == queue {
                break;
            }
            let ect = Plain {
                ect: true,
                ..packet(0, 1_514, 1)
            };
            let taken = pie.enqueue(now, ect);
            each(tick * 1_000, pie, taken);
        }
        pie.dequeue(now);
    }
}

/// The chance, 1 is always.
fn chance(pie: &Qdisc<Plain>) -> f64 {
    own(pie, "prob") as f64 / 2_f64.powi(64)
}

/// RFC 8033 4.2 with a constant delay of 49 ms. Each step adds alpha x (49 - 15 ms), the first one beta x 49 ms, both
/// cut by the table. Steps are 20 ms apart: 15 ms are 4 ticks of the kernel's clock, and its timers come one late.
#[test]
fn the_chance_follows_the_table_of_the_rfc() {
    let mut pie = qdisc("pie limit 5000");
    let mut seen = Vec::new();
    stand(&mut pie, 50, 5 * US, |at, pie, _| {
        let is_new = seen.last().is_none_or(|(_, last)| *last != chance(pie));
        if is_new {
            seen.push((at, chance(pie)));
        }
    });
    let (mut model, mut old) = (0.0, 0.0);
    for (n, pair) in seen.windows(2).enumerate() {
        let steps = [0.000_001, 0.000_01, 0.000_1, 0.001, 0.01, 0.1];
        let of_table = [2_048.0, 512.0, 128.0, 32.0, 8.0, 2.0];
        let scale = steps
            .iter()
            .position(|most| model < *most)
            .map_or(1.0, |at| of_table[at]);
        // From the second step on, the delay is what it was.
        model += (0.125 * (0.049 - 0.015) + 1.25 * (0.049 - old)) / scale;
        old = 0.049;
        let ours = pair[1].1;
        assert!(
            (ours / model - 1.0).abs() < 0.001,
            "{n}: {ours} for {model}"
        );
        if n > 0 {
            assert_eq!(pair[1].0 - pair[0].0, 20_000, "{n}");
        }
    }
    // The timer is set for half a second, and comes with the wheel's coarse ticks of 32 ms.
    assert_eq!(seen[1].0, 512_000);
    assert!(
        seen.len() > 200 && model > 0.3,
        "{} steps up to {model}",
        seen.len()
    );
}

/// RFC 8033 5.4: from one drop to the next, the chances sum up to 0.85 at least and to 8.5 at most.
#[test]
fn drops_are_neither_near_nor_far() {
    let mut pie = qdisc("pie limit 5000");
    let (mut sum, mut sums) = (0.0, Vec::new());
    stand(&mut pie, 50, 5 * US, |_, pie, taken| {
        sum += chance(pie);
        if !taken {
            sums.push(sum);
            sum = 0.0;
        }
    });
    assert_eq!(own(&pie, "dropped"), sums.len() as u64);
    assert_eq!(pie.stats().drops, sums.len() as u64);
    assert!(sums.len() > 1_000, "{}", sums.len());
    let least = sums.iter().fold(f64::MAX, |a, b| a.min(*b));
    assert!((0.849..0.9).contains(&least), "{least}");
    assert!(sums.iter().all(|sum| *sum <= 8.51));
}

/// No drop for 150 ms of departures, with two packets or fewer, or below half the target.
#[test]
fn bursts_and_short_queues_pass() {
    let mut pie = qdisc("pie tupdate 1ms");
    let mut first = None;
    stand(&mut pie, 300, US, |at, _, taken| {
        if !taken {
            first.get_or_insert(at);
        }
    });
    // The timer begins later than the burst ends.
    assert!(first.is_some_and(|at| at > 512_000), "{first:?}");
    for queue in [2, 7] {
        let mut pie = qdisc("pie");
        stand(&mut pie, queue, 5 * US, |_, _, taken| assert!(taken));
        assert_eq!(
            own(&pie, "pkts_in"),
            pie.stats().packets + u64::from(pie.stats().qlen)
        );
    }
}

/// Marks take the place of drops up to a chance of a tenth.
#[test]
fn marks() {
    let (mut low, mut high) = ([0, 0], [0, 0]);
    let mut pie = qdisc("pie limit 5000 ecn");
    let mut marked = 0;
    stand(&mut pie, 50, 5 * US, |_, pie, taken| {
        let counts = if chance(pie) <= 0.1 {
            &mut low
        } else {
            &mut high
        };
        counts[0] += own(pie, "ecn_mark") - marked;
        counts[1] += u64::from(!taken);
        marked = own(pie, "ecn_mark");
    });
    assert!(low[0] > 20 && high[1] > 50, "{low:?} {high:?}");
    assert_eq!((low[1], high[0]), (0, 0));
}

/// A packet of 151 bytes has a tenth of the drop chance that 1,514 bytes have.
#[test]
fn short_packets_pass_in_bytemode() {
    let drops = |words: &str| {
        let mut pie = qdisc(words);
        let mut drops = [0, 0];
        for n in 0..20_000_i64 {
            for (of, len) in drops.iter_mut().zip([1_514, 151]) {
                if pie.stats().qlen < 100 {
                    *of += u32::from(!pie.enqueue(us(n * 1_000), packet(0, len, 1)));
                }
            }
            pie.dequeue(us(n * 1_000));
        }
        drops
    };
    let [long, short] = drops("pie");
    assert!(short > long / 2, "{long} {short}");
    let [long, short] = drops("pie bytemode");
    assert!(long > 100 && short < long / 2, "{long} {short}");
}

/// Little's law: 50 packets at one each millisecond.
#[test]
fn the_rate_at_which_packets_leave() {
    let mut pie = qdisc("pie limit 5000 dq_rate_estimator");
    stand(&mut pie, 50, US, |_, _, _| ());
    let rate = own(&pie, "avg_dq_rate") as f64;
    // An eighth of each measurement, in 256ths of a byte a tick of 64 ns.
    assert!((rate / 1_514_000.0 - 1.0).abs() < 0.11, "{rate}");
    let delay = own(&pie, "delay") as f64;
    assert!((delay / 50_000.0 - 1.0).abs() < 0.13, "{delay}");
    let mut pie = qdisc("pie limit 5000");
    stand(&mut pie, 50, US, |_, _, _| ());
    assert_eq!((own(&pie, "avg_dq_rate"), own(&pie, "delay")), (0, 49_000));
}

#[test]
fn the_limit() {
    let mut pie = qdisc("pie limit 5");
    for id in 0..8 {
        pie.enqueue(us(1), packet(id, 1_000, 1));
    }
    let counted = ["pkts_in", "overlimit", "dropped", "maxq"].map(|name| own(&pie, name));
    // The longest queue that a packet found.
    assert_eq!(counted, [5, 3, 3, 4]);
    assert!(pie.change(&settings("pie limit 2"), DEVICE));
    assert_eq!((pie.stats().drops, own(&pie, "dropped")), (6, 3));
    assert!(matches!(pie.dequeue(us(2)), Dequeued::Packet(packet) if packet.id == 3));
}

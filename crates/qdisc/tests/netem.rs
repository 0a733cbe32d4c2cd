//! `netem`: times and counts by hand.

mod common;

use common::{Plain, ids, own, packet, qdisc, take_until, us};

#[test]
fn a_delay_is_exact_and_keeps_the_order() {
    let mut netem = qdisc("netem delay 10ms limit 3");
    for n in 0..4 {
        assert_eq!(netem.enqueue(us(i64::from(n)), packet(n, 100, 1)), n < 3);
    }
    let out = ids(&take_until(&mut netem, us(4), us(20_000)));
    assert_eq!(out, [(0, 10_000_000), (1, 10_001_000), (2, 10_002_000)]);
    assert_eq!(netem.stats().drops, 1);
}

/// 1 byte a microsecond: a packet enters the wire behind the last one, and the delay passes while it waits for that.
#[test]
fn a_rate_follows_the_last_packet() {
    for (words, right) in [
        ("netem rate 8mbit", [1_000, 2_000, 3_000, 21_000]),
        // 300 us of delay are over when the second begins.
        (
            "netem rate 8mbit delay 300us",
            [1_300, 2_300, 3_300, 21_300],
        ),
        // 5 ms are not: the first leaves at 6 ms, the second one's delay is over before.
        ("netem rate 8mbit delay 5ms", [6_000, 7_000, 8_000, 26_000]),
        // 1,020 bytes are 22 cells of 48 + 5 bytes.
        ("netem rate 8mbit 20 48 5", [1_166, 2_332, 3_498, 21_166]),
    ] {
        let mut netem = qdisc(words);
        for n in 0..3 {
            netem.enqueue(us(0), packet(n, 1_000, 1));
        }
        let mut out = take_until(&mut netem, us(0), us(20_000));
        netem.enqueue(us(20_000), packet(3, 1_000, 1));
        out.extend(take_until(&mut netem, us(20_000), us(40_000)));
        let times: Vec<i64> = out.iter().map(|(_, at)| at / 1_000).collect();
        assert_eq!(times, right, "{words}");
    }
}

/// With certainty, each third packet overtakes.
#[test]
fn every_nth_packet_overtakes() {
    let mut netem = qdisc("netem delay 10ms reorder 100% gap 3");
    for n in 0..6 {
        netem.enqueue(us(0), packet(n, 100, 1));
    }
    let out = ids(&take_until(&mut netem, us(0), us(20_000)));
    let order: Vec<u32> = out.iter().map(|(id, _)| *id).collect();
    // The last to overtake stands first.
    assert_eq!(order, [5, 2, 0, 1, 3, 4]);
    assert_eq!(out[1].1, 0);
    assert_eq!(own(&netem, "requeues"), 2);
}

#[test]
fn losses_copies_and_damage_are_counted() {
    let run = |words: &str, ect: bool| {
        let mut netem = qdisc(words);
        for n in 0..1_000 {
            netem.enqueue(
                us(0),
                Plain {
                    ect,
                    ..packet(n, 100, 1)
                },
            );
        }
        let out = take_until(&mut netem, us(0), us(0));
        (out, netem.stats(), netem)
    };
    let (out, stats, _) = run("netem loss 100% limit 5000", false);
    assert_eq!(
        (out.len(), stats.drops, stats.dropped_bytes),
        (0, 1_000, 100_000)
    );
    // A packet that can be marked is marked, and still counts as a drop.
    let (out, stats, netem) = run("netem loss 100% ecn limit 5000", true);
    assert!(out.len() == 1_000 && out.iter().all(|(packet, _)| packet.ce));
    assert_eq!(
        (stats.drops, stats.dropped_bytes, own(&netem, "ecn_mark")),
        (1_000, 0, 1_000)
    );
    // A copy goes before its packet.
    let (out, stats, netem) = run("netem duplicate 100% limit 5000", false);
    assert_eq!(
        (out.len(), stats.packets, own(&netem, "duplicated")),
        (2_000, 2_000, 1_000)
    );
    assert!(out.chunks(2).all(|pair| pair[0].0.id == pair[1].0.id));
    let (out, _, netem) = run("netem corrupt 100% limit 5000", false);
    assert!(out.iter().all(|(packet, _)| packet.is_damaged) && own(&netem, "corrupted") == 1_000);
    // 30 % of 1,000: five standard deviations are 72.
    let (out, ..) = run("netem loss 30% limit 5000", false);
    assert!(out.len().abs_diff(700) < 72, "{}", out.len());
}

/// The same seed in the words gives the same losses on any link; without one, they are the run's.
#[test]
fn a_seed_repeats() {
    let lost = |words: &str, name: &str| {
        let settings = common::settings(words);
        let mut netem = tcplab_qdisc::Qdisc::new(&settings, common::DEVICE, 1, name);
        for n in 0..64 {
            netem.enqueue(us(0), packet(n, 100, 1));
        }
        ids(&take_until(&mut netem, us(0), us(0)))
    };
    let seeded = "netem loss 30% seed 7";
    assert_eq!(lost(seeded, "link/0"), lost(seeded, "link/1"));
    assert_ne!(
        lost("netem loss 30%", "link/0"),
        lost("netem loss 30%", "link/1")
    );
    assert_eq!(
        lost("netem loss 30%", "link/0"),
        lost("netem loss 30%", "link/0")
    );
}

/// Two packets in each slot, 1 ms apart: the first slot begins a millisecond after the first look.
#[test]
fn slots_gather_packets() {
    let mut netem = qdisc("netem slot 1ms packets 2");
    for n in 0..5 {
        netem.enqueue(us(10), packet(n, 100, 1));
    }
    let out = ids(&take_until(&mut netem, us(10), us(9_000)));
    let times: Vec<i64> = out.iter().map(|(_, at)| at / 1_000).collect();
    assert_eq!(times, [1_010, 1_010, 2_010, 2_010, 3_010]);
}

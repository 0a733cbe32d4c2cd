//! Expected values come from the message that tc 6.1 sends to the kernel for the same words.

use super::*;
use crate::Kind;

fn read(text: &str) -> Settings {
    let qdisc =
        crate::Settings::parse(text).unwrap_or_else(|wrong| panic!("{text}: {}", wrong.why));
    match qdisc.kind() {
        Kind::Netem(netem) => netem.clone(),
        _ => panic!("{text} is not a netem"),
    }
}

#[test]
fn chances_are_rounded_as_tc_rounds_them() {
    for (text, probability, correlation) in [
        ("netem loss 0.3% 25%", 0x00c4_9ba6, 0x4000_0000),
        ("netem loss random 1", 0x028f_5c29, 0),
        ("netem drop 1%", 0x028f_5c29, 0),
        ("netem loss 100%", u32::MAX, 0),
    ] {
        let right = Loss::Random(Chance {
            probability,
            correlation,
        });
        assert_eq!(read(text).loss, right, "{text}");
    }
    let netem = read("netem duplicate 1% corrupt 0.1% 3%");
    assert_eq!(netem.duplicate.probability, 0x028f_5c29);
    let corrupt = Chance {
        probability: 0x0041_8937,
        correlation: 0x07ae_147b,
    };
    assert_eq!(netem.corrupt, corrupt);
}

#[test]
fn chains_of_loss() {
    for (text, right) in [
        (
            "netem loss state 1%",
            [0x028f_5c29, 0xfd70_a3d6, 0, u32::MAX, 0],
        ),
        (
            "netem loss state 1% 20% 30% 40% 5%",
            [
                0x028f_5c29,
                0x3333_3333,
                0x4ccc_cccc,
                0x6666_6666,
                0x0ccc_cccd,
            ],
        ),
    ] {
        let Loss::State {
            p13,
            p31,
            p32,
            p23,
            p14,
        } = read(text).loss
        else {
            panic!("{text}")
        };
        assert_eq!([p13, p31, p32, p23, p14], right, "{text}");
    }
    for (text, right) in [
        ("netem loss gemodel 1%", [0x028f_5c29, 0xfd70_a3d6, 0, 0]),
        (
            "netem loss gemodel 1% 10% 70% 0.1%",
            [0x028f_5c29, 0x1999_999a, 0x4ccc_cccd, 0x0041_8937],
        ),
    ] {
        let Loss::Gemodel { p, r, h, k1 } = read(text).loss else {
            panic!("{text}")
        };
        assert_eq!([p, r, h, k1], right, "{text}");
    }
}

#[test]
fn rates_and_slots() {
    let rate = read("netem rate 10mbit 20 48 5").rate.unwrap();
    let right = Rate {
        bytes: 0x1312d0,
        packet_overhead: 20,
        cell_size: 48,
        cell_overhead: 5,
    };
    assert_eq!(rate, right);
    assert_eq!(
        read("netem rate 1mbit -14").rate.unwrap().packet_overhead,
        -14
    );
    assert_eq!(read("netem rate 100").rate.unwrap().bytes, 12);
    let slot = read("netem slot 800us 1ms packets 5 bytes 1000")
        .slot
        .unwrap();
    let every = Every::Between {
        min_ns: 800_000,
        max_ns: 1_000_000,
    };
    assert_eq!((slot.every, slot.packets, slot.bytes), (every, 5, 1_000));
    let slot = read("netem slot distribution normal 1ms 100us")
        .slot
        .unwrap();
    let every = Every::Distributed {
        by: Distribution::Normal,
        delay_ns: 1_000_000,
        jitter_ns: 100_000,
    };
    assert_eq!(slot.every, every);
}

#[test]
fn delays() {
    let netem =
        read("netem delay 10ms 3ms 25% distribution pareto reorder 25% 50% limit 1k seed 7");
    assert_eq!((netem.latency_ns, netem.jitter_ns), (10_000_000, 3_000_000));
    assert_eq!(netem.delay_correlation, 0x4000_0000);
    assert_eq!(netem.distribution, Distribution::Pareto);
    assert_eq!((netem.gap, netem.limit, netem.seed), (1, 1_024, Some(7)));
}

#[test]
fn conflicting_words_are_refused_by_name() {
    for (text, word, why) in [
        ("netem gap 5 delay 1ms", "", "`gap` needs `reorder`"),
        ("netem reorder 25%", "", "needs a `delay`"),
        ("netem delay 10ms distribution normal", "", "with jitter"),
        ("netem delay 10ms ecn", "", "`ecn` needs `loss`"),
        ("netem slot 2ms 1ms", "1ms", "at most"),
        ("netem slot 1ms packets 5 3ms", "3ms", "a word of netem"),
        ("netem loss state", "state", "needs a value"),
        ("netem loss gemodel 150%", "150%", "100%"),
        (
            "netem delay 1ms 1ms distribution zeta",
            "zeta",
            "paretonormal",
        ),
        ("netem rate 1mbit -x", "-x", "a word of netem"),
    ] {
        let wrong = crate::Settings::parse(text).expect_err(text);
        let word = if word.is_empty() { text } else { word };
        assert!(
            wrong.word == word && wrong.why.contains(why),
            "{text}: {wrong:?}"
        );
    }
}

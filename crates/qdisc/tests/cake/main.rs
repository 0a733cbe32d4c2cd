//! CAKE from outside: the books balance for any packets; the shaper keeps to its rate; flows, hosts and tins get
//! their shares.

mod packet;

use packet::{Test, ack, packet};
use proptest::prelude::*;
use tcplab_base::Instant;
use tcplab_qdisc::{Dequeued, Device, Qdisc, Settings};

const MS: i64 = 1_000_000;
const ETHERNET: Device = Device::new(1_500);

fn cake(words: &str) -> Qdisc<Test> {
    let words = format!("cake {words}");
    let settings = Settings::parse(&words).expect(&words);
    Qdisc::new(&settings, ETHERNET, 1, "test")
}

fn at(ns: i64) -> Instant {
    Instant::from_nanos(ns)
}

/// All packets that leave until `end`, each at its time.
fn run(qdisc: &mut Qdisc<Test>, mut now: i64, end: i64) -> Vec<(i64, Test)> {
    let mut out = Vec::new();
    while now <= end {
        match qdisc.dequeue(at(now)) {
            Dequeued::Packet(packet) => out.push((now, packet)),
            Dequeued::Wait(until) => now = until.as_nanos(),
            Dequeued::Empty => break,
        }
    }
    out
}

/// A counter of each tin.
fn tins(qdisc: &Qdisc<Test>, name: &str) -> Vec<u64> {
    let tins = qdisc.report().tins;
    tins.iter().map(|tin| tin[name]).collect()
}

#[test]
fn the_shaper_lets_one_packet_go_in_its_time_and_saves_up_nothing() {
    let mut qdisc = cake("bandwidth 10mbit besteffort flowblind");
    for n in 0..20 {
        qdisc.enqueue(at(0), packet(n, 1_250));
    }
    let left = run(&mut qdisc, 0, 15 * MS);
    assert_eq!(left.len(), 16);
    for (n, (time, _)) in left.iter().enumerate() {
        assert_eq!(*time, n as i64 * MS, "1,250 bytes take 1 ms at 10 Mbit/s");
    }
    run(&mut qdisc, 15 * MS, 100 * MS);
    // Idle time is not made up for.
    for n in 0..3 {
        qdisc.enqueue(at(500 * MS), packet(n, 1_250));
    }
    let times: Vec<i64> = run(&mut qdisc, 500 * MS, 600 * MS)
        .iter()
        .map(|(t, _)| *t / MS)
        .collect();
    assert_eq!(times, [500, 501, 502]);
}

#[test]
fn bulk_flows_share_and_a_sparse_flow_goes_first() {
    let mut qdisc = cake("bandwidth 10mbit besteffort flows");
    for n in 0..100 {
        qdisc.enqueue(at(0), packet(n % 2, 1_250));
    }
    let mut left = run(&mut qdisc, 0, 19 * MS);
    qdisc.enqueue(at(19 * MS + 1), packet(7, 100));
    left.extend(run(&mut qdisc, 19 * MS + 1, 39 * MS));
    let of = |flow: u32| left.iter().filter(|(_, p)| p.flow == flow).count();
    assert!(of(0).abs_diff(of(1)) <= 2, "{} and {}", of(0), of(1));
    let sparse = left
        .iter()
        .position(|(_, p)| p.flow == 7)
        .expect("it leaves");
    assert_eq!(sparse, 20, "behind the packet that was on its way");
}

#[test]
fn hosts_share_before_flows() {
    // One host with one flow, one with four: half each with dual-srchost, a fifth and four fifths by flows.
    for (words, least, most) in [("dual-srchost", 45, 55), ("flows", 17, 23)] {
        let mut qdisc = cake(&format!(
            "bandwidth 10mbit besteffort {words} memlimit 64mb rtt 10s"
        ));
        for n in 0..2_000 {
            qdisc.enqueue(at(0), packet(n % 5, 1_250).of_host(u32::from(n % 5 != 0)));
        }
        let left = run(&mut qdisc, 0, 400 * MS);
        let single = left.iter().filter(|(_, p)| p.flow == 0).count() * 100 / left.len();
        assert!((least..=most).contains(&single), "{words}: {single} %");
    }
}

#[test]
fn a_tin_above_its_threshold_loses_its_priority() {
    let mut qdisc = cake("bandwidth 10mbit diffserv3 memlimit 64mb rtt 10s");
    for n in 0..1_000 {
        qdisc.enqueue(at(0), packet(1, 1_250).marked(0));
        qdisc.enqueue(at(0), packet(2, 1_250).marked(46));
        qdisc.enqueue(at(0), packet(3 + n % 2, 1_250).marked(8));
    }
    let left = run(&mut qdisc, 0, 640 * MS);
    let of = |dscp: u8| left.iter().filter(|(_, p)| p.dscp == dscp).count();
    // Voice has a quarter, bulk a sixteenth, best effort the rest.
    let (voice, bulk, rest) = (of(46), of(8), of(0));
    assert!(
        voice.abs_diff(160) <= 4 && bulk.abs_diff(40) <= 4,
        "{voice} {bulk}"
    );
    assert_eq!(rest, left.len() - voice - bulk);
}

#[test]
fn the_filter_keeps_the_books() {
    let mut qdisc = cake("bandwidth 1mbit besteffort ack-filter-aggressive");
    for number in 0..10 {
        qdisc.enqueue(at(0), ack(1, number));
    }
    let stats = qdisc.stats();
    // Nothing has left yet: the last of ten remains.
    assert_eq!((stats.qlen, stats.backlog, stats.drops), (1, 66, 9));
    assert_eq!(stats.dropped_bytes, 9 * 66);
    for (name, value) in [
        ("ack_drops", 9),
        ("drops", 0),
        ("sent_packets", 10),
        ("backlog_bytes", 66),
        ("sent_bytes", 660),
    ] {
        assert_eq!(tins(&qdisc, name), [value], "{name}");
    }
    let left = run(&mut qdisc, 0, MS);
    assert_eq!(left.len(), 1);
    assert_eq!(qdisc.stats().backlog, 0);
}

#[test]
fn a_long_ack_gives_way_to_a_short_one() {
    let mut qdisc = cake("bandwidth 5mbit besteffort ack-filter-aggressive autorate-ingress");
    qdisc.enqueue(at(0), ack(1, 1).sized(78));
    qdisc.enqueue(at(1), ack(1, 2));
    let stats = qdisc.stats();
    assert_eq!(
        (stats.qlen, stats.backlog, stats.dropped_bytes),
        (1, 66, 78)
    );
}

#[test]
fn any_mtu_will_do() {
    for mtu in [68, 400, 1_500, 65_535] {
        let settings = Settings::parse("cake bandwidth 1mbit").expect("words");
        let mut qdisc = Qdisc::new(&settings, Device::new(mtu), 1, "test");
        assert!(qdisc.enqueue(at(0), packet(1, 60)), "{mtu}");
    }
}

#[test]
fn a_header_is_forgotten_with_its_packet() {
    let change = |qdisc: &mut Qdisc<Test>, words: &str| {
        assert!(qdisc.change(&Settings::parse(words).expect(words), ETHERNET));
    };
    let mut qdisc = cake("bandwidth 1mbit besteffort ack-filter-aggressive");
    qdisc.enqueue(at(0), ack(1, 1));
    run(&mut qdisc, 0, 1_000 * MS);
    change(&mut qdisc, "cake bandwidth 1mbit besteffort");
    qdisc.enqueue(at(2_000 * MS), packet(1, 1_000));
    change(
        &mut qdisc,
        "cake bandwidth 1mbit besteffort ack-filter-aggressive",
    );
    qdisc.enqueue(at(2_000 * MS), ack(1, 9));
    assert_eq!(qdisc.stats().qlen, 2, "the data stays");
}

#[test]
fn ingress_charges_what_the_filter_drops() {
    let first_after = |words: &str| {
        let mut qdisc = cake(&format!("bandwidth 1mbit besteffort {words}"));
        for number in 0..11 {
            qdisc.enqueue(at(0), ack(1, number));
        }
        run(&mut qdisc, 0, 0);
        qdisc.enqueue(at(1), ack(2, 1));
        match qdisc.dequeue(at(1)) {
            Dequeued::Wait(until) => until.as_nanos(),
            other => panic!("{other:?}"),
        }
    };
    let one = 66 * 8_000;
    assert_eq!(first_after("ack-filter-aggressive"), one);
    // The failsafe clock does not charge drops: it ends the wait at one and a half of the packet's own time.
    assert_eq!(first_after("ack-filter-aggressive ingress"), one + one / 2);
}

#[test]
fn conservative_keeps_two() {
    let mut qdisc = cake("bandwidth 1mbit besteffort ack-filter");
    for number in 0..10 {
        qdisc.enqueue(at(0), ack(1, number));
    }
    assert_eq!((qdisc.stats().qlen, qdisc.stats().drops), (2, 8));
}

#[test]
fn flows_of_one_queue_are_filtered_apart() {
    let mut qdisc = cake("bandwidth 1mbit besteffort flowblind ack-filter");
    for number in 0..10 {
        qdisc.enqueue(at(0), ack(1 + number % 2, number));
    }
    assert_eq!(qdisc.stats().qlen, 4, "two of each");
}

fn words() -> impl Strategy<Value = String> {
    let one = |list: &'static [&'static str]| prop::sample::select(list);
    (
        one(&[
            "bandwidth 1mbit",
            "bandwidth 100kbit",
            "bandwidth 1gbit",
            "unlimited",
            "bandwidth 5mbit autorate-ingress",
        ]),
        one(&[
            "besteffort",
            "diffserv3",
            "diffserv4",
            "diffserv8",
            "precedence",
        ]),
        one(&[
            "flowblind",
            "flows",
            "triple-isolate",
            "dual-srchost",
            "dual-dsthost",
            "hosts",
            "srchost",
        ]),
        one(&[
            "",
            "ack-filter",
            "ack-filter-aggressive",
            "ack-filter-2018",
            "ack-filter-naive",
            "ack-filter-2018-aggressive",
        ]),
        one(&["", "ingress", "wash", "ingress wash"]),
        one(&["", "memlimit 20000", "memlimit 4mb"]),
        one(&[
            "",
            "conservative",
            "overhead -20 mpu 64",
            "ethernet ether-vlan",
        ]),
        one(&["", "rtt 1ms", "satellite"]),
    )
        .prop_map(|w| [w.0, w.1, w.2, w.3, w.4, w.5, w.6, w.7].join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn bytes_in_are_bytes_out_and_drops_and_queue(
        words in words(),
        events in prop::collection::vec((0_u32..40, 0_u32..1_500, 0_i64..3_000_000, 0_u8..64, any::<bool>()), 1..400),
    ) {
        let mut qdisc = cake(&words);
        let (mut now, mut bytes, mut packets, mut out) = (0, 0_u64, 0_u64, 0_u64);
        for (flow, size, wait, dscp, is_ack) in events {
            let each = match is_ack {
                true => ack(flow, size).sized(66 + 12 * (size % 3)).marked(dscp),
                false => packet(flow, 60 + size).marked(dscp),
            };
            bytes += u64::from(each.len);
            packets += 1;
            qdisc.enqueue(at(now), each);
            if wait % 3 > 0 {
                now += wait;
                if let Dequeued::Packet(packet) = qdisc.dequeue(at(now)) {
                    out += u64::from(packet.len);
                }
            }
            let stats = qdisc.stats();
            prop_assert_eq!(stats.bytes, out);
            prop_assert_eq!(bytes, out + stats.dropped_bytes + stats.backlog);
            prop_assert_eq!(packets, stats.packets + stats.drops + u64::from(stats.qlen));
            if words.contains("memlimit 20000") {
                prop_assert!(stats.backlog <= 20_000, "{} bytes wait", stats.backlog);
            }
            let waits: u64 = tins(&qdisc, "backlog_bytes").iter().sum();
            prop_assert_eq!(waits, stats.backlog);
        }
        let left = run(&mut qdisc, now, i64::MAX / 2);
        out += left.iter().map(|(_, p)| u64::from(p.len)).sum::<u64>();
        let stats = qdisc.stats();
        prop_assert_eq!((stats.qlen, stats.backlog), (0, 0), "all leaves");
        prop_assert_eq!(bytes, out + stats.dropped_bytes);
    }
}

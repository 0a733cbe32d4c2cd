//! What kernels count: attributes as cake_dump_stats() and its like lay them out.

use tcplab_qdisc::QdiscCount;
use tcplab_qdisc::netlink::Attributes;

/// linux/rtnetlink.h.
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;

/// linux/gen_stats.h.
const BASIC: u16 = 1;
const QUEUE: u16 = 3;
const APP: u16 = 4;
const PKT64: u16 = 8;

fn read(attributes: &[u8]) -> Option<QdiscCount> {
    QdiscCount::of_kernel(attributes)
}

/// What a kernel says of one qdisc.
fn answer(kind: &str, app: &[u8]) -> Vec<u8> {
    let mut stats = Attributes::default();
    let mut basic = 9_000_000_000_u64.to_ne_bytes().to_vec();
    basic.extend(7_u32.to_ne_bytes());
    stats.put(BASIC, &basic);
    stats.u64(PKT64, 5_000_000_007);
    stats.words(QUEUE, &[3, 4_500, 11, 2, 6]);
    stats.put(APP, app);
    let mut all = Attributes::default();
    all.put(TCA_KIND, format!("{kind}\0").as_bytes());
    all.put(TCA_STATS2, &stats.bytes());
    all.bytes()
}

#[test]
fn every_qdisc_has_the_common_counters() {
    let count = read(&answer("pfifo", &[])).unwrap();
    let expected = QdiscCount {
        kind: "pfifo".into(),
        bytes: 9_000_000_000,
        packets: 5_000_000_007,
        drops: 11,
        overlimits: 6,
        backlog: 4_500,
        qlen: 3,
        ..QdiscCount::default()
    };
    assert_eq!(count, expected);
    let netem = read(&answer("netem", &[])).unwrap();
    assert_eq!(netem.own, [("requeues".to_owned(), 2)].into());
    assert_eq!(read(&answer("noqueue", &[])), None);
    assert_eq!(read(&[]), None);
}

#[test]
fn cake_has_its_own_and_its_tins() {
    let mut tins = Attributes::default();
    for (n, acks) in [(1, 5), (2, 7)] {
        let mut tin = Attributes::default();
        tin.u64(12, 3_750_000);
        tin.u32(6, acks);
        tin.u32(4, 1);
        tins.put(n, &tin.bytes());
    }
    let mut app = Attributes::default();
    app.u64(2, 42);
    app.u32(3, 4 << 20);
    app.put(10, &tins.bytes());
    let count = read(&answer("cake", &app.bytes())).unwrap();
    assert_eq!(count.named("memory_limit"), 4 << 20);
    assert_eq!(count.named("capacity_estimate"), 42);
    assert_eq!((count.tins.len(), count.named("ack_drops")), (2, 12));
    assert_eq!(count.tins[1]["threshold_rate"], 3_750_000);
    // That of the whole is not the sum over the tins: ACKs and lost packets are in it.
    assert_eq!(count.named("drops"), 11);
}

#[test]
fn structures_are_read_by_place() {
    let words: Vec<u8> = (0..28_u32).flat_map(u32::to_ne_bytes).collect();
    let own = |kind| read(&answer(kind, &words)).unwrap().own;
    assert_eq!((own("codel")["ecn_mark"], own("codel")["ce_mark"]), (6, 8));
    assert_eq!(own("fq_codel")["maxpacket"], 1);
    assert_eq!(own("fq_codel")["drop_overmemory"], 9);
    assert_eq!((own("red")["early"], own("red")["marked"]), (0, 3));
    assert_eq!(own("fq")["flows"], 16);
    assert_eq!(own("fq")["throttled"], 6 | 7 << 32);
    assert_eq!((own("pie")["prob"], own("pie")["delay"]), (1 << 32, 2));
    assert_eq!((own("pie")["pkts_in"], own("pie")["ecn_mark"]), (5, 9));
    // An older kernel's structure ends before the last counters.
    let short = read(&answer("codel", &words[..20])).unwrap();
    assert_eq!((short.own["ldelay"], short.own["ecn_mark"]), (3, 0));
}

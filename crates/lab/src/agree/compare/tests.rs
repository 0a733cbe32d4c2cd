//! The comparison must see what differs and forgive what may.

use super::*;

const TICKS: Ticks = Ticks {
    origin_ns: 3_000_400_000,
    tick_ns: 1_000_000,
};

fn packet(host: usize, time_ns: i64) -> Packet {
    Packet {
        host,
        flow: 0,
        time_ns,
        flags: 0x18,
        seq: 1,
        ack: Some(1),
        len: 10,
        window: 500,
        urgent: 0,
        mss: None,
        wscale: None,
        sack_permitted: false,
        sack: Vec::new(),
        tsval: Some(5),
        tsecr: Some(4),
        ecn: 0,
        header_len: 32,
    }
}

fn run() -> Vec<Packet> {
    vec![packet(0, 0), packet(1, 100_000), packet(0, 40_100_000)]
}

#[test]
fn equal_runs_have_no_difference() {
    assert_eq!(compare(&run(), &run(), TICKS).first, None);
}

#[test]
fn each_field_shows() {
    type Change = fn(&mut Packet);
    let changes: [(&str, Change); 7] = [
        ("seq", |p| p.seq = 2),
        ("flags", |p| p.flags = 0x10),
        ("window", |p| p.window = 501),
        ("sack", |p| p.sack = vec![(1, 2)]),
        ("tsval", |p| p.tsval = Some(7)),
        ("ecn", |p| p.ecn = 3),
        ("time", |p| p.time_ns += UNTIMED_NS + 1),
    ];
    for (field, change) in changes {
        let mut other = run();
        change(&mut other[1]);
        let found = compare(&run(), &other, TICKS).first;
        assert_eq!(found.map(|d| d.field), Some(field));
    }
}

#[test]
fn a_packet_too_many_or_too_few_shows() {
    let found = compare(&run(), &run()[..2], TICKS).first;
    assert_eq!(found.map(|d| (d.field, d.number)), Some(("missing", 1)));
    let found = compare(&run()[..2], &run(), TICKS).first;
    assert_eq!(found.map(|d| d.field), Some("extra"));
}

#[test]
fn a_timer_may_be_a_jiffy_off_and_what_follows_it_counts_from_there() {
    let mut a = run();
    a[2].time_ns = 40_600_000; // at a tick: 400 us and 600 us make a millisecond
    a.push(packet(1, 40_700_000));
    let mut b = a.clone();
    b[2].time_ns += 1_000_000;
    b[3].time_ns += 1_000_000;
    assert_eq!(compare(&a, &b, TICKS).first, None);
    b[3].time_ns += UNTIMED_NS + 1;
    let found = compare(&a, &b, TICKS).first;
    assert_eq!(
        found.map(|d| (d.field, d.host, d.number)),
        Some(("time", 1, 1))
    );
}

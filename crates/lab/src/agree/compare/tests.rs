//! The comparison must see what differs and forgive what may.

use super::*;

/// Packets of two hosts with ticks of this length, from 400 us after a tick.
fn sent_by(hz: i64, packets: Vec<Packet>) -> Sent {
    Sent {
        packets,
        since_boot_ns: 3_000_400_000,
        ticks_ns: vec![1_000_000_000 / hz; 2],
        flows: 1,
    }
}

fn sent(packets: &[Packet]) -> Sent {
    sent_by(1_000, packets.to_vec())
}

/// The first difference of two runs at 1000 Hz.
fn first(a: &[Packet], b: &[Packet]) -> Option<Difference> {
    compare(&sent(a), &sent(b)).first
}

fn packet(host: usize, time_ns: i64) -> Packet {
    Packet {
        host,
        flow: 0,
        is_answer: false,
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
        place: Place::default(),
    }
}

fn run() -> Vec<Packet> {
    vec![packet(0, 0), packet(1, 100_000), packet(0, 40_100_000)]
}

#[test]
fn equal_runs_have_no_difference() {
    assert_eq!(first(&run(), &run()), None);
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
        ("time", |p| p.time_ns += NEAR_NS + 1),
    ];
    for (field, change) in changes {
        let mut other = run();
        change(&mut other[1]);
        let found = first(&run(), &other);
        assert_eq!(found.map(|d| d.field), Some(field));
    }
}

#[test]
fn a_packet_too_many_or_too_few_shows() {
    let found = first(&run(), &run()[..2]);
    assert_eq!(found.map(|d| (d.field, d.number)), Some(("missing", 1)));
    let found = first(&run()[..2], &run());
    assert_eq!(found.map(|d| d.field), Some("extra"));
}

#[test]
fn packets_after_a_timer_one_jiffy_off_count_from_it() {
    let mut a = run();
    a[2].time_ns = 40_600_000; // at a tick: 400 us and 600 us make a millisecond
    a.push(packet(1, 40_700_000));
    let mut b = a.clone();
    b[2].time_ns += 3_000_000;
    b[3].time_ns += 3_000_000;
    let slower = |b: &[Packet]| compare(&sent(&a), &sent_by(250, b.to_vec())).first;
    assert_eq!(slower(&b), None);
    b[3].time_ns += NEAR_NS + 1;
    let found = slower(&b);
    assert_eq!(
        found.map(|d| (d.field, d.host, d.number)),
        Some(("time", 1, 1))
    );
}

#[test]
fn ticks_of_different_lengths_forgive_the_longer_one() {
    let a = run();
    let mut b = run();
    // 43.6 ms after the start and 3,000.4 ms after boot is a tick of 250 Hz; 40.1 ms is no tick.
    b[2].time_ns = 43_600_000;
    let at = |hz| compare(&sent(&a), &sent_by(hz, b.clone())).first;
    assert_eq!(at(250), None);
    assert_eq!(at(1_000).map(|d| d.class()), Some("time of data".into()));
}

#[test]
fn values_are_words_not_code() {
    let mut b = run();
    b[1].ack = None;
    b[1].seq = 1;
    let found = first(&run(), &b).unwrap();
    assert_eq!(found.values, ("1".to_owned(), "none".to_owned()));
    b[1].ack = Some(1);
    b[1].sack = vec![(5, 9), (1, 3)];
    let found = first(&run(), &b).unwrap();
    assert_eq!(found.values, ("none".to_owned(), "5:9 1:3".to_owned()));
}

#[test]
fn both_ends_on_one_host_are_compared_separately() {
    let mut a = vec![packet(0, 0), packet(0, 0), packet(0, 500)];
    a[1].is_answer = true;
    a[1].seq = 7;
    let mut b = a.clone();
    b.swap(0, 1);
    assert_eq!(first(&a, &b), None);
}

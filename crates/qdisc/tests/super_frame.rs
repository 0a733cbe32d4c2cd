//! Super-segments in front of disciplines that cut them, and of others.

use tcplab_base::Instant;
use tcplab_qdisc::{Dequeued, Device, Packet, Qdisc, Settings};
use tcplab_wire::{Sum, SuperFrame, VnetHeader};

/// Ethernet, IPv4 and TCP with a payload; ECT(0), and ACK set.
fn segment(payload: usize) -> Vec<u8> {
    let mut frame = vec![0; 54 + payload];
    frame[12] = 8;
    frame[14..16].copy_from_slice(&[0x45, 2]);
    let total = (40 + payload) as u16;
    frame[16..18].copy_from_slice(&total.to_be_bytes());
    frame[22..24].copy_from_slice(&[64, 6]);
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    frame[46..48].copy_from_slice(&[0x50, 0x10]);
    let ip = Sum::default().add(&frame[14..34]).finish();
    frame[24..26].copy_from_slice(&ip.to_be_bytes());
    let pseudo = Sum::default()
        .add(&frame[26..34])
        .add_number(6 + 20 + payload as u32);
    frame[50..52].copy_from_slice(&pseudo.folded().to_be_bytes());
    frame
}

fn super_segment(payload: usize, size: u16) -> SuperFrame {
    let header = VnetHeader {
        flags: VnetHeader::NEEDS_CSUM,
        gso_type: VnetHeader::TCPV4,
        gso_size: size,
        csum_start: 34,
        csum_offset: 16,
        ..VnetHeader::default()
    };
    SuperFrame::new(segment(payload), &header).expect("a super-segment")
}

fn is_right(frame: &[u8]) -> bool {
    let pseudo = Sum::default().add(&frame[26..34]);
    let tcp = pseudo.add_number(6 + frame.len() as u32 - 34);
    let ip = Sum::default().add(&frame[14..34]);
    tcp.add(&frame[34..]).finish() == 0 && ip.finish() == 0
}

/// The qdisc after the packet, and what leaves.
fn through(words: &str, frame: SuperFrame) -> (Qdisc<SuperFrame>, Vec<SuperFrame>) {
    let settings = Settings::parse(words).expect(words);
    let device = Device::new(1_500);
    let mut qdisc = Qdisc::new(&settings, device, 1, "test");
    let mut now = Instant::from_nanos(0);
    qdisc.enqueue(now, frame);
    let mut left = Vec::new();
    loop {
        match qdisc.dequeue(now) {
            Dequeued::Packet(frame) => left.push(frame),
            Dequeued::Wait(until) => now = until,
            Dequeued::Empty => return (qdisc, left),
        }
    }
}

#[test]
fn who_cuts_and_who_does_not() {
    // 3,000 bytes in segments of 1,000: frames of 1,054 bytes.
    for (words, frames) in [
        ("cake unlimited", 3),
        ("cake bandwidth 10mbit", 3),
        ("cake bandwidth 10mbit no-split-gso", 1),
        ("pfifo limit 10", 1),
        ("fq_codel", 1),
        ("tbf rate 10mbit burst 5000 latency 1s", 1),
        ("tbf rate 10mbit burst 2000 latency 1s", 3),
        ("netem delay 1ms", 1),
        ("netem corrupt 100%", 3),
        ("caqm", 3),
    ] {
        let (qdisc, left) = through(words, super_segment(3_000, 1_000));
        assert_eq!(left.len(), frames, "{words}");
        let stats = qdisc.stats();
        assert_eq!(stats.drops, 0, "{words}");
        assert_eq!(stats.bytes, 3 * 1_054, "{words}");
        let sizes: u32 = left.iter().map(Packet::size).sum();
        assert_eq!(sizes, 3 * 1_054, "{words}");
        if frames == 3 {
            let right = left.iter().filter(|frame| is_right(frame.bytes())).count();
            let damaged = if words.contains("corrupt") { 3 } else { 0 };
            assert_eq!(right, 3 - damaged, "{words}");
        }
    }
}

#[test]
fn a_whole_super_segment_takes_the_time_of_its_frames() {
    // Cells of the IP packets: 22, 22 and 12 of 53 bytes, 1 us for each byte.
    let settings = Settings::parse("cake bandwidth 8mbit overhead 0 atm no-split-gso");
    let mut qdisc = Qdisc::new(&settings.expect("words"), Device::new(1_500), 1, "test");
    let now = Instant::from_nanos(0);
    for _ in 0..2 {
        qdisc.enqueue(now, super_segment(2_500, 1_000));
    }
    assert!(matches!(qdisc.dequeue(now), Dequeued::Packet(_)));
    let Dequeued::Wait(until) = qdisc.dequeue(now) else {
        panic!("shaped");
    };
    let cells = 2 * 1_040_u32.div_ceil(48) + 540_u32.div_ceil(48);
    let us = until.as_nanos() / 1_000;
    assert!((i64::from(cells) * 53 - us).abs() <= 1, "{us}");
}

#[test]
fn marks_reach_every_segment_and_damage_shows() {
    let mut frame = super_segment(3_000, 1_000);
    assert!(frame.set_ce());
    assert_eq!(frame.flow_keys().protocol, 6);
    assert!(frame.ack_header().is_some_and(|header| !header.no_payload));
    let mut pieces = Vec::new();
    assert!(Packet::split(&frame, &mut |piece| pieces.push(piece)));
    for piece in &pieces {
        assert!(piece.bytes()[15] == 3 && is_right(piece.bytes()));
    }
    // One packet with a partial checksum.
    let mut one = super_segment(900, 1_000);
    assert!(one.segments().is_none() && !is_right(one.bytes()));
    one.corrupt(60, 0);
    assert!(!is_right(one.bytes()));
    one.corrupt(60, 0);
    assert!(is_right(one.bytes()));
}

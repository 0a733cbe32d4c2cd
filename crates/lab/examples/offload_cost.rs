//! What cutting a super-segment of 64 KiB costs, and joining it again: nanoseconds a frame, and Gbit/s of one core.
//!
//! `cargo run --release -p tcplab-lab --example offload_cost`

#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::time::Instant as Clock;

use tcplab_wire::{Joiner, Sum, SuperFrame, VnetHeader};

const SIZE: usize = 1_448;
const FRAMES: usize = 45;
const HEADERS: usize = 66;
const TIMES: usize = 20_000;

/// Ethernet, IPv4 and TCP with time stamps.
fn super_segment() -> SuperFrame {
    let mut frame = vec![0x5a; HEADERS + FRAMES * SIZE];
    frame[12..14].copy_from_slice(&[8, 0]);
    let total = ((frame.len() - 14) as u16).to_be_bytes();
    frame[14..18].copy_from_slice(&[0x45, 0, total[0], total[1]]);
    frame[20..26].copy_from_slice(&[0x40, 0, 64, 6, 0, 0]);
    frame[46..48].copy_from_slice(&[0x80, 0x10]);
    let pseudo = Sum::default().add(&frame[26..34]);
    let pseudo = pseudo.add_number(6 + frame.len() as u32 - 34).folded();
    frame[50..52].copy_from_slice(&pseudo.to_be_bytes());
    let header = VnetHeader {
        flags: VnetHeader::NEEDS_CSUM,
        gso_type: VnetHeader::TCPV4,
        gso_size: SIZE as u16,
        csum_start: 34,
        csum_offset: 16,
        ..VnetHeader::default()
    };
    match SuperFrame::new(frame, &header) {
        Ok(frame) => frame,
        Err(why) => panic!("{why}"),
    }
}

fn print(what: &str, begin: Clock) {
    let ns = begin.elapsed().as_nanos() as f64 / (TIMES * FRAMES) as f64;
    println!("{what:<28} {ns:>8.0} {:>10.1}", SIZE as f64 * 8.0 / ns);
}

fn main() {
    let frame = super_segment();
    println!("{:<28} {:>8} {:>10}", "", "ns/frame", "Gbit/s");
    let begin = Clock::now();
    for _ in 0..TIMES {
        frame.split(Vec::new, |piece| drop(std::hint::black_box(piece)));
    }
    print("split, new buffers", begin);
    let mut pool: Vec<Vec<u8>> = Vec::new();
    let mut used = Vec::new();
    let begin = Clock::now();
    for _ in 0..TIMES {
        frame.split(
            || pool.pop().unwrap_or_default(),
            |piece| used.push(std::hint::black_box(piece)),
        );
        pool.extend(used.drain(..).map(SuperFrame::into_bytes));
    }
    print("split, used buffers", begin);
    let begin = Clock::now();
    for _ in 0..TIMES {
        std::hint::black_box(std::hint::black_box(&frame).bytes().to_vec());
    }
    print("copy alone", begin);
    let begin = Clock::now();
    for _ in 0..TIMES {
        let bytes = std::hint::black_box(&frame).bytes();
        std::hint::black_box(Sum::default().add(bytes).folded());
    }
    print("checksum alone", begin);
    let mut pieces = Vec::new();
    frame.split(Vec::new, |piece| pieces.push(piece));
    let mut buffer = Vec::new();
    let begin = Clock::now();
    for _ in 0..TIMES {
        buffer.clear();
        buffer.extend_from_slice(pieces[0].bytes());
        let mut joiner = Joiner::new(SuperFrame::plain(std::mem::take(&mut buffer)));
        let joined = pieces[1..].iter().filter(|piece| joiner.push(piece));
        assert_eq!(joined.count(), FRAMES - 1, "all join");
        buffer = joiner.finish().into_bytes();
    }
    print("join", begin);
}

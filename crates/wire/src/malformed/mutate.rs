//! Mutations of right frames, drawn from the seed: bits, bytes, words, pieces taken out and put in.

use tcplab_base::Random;

use super::build::{
    Draft, ETHERNET_LEN, IPV4_LEN, ethertype, frame, ip, shape, stamps, sum_ipv4, sum_tcp,
};
use super::{Aim, Case, Digits, Fate, Flow, Group};
use crate::TcpFlags;

/// As many as anybody runs; the numbers beyond are as good.
const MANY: u64 = 1 << 18;

pub(super) const GROUPS: &[Group] = &[
    Group::v4(
        "mutated-frame",
        "one to eight random changes of a right frame, sums left as they were, in ten shapes",
        MANY,
        any_bytes,
    )
    .aimed(Aim::Victim),
    Group::v4(
        "mutated-segment",
        "random changes of a right segment, sums made right again",
        MANY,
        segment_v4,
    )
    .aimed(Aim::Victim),
    Group::v6("mutated-segment-v6", "the same in IPv6", MANY, segment_v6).aimed(Aim::Victim),
];

fn random(name: &str, number: u64, seed: u64) -> Random {
    Random::stream(Random::seed_of(seed, number), name)
}

/// A right segment: data, an ACK, the end, in the window and near it.
fn right<'a>(flow: &Flow, options: &'a [u8], random: &mut Random) -> Draft<'a> {
    let next = Draft::next(flow, options);
    let near = random.below(4_000) as u32;
    let flags = match random.below(8) {
        0 => TcpFlags::ACK | TcpFlags::FIN,
        1 => TcpFlags::RST,
        2 => TcpFlags::SYN,
        3 => TcpFlags::SYN | TcpFlags::ACK,
        _ => TcpFlags::ACK,
    };
    let seq = match random.below(4) {
        0 => next.seq,
        1 => next.seq + near,
        2 => next.seq - near,
        _ => next.seq + flow.rcv_wnd.wrapping_add(near).wrapping_sub(2_000),
    };
    let payload = match random.below(3) {
        0 => &[],
        _ => next.payload,
    };
    Draft {
        seq,
        flags,
        payload,
        ..next
    }
}

/// Changes between 1 and 8 places of `bytes`, from `from` on.
fn mutate(bytes: &mut Vec<u8>, from: usize, random: &mut Random) {
    for _ in 0..=random.below(8) {
        let room = bytes.len().saturating_sub(from) as u64;
        let at = from + random.below(room.max(1)) as usize;
        let value = random.below(256) as u8;
        match (random.below(8), bytes.get_mut(at)) {
            (0..=2, Some(byte)) => *byte ^= 1 << (value & 7),
            (3, Some(byte)) => *byte = value,
            (4, Some(byte)) => *byte = [0, 1, 0x7f, 0x80, 0xff][usize::from(value % 5)],
            (5, _) => {
                let end = (at + 2).min(bytes.len());
                bytes[at.min(end)..end].fill(value);
            }
            (6, _) => {
                let end = (at + usize::from(value % 8)).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
            _ => {
                let piece = vec![value; usize::from(value % 8)];
                let at = at.min(bytes.len());
                bytes.splice(at..at, piece);
            }
        }
    }
}

fn any_bytes(flow: &Flow, number: u64, seed: u64) -> Case {
    let mut random = random("mutated-frame", number, seed);
    let (_, tags) = shape(&mut Digits::of(random.below(10)), flow);
    let packet = right(flow, &stamps(flow), &mut random).ip(flow);
    let mut frame = frame(flow, &tags, ethertype(flow), &packet);
    mutate(&mut frame, 0, &mut random);
    Case::new(frame, Fate::Any)
}

/// The connection that it is aimed at stays the same, or it would meet no connection at all.
fn segment(flow: &Flow, name: &str, number: u64, seed: u64) -> Vec<u8> {
    let mut random = random(name, number, seed);
    let mut bytes = right(flow, &stamps(flow), &mut random).bytes(flow);
    mutate(&mut bytes, 4, &mut random);
    sum_tcp(flow, &mut bytes);
    bytes
}

fn segment_v4(flow: &Flow, number: u64, seed: u64) -> Case {
    let bytes = segment(flow, "mutated-segment", number, seed);
    let mut frame = frame(
        flow,
        &[],
        ethertype(flow),
        &ip(flow, super::build::TCP, &bytes),
    );
    // Every eighth has a changed IP header too, its sum right.
    if number.is_multiple_of(8) {
        let mut random = random("mutated-header", number, seed);
        let at = ETHERNET_LEN + random.below(IPV4_LEN as u64 - 8) as usize;
        frame[at] ^= 1 << random.below(8);
        sum_ipv4(&mut frame[ETHERNET_LEN..]);
    }
    Case::new(frame, Fate::Any)
}

fn segment_v6(flow: &Flow, number: u64, seed: u64) -> Case {
    let bytes = segment(flow, "mutated-segment-v6", number, seed);
    let packet = ip(flow, super::build::TCP, &bytes);
    Case::new(frame(flow, &[], ethertype(flow), &packet), Fate::Any)
}

//! TCP headers: data offsets, checksums, flags, numbers at the edges of the window (RFC 9293 3.1, 3.10.7).

use tcplab_base::Seq;

use super::build::{
    Draft, ETHERNET_LEN, IPV4_LEN, TCP, TCP_LEN, case, full_options, ip, shape, spoil, stamps,
    sum_tcp,
};
use super::{Aim, Case, Digits, Fate, Flow, Group};
use crate::TcpFlags;

/// Segment lengths of `tcp-offset`.
const SEGMENTS: u64 = 69;

pub(super) const GROUPS: &[Group] = &[
    Group::v4(
        "tcp-offset",
        "data offsets 0 to 15 in segments of 0 to 68 bytes, in ten shapes",
        10 * 16 * SEGMENTS,
        offset,
    ),
    Group::v4(
        "tcp-checksum",
        "every wrong checksum of the next data",
        1 << 16,
        checksum,
    ),
    Group::v6(
        "tcp-checksum-v6",
        "the same in IPv6",
        1 << 16,
        checksum,
    ),
    Group::v4(
        "tcp-flags",
        "every flag and reserved bit, far before and behind the window, with 0, 1 and 1000 bytes",
        4096 * 2 * 3,
        flags,
    ),
    Group::v4(
        "tcp-strangers",
        "every flag and reserved bit to a listener, from ports without a connection",
        4096 * 3,
        strangers,
    ).aimed(Aim::Listener),
    Group::v4(
        "tcp-window",
        "flags, sequence and ACK numbers at the edges of the window, to a connection that may be hurt",
        512 * 8 * 5 * 3,
        window,
    ).aimed(Aim::Victim),
    Group::v4(
        "tcp-urgent",
        "urgent pointers before, at and behind the data, to a connection that may be hurt",
        (1 << 16) * 3,
        urgent,
    ).aimed(Aim::Victim),
];

fn offset(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let (shape, tags) = shape(&mut digits, flow);
    let offset = digits.next(16) as u8;
    let len = digits.next(SEGMENTS) as usize;
    let mut draft = Draft::old(flow, &[]);
    let options = full_options(flow);
    (draft.options, draft.offset) = (&options, Some(offset));
    let mut segment = draft.bytes(flow);
    segment.truncate(len);
    sum_tcp(flow, &mut segment);
    let packet = ip(flow, TCP, &segment);
    let fits = len >= TCP_LEN && offset >= 5 && usize::from(offset) * 4 <= len;
    case(fits && shape.is_taken, flow, &tags, &packet)
}

fn checksum(flow: &Flow, number: u64, _: u64) -> Case {
    let mut frame = Draft::next(flow, &stamps(flow)).frame(flow);
    let header = match flow.src.ip.is_ipv4() {
        true => IPV4_LEN,
        false => super::build::IPV6_LEN,
    };
    let field = &mut frame[ETHERNET_LEN + header + 16..][..2];
    spoil(field, number);
    Case::new(frame, Fate::Refused)
}

fn flags(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let flags = digits.next(4096) as u16;
    let stamps = stamps(flow);
    let payload = payload(digits.next(3));
    let draft = match digits.next(2) {
        0 => Draft::old(flow, &stamps),
        _ => Draft::beyond(flow, &stamps),
    };
    let draft = Draft {
        flags,
        payload: &payload,
        ..draft
    };
    Case::new(draft.frame(flow), Fate::Harmless)
}

/// 0, 1 or 1000 bytes.
fn payload(which: u64) -> Vec<u8> {
    vec![0x55; [0, 1, 1000][(which % 3) as usize]]
}

/// The peer with another port, by the frame's number.
pub(super) fn stranger(flow: &Flow, number: u64) -> Flow {
    let mut other = *flow;
    // Far from the ports that connections get by themselves.
    other.src.port = 2_000 + (number % 20_000) as u16;
    other.seq = Seq((number as u32).wrapping_mul(0x9e37_79b9));
    other
}

fn strangers(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let flags = digits.next(4096) as u16;
    let payload = payload(digits.next(3));
    let draft = Draft {
        flags,
        payload: &payload,
        ..Draft::next(flow, &[])
    };
    Case::new(draft.frame(&stranger(flow, number)), Fate::Harmless)
}

fn window(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let flags = digits.next(512) as u16;
    let wnd = flow.rcv_wnd;
    let seqs = [
        0_u32.wrapping_sub(1_000),
        0_u32.wrapping_sub(1),
        0,
        1,
        wnd / 2,
        wnd.wrapping_sub(1),
        wnd,
        wnd.wrapping_add(1),
    ];
    let acks = [
        0,
        0_u32.wrapping_sub(1),
        1,
        0_u32.wrapping_sub(1 << 20),
        1 << 30,
    ];
    let stamps = stamps(flow);
    let payload = payload(digits.next(3));
    let draft = Draft {
        flags,
        payload: &payload,
        seq: flow.seq + digits.one_of(&seqs).unwrap_or(0),
        ack: flow.ack + digits.one_of(&acks).unwrap_or(0),
        ..Draft::next(flow, &stamps)
    };
    Case::new(draft.frame(flow), Fate::Any)
}

fn urgent(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let urgent = digits.next(1 << 16) as u16;
    let payload = payload(digits.next(3));
    let stamps = stamps(flow);
    let draft = Draft {
        flags: TcpFlags::ACK | TcpFlags::URG,
        urgent,
        payload: &payload,
        ..Draft::next(flow, &stamps)
    };
    Case::new(draft.frame(flow), Fate::Any)
}

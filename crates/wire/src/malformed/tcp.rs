//! TCP headers: data offsets, checksums, flags, numbers at the edges of the window (RFC 9293 3.1, 3.10.7).

use tcplab_base::Seq;

use super::build::{
    Draft, ETHERNET_LEN, IPV4_LEN, TCP, TCP_LEN, ethertype, frame, full_options, ip, shape, stamps,
    sum_tcp,
};
use super::{Aim, Case, Digits, Family, Fate, Flow, Group};
use crate::TcpFlags;

/// Segment lengths of `tcp-offset`.
const SEGMENTS: u64 = 69;

pub(super) const GROUPS: &[Group] = &[
    Group {
        name: "tcp-offset",
        about: "data offsets 0 to 15 in segments of 0 to 68 bytes, in ten shapes",
        count: 10 * 16 * SEGMENTS,
        aim: Aim::Live,
        family: Family::V4,
        make: offset,
    },
    Group {
        name: "tcp-checksum",
        about: "every wrong checksum of the next data",
        count: 1 << 16,
        aim: Aim::Live,
        family: Family::V4,
        make: checksum,
    },
    Group {
        name: "tcp-checksum-v6",
        about: "the same in IPv6",
        count: 1 << 16,
        aim: Aim::Live,
        family: Family::V6,
        make: checksum,
    },
    Group {
        name: "tcp-flags",
        about: "every flag and reserved bit, far before and behind the window, with 0, 1 and 1000 bytes",
        count: 4096 * 2 * 3,
        aim: Aim::Live,
        family: Family::V4,
        make: flags,
    },
    Group {
        name: "tcp-strangers",
        about: "every flag and reserved bit to a listener, from ports without a connection",
        count: 4096 * 3,
        aim: Aim::Listener,
        family: Family::V4,
        make: strangers,
    },
    Group {
        name: "tcp-window",
        about: "flags, sequence and ACK numbers at the edges of the window, to a connection that may be hurt",
        count: 512 * 8 * 5 * 3,
        aim: Aim::Victim,
        family: Family::V4,
        make: window,
    },
    Group {
        name: "tcp-urgent",
        about: "urgent pointers before, at and behind the data, to a connection that may be hurt",
        count: (1 << 16) * 3,
        aim: Aim::Victim,
        family: Family::V4,
        make: urgent,
    },
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
    let fate = if fits && shape.is_taken {
        Fate::Harmless
    } else {
        Fate::Refused
    };
    let frame = frame(flow, &tags, ethertype(flow), &packet);
    Case {
        frame,
        fate,
        rest: Vec::new(),
    }
}

fn checksum(flow: &Flow, number: u64, _: u64) -> Case {
    let mut frame = Draft::next(flow, &stamps(flow)).frame(flow);
    let header = match flow.src.ip.is_ipv4() {
        true => IPV4_LEN,
        false => super::build::IPV6_LEN,
    };
    let field = &mut frame[ETHERNET_LEN + header + 16..][..2];
    let right = u16::from_be_bytes([field[0], field[1]]);
    let mut wrong = number as u16;
    // 0 and 0xffff are one number (RFC 1071).
    if wrong == right || (wrong ^ right == u16::MAX && matches!(right, 0 | u16::MAX)) {
        wrong ^= 0x0100;
    }
    field.copy_from_slice(&wrong.to_be_bytes());
    Case {
        frame,
        fate: Fate::Refused,
        rest: Vec::new(),
    }
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
    Case {
        frame: draft.frame(flow),
        fate: Fate::Harmless,
        rest: Vec::new(),
    }
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
    Case {
        frame: draft.frame(&stranger(flow, number)),
        fate: Fate::Harmless,
        rest: Vec::new(),
    }
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
    Case {
        frame: draft.frame(flow),
        fate: Fate::Any,
        rest: Vec::new(),
    }
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
    Case {
        frame: draft.frame(flow),
        fate: Fate::Any,
        rest: Vec::new(),
    }
}

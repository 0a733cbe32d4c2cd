//! TCP options: every kind and length, and every value of those that a host reads (RFC 9293 3.2, RFC 7323, RFC 2018).

use super::build::{Draft, OPTIONS, ethertype, frame, shape, stamps};
use super::tcp::stranger;
use super::{Aim, Case, Digits, Family, Fate, Flow, Group};
use crate::TcpFlags;

/// Option kinds, lengths, data offsets of 5 to 15.
const HEADERS: u64 = 256 * 41 * 11;

/// Edges of SACK blocks, from SND.NXT.
const EDGES: [u32; 8] = [
    0,
    1,
    0_u32.wrapping_sub(1),
    0_u32.wrapping_sub(1_448),
    0_u32.wrapping_sub(100_000),
    100_000,
    1 << 31,
    u32::MAX - (1 << 31),
];

pub(super) const GROUPS: &[Group] = &[
    Group {
        name: "option-lengths",
        about: "every option kind with lengths 0 to 40 at every data offset, in ten shapes",
        count: HEADERS * 10,
        aim: Aim::Live,
        family: Family::V4,
        make: lengths,
    },
    Group {
        name: "option-lengths-v6",
        about: "the same in plain IPv6",
        count: HEADERS,
        aim: Aim::Live,
        family: Family::V6,
        make: lengths_plain,
    },
    Group {
        name: "syn-options",
        about: "every option kind with lengths 0 to 40 in a SYN to a listener",
        count: 256 * 41,
        aim: Aim::Listener,
        family: Family::V4,
        make: syn_options,
    },
    Group {
        name: "syn-values",
        about: "every MSS, every window scale, Fast Open cookies of 0 to 18 bytes, in a SYN to a listener",
        count: (1 << 16) + 256 + 19 * 2,
        aim: Aim::Listener,
        family: Family::V4,
        make: syn_values,
    },
    Group {
        name: "sack-blocks",
        about: "two SACK blocks: inverted, overlapping, outside everything, to a connection that may be hurt",
        count: 8 * 8 * 8 * 8,
        aim: Aim::Victim,
        family: Family::V4,
        make: sack_blocks,
    },
];

/// A kind and a length, the rest NOPs.
fn one_option(digits: &mut Digits) -> [u8; OPTIONS] {
    let mut options = [1; OPTIONS];
    options[0] = digits.next(256) as u8;
    options[1] = digits.next(41) as u8;
    options
}

fn headers(flow: &Flow, digits: &mut Digits) -> Vec<u8> {
    let options = one_option(digits);
    let room = digits.next(11) as usize * 4;
    Draft::old(flow, options.get(..room).unwrap_or_default()).ip(flow)
}

fn lengths(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let packet = headers(flow, &mut digits);
    let (shape, tags) = shape(&mut digits, flow);
    Case {
        frame: frame(flow, &tags, ethertype(flow), &packet),
        fate: match shape.is_taken {
            true => Fate::Harmless,
            false => Fate::Refused,
        },
        rest: Vec::new(),
    }
}

fn lengths_plain(flow: &Flow, number: u64, _: u64) -> Case {
    let packet = headers(flow, &mut Digits::of(number));
    Case {
        frame: frame(flow, &[], ethertype(flow), &packet),
        fate: Fate::Harmless,
        rest: Vec::new(),
    }
}

fn syn(flow: &Flow, number: u64, options: &[u8]) -> Case {
    let draft = Draft {
        flags: TcpFlags::SYN,
        payload: &[],
        ..Draft::next(flow, options)
    };
    Case {
        frame: draft.frame(&stranger(flow, number)),
        fate: Fate::Harmless,
        rest: Vec::new(),
    }
}

fn syn_options(flow: &Flow, number: u64, _: u64) -> Case {
    let options = one_option(&mut Digits::of(number));
    syn(flow, number, &options)
}

fn syn_values(flow: &Flow, number: u64, _: u64) -> Case {
    let options = match number {
        mss @ 0..0x1_0000 => {
            let [a, b] = (mss as u16).to_be_bytes();
            vec![2, 4, a, b]
        }
        scale @ 0x1_0000..0x1_0100 => vec![2, 4, 5, 0xb4, 3, 3, scale as u8],
        rest => {
            let rest = rest - 0x1_0100;
            let cookie = vec![0x5a; (rest % 19) as usize];
            let head: &[u8] = match rest / 19 {
                0 => &[34, 2],
                _ => &[254, 4, 0xf9, 0x89],
            };
            let mut option = [head, &cookie].concat();
            option[1] += cookie.len() as u8;
            option
        }
    };
    syn(flow, number, &options)
}

fn sack_blocks(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let mut options = stamps(flow);
    options.extend([1, 1, 5, 18]);
    for _ in 0..4 {
        let edge = flow.ack + digits.one_of(&EDGES).unwrap_or(0);
        options.extend(edge.0.to_be_bytes());
    }
    let draft = Draft {
        payload: &[],
        flags: TcpFlags::ACK,
        ..Draft::next(flow, &options)
    };
    Case {
        frame: draft.frame(flow),
        fate: Fate::Any,
        rest: Vec::new(),
    }
}

//! TCP options: every kind and length, and every value of those that a host reads (RFC 9293 3.2, RFC 7323, RFC 2018).

use super::build::{Draft, OPTIONS, case, shape, stamps};
use super::tcp::stranger;
use super::{Aim, Case, Digits, Fate, Flow, Group};
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
    Group::v4(
        "option-lengths",
        "every option kind with lengths 0 to 40 at every data offset, in ten shapes",
        HEADERS * 10,
        lengths,
    ),
    Group::v6(
        "option-lengths-v6",
        "the same in plain IPv6",
        HEADERS,
        lengths_plain,
    ),
    Group::v4(
        "syn-options",
        "every option kind with lengths 0 to 40 in a SYN to a listener",
        256 * 41,
        syn_options,
    ).aimed(Aim::Listener),
    Group::v4(
        "syn-values",
        "every MSS, every window scale, Fast Open cookies of 0 to 18 bytes, in a SYN to a listener",
        (1 << 16) + 256 + 19 * 2,
        syn_values,
    ).aimed(Aim::Listener),
    Group::v4(
        "sack-blocks",
        "two SACK blocks: inverted, overlapping, outside everything, to a connection that may be hurt",
        8 * 8 * 8 * 8,
        sack_blocks,
    ).aimed(Aim::Victim),
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
    case(shape.is_taken, flow, &tags, &packet)
}

fn lengths_plain(flow: &Flow, number: u64, _: u64) -> Case {
    let packet = headers(flow, &mut Digits::of(number));
    case(true, flow, &[], &packet)
}

fn syn(flow: &Flow, number: u64, options: &[u8]) -> Case {
    let draft = Draft {
        flags: TcpFlags::SYN,
        payload: &[],
        ..Draft::next(flow, options)
    };
    Case::new(draft.frame(&stranger(flow, number)), Fate::Harmless)
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
    Case::new(draft.frame(flow), Fate::Any)
}

//! Ethernet types, VLAN tags and CAQM's: alone, cut, nested, with every value.

use super::build::{
    Draft, ETHERNET_LEN, IPV4_LEN, OPTIONS, TCP_LEN, ethertype, frame, full_options, if_taken, ip,
    shape, stamps, sum_tcp, tag,
};
use super::{Case, Digits, Flow, Group};
use crate::ethernet::{IPV4, IPV6};

const VLAN: u16 = 0x8100;
const PROVIDER_VLAN: u16 = 0x88a8;
const OLD_QINQ: u16 = 0x9100;

/// Bytes of the longest frame of `cut` and its relatives: tags, IP, 60 bytes of TCP, payload.
const CUTS_V4: u64 = 160;
const CUTS_V6: u64 = 180;

const EACH_TYPE: u64 = 1 << 16;

pub(super) const GROUPS: &[Group] = &[
    Group::v4(
        "tag-alone",
        "only the EtherType (CAQM's, a VLAN's, IP's) and nothing behind it, or zeros; cut after each byte",
        10 * 6 * 61,
        tag_alone,
    ),
    Group::v4(
        "cut",
        "the next data of a connection in ten shapes, cut after each byte; longer: padding",
        10 * CUTS_V4,
        cut,
    ),
    Group::v6("cut-v6", "the same in IPv6", 10 * CUTS_V6, cut),
    Group::v4(
        "short",
        "the same with an IP length that says so, with the sum of the rest and without",
        10 * 2 * CUTS_V4,
        short,
    ),
    Group::v4(
        "vlan",
        "VLAN tags: three types, all priorities, extreme numbers, eight types behind them",
        3 * 16 * 6 * 8,
        vlan,
    ),
    Group::v4(
        "vlan-nested",
        "up to 40 tags in each other",
        41 * 4 * 2 * 2,
        vlan_nested,
    ),
    Group::v4(
        "caqm-info",
        "every INFO: in one tag, in two, and inside a VLAN",
        3 * EACH_TYPE,
        caqm_info,
    ),
    Group::v4(
        "caqm-inner",
        "every EtherType behind a CAQM tag",
        EACH_TYPE,
        caqm_inner,
    ),
    Group::v4(
        "ethertype",
        "every EtherType before an IPv4 packet",
        EACH_TYPE,
        any_type,
    ),
    Group::v4(
        "address",
        "frames for other stations: each bit of the Ethernet address, broadcast, multicast",
        48 + 3,
        address,
    ),
];

/// An old segment as an IP packet.
fn old(flow: &Flow) -> Vec<u8> {
    Draft::old(flow, &stamps(flow)).ip(flow)
}

fn tag_alone(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let (_, tags) = shape(&mut digits, flow);
    let ends = [
        flow.caqm_ethertype,
        VLAN,
        PROVIDER_VLAN,
        OLD_QINQ,
        IPV4,
        IPV6,
    ];
    let end = digits.one_of(&ends).unwrap_or(VLAN);
    let mut bytes = frame(flow, &tags, end, &[]);
    bytes.resize(digits.next(61) as usize, 0);
    if_taken(false, bytes)
}

fn cut(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let (shape, tags) = shape(&mut digits, flow);
    let at = digits.next(CUTS_V4.max(CUTS_V6)) as usize;
    let options = full_options(flow);
    let whole = |draft: Draft<'_>| frame(flow, &tags, ethertype(flow), &draft.ip(flow));
    let mut bytes = whole(Draft::next(flow, &options));
    if at >= bytes.len() {
        bytes = whole(Draft::old(flow, &options));
    }
    let is_whole = at >= bytes.len();
    bytes.resize(at, 0);
    if_taken(is_whole && shape.is_taken, bytes)
}

fn short(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let (shape, tags) = shape(&mut digits, flow);
    let is_summed = digits.next(2) == 1;
    let link = ETHERNET_LEN + tags.len();
    // No less than the link header: that is `cut`.
    let left = (digits.next(CUTS_V4) as usize).saturating_sub(link);
    let options = full_options(flow);
    let mut segment = Draft::old(flow, &options).bytes(flow);
    let whole = segment.len();
    segment.truncate(left.saturating_sub(IPV4_LEN));
    let header = TCP_LEN + OPTIONS;
    let is_right = segment.len() >= header && (is_summed || segment.len() == whole);
    if is_summed {
        sum_tcp(flow, &mut segment);
    }
    let mut packet = ip(flow, super::build::TCP, &segment);
    packet.truncate(left);
    let bytes = frame(flow, &tags, IPV4, &packet);
    if_taken(is_right && shape.is_taken, bytes)
}

fn vlan(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let kind = digits.one_of(&[VLAN, PROVIDER_VLAN, OLD_QINQ]);
    let kind = kind.unwrap_or(VLAN);
    let priority = digits.next(16) as u16;
    let vid = digits.one_of(&[0, 1, 2, 0x7ff, 4094, 4095]).unwrap_or(0);
    let inners = [
        IPV4,
        IPV6,
        flow.caqm_ethertype,
        0,
        1500,
        1501,
        0x0600,
        0xffff,
    ];
    let inner = digits.one_of(&inners).unwrap_or(IPV4);
    let tags = tag(kind, priority << 12 | vid);
    let bytes = frame(flow, &tags, inner, &old(flow));
    if_taken(kind != OLD_QINQ && vid == 0 && inner == IPV4, bytes)
}

fn vlan_nested(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let depth = digits.next(41) as usize;
    let pattern = digits.next(4);
    let vid = digits.next(2) as u16;
    let is_caqm_inside = digits.next(2) == 1;
    let kind = |at: usize| match (pattern, at % 2) {
        (0, _) | (3, 1) => VLAN,
        (1, _) | (3, _) => PROVIDER_VLAN,
        _ => OLD_QINQ,
    };
    let mut tags: Vec<u8> = (0..depth).flat_map(|at| tag(kind(at), vid)).collect();
    if is_caqm_inside {
        tags.extend(tag(flow.caqm_ethertype, 0x0580));
    }
    let bytes = frame(flow, &tags, IPV4, &old(flow));
    // Priority tags only; Linux takes off two (__netif_receive_skb_core()).
    let taken = depth == 0 || vid == 0 && pattern != 2;
    if_taken(taken, bytes)
}

fn caqm_info(flow: &Flow, number: u64, _: u64) -> Case {
    let mut digits = Digits::of(number);
    let info = digits.next(EACH_TYPE) as u16;
    let place = digits.next(3);
    let own = tag(flow.caqm_ethertype, info);
    let tags = match place {
        0 => own.to_vec(),
        1 => [tag(flow.caqm_ethertype, 0x0580), own].concat(),
        _ => [tag(VLAN, 7), own].concat(),
    };
    let bytes = frame(flow, &tags, IPV4, &old(flow));
    if_taken(place == 0, bytes)
}

fn caqm_inner(flow: &Flow, number: u64, _: u64) -> Case {
    let inner = number as u16;
    let tags = tag(flow.caqm_ethertype, 0x0580);
    if_taken(inner == IPV4, frame(flow, &tags, inner, &old(flow)))
}

fn any_type(flow: &Flow, number: u64, _: u64) -> Case {
    let kind = number as u16;
    if_taken(kind == IPV4, frame(flow, &[], kind, &old(flow)))
}

fn address(flow: &Flow, number: u64, _: u64) -> Case {
    let mut bytes = frame(flow, &[], IPV4, &Draft::next(flow, &stamps(flow)).ip(flow));
    let at = number as usize;
    match (bytes.get_mut(at / 8), at) {
        (Some(byte), 0..48) => *byte ^= 1 << (at % 8),
        (_, 48) => bytes[..6].fill(0xff),
        (_, 49) => bytes[..6].copy_from_slice(&[0x01, 0, 0x5e, 0, 0, 1]),
        // A loopback interface has zeros.
        _ if flow.dst_mac == [0; 6] => bytes[..6].fill(2),
        _ => bytes[..6].fill(0),
    }
    if_taken(false, bytes)
}

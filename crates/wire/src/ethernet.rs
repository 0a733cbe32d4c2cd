//! Ethernet II and IEEE 802.3 with LLC and SNAP; 802.1Q, 802.1ad and older QinQ tags; a few switch vendors' tags.
//!
//! Linux: `eth_type_trans()`, `skb_vlan_untag()`. Left out: ISL, TRILL, MACsec.

use crate::NotTcp;
use crate::frame::{Layer, Step, Walk};
use crate::rest::Rest;

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;
const ARP: u16 = 0x0806;
const VLAN: u16 = 0x8100;
const PROVIDER_VLAN: u16 = 0x88a8;
const OLD_QINQ: u16 = 0x9100;
const MPLS: u16 = 0x8847;
const MPLS_MULTICAST: u16 = 0x8848;
const PPPOE_SESSION: u16 = 0x8864;
const PPP: u16 = 0x880b;
const BACKBONE_BRIDGE: u16 = 0x88e7;
pub(crate) const TRANSPARENT_BRIDGING: u16 = 0x6558;
const CISCO_META: u16 = 0x8909;
const VN_TAG: u16 = 0x8926;
const E_TAG: u16 = 0x893f;
const REDUNDANCY_TAG: u16 = 0xf1c1;
const FABRIC_PATH: u16 = 0x8903;

/// Values up to here are 802.3 lengths, from 0x600 on types; between them nothing is valid.
const MAX_LENGTH: u16 = 1500;
pub(crate) const MIN_TYPE: u16 = 0x600;

/// As many VLAN tags as Wireshark reads.
const MAX_TAGS: u8 = 20;

#[inline]
pub(crate) fn step(rest: Rest<'_>) -> Step<'_> {
    let kind = rest.u16(12)?;
    if kind == IPV4 || kind >= MIN_TYPE {
        return Ok((Layer::EtherType(kind), rest.skip(14)?));
    }
    // The type is asked for before the length: ISL uses the field in another way, and 0 is no length.
    if kind == 0 || kind > MAX_LENGTH || is_isl(rest) {
        return Err(NotTcp::NotIp);
    }
    ieee8023(kind, rest.skip(14)?)
}

/// Cisco ISL frames begin with a multicast address of their own.
fn is_isl(rest: Rest<'_>) -> bool {
    matches!(rest.data(), [0x01 | 0x0c, 0x00, 0x0c, 0x00, 0x00, ..])
}

/// After an 802.3 length field.
fn ieee8023(length: u16, rest: Rest<'_>) -> Step<'_> {
    let rest = rest.limit(u32::from(length));
    // Novell's raw 802.3: IPX without LLC.
    if rest.data().starts_with(&[0xff, 0xff]) {
        return Err(NotTcp::NotIp);
    }
    Ok((Layer::Llc, rest))
}

/// IEEE 802.2 LLC; SNAP (RFC 1042) leads back to EtherTypes.
pub(crate) fn llc(rest: Rest<'_>) -> Step<'_> {
    let [dsap, ssap, control] = *rest.head()?;
    // Information and UI frames only; I and S frames have two control bytes.
    let skip = match control & 0x03 {
        0x03 if control & 0xef == 0x03 => 3,
        0x00 | 0x02 => 4,
        _ => return Err(NotTcp::NotIp),
    };
    match (dsap, ssap) {
        (0xaa, 0xaa) => {
            let oui: [u8; 3] = *rest.array(skip)?;
            let kind = rest.u16(skip + 3)?;
            let rest = rest.skip(skip + 5)?;
            match (oui, kind) {
                ([0, 0, 0] | [0, 0, 0xf8], t) => Ok((Layer::EtherType(t), rest)),
                // Bridged Ethernet (RFC 2684) behind two bytes of padding.
                ([0, 0x80, 0xc2], 1 | 7) => Ok((Layer::Ethernet, rest.skip(2)?)),
                _ => Err(NotTcp::NotIp),
            }
        }
        // IP has a service access point of its own.
        (0x06, _) => Ok((Layer::Ip, rest.skip(skip)?)),
        _ => Err(NotTcp::NotIp),
    }
}

/// What an EtherType leads to. CAQM's is configurable and asked for before.
pub(crate) fn ethertype<'a>(walk: &mut Walk, kind: u16, rest: Rest<'a>) -> Step<'a> {
    match kind {
        IPV4 => Ok((Layer::Ipv4, rest)),
        IPV6 => Ok((Layer::Ipv6, rest)),
        VLAN | PROVIDER_VLAN | OLD_QINQ => vlan(walk, rest),
        MPLS | MPLS_MULTICAST => Ok((Layer::Mpls, rest)),
        PPPOE_SESSION => Ok((Layer::PppoeSession, rest)),
        PPP => Ok((Layer::PppHdlc, rest)),
        TRANSPARENT_BRIDGING => Ok((Layer::Ethernet, rest)),
        // 802.1ah: four bytes of service tag, then a whole frame of the customer.
        BACKBONE_BRIDGE => Ok((Layer::Ethernet, rest.skip(4)?)),
        // Two bytes of tree and TTL, then a whole frame, then the outer frame's check sum.
        FABRIC_PATH => {
            let len = rest.len().saturating_sub(4);
            Ok((Layer::Ethernet, rest.limit(len).skip(2)?))
        }
        CISCO_META | E_TAG => inner_type(rest, 6),
        VN_TAG | REDUNDANCY_TAG => inner_type(rest, 4),
        _ => Err(NotTcp::NotIp),
    }
}

/// Whether an EtherType stands for something that is not CAQM's tag.
pub(crate) const fn is_taken(kind: u16) -> bool {
    matches!(
        kind,
        IPV4 | IPV6
            | ARP
            | VLAN
            | PROVIDER_VLAN
            | OLD_QINQ
            | MPLS
            | MPLS_MULTICAST
            | PPPOE_SESSION
            | PPP
            | BACKBONE_BRIDGE
            | TRANSPARENT_BRIDGING
            | CISCO_META
            | VN_TAG
            | E_TAG
            | REDUNDANCY_TAG
            | FABRIC_PATH
    )
}

/// Whether an Ethernet header stands here whose type is IP's or a VLAN's.
pub(crate) fn is_known_type(rest: Rest<'_>) -> bool {
    matches!(rest.u16(12), Ok(IPV4 | IPV6 | VLAN | PROVIDER_VLAN))
}

/// A tag of `at` bytes, then another EtherType.
fn inner_type(rest: Rest<'_>, at: usize) -> Step<'_> {
    Ok((Layer::EtherType(rest.u16(at)?), rest.skip(at + 2)?))
}

/// IEEE 802.1Q tag: 2 bytes of PCP, DEI and VID (any value), 2 bytes of type or length.
fn vlan<'a>(walk: &mut Walk, rest: Rest<'a>) -> Step<'a> {
    if walk.context.encap.vlan_tags >= MAX_TAGS {
        return Err(NotTcp::Malformed);
    }
    let kind = rest.u16(2)?;
    walk.context.encap.vlan_tags += 1;
    let rest = rest.skip(4)?;
    if kind <= MAX_LENGTH {
        ieee8023(kind, rest)
    } else {
        Ok((Layer::EtherType(kind), rest))
    }
}

/// The type to write before a VLAN tag: 802.1ad for all but the innermost one.
pub(crate) const fn vlan_type(outer: bool) -> u16 {
    if outer { PROVIDER_VLAN } else { VLAN }
}

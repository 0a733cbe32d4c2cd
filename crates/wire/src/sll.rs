//! Linux cooked captures (`tcpdump -i any`): LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2.

use crate::NotTcp;
use crate::frame::{Layer, Step};
use crate::rest::Rest;

/// Version 1: packet type 2, ARPHRD type 2, address length 2, address 8, protocol 2.
pub(crate) const LEN: usize = 16;
/// Version 2: protocol 2, reserved 2, interface 4, ARPHRD type 2, packet type 1, address length 1, address 8.
pub(crate) const LEN2: usize = 20;

const ARPHRD_IPGRE: u16 = 778;
const ARPHRD_NETLINK: u16 = 824;
const ARPHRD_RADIOTAP: u16 = 803;

pub(crate) fn step(rest: Rest<'_>) -> Step<'_> {
    let (hardware, protocol) = (rest.u16(2)?, rest.u16(14)?);
    inner(hardware, protocol, rest.skip(LEN)?)
}

pub(crate) fn step2(rest: Rest<'_>) -> Step<'_> {
    let (hardware, protocol) = (rest.u16(8)?, rest.u16(0)?);
    inner(hardware, protocol, rest.skip(LEN2)?)
}

fn inner(hardware: u16, protocol: u16, rest: Rest<'_>) -> Step<'_> {
    match (hardware, protocol) {
        // Netlink messages and raw 802.11 frames keep other things where the protocol stands.
        (ARPHRD_NETLINK | ARPHRD_RADIOTAP, _) => Err(NotTcp::NotIp),
        // Linux ETH_P_802_2: an LLC frame.
        (_, 0x0004) => Ok((Layer::Llc, rest)),
        (_, 0x0009) => Ok((Layer::PppHdlc, rest)),
        // GRE interfaces give GRE's protocol number, which is an EtherType for what we read.
        (ARPHRD_IPGRE, p) | (_, p) if p >= 0x0600 => Ok((Layer::EtherType(p), rest)),
        _ => Err(NotTcp::NotIp),
    }
}

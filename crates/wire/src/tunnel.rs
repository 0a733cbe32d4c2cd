//! Tunnels inside IP:
//!
//! - 6in4 and 4in6 (RFC 4213, RFC 2473), IPIP (RFC 2003), MPLS in IP (RFC 4023)
//! - GRE (RFC 2784, RFC 2890) with IP, Ethernet (also ERSPAN), PPP (RFC 2637) or 802.11 (Aruba) inside
//! - EtherIP (RFC 3378)

use crate::NotTcp;
use crate::frame::{Config, Layer, Step};
use crate::ieee80211;
use crate::rest::Rest;

pub(crate) const IPIP: u8 = 4;
pub(crate) const IPV6: u8 = 41;
pub(crate) const GRE: u8 = 47;
const ETHERIP: u8 = 97;
const MPLS: u8 = 137;

const GRE_CHECKSUM: u16 = 0x8000;
const GRE_ROUTING: u16 = 0x4000;
const GRE_KEY: u16 = 0x2000;
const GRE_SEQUENCE: u16 = 0x1000;
const GRE_ACK: u16 = 0x0080;
const GRE_VERSION: u16 = 0x0007;

const PPP: u16 = 0x880b;
const ERSPAN: u16 = 0x88be;
const ERSPAN_III: u16 = 0x22eb;
const WCCP: u16 = 0x883e;
/// Aruba's access points, one type for each of their queues.
const ARUBA: std::ops::RangeInclusive<u16> = 0x8200..=0x8370;

pub(crate) fn step<'a>(config: &Config, protocol: u8, rest: Rest<'a>) -> Step<'a> {
    match protocol {
        IPIP => Ok((Layer::Ip, rest)),
        IPV6 => Ok((Layer::Ipv6, rest)),
        GRE if config.gre => gre(rest),
        ETHERIP => Ok((Layer::Ethernet, rest.skip(2)?)),
        MPLS => Ok((Layer::Mpls, rest)),
        p => Err(NotTcp::OtherProtocol(p)),
    }
}

fn gre(rest: Rest<'_>) -> Step<'_> {
    let (flags, kind) = (rest.u16(0)?, rest.u16(2)?);
    let version = flags & GRE_VERSION;
    // Routing (RFC 1701) was taken out of GRE in 2000.
    if version > 1 || flags & GRE_ROUTING != 0 {
        return Err(NotTcp::OtherProtocol(GRE));
    }
    let fields = [
        flags & GRE_CHECKSUM != 0,
        flags & GRE_KEY != 0,
        flags & GRE_SEQUENCE != 0,
        version == 1 && flags & GRE_ACK != 0,
    ];
    let len = 4 + 4 * fields.iter().filter(|f| **f).count();
    let body = rest.skip(len)?;
    match kind {
        PPP => Ok((Layer::PppHdlc, body)),
        // Type I has no sequence number and no header of its own; II has 8 bytes, III 12 and 8 more when told so.
        ERSPAN if flags & GRE_SEQUENCE == 0 => Ok((Layer::Ethernet, body)),
        ERSPAN => Ok((Layer::Ethernet, body.skip(8)?)),
        ERSPAN_III => {
            let more = if body.u8(11)? & 1 == 1 { 8 } else { 0 };
            Ok((Layer::Ethernet, body.skip(12 + more)?))
        }
        // WCCP version 2 puts 4 bytes of its own before the packet.
        WCCP if body.u8(0)? >> 4 != 4 => Ok((Layer::Ipv4, body.skip(4)?)),
        WCCP => Ok((Layer::Ipv4, body)),
        t if ARUBA.contains(&t) && t & 0x000f == 0 => ieee80211::frame(body, false),
        0 => Err(NotTcp::OtherProtocol(GRE)),
        t => Ok((Layer::EtherType(t), body)),
    }
}

//! BSD loopback (LINKTYPE_NULL and LINKTYPE_LOOP): four bytes of address family.
//!
//! LOOP is in network order, NULL in the order of the host that wrote the file, which the file does not always
//! tell; families are small, so one order makes sense. Old files hold an EtherType or PPP there instead.

use crate::NotTcp;
use crate::frame::{Layer, Step};
use crate::rest::Rest;

/// Bytes of the address family.
pub(crate) const LEN: usize = 4;
/// AF_INET everywhere.
pub(crate) const AF_INET: u32 = 2;
/// AF_INET6 on BSD, FreeBSD, Darwin, Linux, Solaris, Windows.
const AF_INET6: [u32; 6] = [24, 28, 30, 10, 26, 23];

pub(crate) fn step(rest: Rest<'_>) -> Step<'_> {
    let head: &[u8; LEN] = rest.head()?;
    let body = rest.skip(LEN)?;
    if head[..2] == [0xff, 0x03] {
        return Ok((Layer::PppHdlc, rest));
    }
    let family = match *head {
        // Old libpcap on Linux: an Ethernet header with its addresses cut off.
        [0, 0, a, b] if a >= 6 => {
            return Ok((Layer::EtherType(u16::from_be_bytes([a, b])), body));
        }
        // The second and third are IRIX's: two bytes of family, two of zero.
        [0, 0, 0, f] | [0, f, 0, 0] | [0, 0, f, 0] | [f, 0, 0, 0] => u32::from(f),
        _ => return Err(NotTcp::NotIp),
    };
    match family {
        AF_INET => Ok((Layer::Ip, body)),
        f if AF_INET6.contains(&f) => Ok((Layer::Ipv6, body)),
        _ => Err(NotTcp::NotIp),
    }
}

//! The tag of CAQM (Confined Active Queue Management), as openEuler's kernel writes it.
//!
//! Two bytes INFO, two bytes inner EtherType, behind an EtherType that is not registered (0x8200 by default). It stands
//! inside all VLAN tags; a tag outside them (VLAN devices without header reordering) is read too, never written.

mod ethertype;
mod info;

pub use ethertype::{CAQM_ETHERTYPE, CaqmEtherTypeError, caqm_ethertype};
pub use info::{CaqmInfo, CaqmUnits};

use crate::NotTcp;
use crate::frame::{Layer, Step, Walk};
use crate::rest::Rest;

/// Bytes of INFO.
pub(crate) const INFO_LEN: usize = 2;
/// Bytes of INFO and inner EtherType.
const LEN: usize = INFO_LEN + 2;

pub(crate) fn step<'a>(walk: &mut Walk, rest: Rest<'a>) -> Step<'a> {
    // At most one tag means something; the kernel gives a packet with two up.
    if walk.context.encap.caqm.is_some() {
        return Err(NotTcp::Malformed);
    }
    let [a, b, c, d]: [u8; LEN] = *rest.head()?;
    walk.context.encap.caqm = Some(CaqmInfo(u16::from_be_bytes([a, b])));
    Ok((
        Layer::EtherType(u16::from_be_bytes([c, d])),
        rest.skip(LEN)?,
    ))
}

//! Which EtherType may be the tag's.
//!
//! openEuler's first code takes any number from 1501 on (`sysctl_caqm_tpid`), later code one of the build
//! (`CONFIG_ETH_P_CAQM`). DEVIATION: 1501 to 1535 are refused, because IEEE 802.3 3.2.6 gives them no meaning, and so are
//! types that stand for something else here: a tag of IPv4's type would hide every IPv4 packet.

use crate::ethernet;

/// Why a number cannot be the tag's EtherType.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaqmEtherTypeError {
    /// Below 0x0600 it is a length of IEEE 802.3, or nothing.
    #[error("{0:#06x} is no EtherType: they begin at 0x0600 (1536); the tag's default is 0x8200")]
    NoType(u16),
    /// A protocol or tag that is read as such.
    #[error(
        "{0:#06x} is the EtherType of another protocol or tag; the tag's default is 0x8200, and one that nothing else on \
         the network has will do"
    )]
    Taken(u16),
}

/// The tag's EtherType unless somebody says otherwise (`ETH_P_CAQM`); not registered with IEEE.
pub const CAQM_ETHERTYPE: u16 = 0x8200;

/// The number, when it may be the tag's EtherType.
///
/// # Errors
/// It is no EtherType, or one of something else.
pub fn caqm_ethertype(number: u16) -> Result<u16, CaqmEtherTypeError> {
    if number < ethernet::MIN_TYPE {
        Err(CaqmEtherTypeError::NoType(number))
    } else if ethernet::is_taken(number) {
        Err(CaqmEtherTypeError::Taken(number))
    } else {
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_other_protocols_are_refused() {
        for number in [0, 1500, 1501, 1535] {
            assert_eq!(
                caqm_ethertype(number),
                Err(CaqmEtherTypeError::NoType(number))
            );
        }
        for number in [0x0800, 0x0806, 0x86dd, 0x8100, 0x88a8, 0x9100, 0x8847] {
            assert_eq!(
                caqm_ethertype(number),
                Err(CaqmEtherTypeError::Taken(number))
            );
        }
        for number in [0x0600, CAQM_ETHERTYPE, 0x88b5, 0xffff] {
            assert_eq!(caqm_ethertype(number), Ok(number));
        }
    }
}

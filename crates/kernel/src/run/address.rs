//! Names and numbers of hosts and interfaces, the same on every stack.

use std::net::Ipv4Addr;

/// The address of a host; it has one, whichever of its links is used.
pub fn host(index: usize) -> Ipv4Addr {
    let n = u16::try_from(index + 1).unwrap_or(u16::MAX);
    let [high, low] = n.to_be_bytes();
    Ipv4Addr::new(10, 77, high, low)
}

/// The Ethernet address of one end (0 or 1) of a link.
pub(crate) fn ethernet(link: usize, side: usize) -> [u8; 6] {
    let [high, low] = u16::try_from(link).unwrap_or(u16::MAX).to_be_bytes();
    [0x02, 0x77, 0, high, low, side as u8 + 1]
}

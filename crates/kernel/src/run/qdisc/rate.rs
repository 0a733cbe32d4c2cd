//! `struct tc_ratespec`, which tbf and htb share.

use tcplab_qdisc::LinkLayer;

/// `TC_LINKLAYER_*`: with one of these, the kernel uses no table.
const ETHERNET: u8 = 1;
const ATM: u8 = 2;

/// Its 12 bytes; a rate over 32 bits stands in an attribute of its own beside it.
pub(super) fn spec(bytes_a_second: u64, link: LinkLayer) -> Vec<u8> {
    // The cell of the table that is not sent, as tc has it for short frames.
    const CELL_LOG: u8 = 3;
    const CELL_ALIGN: i16 = -1;
    let layer = if link.is_atm { ATM } else { ETHERNET };
    let mut bytes = vec![CELL_LOG, layer];
    bytes.extend_from_slice(&link.overhead.to_ne_bytes());
    bytes.extend_from_slice(&CELL_ALIGN.to_ne_bytes());
    bytes.extend_from_slice(&link.mpu.to_ne_bytes());
    bytes.extend_from_slice(&low(bytes_a_second).to_ne_bytes());
    bytes
}

/// The rate in 32 bits.
pub(super) fn low(bytes_a_second: u64) -> u32 {
    u32::try_from(bytes_a_second).unwrap_or(u32::MAX)
}

/// Whether the rate needs its 64 bits.
pub(super) fn is_high(bytes_a_second: u64) -> bool {
    low(bytes_a_second) == u32::MAX
}

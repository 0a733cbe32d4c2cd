//! The receiver's ACKs: quick, delayed, compressed (RFC 5681 4.2; Linux `icsk_ack`).
//!
//! - `measure.rs`: measurements from data segments
//! - `quick.rs`: credits and pingpong
//! - `decide.rs`: now, later or compressed, and the timers
//! - `reads.rs`: ACKs sent by a read
//! - `bsd.rs`: the rule of BSD

mod bsd;
mod decide;
mod measure;
mod quick;
mod reads;

/// `TCP_MAX_QUICKACKS`: the most credits of immediate ACKs.
pub(crate) const MAX_QUICKACKS: u32 = 16;
/// `TCP_FASTRETRANS_THRESH`: duplicate ACKs that always go out at once.
const DUP_THRESH: u8 = 3;

/// `TCP_ATO_MIN`, `TCP_DELACK_MIN` in jiffies: 40 ms; 4 jiffies where a tick is longer than 10 ms.
#[inline]
pub(crate) const fn ato_min(hz: u32) -> u32 {
    if hz >= 100 { hz / 25 } else { 4 }
}

/// `TCP_DELACK_MAX` in jiffies: 200 ms.
#[inline]
pub(crate) const fn delack_max(hz: u32) -> u32 {
    hz / 5
}

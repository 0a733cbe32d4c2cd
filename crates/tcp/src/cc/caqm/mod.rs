//! CAQM (confined active queue management; openEuler `tcp_caqm.c`): the sender asks for window in a tag of the
//! Ethernet header, switches grant or refuse, and the receiver reports the sum of the grants in its ACKs.
//!
//! - `negotiate.rs`: the handshake
//! - `hint.rs`: how much window a packet asks for
//! - `receiver.rs`: the sum and the feedback
//! - `window.rs`: the sender's use of the feedback
//!
//! Defects of the public kernel code are fixed here; a behaviour of the profile (`caqm_*`) brings each one back.
//! docs/experiment.md lists them.

mod hint;
pub(crate) mod negotiate;
mod receiver;
mod window;

#[cfg(test)]
mod tests;

use crate::pack::packed;

/// One end's state. It sends and receives: both halves are here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caqm {
    /// Congestion avoidance (state CONG): the window grows by a little in each round trip. Else START, slow start: it may double.
    avoids: bool,
    /// A tag has come (`caqm_ca_enable`); until then the window is Reno's.
    heard: bool,
    /// Unrequested part of a unit of hint, in 1/2^20 units. It is less than a unit, except when the kernel's 32-bit
    /// products overflow.
    carry: i64,
    /// Bytes granted, or taken, that are no whole packet yet; fewer than `sysctl_caqm_mtu_unit`.
    granted: i64,
    /// Bytes that the peer was granted and that it was not told yet (`cw_to_back`).
    owed: i64,
    /// The window before the last loss, in packets.
    loss_cwnd: u32,
    /// Microsecond of the last feedback that was sent.
    told_us: u64,
    /// Microsecond of the last data that was sent.
    sent_us: u64,
}

packed!(Caqm {
    avoids,
    heard,
    carry,
    granted,
    owed,
    loss_cwnd,
    told_us,
    sent_us,
});

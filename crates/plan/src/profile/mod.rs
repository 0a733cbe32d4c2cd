//! Profiles: the TCP of a kernel release as named behaviours. They are data for `tcp`, `tcplab stacks` and
//! experiments.
//!
//! No other code knows a version number. Each behaviour is a row of `registry.rs` with an enum, a flag or a number: the row
//! makes the field of [`Profile`] and the entry of [`BEHAVIOURS`]. A profile is a list of values ([`named`]).
//! [`Profile::default`] is Linux 6.1.192, which the fidelity list compares with that kernel.
//!
//! To add a behaviour: an enum (or bool, u32) with `words!` here, a row in `registry.rs` with 6.1.192's value, and the
//! other profiles' values in `releases.rs`.

mod receive;
mod registry;
mod releases;
mod words;

pub use receive::{AckEngine, BufferGrowth, CompressedSack, PingpongRule, WindowShare};
pub use registry::{BEHAVIOURS, Behaviour, Profile, Takes};
pub use releases::{KNOWN, Known, NOT_MODELLED, SYSCTL_6_1, marked, named, unverified};
pub use words::BehaviourError;

use words::words;

#[cfg(test)]
mod tests;

/// When a receiver's credit of immediate ACKs falls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QuickackAccounting {
    /// By the wire packets of each segment that leaves with an ACK (until 6.1.56, 6.5.6).
    PerPacket,
    /// By one for each ACK of new data (059217c18be6).
    #[default]
    PerAck,
}
words!(QuickackAccounting {
    PerPacket: "per-packet",
    PerAck: "per-ack"
});

/// Which segments let the reader's next read send an ACK (`ICSK_ACK_PUSHED`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckPushRule {
    /// Segments shorter than the guess of the MSS only (until 6.1.56, 6.5.6).
    Short,
    /// Also those with PSH that are at least as long (4720852ed9af).
    #[default]
    AtMss,
}
words!(AckPushRule {
    Short: "short",
    AtMss: "at-mss"
});

/// How round-trip times become a retransmission timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RtoEstimator {
    /// `tcp_rtt_estimator()`: the deviation falls slowly, and its maximum over a round trip counts.
    #[default]
    Linux,
    /// RFC 6298 2.3 as written (the patch of June 2016 on netdev).
    Rfc6298,
}
words!(RtoEstimator {
    Linux: "linux",
    Rfc6298: "rfc6298"
});

/// What the minimum RTO bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RtoFloor {
    /// Four times the deviation, before the round-trip time is added.
    #[default]
    Deviation,
    /// The timeout itself (RFC 6298 2.4).
    Timeout,
}
words!(RtoFloor {
    Deviation: "deviation",
    Timeout: "timeout"
});

/// When a tail loss probe is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TlpRule {
    /// After two round trips, at least 10 ms; with one segment out at least after 1.5 and 200 ms (until 4.13).
    DelackMax,
    /// After two round trips and 2 ms; with one segment out and the minimum RTO (bb4d991a28cc).
    #[default]
    RtoMin,
}
words!(TlpRule {
    DelackMax: "delack-max",
    RtoMin: "rto-min"
});

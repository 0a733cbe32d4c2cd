//! What the TCP of a kernel release does, as named behaviours: data for `tcp`, `tcplab stacks` and experiments.
//!
//! Nothing else knows a version number. Each behaviour is a field with an enum or a number; a profile is a
//! list of values, and [`Profile::default`] is Linux 6.1.192, which the fidelity list compares with that kernel.

/// When a receiver's credit of immediate ACKs falls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QuickackAccounting {
    /// By the wire packets of each segment that leaves with an ACK (until 6.1.56, 6.5.6).
    PerPacket,
    /// By one for each ACK of new data (059217c18be6).
    #[default]
    PerAck,
}

/// Which segments let the reader's next read send an ACK (`ICSK_ACK_PUSHED`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckPushRule {
    /// Segments shorter than the guess of the MSS only (until 6.1.56, 6.5.6).
    Short,
    /// Also those with PSH that are at least as long (4720852ed9af).
    #[default]
    AtMss,
}

/// The behaviours of one stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name: `linux-6.1`.
    pub name: &'static str,
    /// Ticks a second.
    pub hz: u32,
    /// See [`QuickackAccounting`].
    pub quickack_accounting: QuickackAccounting,
    /// See [`AckPushRule`].
    pub ack_push_rule: AckPushRule,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            name: "linux-6.1",
            hz: 250,
            quickack_accounting: QuickackAccounting::PerAck,
            ack_push_rule: AckPushRule::AtMss,
        }
    }
}

//! The set of verdicts on one frame, and Wireshark's field names for them.

/// A set of Wireshark's verdicts on one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts(pub u32);

impl Verdicts {
    /// Data, SYN or FIN that was sent before. As in Wireshark's fields, also set together with
    /// [`Self::FAST_RETRANSMISSION`] and [`Self::SPURIOUS_RETRANSMISSION`].
    pub const RETRANSMISSION: u32 = 1;
    /// A retransmission within 20 ms of at least two duplicate ACKs that asked for it.
    pub const FAST_RETRANSMISSION: u32 = 1 << 1;
    /// A retransmission of what was ACKed before.
    pub const SPURIOUS_RETRANSMISSION: u32 = 1 << 2;
    /// Below the highest sequence number, but too soon for a retransmission.
    pub const OUT_OF_ORDER: u32 = 1 << 3;
    /// Above the next expected sequence number ("previous segment not captured").
    pub const LOST_SEGMENT: u32 = 1 << 4;
    /// ACKs what was not captured ("ACKed unseen segment").
    pub const ACK_LOST_SEGMENT: u32 = 1 << 5;
    /// Repeats an ACK.
    pub const DUPLICATE_ACK: u32 = 1 << 6;
    /// The receive window is 0.
    pub const ZERO_WINDOW: u32 = 1 << 7;
    /// One byte into a window of 0.
    pub const ZERO_WINDOW_PROBE: u32 = 1 << 8;
    /// The answer to such a byte.
    pub const ZERO_WINDOW_PROBE_ACK: u32 = 1 << 9;
    /// At most one byte, one below the next expected sequence number.
    pub const KEEP_ALIVE: u32 = 1 << 10;
    /// The answer to a keep-alive.
    pub const KEEP_ALIVE_ACK: u32 = 1 << 11;
    /// Only the window is new.
    pub const WINDOW_UPDATE: u32 = 1 << 12;
    /// Data up to the edge of the peer's window.
    pub const WINDOW_FULL: u32 = 1 << 13;
    /// A SYN or SYN-ACK with another sequence number than the one before.
    pub const REUSED_PORTS: u32 = 1 << 14;

    /// Every verdict with Wireshark's name of its field.
    pub const FIELDS: [(u32, &'static str); 15] = [
        (Self::RETRANSMISSION, "tcp.analysis.retransmission"),
        (
            Self::FAST_RETRANSMISSION,
            "tcp.analysis.fast_retransmission",
        ),
        (
            Self::SPURIOUS_RETRANSMISSION,
            "tcp.analysis.spurious_retransmission",
        ),
        (Self::OUT_OF_ORDER, "tcp.analysis.out_of_order"),
        (Self::LOST_SEGMENT, "tcp.analysis.lost_segment"),
        (Self::ACK_LOST_SEGMENT, "tcp.analysis.ack_lost_segment"),
        (Self::DUPLICATE_ACK, "tcp.analysis.duplicate_ack"),
        (Self::ZERO_WINDOW, "tcp.analysis.zero_window"),
        (Self::ZERO_WINDOW_PROBE, "tcp.analysis.zero_window_probe"),
        (
            Self::ZERO_WINDOW_PROBE_ACK,
            "tcp.analysis.zero_window_probe_ack",
        ),
        (Self::KEEP_ALIVE, "tcp.analysis.keep_alive"),
        (Self::KEEP_ALIVE_ACK, "tcp.analysis.keep_alive_ack"),
        (Self::WINDOW_UPDATE, "tcp.analysis.window_update"),
        (Self::WINDOW_FULL, "tcp.analysis.window_full"),
        (Self::REUSED_PORTS, "tcp.analysis.reused_ports"),
    ];

    /// Whether any of `bits` is set.
    #[inline]
    pub const fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }

    /// Whether there is no verdict.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Wireshark's names of the fields that the frame has, in the order of [`Self::FIELDS`].
    pub fn fields(self) -> impl Iterator<Item = &'static str> {
        Self::FIELDS
            .into_iter()
            .filter(move |(bit, _)| self.has(*bit))
            .map(|(_, name)| name)
    }
}

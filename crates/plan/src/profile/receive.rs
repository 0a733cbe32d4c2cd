//! Behaviours of the receiving side: when it ACKs, how it makes a window of memory.

use super::words::words;

/// How answers lead into the interactive mode of a receiver (pingpong).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PingpongRule {
    /// Each data segment that is sent within the expected interval of received data counts (until 5.0; since 6.0).
    #[default]
    EachSegment,
    /// Only the first one after data came (4a41f453bedf, 5.1, until 4d8f24eeedc5, 6.0).
    FirstOfReply,
}
words!(PingpongRule {
    EachSegment: "each-segment",
    FirstOfReply: "first-of-reply"
});

/// Which ACKs of out-of-order data wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CompressedSack {
    /// None.
    Never,
    /// All (5d9f4262b7ea, 4.18).
    All,
    /// Those behind the third duplicate ACK (86de5921a3d5, 4.20).
    #[default]
    AfterThree,
}
words!(CompressedSack {
    Never: "never",
    All: "all",
    AfterThree: "after-three"
});

/// What decides whether an ACK of data is sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckEngine {
    /// Linux: credits, a guess of the MSS and of the interval.
    #[default]
    Linux,
    /// BSD: every second segment, or after 40 ms (FreeBSD r360010).
    EverySecond,
}
words!(AckEngine {
    Linux: "linux",
    EverySecond: "every-second"
});

/// What auto-tuning of the receive buffer makes room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BufferGrowth {
    /// Twice what was read in a round trip, 16 segments, and twice the growth in that proportion.
    #[default]
    Margin,
    /// Twice the data read in a round trip, twice its relative growth, plus the data out of order. Data out of order
    /// also grows the buffer on arrival (c1269d3d12b8, 6.16).
    Reordered,
}
words!(BufferGrowth {
    Margin: "margin",
    Reordered: "reordered"
});

/// How much of the receive buffer becomes window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WindowShare {
    /// What `tcp_adv_win_scale` says.
    #[default]
    Sysctl,
    /// The measured part of the memory that is payload (dfa2f0483360, 6.6).
    Measured,
}
words!(WindowShare {
    Sysctl: "sysctl",
    Measured: "measured"
});

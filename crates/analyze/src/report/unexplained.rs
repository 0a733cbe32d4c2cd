//! What packets show and no finding names. The rule is that of the report for people: `tcplab-report` fills these in.

use schemars::JsonSchema;
use serde::Serialize;

/// One kind of it, over the streams of a capture.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Unexplained {
    /// What it is.
    pub kind: Effect,
    /// Packets, ACKs or connections; absent if `kind` is `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Class of the time, as in `budget_us`; present if `kind` is `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<&'static str>,
    /// Sum over these streams; present if `kind` is `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_us: Option<u64>,
    /// Number of streams that have it.
    pub streams: u64,
    /// The first 8 of them, by number.
    pub first_streams: Vec<u32>,
    /// All this as a sentence.
    pub text: String,
}

/// What needs an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Segments sent again.
    Retransmissions,
    /// Delayed ACKs.
    DelayedAcks,
    /// ACKs that a timer or the path delayed.
    UnclearAcks,
    /// Connections without an answer.
    NoAnswer,
    /// Refused connections.
    Refused,
    /// Reset connections.
    Reset,
    /// A wait of TCP, or of one of the two ends.
    Time,
}
